/**
 * Which view is shown: the part of the address after "#" says it, so that "back" and bookmarks work.
 * A view's module is fetched when it is first looked at.
 */

import { announce, byId, setTitle } from "/static/dom.js";
import { t } from "/static/strings.js";

/**
 * @typedef {{shown: (rest: string) => void, hidden?: () => void}} View `rest` is what follows the
 *   view's name in the address
 */

/** @returns {[string, string]} "#/chat/x" → ["chat", "x"] */
function place() {
  const [, name = "", rest = ""] = /^#\/(\w+)(?:\/(.*))?$/.exec(location.hash) ?? [];
  return [name, decodeURIComponent(rest)];
}

/** @param {string} name @param {string} [rest] */
export function go(name, rest = "") {
  location.hash = rest ? `#/${name}/${encodeURIComponent(rest)}` : `#/${name}`;
}

/**
 * @param {Object<string, () => Promise<View>>} makers by name; the first is shown when the address says
 *   nothing
 * @returns {(name: string) => Promise<View>} a view, made if it is not yet
 */
export function startViews(makers) {
  const names = Object.keys(makers);
  /** @type {Map<string, Promise<View>>} */
  const made = new Map();
  /** @type {string | null} */
  let current = null;

  /** @param {string} name */
  const view = (name) => {
    if (!made.has(name)) made.set(name, makers[name]());
    return /** @type {Promise<View>} */ (made.get(name));
  };

  async function show() {
    const [asked, rest] = place();
    const name = names.includes(asked) ? asked : names[0];
    const before = current;
    current = name;
    for (const one of names) byId(`view-${one}`).hidden = one !== name;
    for (const tab of document.querySelectorAll("#tabs a")) {
      if (tab.getAttribute("href") === `#/${name}`) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
    setTitle({ page: `${t(name)} · hubd` });
    if (before && before !== name) (await view(before)).hidden?.();
    const shown = await view(name).catch((error) => {
      made.delete(name); // the module did not come: the next look tries again
      announce(t("unreachable"));
      throw error;
    });
    if (current !== name) return; // somebody went on meanwhile
    if (before !== name) window.scrollTo(0, 0);
    shown.shown(rest);
    if (before && before !== name) {
      announce(t(name));
      if (name !== names[0]) byId(`view-${name}`).querySelector("h1")?.focus();
    }
  }

  addEventListener("hashchange", show);
  show();
  return view;
}
