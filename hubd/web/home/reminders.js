/**
 * Reminders and alarms, and the next seven days with everything that has a time.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { language, t } from "/static/strings.js";
import { moment } from "/static/text.js";

/**
 * @typedef {{id: string, kind: "reminder" | "alarm", what: string, due: string,
 *            state: "waiting" | "ringing", repeat: number[]}} Reminder
 * @typedef {{at: Date, what: string, whole: boolean}} Event something at a time; `whole`: all day
 */

const DAYS = 7;
const DAY_MS = 86_400_000;

/** @param {Reminder} one */
const called = (one) => one.what || t("alarm");

export function createReminders() {
  const rows = h("ul", { class: "rows", "aria-label": t("reminders") });
  const empty = h("p", { class: "note" }, t("no_reminders"));
  const days = h("ol", { class: "week", "aria-labelledby": "week-title" });
  const what = field(t("what"), { required: true, maxlength: 300 });
  const when = field(t("when"), { required: true, maxlength: 100 });
  const form = lineForm(t("remind_me"), [what, when], () =>
    act("reminders.add", { what: what.value, when: when.value }),
  );

  /** @param {Reminder} one */
  function row(one) {
    const due = moment(new Date(one.due));
    const repeats = one.repeat.length > 0 ? ` · ${t("repeats")}` : "";
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row-text" },
        h("span", { class: "row-name" }, called(one)),
        h("p", { class: "note" }, `${one.state === "ringing" ? t("now") : due}${repeats}`),
      ),
      iconButton("remove", t("cancel_the", { name: called(one) }), () =>
        act("reminders.cancel", { which: one.id }),
      ),
    );
  }

  async function refresh() {
    /** @type {Reminder[]} */
    const reminders = (await runTool("reminders.list")).data.reminders;
    rows.replaceChildren(...reminders.map(row));
    empty.hidden = reminders.length > 0;
    const events = [...reminders.flatMap(occurrences)];
    days.replaceChildren(...weekDays(events));
  }

  return {
    element: card("reminders-title", "bell", t("reminders"), empty, rows, form),
    week: card("week-title", "calendar", t("next_days"), days),
    refresh,
  };
}

/** The times of a reminder within the next days: each, for one that repeats. @param {Reminder} one @returns {Event[]} */
function occurrences(one) {
  const first = new Date(one.due);
  if (one.repeat.length === 0) return [{ at: first, what: called(one), whole: false }];
  return Array.from({ length: DAYS + 1 }, (_, i) => {
    const at = new Date(first);
    at.setDate(at.getDate() + i);
    return at;
  })
    .filter((at) => one.repeat.includes((at.getDay() + 6) % 7)) // Monday is 0
    .map((at) => ({ at, what: called(one), whole: false }));
}


/** @param {Event[]} events */
function weekDays(events) {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  return Array.from({ length: DAYS }, (_, i) => {
    const begin = new Date(today);
    begin.setDate(begin.getDate() + i);
    const end = new Date(begin.getTime() + DAY_MS);
    const due = events.filter(({ at }) => at >= begin && at < end).sort((a, b) => +a.at - +b.at);
    const name = begin.toLocaleDateString(language, { weekday: "short", day: "numeric" });
    return h(
      "li",
      {},
      h("span", { class: "day" }, i === 0 ? t("today") : name),
      due.length === 0
        ? h("span", { class: "note" }, "–")
        : h("ul", {}, ...due.map((event) => h("li", {}, eventLine(event)))),
    );
  });
}

/** @param {Event} event */
function eventLine({ at, what, whole }) {
  const clock = at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  return whole ? what : `${clock} ${what}`;
}
