/**
 * The next seven days with everything that has a time, and what to put into the calendar.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { called } from "/static/home/reminders.js";
import { language, t } from "/static/strings.js";

/**
 * @typedef {import("/static/home/reminders.js").Reminder} Reminder
 * @typedef {{id: string, title: string, start: string, end: string, whole_day: boolean,
 *            can_remove: boolean}} CalendarEvent
 * @typedef {{at: Date, what: string, whole: boolean, id?: string}} Event something at a time;
 *          `whole`: all day; `id`: of an event that can be taken out of its calendar
 */

const DAYS = 7;

export function createWeek() {
  const days = h("ol", { class: "week", "aria-labelledby": "week-title" });
  const what = field(t("event"), { required: true, maxlength: 200 });
  const when = field(t("event_when"), { required: true, maxlength: 80 });
  what.classList.add("whole");
  when.classList.add("wide");
  const form = lineForm(t("put_down"), [what, when], () =>
    act("calendar.add", { title: what.value, when: when.value }),
  );

  async function refresh() {
    /** @type {Reminder[]} */
    const reminders = (await runTool("reminders.list")).data.reminders;
    const events = [...reminders.flatMap(occurrences), ...(await appointments())];
    days.replaceChildren(...weekDays(events));
  }

  return { element: card("week-title", "calendar", t("next_days"), days, form), refresh };
}

/** @param {Reminder} one @returns {Event[]} */
const occurrences = (one) =>
  one.times.map((time) => ({ at: new Date(time), what: called(one), whole: false }));

/** What the family's calendars say about these days: on each of its days, what takes several. @returns {Promise<Event[]>} */
async function appointments() {
  const first = new Date();
  first.setHours(0, 0, 0, 0);
  const days = Array.from({ length: DAYS }, (_, i) => dayAfter(first, i));
  const { data } = await runTool("calendar.agenda", {
    day: `${isoDate(first)}/${isoDate(days[DAYS - 1])}`,
  });
  return data.events.flatMap((/** @type {CalendarEvent} */ event) => {
    // A whole day is that day, whatever the time zone of this device.
    const when = (/** @type {string} */ at) => new Date(event.whole_day ? at.slice(0, 19) : at);
    const start = when(event.start);
    const last = Math.max(+start, +when(event.end) - 1); // what ends at midnight is over
    return days
      .filter((day) => start < dayAfter(day, 1) && last >= +day)
      .map((day) => ({
        at: start > day ? start : day,
        what: event.title || "–",
        whole: event.whole_day || start < day,
        id: event.can_remove ? event.id : undefined,
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
        : h("ul", {}, ...due.map((event) => h("li", {}, ...eventLine(event)))),
    );
  });
}

/** @param {Event} event */
function eventLine({ at, what, whole, id }) {
  const clock = at.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
  const line = h("span", {}, whole ? what : `${clock} ${what}`);
  if (!id) return [line];
  const remove = () => act("calendar.remove", { event: id });
  return [line, iconButton("remove", t("remove_it", { name: what }), remove)];
}
