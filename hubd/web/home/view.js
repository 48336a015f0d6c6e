/**
 * The home view: what runs, what comes, what is on the lists, who is there, and the devices by room.
 */

import { byId, h } from "/static/dom.js";
import { createLists } from "/static/home/lists.js";
import { createReminders } from "/static/home/reminders.js";
import { createRooms } from "/static/home/rooms.js";
import { createScheduled } from "/static/home/scheduled.js";
import { createTimerCards } from "/static/home/timers.js";
import { createWeek } from "/static/home/week.js";
import { t } from "/static/strings.js";
import { toast } from "/static/toast.js";

/**
 * A part of the view: a node, and what brings it up to date.
 *
 * @typedef {{element: HTMLElement, refresh: () => Promise<void>}} Part
 */

/**
 * @param {{events: import("/static/events.js").Events, say: (text: string) => void}} hub `say`: have it
 *   done in a conversation, where a confirmation can be given
 * @returns {import("/static/views.js").View}
 */
export function createHome({ events, say }) {
  const timers = createTimerCards();
  const reminders = createReminders();
  const week = createWeek();
  const lists = createLists();
  const scheduled = createScheduled({ say });
  const rooms = createRooms({ say });
  let visible = false;

  /** @param {Part} part */
  const bring = (part) => {
    if (!visible) return;
    part.refresh().catch((error) => toast(error.message));
  };
  const all = () => [timers, reminders, week, scheduled, lists, rooms].forEach(bring);

  byId("view-home").append(
    h("h1", { id: "home-title", tabindex: "-1" }, t("home")),
    rooms.people,
    h(
      "div",
      { class: "cards" },
      timers.element,
      reminders.element,
      lists.element,
      week.element,
      scheduled.element,
    ),
    rooms.element,
  );
  events.on("timer", () => bring(timers));
  events.on("reminder", () => [reminders, week].forEach(bring));
  events.on("scheduled", () => bring(scheduled));
  events.on("calendar", () => bring(week));
  events.on("list", () => bring(lists));
  events.on("home", (change) => visible && rooms.changed(change));
  events.onConnected(all);
  return {
    shown() {
      visible = true;
      timers.start();
      all();
    },
    hidden() {
      visible = false;
      timers.stop();
    },
  };
}
