/**
 * The panel of conversations: search, open, rename, delete and take back.
 */

import {
  deleteConversation,
  listConversations,
  renameConversation,
  restoreConversation,
} from "/static/api.js";
import { byId, h, icon } from "/static/dom.js";
import { t } from "/static/strings.js";
import { moment } from "/static/text.js";
import { toast } from "/static/toast.js";

/** @typedef {import("/static/api.js").ConversationInfo} ConversationInfo */

const TYPING_PAUSE_MS = 200;

export function startConversations() {
  const panel = byId("conversations");
  const search = byId("conversation-search");
  const list = byId("conversation-list");
  let typing = 0;
  let asked = 0;

  async function refresh() {
    const mine = ++asked;
    const found = await listConversations(search.value.trim());
    if (mine !== asked) return; // somebody typed on meanwhile
    list.replaceChildren(...found.map(row));
    byId("no-conversations").hidden = found.length > 0;
  }

  /** @param {unknown} error */
  const showProblem = (error) => toast(/** @type {Error} */ (error).message);
  const show = () => refresh().catch(showProblem);

  /** @param {ConversationInfo} info */
  function row(info) {
    const name = info.title || info.first;
    const link = h(
      "a",
      { href: `#/chat/${encodeURIComponent(info.conversation)}`, class: "row-name" },
      name,
    );
    link.addEventListener("click", () => panel.close());
    const about = `${moment(new Date(info.last_at))} · ${t("turns", { count: info.turns })}`;
    const texts = h(
      "div",
      { class: "row-text" },
      link,
      h("p", { class: "note" }, about),
      info.excerpt && h("p", { class: "note excerpt" }, info.excerpt),
    );
    return h(
      "li",
      {},
      texts,
      iconButton("edit", t("rename_it", { name }), () => rename(info, texts)),
      iconButton("remove", t("delete_it", { name }), () => remove(info, name)),
    );
  }

  /** @param {ConversationInfo} info @param {HTMLElement} texts whose place the field takes */
  function rename(info, texts) {
    const field = /** @type {HTMLInputElement} */ (
      h("input", { class: "field", maxlength: 120, "aria-label": t("title") })
    );
    field.value = info.title || info.first.slice(0, 120);
    const form = h("form", { class: "row-text" }, field);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      renameConversation(info.conversation, field.value).then(show, showProblem);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // the dialog stays
      form.replaceWith(texts);
    });
    texts.replaceWith(form);
    field.select();
  }

  /** @param {ConversationInfo} info @param {string} name */
  async function remove(info, name) {
    try {
      await deleteConversation(info.conversation);
      toast(t("deleted_it", { name }), () =>
        restoreConversation(info.conversation).then(show, showProblem),
      );
      await refresh();
    } catch (error) {
      showProblem(error);
    }
    search.focus();
  }

  function open() {
    if (panel.open) return;
    search.value = "";
    panel.show();
    search.focus();
    show();
  }

  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(show, TYPING_PAUSE_MS);
  });
  panel.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && !event.defaultPrevented) {
      event.preventDefault();
      panel.close();
    }
  });
  panel.addEventListener("close", () => {
    if (!byId("view-chat").hidden) byId("open-conversations").focus();
  });
  byId("open-conversations").addEventListener("click", open);
  addEventListener("hashchange", () => panel.close());
  byId("conversations-close").addEventListener("click", () => panel.close());
  return { open, changed: () => panel.open && show() };
}

/** @param {string} picture @param {string} label @param {() => void} click */
function iconButton(picture, label, click) {
  return h(
    "button",
    { type: "button", class: "icon-button", "aria-label": label, on: { click } },
    icon(picture),
  );
}
