/**
 * Shopping, to-do and other lists, with boxes to tick.
 */

import { runTool } from "/static/api.js";
import { h } from "/static/dom.js";
import { act, card, field, iconButton, lineForm } from "/static/home/card.js";
import { t } from "/static/strings.js";

/** @typedef {{list: string, items: {text: string, done: boolean}[]}} List */

const SHOPPING = "shopping";

/** @param {string} name */
const shownName = (name) => (name === SHOPPING ? t("shopping") : name);

export function createLists() {
  const box = h("div", { class: "lists" });
  const item = field(t("what_to_add"), { required: true, maxlength: 200 });
  const list = field(t("which_list"), { maxlength: 60, list: "known-lists" });
  const known = h("datalist", { id: "known-lists" });
  const form = lineForm(t("add"), [item, list], () =>
    act("lists.add", { items: [item.value], list_name: list.value.trim() || SHOPPING }),
  );

  /** @param {string} name @param {List["items"][number]} entry */
  function row(name, entry) {
    const tick = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox" }));
    tick.checked = entry.done;
    tick.addEventListener("change", () =>
      entry.done
        ? act("lists.add", { items: [entry.text], list_name: name })
        : act("lists.complete", { item: entry.text, list_name: name }),
    );
    const label = h("label", { class: entry.done ? "tick done" : "tick" }, tick, entry.text);
    return h(
      "li",
      {},
      label,
      !entry.done &&
        iconButton("remove", t("remove_it", { name: entry.text }), () =>
          act("lists.remove", { item: entry.text, list_name: name }),
        ),
    );
  }

  /** @param {List} one */
  function listBlock({ list: name, items }) {
    const id = `list-${name.replaceAll(/\W+/g, "-")}`;
    return h(
      "div",
      {},
      h("h3", { id }, shownName(name)),
      h("ul", { class: "ticks", "aria-labelledby": id }, ...items.map((entry) => row(name, entry))),
    );
  }

  async function refresh() {
    /** @type {List[]} */
    const lists = (await runTool("lists.all")).data.lists;
    const full = lists.filter(({ items }) => items.length > 0);
    known.replaceChildren(...lists.map(({ list: name }) => h("option", { value: name })));
    box.replaceChildren(
      ...(full.length > 0
        ? full.map(listBlock)
        : [h("p", { class: "note" }, t("nothing_on_lists"))]),
    );
  }

  return { element: card("lists-title", "list", t("lists"), box, form, known), refresh };
}
