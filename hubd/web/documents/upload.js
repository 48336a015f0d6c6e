/**
 * Sending files: how far it is, and what became of each.
 */

import { uploadDocuments } from "/static/api.js";
import { announce, h, icon } from "/static/dom.js";
import { t } from "/static/strings.js";

/** @typedef {import("/static/api.js").FileReport} FileReport */

const FILES_AT_ONCE = 100;
const OUTCOMES = new Set(["added", "replaced", "unchanged", "removed", "skipped"]);

/** @param {FileReport} report @returns {string} */
function outcome({ action, reason }) {
  const words = OUTCOMES.has(action) ? t(`file_${action}`) : action;
  return reason ? t("with_reason", { words, reason }) : words;
}

/** @param {FileReport} report */
function outcomeRow(report) {
  const bad = report.action === "skipped";
  return h(
    "li",
    { class: bad ? "skipped" : "ready" },
    icon(bad ? "warning" : "done"),
    h("div", {}, h("span", {}, report.document), h("p", { class: "note" }, outcome(report))),
  );
}

/** @param {unknown} error with the hub's words */
export function problemBox(error) {
  const { message, hint } = /** @type {import("/static/api.js").HubError} */ (error);
  return h(
    "div",
    { class: "problem", role: "alert" },
    icon("warning"),
    h("div", {}, h("p", {}, message), hint ? h("p", { class: "note" }, hint) : null),
  );
}

/**
 * @param {HTMLElement} box in which it is shown
 * @param {() => void} ended
 * @returns {(files: File[]) => Promise<void>}
 */
export function createUpload(box, ended) {
  let busy = false;

  /** @param {File[]} files @param {number} before files sent already @param {number} total */
  async function send(files, before, total) {
    const words = h("p", { id: "upload-words" }, t("sending", { count: total }));
    const bar = h("progress", { "aria-labelledby": "upload-words", max: total });
    box.replaceChildren(words, bar);
    for await (const { event, data } of uploadDocuments(files)) {
      if (event === "progress") {
        words.textContent = t("reading", { name: data.document });
        const within = data.chunks_total > 0 ? data.chunks_done / data.chunks_total : 0;
        bar.setAttribute("value", String(before + data.files_done + within));
      } else if (event === "done") {
        return data.files;
      } else if (event === "error") {
        throw data;
      }
    }
    return [];
  }

  return async function upload(files) {
    if (busy || files.length === 0) return;
    busy = true;
    /** @type {FileReport[]} */
    const reports = [];
    /** @type {Node[]} */
    const problems = [];
    try {
      for (let start = 0; start < files.length; start += FILES_AT_ONCE)
        reports.push(
          ...(await send(files.slice(start, start + FILES_AT_ONCE), start, files.length)),
        );
    } catch (error) {
      problems.push(problemBox(error));
    } finally {
      busy = false;
    }
    const list = h("ul", { class: "outcomes", "aria-label": t("outcomes") });
    list.append(...reports.map(outcomeRow));
    box.replaceChildren(...problems, ...(reports.length > 0 ? [list] : []));
    announce(reports.map((report) => `${report.document}: ${outcome(report)}`).join(". "));
    ended();
  };
}
