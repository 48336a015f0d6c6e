/**
 * The strip of running timers, and the banner and bell of those that ring.
 */

import { runTool } from "/static/api.js";
import { announce, byId, h, icon } from "/static/dom.js";
import { ringBell } from "/static/sound.js";
import { clockTime, roughTime } from "/static/text.js";

/** @typedef {import("/static/api.js").Timer} Timer */

const BELL_EVERY_MS = 2500;
const BELL_FOR_MS = 60000;
const LATE_AFTER_S = 5;

/** @param {Timer} timer @returns {number} seconds until it rings, negative when it should have rung */
const secondsLeft = (timer) => (Date.parse(timer.due) - Date.now()) / 1000;

/** "tea timer", "timer". @param {Timer} timer */
const spoken = (timer) => (timer.name ? `${timer.name.replace(/ timer$/i, "")} timer` : "timer");

/** @param {Timer} timer @param {(timer: Timer) => void} cancel */
function timerPill(timer, cancel) {
  const left = h("span", { class: "timer-left" });
  const element = h("li", {}, icon("timer"), h("span", { class: "timer-name" }, timer.name || "timer"), left,
    h("button", {
      type: "button", class: "icon-button", "aria-label": `Cancel the ${spoken(timer)}`,
      on: { click: () => cancel(timer) },
    }, icon("remove")));
  return {
    element,
    tick() {
      const seconds = secondsLeft(timer);
      left.textContent = seconds > 0 ? clockTime(seconds) : "now";
    },
  };
}

/** Make the strip and the banner work. */
export function startTimers() {
  const strip = byId("timers");
  const list = byId("timer-list");
  const banner = byId("ringing");
  const title = document.title;
  /** @type {{element: HTMLElement, tick: () => void}[]} */
  let pills = [];
  let clock = 0;
  let bell = 0;
  let silence = 0;

  async function refresh() {
    const { data } = await runTool("timers.list");
    const running = data.timers.filter((/** @type {Timer} */ timer) => timer.state === "running");
    running.sort((/** @type {Timer} */ a, /** @type {Timer} */ b) => Date.parse(a.due) - Date.parse(b.due));
    pills = running.map((/** @type {Timer} */ timer) => timerPill(timer, cancel));
    list.replaceChildren(...pills.map((pill) => pill.element));
    strip.hidden = pills.length === 0;
    clearInterval(clock);
    if (pills.length > 0) clock = setInterval(tick, 250);
    tick();
  }

  function tick() {
    for (const pill of pills) pill.tick();
  }

  /** @param {Timer} timer */
  async function cancel(timer) {
    try {
      announce((await runTool("timers.cancel", { timer: timer.id })).text);
    } catch (error) {
      announce(/** @type {Error} */ (error).message);
    }
    await refresh();
    byId("question").focus();
  }

  /** @param {Timer} timer */
  function ring(timer) {
    const late = -secondsLeft(timer);
    const words = `Your ${spoken(timer)} is done`;
    const lateness = late > LATE_AFTER_S ? `It rang ${roughTime(late)} late: the hub was off.` : "";
    byId("ringing-words").textContent = `${words}.`;
    byId("ringing-late").textContent = lateness;
    banner.hidden = false;
    document.title = `⏰ ${words}`;
    announce(`${words}. ${lateness}`);
    clearInterval(bell);
    clearTimeout(silence);
    ringBell();
    bell = setInterval(ringBell, BELL_EVERY_MS);
    silence = setTimeout(() => clearInterval(bell), BELL_FOR_MS);
  }

  function quiet() {
    clearInterval(bell);
    clearTimeout(silence);
    banner.hidden = true;
    document.title = title;
    byId("question").focus();
  }

  byId("ringing-stop").addEventListener("click", quiet);
  return {
    refresh,
    /** A `timer` event of the household. @param {Timer} timer */
    happened(timer) {
      if (timer.state === "ringing") ring(timer);
      refresh().catch(() => {});
    },
  };
}
