/**
 * Reminders and alarms.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { t } from "/static/strings.js";
import { moment } from "/static/text.js";

/**
 * @typedef {{id: string, kind: "reminder" | "alarm", what: string, due: string,
 *            state: "waiting" | "ringing", repeat: number[], times: string[], arrival: string,
 *            when: string}} Reminder
 *          `times`: when it is due within the next eight days; `arrival`: for whose it waits, no
 *          time; `when`: in words
 */

/** @param {Reminder} one */
export const called = (one) => one.what || t("alarm");

export function createReminders() {
  const rows = h("ul", { class: "rows", "aria-label": t("reminders") });
  const empty = h("p", { class: "note" }, t("no_reminders"));
  const what = field(t("what"), { required: true, maxlength: 300 });
  const when = field(t("when"), { required: true, maxlength: 100 });
  what.classList.add("whole");
  when.classList.add("wide");
  const form = lineForm(t("remind_me"), [what, when], () =>
    act("reminders.add", { what: what.value, when: when.value }),
  );

  /** @param {Reminder} one */
  function row(one) {
    const next = moment(new Date(one.due));
    const due = one.arrival ? one.when : one.repeat.length > 0 ? `${next} · ${one.when}` : next;
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row-text" },
        h("span", { class: "row-name" }, called(one)),
        h("p", { class: "note" }, one.state === "ringing" ? t("now") : due),
      ),
      iconButton("remove", t("delete_it", { name: called(one) }), () =>
        act("reminders.cancel", { which: one.id }),
      ),
    );
  }

  async function refresh() {
    /** @type {Reminder[]} */
    const reminders = (await runTool("reminders.list")).data.reminders;
    rows.replaceChildren(...reminders.map(row));
    empty.hidden = reminders.length > 0;
  }

  return {
    element: card("reminders-title", "bell", t("reminders"), empty, rows, form),
    refresh,
  };
}
