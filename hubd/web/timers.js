/**
 * The strip of running timers, and the banner and bell of timers and reminders that ring. The daemon's
 * lists are the truth: what rings, rings on every page until somebody stops it on one of them.
 */

import { runTool } from "/static/api.js";
import { announce, byId, h, icon, setTitle } from "/static/dom.js";
import { notify } from "/static/notify.js";
import { ringBell } from "/static/sound.js";
import { language, t } from "/static/strings.js";
import { clockTime, roughTime } from "/static/text.js";

/** @typedef {import("/static/api.js").Timer} Timer */

const BELL_EVERY_MS = 2500;
const BELL_FOR_MS = 60000;
const LATE_AFTER_S = 30;
const SNOOZE_MINUTES = 10;
const CLOCKS_AGREE_MS = 2000;

/** "tea timer", "9 minutes timer". @param {Timer} timer */
export const spoken = (timer) => t("timer_called", { name: timer.name || roughTime(timer.duration_s) });

/**
 * When a timer ends by this device's clock, which may be wrong: then what the hub says is left counts.
 *
 * @param {Timer} timer just received @returns {number} milliseconds, as Date.now()
 */
export function endOf(timer) {
  const due = Date.parse(timer.due);
  const left = Date.now() + timer.left_s * 1000;
  return Math.abs(due - left) < CLOCKS_AGREE_MS ? due : left;
}

/** @param {Timer} timer @param {() => void} cancel */
function timerPill(timer, cancel) {
  const end = endOf(timer);
  const left = h("span", { class: "timer-left" });
  const element = h(
    "li",
    {},
    icon("timer"),
    h("span", { class: "timer-name" }, timer.name || t("timer")),
    left,
    h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("cancel_the", { name: spoken(timer) }),
        on: { click: cancel },
      },
      icon("remove"),
    ),
  );
  return {
    element,
    tick() {
      const seconds = (end - Date.now()) / 1000;
      left.textContent = seconds > 0 ? clockTime(seconds) : t("now");
    },
  };
}

/**
 * What rings, a timer or a reminder.
 *
 * @typedef {{id: string, due: string, name: string, kind: "timer" | "reminder"}} Ringing
 */

/** @param {Timer} timer @returns {Ringing} */
const ofTimer = (timer) => ({
  id: timer.id,
  due: timer.due,
  name: t("the", { name: spoken(timer) }),
  kind: "timer",
});

/** @param {{id: string, due: string, what: string}} one @returns {Ringing} */
const ofReminder = ({ id, due, what }) => ({ id, due, name: what || t("alarm"), kind: "reminder" });

/** What the banner says. @param {Ringing[]} ringing @returns {{words: string, lateness: string}} */
function ringingWords(ringing) {
  const names = new Intl.ListFormat(language).format(ringing.map(({ name }) => name));
  const name = names[0].toLocaleUpperCase(language) + names.slice(1);
  const timers = ringing.filter(({ kind }) => kind === "timer").length;
  // A reminder says itself what it is; a timer is done.
  const words = timers < ringing.length ? name : t("is_done", { count: timers, name });
  const oldest = Math.max(...ringing.map(({ due }) => (Date.now() - Date.parse(due)) / 1000));
  return { words, lateness: oldest > LATE_AFTER_S ? t("since", { time: roughTime(oldest) }) : "" };
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
  const bell = createBell();
  /** @type {Ringing[]} */
  let ringing = [];
  let clock = 0;

  async function refresh() {
    const [listed, reminded] = await Promise.all([
      runTool("timers.list"),
      runTool("reminders.list"),
    ]);
    /** @type {Timer[]} */
    const timers = listed.data.timers;
    const rings = (/** @type {{state: string}} */ { state }) => state === "ringing";
    showRunning(timers.filter((timer) => timer.state === "running"));
    showRinging([
      ...timers.filter(rings).map(ofTimer),
      ...reminded.data.reminders.filter(rings).map(ofReminder),
    ]);
  }

  /** @param {Timer[]} running soonest first */
  function showRunning(running) {
    const pills = running.map((timer) => timerPill(timer, () => cancel([ofTimer(timer)])));
    const tick = () => pills.forEach((pill) => pill.tick());
    list.replaceChildren(...pills.map((pill) => pill.element));
    strip.hidden = pills.length === 0;
    clearInterval(clock);
    if (pills.length > 0) clock = setInterval(tick, 250);
    tick();
  }

  /** @param {Ringing[]} now */
  function showRinging(now) {
    const known = new Set(ringing.map(({ id }) => id));
    byId("ringing-snooze").hidden = now.every(({ kind }) => kind === "timer");
    ringing = now;
    banner.hidden = now.length === 0;
    if (now.length === 0) {
      bell.stop();
      setTitle({ alarm: "" });
      return;
    }
    const { words, lateness } = ringingWords(now);
    byId("ringing-words").textContent = words;
    byId("ringing-late").textContent = lateness;
    setTitle({ alarm: words });
    if (now.every(({ id }) => known.has(id))) return;
    announce(`${words} ${lateness}`);
    notify(words).catch(() => {}); // the banner and the bell say it as well
    bell.start();
  }

  /** @param {Ringing[]} ended */
  async function cancel(ended) {
    bell.stop();
    for (const { id, kind } of ended)
      await tell(
        kind === "timer" ? "timers.cancel" : "reminders.stop",
        kind === "timer" ? { timer: id } : { which: id },
      );
    if (!byId("view-chat").hidden) byId("question").focus();
    await refresh().catch(() => {}); // unreachable: the connection banner says so
  }

  async function snooze() {
    bell.stop();
    await tell("reminders.snooze", { minutes: SNOOZE_MINUTES });
    await refresh().catch(() => {});
  }

  /** @param {string} tool @param {Object} parameters */
  async function tell(tool, parameters) {
    try {
      announce((await runTool(tool, parameters)).text);
    } catch (error) {
      announce(/** @type {Error} */ (error).message); // somebody else was quicker
    }
  }

  byId("ringing-stop").addEventListener("click", () => cancel(ringing));
  byId("ringing-snooze").textContent = t("snooze", { count: SNOOZE_MINUTES });
  byId("ringing-snooze").addEventListener("click", snooze);
  return { refresh };
}
