/**
 * The page's words in the family's language: one file a language in /static/strings, all with the same keys.
 */

import english from "/static/strings/en.js";

/** @type {Record<string, string>} */
export const LANGUAGES = { en: "English", zh: "中文" };
const KEY = "hubd.language";

/** @returns {string} what was chosen, else the browser's first language that is here, else English */
function pickLanguage() {
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // Storage is switched off: as the browser says.
  }
  const wanted = [chosen, ...navigator.languages].map((tag) => tag?.split("-")[0] ?? "");
  return wanted.find((tag) => tag in LANGUAGES) ?? "en";
}

export const language = pickLanguage();
/** @type {Record<string, string | Record<string, string>>} */
const words =
  language === "en" ? english : (await import(`/static/strings/${language}.js`)).default;
const plural = new Intl.PluralRules(language);

/** Words in another language from the next load on. @param {string} tag */
export function chooseLanguage(tag) {
  localStorage.setItem(KEY, tag);
  location.reload();
}

/**
 * The words of a key, with `{name}` replaced by the value of that name. Where a language tells one from
 * many, the key holds both, and `count` decides.
 *
 * @param {string} key @param {Record<string, string | number>} [values] @returns {string}
 */
export function t(key, values = {}) {
  const found = words[key];
  if (found === undefined) throw new Error(`strings/${language}.js has no ${key}`);
  const text =
    typeof found === "string" ? found : (found[plural.select(Number(values.count))] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

const PLACES = [
  ["data-t", (/** @type {Element} */ element, /** @type {string} */ text) => element.append(text)],
  ["data-t-label", (element, text) => element.setAttribute("aria-label", text)],
  ["data-t-placeholder", (element, text) => element.setAttribute("placeholder", text)],
];

/** Put the words into index.html, which holds keys in `data-t`, `data-t-label`, `data-t-placeholder`. */
export function fillPage() {
  document.documentElement.lang = language;
  for (const [attribute, fill] of /** @type {[string, Function][]} */ (PLACES))
    for (const element of document.querySelectorAll(`[${attribute}]`))
      fill(element, t(/** @type {string} */ (element.getAttribute(attribute))));
}
