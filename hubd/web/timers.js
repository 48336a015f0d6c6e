/**
 * The strip of running timers, and the banner and bell of those that ring. The daemon's list is the
 * truth: a timer rings on every page until somebody stops it on one of them.
 */

import { runTool } from "/static/api.js";
import { announce, byId, h, icon } from "/static/dom.js";
import { ringBell } from "/static/sound.js";
import { clockTime, roughTime } from "/static/text.js";

/** @typedef {import("/static/api.js").Timer} Timer */

const BELL_EVERY_MS = 2500;
const BELL_FOR_MS = 60000;
const LATE_AFTER_S = 30;
const CLOCKS_AGREE_MS = 2000;

/** "tea timer", "9 minutes timer". @param {Timer} timer */
const spoken = (timer) => `${timer.name || roughTime(timer.duration_s)} timer`;

/**
 * When a timer ends by this device's clock, which may be wrong: then what the hub says is left counts.
 *
 * @param {Timer} timer just received @returns {number} milliseconds, as Date.now()
 */
function endOf(timer) {
  const due = Date.parse(timer.due);
  const left = Date.now() + timer.left_s * 1000;
  return Math.abs(due - left) < CLOCKS_AGREE_MS ? due : left;
}

/** @param {Timer} timer @param {(timers: Timer[]) => void} cancel */
function timerPill(timer, cancel) {
  const end = endOf(timer);
  const left = h("span", { class: "timer-left" });
  const element = h(
    "li",
    {},
    icon("timer"),
    h("span", { class: "timer-name" }, timer.name || "Timer"),
    left,
    h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": `Cancel the ${spoken(timer)}`,
        on: { click: () => cancel([timer]) },
      },
      icon("remove"),
    ),
  );
  return {
    element,
    tick() {
      const seconds = (end - Date.now()) / 1000;
      left.textContent = seconds > 0 ? clockTime(seconds) : "now";
    },
  };
}

/** What the banner says. @param {Timer[]} ringing @returns {{words: string, lateness: string}} */
function ringingWords(ringing) {
  const names = ringing.map((timer) => `the ${spoken(timer)}`);
  const all =
    names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  const words = `${all[0].toUpperCase()}${all.slice(1)} ${names.length === 1 ? "is" : "are"} done`;
  const oldest = Math.max(...ringing.map((timer) => (Date.now() - Date.parse(timer.due)) / 1000));
  return { words, lateness: oldest > LATE_AFTER_S ? `since ${roughTime(oldest)}` : "" };
}

/** A bell that stops by itself after a minute. @returns {{start: () => void, stop: () => void}} */
function createBell() {
  let again = 0;
  let enough = 0;
  function stop() {
    clearInterval(again);
    clearTimeout(enough);
  }
  function start() {
    stop();
    ringBell();
    again = setInterval(ringBell, BELL_EVERY_MS);
    enough = setTimeout(stop, BELL_FOR_MS);
  }
  return { start, stop };
}

/** Make the strip and the banner work. */
export function startTimers() {
  const strip = byId("timers");
  const list = byId("timer-list");
  const banner = byId("ringing");
  const title = document.title;
  const bell = createBell();
  /** @type {Timer[]} */
  let ringing = [];
  let clock = 0;

  async function refresh() {
    const { data } = await runTool("timers.list");
    /** @type {Timer[]} */
    const timers = data.timers;
    showRunning(timers.filter((timer) => timer.state === "running"));
    showRinging(timers.filter((timer) => timer.state === "ringing"));
  }

  /** @param {Timer[]} running soonest first */
  function showRunning(running) {
    const pills = running.map((timer) => timerPill(timer, cancel));
    const tick = () => pills.forEach((pill) => pill.tick());
    list.replaceChildren(...pills.map((pill) => pill.element));
    strip.hidden = pills.length === 0;
    clearInterval(clock);
    if (pills.length > 0) clock = setInterval(tick, 250);
    tick();
  }

  /** @param {Timer[]} now */
  function showRinging(now) {
    const known = new Set(ringing.map((timer) => timer.id));
    ringing = now;
    banner.hidden = now.length === 0;
    if (now.length === 0) {
      bell.stop();
      document.title = title;
      return;
    }
    const { words, lateness } = ringingWords(now);
    byId("ringing-words").textContent = `${words}.`;
    byId("ringing-late").textContent = lateness;
    document.title = `⏰ ${words}`;
    if (now.every((timer) => known.has(timer.id))) return;
    announce(`${words} ${lateness}`);
    bell.start();
  }

  /** @param {Timer[]} timers */
  async function cancel(timers) {
    bell.stop();
    for (const timer of timers) {
      try {
        announce((await runTool("timers.cancel", { timer: timer.id })).text);
      } catch (error) {
        announce(/** @type {Error} */ (error).message); // somebody else was quicker
      }
    }
    byId("question").focus();
    await refresh().catch(() => {}); // unreachable: the connection banner says so
  }

  byId("ringing-stop").addEventListener("click", () => cancel(ringing));
  return { refresh };
}
