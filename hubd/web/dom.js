/**
 * Building nodes without markup strings, so that nothing on the page is ever parsed as HTML by accident.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. Keys of `properties`: `class`, `on` (listeners by event name), and attributes;
 * `false`, `null` and `undefined` leave an attribute out, `true` sets it empty.
 *
 * @param {string} tag
 * @param {Object<string, any>} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(
    .../** @type {(Node | string)[]} */ (children.filter((child) => child || child === "")),
  );
  return element;
}

/** A picture from the sprite in index.html, hidden from screen readers. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** The element with this id, which index.html promises. @param {string} id @returns {any} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no element #${id}`);
  return element;
}

const title = { page: "hubd", alarm: "" };

/** The title of the tab: what rings comes before what is shown. @param {Partial<typeof title>} part */
export function setTitle(part) {
  Object.assign(title, part);
  document.title = title.alarm ? `⏰ ${title.alarm}` : title.page;
}

/** Say something to screen readers without moving the focus. @param {string} text */
export function announce(text) {
  byId("announcer").textContent = text;
}

/**
 * Ask "really?" in a dialog of our own.
 *
 * @param {string} question @param {string} verb the label of the button that goes ahead
 * @returns {Promise<boolean>}
 */
export function confirmed(question, verb) {
  const dialog = byId("confirm");
  byId("confirm-question").textContent = question;
  byId("confirm-yes").textContent = verb;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
