/**
 * A small chart of one number over the last minutes: a line, its latest value in words.
 */

import { h } from "/static/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const POINTS = 90;
const WIDTH = 120;
const HEIGHT = 32;

/**
 * The points of a line through `values`, the latest at the right; `null` is a gap.
 *
 * @param {(number | null)[]} values @param {number} top the value at the upper edge
 * @returns {string} the `d` of a path
 */
export function linePath(values, top) {
  const start = POINTS - values.length;
  let pen = "M";
  return values
    .map((value, i) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const x = ((start + i) / (POINTS - 1)) * WIDTH;
      const y = HEIGHT - 1 - (Math.min(value, top) / (top || 1)) * (HEIGHT - 2);
      const point = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
      return point;
    })
    .join("");
}

/**
 * @param {string} name
 * @param {(value: number) => string} words the value with its unit
 * @param {number} [most] the top of the scale, where it is known; else the largest value seen
 */
export function createChart(name, words, most) {
  /** @type {(number | null)[]} */
  let values = [];
  const line = document.createElementNS(SVG, "path");
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "chart");
  svg.setAttribute("aria-hidden", "true");
  svg.append(line);
  const value = h("dd", {}, "–");
  return {
    element: h("div", { class: "tile" }, h("dt", {}, name), value, h("dd", { class: "line" }, svg)),
    /** @param {number | null} now null: nothing new to tell, a gap in the line */
    add(now) {
      values = [...values, now].slice(-POINTS);
      const top = most ?? Math.max(1, ...values.map((one) => one ?? 0));
      line.setAttribute("d", linePath(values, top));
      if (now !== null) value.textContent = words(now);
    },
  };
}
