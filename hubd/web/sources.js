/**
 * The source panel: a page of a document with the cited words highlighted.
 */

import { originalAddress, readPage } from "/static/api.js";
import { byId, h } from "/static/dom.js";
import { hasPicture, pagePicture } from "/static/picture.js";
import { t } from "/static/strings.js";
import { splitAtSpan } from "/static/text.js";

/** @typedef {import("/static/api.js").Passage} Passage */

const wide = matchMedia("(min-width: 64rem)");

/**
 * The page's text with the passage in a <mark>. A page that changed since the answer is searched for it.
 *
 * @param {string} text @param {Passage} passage
 * @returns {{nodes: (Node | string)[], mark: HTMLElement | null}}
 */
export function highlight(text, passage) {
  if (!passage.text) return { nodes: readable(text), mark: null };
  let parts = splitAtSpan(text, passage.start, passage.end);
  if (parts[1] !== passage.text) {
    const found = text.indexOf(passage.text);
    if (found < 0) return { nodes: readable(text), mark: null };
    parts = [text.slice(0, found), passage.text, text.slice(found + passage.text.length)];
  }
  const mark = h("mark", {}, ...readable(parts[1]));
  return { nodes: [...readable(parts[0]), mark, ...readable(parts[2])], mark };
}

/**
 * A document's text without the signs that a reader has no use for: Markdown's own (many documents are
 * Markdown), and the bars between the cells of a table.
 *
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function readable(text) {
  return text
    .replace(/^[ \t]*\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t:|-]*$\n?/gm, "")
    .replace(/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gm, "")
    .replace(/ \| /g, " · ")
    .replace(/\*\*|`/g, "")
    .split(/(^#{1,6} .*$)/m)
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
      if (mine === request)
        text.replaceChildren(h("p", { class: "note" }, /** @type {Error} */ (error).message));
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
    const where = read.page === null ? "" : t("page_of", { page: read.page, pages: read.pages });
    const heading = onCitedPage ? cited.heading.replaceAll(" > ", " › ") : "";
    const names = onCitedPage ? (cited.also_in ?? []).join(", ") : "";
    const also = names && t("also_in", { names });
    place.textContent = [where, heading, also].filter(Boolean).join(" · ");
    original.href = originalAddress(read.document, read.page, read.type);
    const shown = onCitedPage ? cited : null;
    const { nodes, mark } = shown
      ? highlight(read.text, shown)
      : { nodes: readable(read.text), mark: null };
    if (shown?.text && !mark) nodes.unshift(h("p", { class: "note" }, t("document_changed")));
    text.scrollTop = 0;
    if (hasPicture(read.type)) {
      fillWithPicture(read, shown, nodes);
      return;
    }
    text.replaceChildren(...nodes);
    mark?.scrollIntoView({ block: "center" });
  }

  /**
   * The page as it looks; its words are folded away below, and unfold where there is no picture.
   *
   * @param {import("/static/api.js").Page} read @param {Passage | null} shown
   * @param {(Node | string)[]} nodes
   */
  function fillWithPicture(read, shown, nodes) {
    const words = /** @type {HTMLDetailsElement} */ (
      h("details", {}, h("summary", {}, t("page_text")), h("div", {}, ...nodes))
    );
    const { element, ready } = pagePicture(read.document, read.page, shown);
    text.replaceChildren(element, words);
    ready.catch(() => {
      element.remove();
      words.open = true;
    });
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
