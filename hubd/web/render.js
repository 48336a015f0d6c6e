/**
 * Markdown from the model or from documents → sanitised nodes. The text is data: two layers keep it so,
 * marked renders raw HTML as text, and DOMPurify lets only a short list of elements through.
 */

import DOMPurify from "/static/vendor/dompurify-3.4.18.js";
import { Marked } from "/static/vendor/marked-18.2.1.js";
import { utf16Index } from "/static/text.js";

/** @param {string} text @returns {string} */
const escapeHtml = (text) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const markdown = new Marked({
  gfm: true,
  renderer: {
    html: (/** @type {{text: string}} */ { text }) => escapeHtml(text),
    // Loading a picture would tell its host who reads what and when.
    image: (/** @type {{text: string}} */ { text }) => escapeHtml(text),
  },
});

const ALLOWED = {
  ALLOWED_TAGS: [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
  ],
  ALLOWED_ATTR: ["href", "start"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto|tel):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

DOMPurify.addHook("afterSanitizeAttributes", (/** @type {Element} */ node) => {
  if (node.nodeName !== "A" || !node.hasAttribute("href")) return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
  node.setAttribute("title", /** @type {string} */ (node.getAttribute("href"))); // where it really goes
});

const TABLE = /^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*\|/m;

/** @param {string} text Markdown @returns {DocumentFragment} */
export function renderMarkdown(text) {
  // A quoted row of a table comes without its table: its cells are then set apart by dots.
  const shown = TABLE.test(text) ? text : text.replaceAll(" | ", " · ");
  return DOMPurify.sanitize(/** @type {string} */ (markdown.parse(shown)), ALLOWED);
}

// Markers travel through Markdown as punctuation that no keyboard has, so that they disturb no emphasis:
// CommonMark lets ** close after punctuation, but not before a letter.
const OPEN = "\u2983";
const CLOSE = "\u2984";

/**
 * Where in the Markdown a marker belongs: the sentence's end, before line ends and table borders.
 *
 * @param {string} text @param {number} offset in code points @returns {number} in UTF-16 units
 */
function markerIndex(text, offset) {
  let index = utf16Index(text, offset);
  while (index > 0 && /[\s|]/.test(text[index - 1])) index -= 1;
  return index;
}

/**
 * An answer with a node of the caller's at the end of every supported sentence.
 *
 * @param {string} answer Markdown
 * @param {{offset: number, make: () => Node}[]} markers offsets in code points into `answer`
 * @returns {DocumentFragment}
 */
export function renderAnswer(answer, markers) {
  let text = answer.replaceAll(OPEN, "{").replaceAll(CLOSE, "}");
  const placed = markers
    .map(({ offset }, i) => ({ index: markerIndex(text, offset), i }))
    .sort((a, b) => b.index - a.index || b.i - a.i);
  for (const { index, i } of placed) {
    text = text.slice(0, index) + OPEN + i + CLOSE + text.slice(index);
  }
  const fragment = renderMarkdown(text);
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const holders = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.data.includes(OPEN)) holders.push(node);
  }
  for (const holder of holders) {
    // Runs of markers, each with the word before it: a marker alone on the next line helps nobody.
    const parts = holder.data.split(/(\S{0,24}(?:\u2983\d+\u2984)+)/);
    holder.replaceWith(
      ...parts.map((part) => (part.includes(OPEN) ? markedWord(part, markers) : part)),
    );
  }
  return fragment;
}

/**
 * An answer as it is said: its words without the marks of Markdown.
 *
 * @param {string} answer Markdown @returns {string}
 */
export const plainText = (answer) => renderMarkdown(answer).textContent?.trim() ?? "";

/**
 * @param {string} part a word with markers after it @param {{make: () => Node}[]} markers
 * @returns {HTMLElement}
 */
function markedWord(part, markers) {
  const span = document.createElement("span");
  span.className = "unbroken";
  const [word, ...numbers] = part
    .split(/\u2983(\d+)\u2984/)
    .filter((piece, i) => i === 0 || piece !== "");
  span.append(word, ...numbers.map((number) => markers[Number(number)].make()));
  return span;
}

/**
 * The end of the part that later text cannot change: the last blank line outside a code fence.
 *
 * @param {string} text @returns {number}
 */
export function settledLength(text) {
  let settled = 0;
  let fenced = false;
  let position = 0;
  for (const line of text.split("\n")) {
    if (/^ {0,3}(```|~~~)/.test(line)) fenced = !fenced;
    position += line.length + 1;
    if (line.trim() === "" && !fenced && position <= text.length) settled = position;
  }
  return settled;
}

/**
 * Shows Markdown while it grows: settled blocks stay as they are, only the last one is rendered again,
 * at most once per frame.
 *
 * @param {HTMLElement} element
 * @param {() => void} afterPaint
 */
export function createStream(element, afterPaint) {
  const settledPart = document.createElement("div");
  const growingPart = document.createElement("div");
  element.replaceChildren(settledPart, growingPart);
  let pending = "";
  let frame = 0;

  function paint() {
    frame = 0;
    const length = settledLength(pending);
    if (length > 0) {
      settledPart.append(renderMarkdown(pending.slice(0, length)));
      pending = pending.slice(length);
    }
    growingPart.replaceChildren(renderMarkdown(pending));
    afterPaint();
  }

  return {
    /** @param {string} text */
    append(text) {
      pending += text;
      frame ||= requestAnimationFrame(paint);
    },
    stop() {
      cancelAnimationFrame(frame);
      frame = 0;
    },
  };
}
