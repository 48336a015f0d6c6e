/**
 * The empty page: questions to try, taken from the documents that are there.
 */

import { readPage } from "/static/api.js";
import { byId, h } from "/static/dom.js";
import { spokenName } from "/static/text.js";

/** @typedef {import("/static/api.js").DocumentInfo} DocumentInfo */

const MOST_SUGGESTIONS = 4;
const DULL = /^(contents|table of contents|introduction|overview|notes?|index|appendix)\b/i;

/**
 * A section title from the middle of a page: "## 4. Error codes" → "error codes".
 *
 * @param {string} text @returns {string | null}
 */
export function topicOf(text) {
  const titles = [...text.matchAll(/^#{2,4}\s+(?:\d+[.)]?\d*\.?\s+)?(.{4,40}?)\s*#*$/gm)]
    .map((match) => match[1].replace(/[*_`]/g, "").trim())
    .filter((title) => /^[\p{L}][\p{L}\p{N} ,'’-]+$/u.test(title) && !DULL.test(title));
  if (titles.length === 0) return null;
  const title = titles[Math.floor(titles.length / 2)];
  // "Error codes" reads better in lower case inside a sentence; "WiFi" and "EU rules" do not.
  return /^\p{Lu}\p{Ll}+( |$)/u.test(title) ? title[0].toLowerCase() + title.slice(1) : title;
}

/** @param {DocumentInfo} info @returns {Promise<string>} a question that this document should answer */
async function questionFor(info) {
  const { text } = await readPage(info.document, info.pages > 0 && info.type === "pdf" ? 1 : null);
  const topic = topicOf(text);
  const name = spokenName(info.document);
  return topic ? `What does the ${name} say about ${topic}?` : `What is in the ${name}?`;
}

/** @param {{submit: (question: string) => void}} chat */
export function startWelcome({ submit }) {
  const list = byId("suggestions");
  let shown = "";

  /** @param {DocumentInfo[]} documents */
  async function suggest(documents) {
    const ready = documents.filter((info) => info.status === "ready");
    byId("welcome-empty").hidden = ready.length > 0;
    byId("welcome-ready").hidden = ready.length === 0;
    const names = ready.map((info) => info.document).join("\n");
    if (names === shown || byId("welcome").hidden) return;
    shown = names;
    // Spread over the list, so that a house with ten recipes is not offered four of them.
    const step = Math.max(1, ready.length / MOST_SUGGESTIONS);
    const chosen = Array.from({ length: Math.min(MOST_SUGGESTIONS, ready.length) }, (_, i) => ready[Math.floor(i * step)]);
    const questions = await Promise.all(chosen.map((info) => questionFor(info).catch(() => null)));
    list.replaceChildren(...questions.filter((question) => question !== null).map((question) =>
      h("li", {}, h("button", { type: "button", class: "suggestion", on: { click: () => submit(question) } }, question))));
  }
  return { suggest };
}
