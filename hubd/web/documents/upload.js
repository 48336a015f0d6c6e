/**
 * Sending files: how far it is, and what became of each.
 */

import { uploadDocuments } from "/static/api.js";
import { announce, byId, h, icon } from "/static/dom.js";
import { reasonInWords } from "/static/reasons.js";
import { t } from "/static/strings.js";

/** @typedef {import("/static/api.js").FileReport} FileReport */

const FILES_AT_ONCE = 100;
const OUTCOMES = new Set(["added", "replaced", "unchanged", "removed", "skipped"]);

/** @param {FileReport} report @returns {string} */
function outcome({ action, reason }) {
  const words = OUTCOMES.has(action) ? t(`file_${action}`) : action;
  return reason ? t("with_reason", { words, reason: reasonInWords(reason) }) : words;
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
 * @returns {(files: File[]) => Promise<void>} files that come while others are sent wait for these
 */
export function createUpload(box, ended) {
  /** @type {File[]} */
  const waiting = [];
  let busy = false;

  /** @param {File[]} files @param {number} before files sent already */
  async function send(files, before) {
    const words = h("p", { id: "upload-words" }, t("sending", { count: files.length + waiting.length }));
    const bar = h("progress", { "aria-labelledby": "upload-words" });
    box.replaceChildren(words, bar);
    for await (const { event, data } of uploadDocuments(files)) {
      if (event === "progress") {
        words.textContent = t("reading", { name: data.document });
        const within = data.chunks_total > 0 ? data.chunks_done / data.chunks_total : 0;
        bar.setAttribute("max", String(before + files.length + waiting.length));
        bar.setAttribute("value", String(before + data.files_done + within));
      } else if (event === "done") {
        return data.files;
      } else if (event === "error") {
        throw data;
      }
    }
    return [];
  }

  /** What became of the files is read once, and stands above the list meanwhile. */
  function closeButton() {
    function close() {
      box.replaceChildren();
      byId("documents-title").focus();
    }
    return h("button", { type: "button", class: "secondary", on: { click: close } }, t("close"));
  }

  return async function upload(files) {
    waiting.push(...files);
    if (busy || waiting.length === 0) return;
    busy = true;
    /** @type {FileReport[]} */
    const reports = [];
    /** @type {Node[]} */
    const problems = [];
    try {
      for (let before = 0; waiting.length > 0; ) {
        const batch = waiting.splice(0, FILES_AT_ONCE);
        reports.push(...(await send(batch, before)));
        before += batch.length;
      }
    } catch (error) {
      waiting.length = 0;
      problems.push(problemBox(error));
    } finally {
      busy = false;
    }
    const list = h("ul", { class: "outcomes", "aria-label": t("outcomes") });
    list.append(...reports.map(outcomeRow));
    box.replaceChildren(...problems, ...(reports.length > 0 ? [list] : []), closeButton());
    announce(reports.map((report) => `${report.document}: ${outcome(report)}`).join(". "));
    ended();
  };
}
