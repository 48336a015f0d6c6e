/**
 * The timers as cards that count down; starting, stopping for a while, and giving them more time.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { askToNotify } from "/static/notify.js";
import { t } from "/static/strings.js";
import { clockTime } from "/static/text.js";
import { endOf, spoken } from "/static/timers.js";

/** @typedef {import("/static/api.js").Timer} Timer */

const TICK_MS = 250;
const QUICK_MINUTES = [1, 5, 10];

export function createTimerCards() {
  const rows = h("ul", { class: "rows", "aria-label": t("timers") });
  const empty = h("p", { class: "note" }, t("no_timers"));
  const minutes = field(t("minutes_field"), {
    type: "number",
    min: "0.1",
    max: "10080",
    step: "any",
    required: true,
    inputmode: "decimal",
  });
  const name = field(t("what_for"), { maxlength: 60 });
  const form = lineForm(t("start"), [minutes, name], () =>
    start(Number(minutes.value), name.value),
  );
  minutes.classList.add("number");
  const quick = h(
    "div",
    { class: "buttons" },
    ...QUICK_MINUTES.map((count) =>
      h(
        "button",
        { type: "button", class: "secondary small", on: { click: () => start(count, "") } },
        t("minutes", { count }),
      ),
    ),
    askToNotify(),
  );
  /** @type {(() => void)[]} */
  let ticks = [];
  let clock = 0;

  /** @param {number} count minutes @param {string} called */
  const start = (count, called) => act("timers.start", { minutes: count, name: called });

  /** @param {Timer} timer */
  function row(timer) {
    const end = endOf(timer);
    const left = h("span", { class: "countdown", role: "timer" });
    const bar = h("progress", { max: timer.duration_s, "aria-label": spoken(timer) });
    const paused = timer.state === "paused";
    ticks.push(() => {
      const seconds = paused ? timer.left_s : (end - Date.now()) / 1000;
      left.textContent = seconds > 0 ? clockTime(seconds) : t("now");
      bar.setAttribute("value", String(Math.max(0, timer.duration_s - seconds)));
    });
    const which = { timer: timer.id };
    return h(
      "li",
      { class: `timer ${timer.state}` },
      h("div", { class: "row-text" }, h("span", { class: "row-name" }, spoken(timer)), left, bar),
      paused
        ? iconButton("play", t("go_on"), () => act("timers.resume", which))
        : iconButton("pause", t("pause"), () => act("timers.pause", which)),
      iconButton("plus", t("one_more_minute"), () => act("timers.add", { minutes: 1, ...which })),
      iconButton("remove", t("cancel_the", { name: spoken(timer) }), () =>
        act("timers.cancel", which),
      ),
    );
  }

  const tick = () => ticks.forEach((one) => one());

  async function refresh() {
    const { data } = await runTool("timers.list");
    ticks = [];
    rows.replaceChildren(...data.timers.map(row));
    empty.hidden = data.timers.length > 0;
    tick();
  }

  return {
    element: card("timers-title", "timer", t("timers"), empty, rows, form, quick),
    refresh,
    start() {
      clearInterval(clock);
      clock = setInterval(tick, TICK_MS);
    },
    stop() {
      clearInterval(clock);
    },
  };
}
