/**
 * Why a file was not read, in the family's language. The hub says it in English (so do its log and `hubd
 * documents`); /static/reasons has a file a language, in which `{}` stands for a number, a name or a type.
 */

import { language } from "/static/strings.js";

/** @type {Record<string, string>} */
const words = language === "en" ? {} : (await import(`/static/reasons/${language}.js`)).default;

/** @type {[RegExp, string][]} */
const patterns = Object.entries(words).map(([english, told]) => {
  const parts = english.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return [new RegExp(`^${parts.join("(.+?)")}$`), told];
});

/**
 * What has no translation stays as it is.
 *
 * @param {string} english @returns {string}
 */
export function reasonInWords(english) {
  for (const [pattern, told] of patterns) {
    const values = pattern.exec(english)?.slice(1);
    if (values) return told.replace(/\{\}/g, () => reasonInWords(values.shift() ?? ""));
  }
  return english;
}
