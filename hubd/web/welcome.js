/**
 * The empty page: questions to try, taken from the documents that are there.
 */

import { readPage } from "/static/api.js";
import { byId, h } from "/static/dom.js";
import { t } from "/static/strings.js";
import { spokenName } from "/static/text.js";

/** @typedef {import("/static/api.js").DocumentInfo} DocumentInfo */

const MOST_SUGGESTIONS = 4;
const MOST_READ = 12;
const READ_AT_ONCE = 4;
const DULL = /^(contents|table of contents|introduction|overview|about|notes?|index|appendix)\b/i;

/**
 * What families ask, by what must stand in the document for the question to have an answer there.
 *
 * @type {{needs: RegExp, question: (thing: string, match: RegExpMatchArray) => string}[]}
 */
const FAMILIAR = [
  {
    needs: /\b(bins?|waste|rubbish)\b[^]{0,400}\bcollect/i,
    question: () => "On which day is the rubbish collected?",
  },
  {
    needs: /\bwarranty\b[^]*\byears\b/i,
    question: (thing) => `How long does the ${thing.replace(/ warranty$/, "")} warranty last?`,
  },
  {
    needs: /\b(tenancy|lease|landlord)\b[^]*\bnotice\b/i,
    question: () => "How much notice do we have to give before moving out?",
  },
  { needs: /\b(manual|guide)\b[^]*\bclean/i, question: (thing) => `How do I clean the ${thing}?` },
  {
    needs: /\berror code[^]{0,400}?\b([EF]-?\d{1,3})\b/i,
    question: (thing, match) => `What does error code ${match[1]} on the ${thing} mean?`,
  },
  { needs: /\bschool\b[^]{0,2000}\bhalf-term\b/i, question: () => "When is half-term?" },
  { needs: /\bwi-?fi\b[^]{0,600}\bpassword\b/i, question: () => "What is the wifi password?" },
  {
    needs: /\binsurance\b[^]*\bexcess\b/i,
    question: (thing) => `How high is the excess on the ${thing}?`,
  },
];

/** "oven-manual.pdf" → "oven". @param {string} document */
const thingOf = (document) =>
  spokenName(document).replace(/ (user )?(manual|guide|notes|handbook|instructions)$/i, "");

/**
 * A section title of a page: "## 4. Error codes" → "error codes".
 *
 * @param {string} text @returns {string | null}
 */
export function topicOf(text) {
  const title = [...text.matchAll(/^#{2,4} +(?:[\d.]+ +)?(.+?) *#*$|^(.+)\n-{3,} *$/gm)]
    .map((match) => (match[1] ?? match[2]).replace(/[*_`]/g, "").trim())
    .find(
      (words) =>
        /^\p{L}[\p{L}\p{N}’'-]*( [\p{L}\p{N}’'-]+){0,2}$/u.test(words) && !DULL.test(words),
    );
  if (!title) return null;
  // "Error codes" reads better in lower case inside a sentence; "WiFi" does not.
  return /^\p{Lu}\p{Ll}+( |$)/u.test(title) ? title[0].toLowerCase() + title.slice(1) : title;
}

/**
 * A question that this document should be able to answer, best kind first (`rank` 0).
 *
 * @param {string} document @param {string} text
 * @returns {{rank: number, question: string} | null}
 */
export function questionFrom(document, text) {
  for (const [rank, { needs, question }] of FAMILIAR.entries()) {
    const match = text.match(needs);
    if (match) return { rank, question: question(thingOf(document), match) };
  }
  const topic = topicOf(text);
  if (!topic) return null;
  return {
    rank: FAMILIAR.length,
    question: `What do we know about the ${thingOf(document)}: ${topic}?`,
  };
}

/** What the first page of a document could be asked. @param {DocumentInfo} info */
const question = (info) =>
  readPage(info.document, null)
    .then(({ text }) => questionFrom(info.document, text))
    .catch(() => null);

/** @param {DocumentInfo[]} documents @returns {Promise<string[]>} */
async function questionsFor(documents) {
  /** @type {{rank: number, question: string}[]} */
  const found = [];
  // A few at a time: on a slow network four questions are not worth reading every document.
  for (let start = 0; start < MOST_READ && found.length < MOST_SUGGESTIONS; start += READ_AT_ONCE) {
    const part = documents.slice(start, Math.min(start + READ_AT_ONCE, MOST_READ)).map(question);
    found.push(...(await Promise.all(part)).filter((entry) => entry !== null));
  }
  const ranked = found.sort((a, b) => a.rank - b.rank);
  const questions = [...new Set(ranked.map((entry) => entry.question))];
  if (questions.length === 0)
    questions.push(
      ...documents.map((info) => t("what_is_in", { name: spokenName(info.document) })),
    );
  return questions.slice(0, MOST_SUGGESTIONS);
}

/** @param {{submit: (question: string) => void}} chat */
export function startWelcome({ submit }) {
  const list = byId("suggestions");
  let known = "";

  /** @param {DocumentInfo[]} documents */
  async function suggest(documents) {
    const ready = documents.filter((info) => info.status === "ready");
    byId("welcome-empty").hidden = ready.length > 0;
    byId("welcome-ready").hidden = ready.length === 0;
    const names = ready.map((info) => info.document).join("\n");
    if (names === known || byId("welcome").hidden) return;
    known = names;
    const questions = await questionsFor(ready);
    if (names !== known) return; // the documents changed meanwhile
    list.replaceChildren(
      ...questions.map((question) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "suggestion", on: { click: () => submit(question) } },
            question,
          ),
        ),
      ),
    );
  }
  return { suggest };
}
