/**
 * Shortcuts. Single letters count only outside text fields; the list on `?` is made from this table.
 */

import { byId, h } from "/static/dom.js";

/** @param {EventTarget | null} target @returns {boolean} */
function typing(target) {
  return target instanceof Element && target.matches("input, textarea, select, [contenteditable]");
}

/**
 * @param {{stop: () => boolean, newConversation: () => void, openDocuments: () => void}} actions
 */
export function startKeys({ stop, newConversation, openDocuments }) {
  const help = byId("shortcuts");
  const source = byId("source");
  const box = byId("question");
  /** @type {[string, string, () => void][]} */
  const table = [
    ["/", "Write a question", () => box.focus()],
    ["n", "New conversation", newConversation],
    ["d", "Documents", openDocuments],
    ["?", "This list", () => help.showModal()],
  ];
  /** @type {[string, string][]} */
  const fixed = [
    ["Enter", "Send the question"],
    ["Shift + Enter", "New line"],
    ["Esc", "Stop the answer, close a panel"],
  ];
  const rows = [...fixed, ...table].map(([key, words]) =>
    h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)),
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
