/**
 * The source panel: a page of a document with the cited words highlighted.
 */

import { originalAddress, readPage } from "/static/api.js";
import { byId, h } from "/static/dom.js";
import { splitAtSpan } from "/static/text.js";

/** @typedef {import("/static/api.js").Passage} Passage */

const wide = matchMedia("(min-width: 64rem)");

/**
 * The page's text with the passage in a <mark>. A page that changed since the answer is searched for it.
 *
 * @param {string} text @param {Passage} passage
 * @param {(text: string) => (Node | string)[]} [present] how text becomes nodes
 * @returns {{nodes: (Node | string)[], mark: HTMLElement | null}}
 */
export function highlight(text, passage, present = (plain) => [plain]) {
  let parts = splitAtSpan(text, passage.start, passage.end);
  if (parts[1] !== passage.text) {
    const found = passage.text ? text.indexOf(passage.text) : -1;
    if (found < 0) return { nodes: present(text), mark: null };
    parts = [text.slice(0, found), passage.text, text.slice(found + passage.text.length)];
  }
  const mark = h("mark", {}, ...present(parts[1]));
  return { nodes: [...present(parts[0]), mark, ...present(parts[2])], mark };
}

/**
 * Text that may be Markdown's source, without the signs that a reader has no use for.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function readable(text) {
  return text
    .split(/(^#{1,6} .*$)/m)
    .map((part) => part.replace(/\*\*|`/g, ""))
    .map((part) => (/^#{1,6} /.test(part) ? h("strong", {}, part.replace(/^#+ /, "")) : part));
}

/** Make the panel work. @returns {(passage: Passage, opener: HTMLElement) => Promise<void>} */
export function startSources() {
  const panel = byId("source");
  const title = byId("source-title");
  const text = byId("source-text");
  const place = byId("source-place");
  const original = byId("source-original");
  const previous = byId("source-previous");
  const next = byId("source-next");
  /** @type {Passage | null} */
  let passage = null;
  let page = 1;
  /** @type {HTMLElement | null} */
  let opener = null;
  let request = 0;

  function show() {
    // Beside the answer where there is room; above it, as a sheet, on a phone.
    if (panel.open) return;
    document.body.classList.add("source-open");
    if (wide.matches) panel.show();
    else panel.showModal();
  }

  /** @param {number | null} number */
  async function load(number) {
    if (!passage) return;
    const mine = ++request;
    text.setAttribute("aria-busy", "true");
    try {
      const read = await readPage(passage.document, number);
      if (mine === request) fill(read);
    } catch (error) {
      if (mine === request) text.replaceChildren(h("p", { class: "note" }, /** @type {Error} */ (error).message));
    } finally {
      if (mine === request) text.removeAttribute("aria-busy");
    }
  }

  /** @param {import("/static/api.js").Page} read */
  function fill(read) {
    const cited = /** @type {Passage} */ (passage);
    const onCitedPage = read.page === cited.page;
    page = read.page ?? 1;
    const paged = read.page !== null && read.pages > 1;
    previous.hidden = next.hidden = !paged;
    previous.disabled = page <= 1;
    next.disabled = page >= read.pages;
    const where = read.page === null ? "" : `Page ${read.page} of ${read.pages}`;
    const heading = onCitedPage ? cited.heading.replaceAll(" > ", " › ") : "";
    place.textContent = [where, heading].filter(Boolean).join(" · ");
    original.href = originalAddress(read.document, read.page, read.type);
    const present = read.type === "md" ? readable : undefined;
    if (!onCitedPage) {
      text.replaceChildren(read.text);
      text.scrollTop = 0;
      return;
    }
    const { nodes, mark } = highlight(read.text, cited, present);
    if (!mark) nodes.unshift(h("p", { class: "note" }, "This document has changed since the answer was given."));
    text.replaceChildren(...nodes);
    mark?.scrollIntoView({ block: "center" });
  }

  previous.addEventListener("click", () => load(page - 1));
  next.addEventListener("click", () => load(page + 1));
  byId("source-close").addEventListener("click", () => panel.close());
  panel.addEventListener("close", () => {
    document.body.classList.remove("source-open");
    if (opener?.isConnected) opener.focus();
  });

  return async function openSource(cited, from) {
    passage = cited;
    opener = from;
    title.textContent = cited.document;
    place.textContent = "";
    original.href = originalAddress(cited.document, cited.page, "");
    show();
    title.focus();
    await load(cited.page);
  };
}
