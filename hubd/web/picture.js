/**
 * A page of a document as it looks, with the cited lines marked on it.
 */

import { pictureAddress, readMarks } from "/static/api.js";
import { h } from "/static/dom.js";
import { t } from "/static/strings.js";

/** @typedef {import("/static/api.js").Passage} Passage */

const SVG = "http://www.w3.org/2000/svg";
const PICTURED = new Set(["pdf", "picture"]);

/** @param {string} type of a document @returns {boolean} whether its pages can be looked at */
export const hasPicture = (type) => PICTURED.has(type);

/** @param {[number, number, number, number][]} marks */
function overlay(marks) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 1 1");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const [left, top, width, height] of marks) {
    const line = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ x: left, y: top, width, height }))
      line.setAttribute(name, String(value));
    svg.append(line);
  }
  return svg;
}

/**
 * @param {string} name of the document @param {number | null} page
 * @param {Passage | null} passage to be marked
 * @returns {{element: HTMLElement, ready: Promise<void>}} `ready` fails where there is no picture
 */
export function pagePicture(name, page, passage) {
  const image = /** @type {HTMLImageElement} */ (
    h("img", { src: pictureAddress(name, page), alt: t("picture_of_page", { page: page ?? 1 }) })
  );
  const element = h("figure", { class: "page-picture" }, image);
  async function mark() {
    await image.decode();
    if (!passage?.text) return;
    const svg = overlay(await readMarks(passage));
    element.append(svg);
    svg.firstElementChild?.scrollIntoView({ block: "center" });
  }
  return { element, ready: mark() };
}
