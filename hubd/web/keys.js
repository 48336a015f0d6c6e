/**
 * Shortcuts. Single letters count only outside text fields; the list on `?` is made from this table.
 */

import { byId, h } from "/static/dom.js";
import { t } from "/static/strings.js";
import { go } from "/static/views.js";

/** @param {EventTarget | null} target @returns {boolean} */
function typing(target) {
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
}

/**
 * @param {{stop: () => boolean, newConversation: () => void, openConversations: () => void}} actions
 */
export function startKeys({ stop, newConversation, openConversations }) {
  const help = byId("shortcuts");
  const source = byId("source");
  const box = byId("question");
  const inChat = (/** @type {() => void} */ work) => () => {
    if (!byId("view-chat").hidden) return work();
    addEventListener("hashchange", work, { once: true }); // after the view's own listener
    go("chat");
  };
  /** @type {[string, string, () => void][]} */
  const table = [
    ["/", "key_question", inChat(() => box.focus())],
    ["n", "new_conversation", inChat(newConversation)],
    ["s", "search_conversations", inChat(openConversations)],
    ["c", "chat", () => go("chat")],
    ["h", "home", () => go("home")],
    ["d", "documents", () => go("documents")],
    ["u", "status", () => go("status")],
    ["?", "key_list", () => help.showModal()],
  ];
  /** @type {[string, string][]} */
  const fixed = [
    ["Enter", "key_send"],
    ["Shift + Enter", "key_line"],
    ["Esc", "key_stop"],
  ];
  const rows = [...fixed, ...table].map(([key, words]) =>
    h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, t(words))),
  );
  byId("shortcut-list").replaceChildren(...rows);
  byId("shortcuts-close").addEventListener("click", () => help.close());
  byId("open-shortcuts").addEventListener("click", () => help.showModal());

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog:modal"))
      return;
    if (event.key === "Escape") {
      if (!stop() && source.open) source.close();
      return;
    }
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = table.find(([key]) => key === event.key);
    if (!row) return;
    event.preventDefault();
    row[2]();
  });
}
