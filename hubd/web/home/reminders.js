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
 * @typedef {{title: string, start: string, end: string, whole_day: boolean, calendar: string}} CalendarEvent
 * @typedef {{at: Date, what: string, whole: boolean}} Event something at a time; `whole`: all day
 */

const DAYS = 7;

/** @param {Reminder} one */
const called = (one) => one.what || t("alarm");

export function createReminders() {
  const rows = h("ul", { class: "rows", "aria-label": t("reminders") });
  const empty = h("p", { class: "note" }, t("no_reminders"));
  const days = h("ol", { class: "week", "aria-labelledby": "week-title" });
  const what = field(t("what"), { required: true, maxlength: 300 });
  const when = field(t("when"), { required: true, maxlength: 100 });
  what.classList.add("whole");
  when.classList.add("wide");
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
    const events = [...reminders.flatMap(occurrences), ...(await appointments())];
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

/** What the family's calendars say about these days: on each of its days, what takes several. @returns {Promise<Event[]>} */
async function appointments() {
  const first = new Date();
  first.setHours(0, 0, 0, 0);
  const days = Array.from({ length: DAYS }, (_, i) => dayAfter(first, i));
  const { data } = await runTool("calendar.agenda", {
    day: `${isoDate(first)}/${isoDate(days[DAYS - 1])}`,
  });
  return data.events.flatMap((/** @type {CalendarEvent} */ event) => {
    const start = new Date(event.start);
    const last = Math.max(+start, Date.parse(event.end) - 1); // what ends at midnight is over
    return days
      .filter((day) => start < dayAfter(day, 1) && last >= +day)
      .map((day) => ({
        at: start > day ? start : day,
        what: event.title || "–",
        whole: event.whole_day || start < day,
      }));
  });
}

/** @param {Date} day @param {number} days */
function dayAfter(day, days) {
  const other = new Date(day);
  other.setDate(other.getDate() + days);
  return other;
}

/** @param {Date} day in the time zone of this device */
const isoDate = (day) =>
  [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");

/** @param {Event[]} events */
function weekDays(events) {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  return Array.from({ length: DAYS }, (_, i) => {
    const begin = dayAfter(today, i);
    const end = dayAfter(today, i + 1);
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
