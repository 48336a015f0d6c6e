/**
 * What the cards of the home view are made of.
 */

import { runTool } from "/static/api.js";
import { announce, h, icon } from "/static/dom.js";
import { toast } from "/static/toast.js";

/** @param {string} id @param {string} picture @param {string} title @param {...Node} children */
export function card(id, picture, title, ...children) {
  return h(
    "section",
    { class: "card", "aria-labelledby": id },
    h("h2", { id }, icon(picture), title),
    ...children,
  );
}

/** @param {string} picture @param {string} label @param {() => void} click */
export function iconButton(picture, label, click) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, on: { click } },
    icon(picture),
  );
}

/**
 * Have a tool do something, say what came of it, and offer to take it back.
 *
 * @param {string} tool @param {Object} parameters
 * @param {() => Promise<void>} [refresh] what shows it, where no event of the hub's does
 * @returns {Promise<boolean>} whether it was done
 */
export async function act(tool, parameters, refresh = async () => {}) {
  try {
    const { text, undo } = await runTool(tool, parameters);
    if (undo) toast(text, () => act(undo.tool, undo.arguments, refresh));
    announce(text);
    await refresh();
    return true;
  } catch (error) {
    toast(/** @type {Error} */ (error).message);
    return false;
  }
}

/**
 * A form of one line.
 *
 * @param {string} verb @param {HTMLElement[]} fields
 * @param {() => Promise<boolean>} submit whether the fields are to be emptied
 */
export function lineForm(verb, fields, submit) {
  const form = /** @type {HTMLFormElement} */ (
    h("form", { class: "line-form" }, ...fields, h("button", { class: "secondary" }, verb))
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await submit()) form.reset();
  });
  return form;
}

/** @param {string} label @param {Object} [properties] @returns {HTMLInputElement} */
export const field = (label, properties = {}) =>
  /** @type {HTMLInputElement} */ (
    h("input", { class: "field", "aria-label": label, placeholder: label, ...properties })
  );
