/**
 * Where an answer comes from, as nodes: numbers in the text, chips under it, and the passages looked at.
 */

import { h } from "/static/dom.js";
import { readable } from "/static/sources.js";
import { t } from "/static/strings.js";
import { sourceName } from "/static/text.js";

/**
 * @typedef {import("/static/api.js").PromptPart} PromptPart
 * @typedef {import("/static/api.js").Passage} Passage
 * @typedef {import("/static/api.js").Reranking} Reranking
 * @typedef {import("/static/api.js").Citation} Citation
 * @typedef {(passage: Passage, opener: HTMLElement) => void} OpenSource
 */

/**
 * Number the sources: one number for each page cited, in the order of the answer.
 *
 * @param {Citation[]} citations
 * @returns {{numbers: number[], sources: Citation[]}} the number of each citation, and the first
 *   citation of each number
 */
export function numberSources(citations) {
  /** @type {Citation[]} */
  const sources = [];
  const numbers = citations.map((citation) => {
    const known = sources.findIndex((source) => sourceName(source) === sourceName(citation));
    return known >= 0 ? known + 1 : sources.push(citation);
  });
  return { numbers, sources };
}

/** @param {Citation[]} citations @param {OpenSource} openSource */
export function markers(citations, openSource) {
  const { numbers } = numberSources(citations);
  const seen = new Set();
  return citations.flatMap((citation, i) => {
    const place = `${numbers[i]}@${citation.answer_end}`;
    if (seen.has(place)) return [];
    seen.add(place);
    const make = () => {
      const label = t("source", { number: numbers[i], name: sourceName(citation) });
      const button = h(
        "button",
        { type: "button", class: "marker", "aria-label": label, title: label },
        String(numbers[i]),
      );
      button.addEventListener("click", () => openSource(citation, button));
      return button;
    };
    return [{ offset: citation.answer_end, make }];
  });
}

/** @param {Citation[]} citations @param {OpenSource} openSource */
export function sourceChips(citations, openSource) {
  const { sources } = numberSources(citations);
  return sources.map((source, i) => {
    const chip = h(
      "button",
      { type: "button", class: "chip", title: source.heading || sourceName(source) },
      h("span", { class: "chip-number", "aria-hidden": "true" }, String(i + 1)),
      h("span", { class: "chip-name" }, sourceName(source), also(source)),
    );
    chip.addEventListener("click", () => openSource(source, chip));
    return h("li", {}, chip);
  });
}

/** @param {Passage[]} passages @param {Reranking | null} reranking @param {string} title @param {OpenSource} openSource @param {PromptPart[] | null} prompt what the model read; null: nothing is known of it @param {number} leftOut earlier messages that it did not read */
export function passageList(passages, reranking, title, openSource, prompt, leftOut) {
  const items = passages.map((passage) => {
    const link = h("button", { type: "button", class: "link" }, sourceName(passage));
    link.addEventListener("click", () => openSource(passage, link));
    const percent = `${Math.round(passage.score * 100)} %`;
    return h(
      "li",
      {},
      h(
        "div",
        { class: "passage-head" },
        link,
        also(passage),
        h("span", { class: "score", title: t("how_well") }, percent),
      ),
      passage.heading &&
        h("div", { class: "heading-path" }, passage.heading.replaceAll(" > ", " › ")),
      h("p", { class: "excerpt" }, ...readable(passage.text)),
    );
  });
  return h(
    "details",
    { class: "why" },
    h("summary", {}, title),
    reranking && h("p", { class: "note" }, rerankingWords(reranking)),
    h("ol", { class: "passages" }, ...items),
    prompt && modelRead(prompt, leftOut),
  );
}

/** Who put the passages in this order. @param {Reranking} reranking */
function rerankingWords({ model, milliseconds, places, problem }) {
  if (problem) return t("not_reranked", { model, problem });
  return t("reranked", { model, milliseconds, place: places[0] ?? 1 });
}

/** The other documents that hold the same words. @param {Passage} passage */
function also(passage) {
  const names = (passage.also_in ?? []).join(", ");
  return names && h("span", { class: "also" }, ` ${t("also_in", { names })}`);
}

/** What the language model had before it, word for word. @param {PromptPart[]} prompt @param {number} leftOut */
function modelRead(prompt, leftOut) {
  if (prompt.length === 0) return h("p", { class: "note" }, t("model_not_asked"));
  const parts = prompt.flatMap(({ role, content }) => [
    h("dt", {}, t(`role_${role}`)),
    h("dd", {}, content),
  ]);
  return h(
    "details",
    { class: "model-read" },
    h("summary", {}, t("model_read")),
    leftOut > 0 && h("p", { class: "note" }, t("left_out", { count: leftOut })),
    h("dl", {}, ...parts),
  );
}
