/**
 * Commands that are left for later, or done again and again.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { language, t } from "/static/strings.js";

/** @typedef {{id: string, command: string, when: string}} Scheduled `when`: in words */

/**
 * @param {{say: (text: string) => void}} hub `say`: have it left for later in a conversation, which
 *   tells what is not understood
 */
export function createScheduled({ say }) {
  const rows = h("ul", { class: "rows", "aria-label": t("scheduled") });
  const empty = h("p", { class: "note" }, t("nothing_scheduled"));
  const what = field(t("do_what"), { required: true, maxlength: 200 });
  const when = field(t("do_when"), { required: true, maxlength: 60 });
  what.classList.add("whole");
  when.classList.add("wide");
  const form = lineForm(t("plan_it"), [what, when], async () => {
    say(language.startsWith("zh") ? `${when.value}${what.value}` : `${what.value} ${when.value}`);
    return true;
  });

  /** @param {Scheduled} one */
  const row = (one) =>
    h(
      "li",
      {},
      h(
        "div",
        { class: "row-text" },
        h("span", { class: "row-name" }, one.command),
        h("p", { class: "note" }, one.when),
      ),
      iconButton("remove", t("delete_it", { name: one.command }), () =>
        act("routines.cancel", { which: one.id }),
      ),
    );

  async function refresh() {
    /** @type {Scheduled[]} */
    const scheduled = (await runTool("routines.scheduled")).data.scheduled;
    rows.replaceChildren(...scheduled.map(row));
    empty.hidden = scheduled.length > 0;
  }

  return {
    element: card("scheduled-title", "again", t("scheduled"), empty, rows, form),
    refresh,
  };
}
