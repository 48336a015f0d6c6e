/**
 * A line at the bottom that says what was done, and takes it back for a while.
 */

import { byId } from "/static/dom.js";

const SHOWN_MS = 10_000;
let timer = 0;
/** @type {(() => void) | null} */
let takeBack = null;

function hide() {
  clearTimeout(timer);
  byId("toast").hidden = true;
  takeBack = null;
}

/** @param {string} words @param {(() => void) | null} [undo] */
export function toast(words, undo = null) {
  hide();
  takeBack = undo;
  byId("toast-words").textContent = words;
  byId("toast-undo").hidden = undo === null;
  byId("toast").hidden = false;
  timer = setTimeout(hide, SHOWN_MS);
}

export function startToast() {
  byId("toast-undo").addEventListener("click", () => {
    takeBack?.();
    hide();
  });
}
