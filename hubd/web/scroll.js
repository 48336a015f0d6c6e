/**
 * Scrolling along with an answer that grows, without taking the page out of anybody's hands.
 */

import { byId } from "/static/dom.js";

const NEAR_THE_END_PX = 160;
const QUESTION_GAP_PX = 16;

/** @param {HTMLElement} log whose last child grows */
export function createFollower(log) {
  const page = document.scrollingElement ?? document.documentElement;
  let following = true;
  // Whoever scrolls up to read is left in peace; the page follows the answer only at its end.
  addEventListener(
    "scroll",
    () => {
      following = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_THE_END_PX;
    },
    { passive: true },
  );
  return {
    start() {
      following = true;
    },
    grown() {
      if (!following) return;
      const question = log.lastElementChild?.getBoundingClientRect().top ?? 0;
      const head = byId("head").getBoundingClientRect().bottom;
      // A long answer is read from its beginning: the page never scrolls its question away.
      page.scrollTop = Math.min(
        page.scrollHeight,
        page.scrollTop + question - head - QUESTION_GAP_PX,
      );
    },
  };
}
