/**
 * Documents whose folder or disk is not there: they go on answering until it is back, or until somebody says
 * that it will not come back.
 */

import { forgetFolder } from "/static/api.js";
import { problemBox } from "/static/documents/upload.js";
import { announce, byId, confirmed, h, icon } from "/static/dom.js";
import { t } from "/static/strings.js";

/** @typedef {import("/static/api.js").DocumentInfo} DocumentInfo */

/**
 * The folders that hold all documents that are away, none of them inside another, and how many each holds.
 *
 * @param {DocumentInfo[]} documents @returns {Map<string, number>}
 */
export function awayFolders(documents) {
  const holders = documents
    .filter((info) => info.away)
    .map((info) => info.path.slice(0, info.path.lastIndexOf("/")) || "/");
  const tops = [...new Set(holders)]
    .sort((a, b) => a.length - b.length)
    .reduce((kept, one) => (kept.some((top) => isIn(one, top)) ? kept : [...kept, one]), []);
  return new Map(tops.map((top) => [top, holders.filter((one) => isIn(one, top)).length]));
}

/** @param {string} folder @param {string} top */
function isIn(folder, top) {
  return folder === top || folder.startsWith(top === "/" ? top : `${top}/`);
}

/**
 * @param {HTMLElement} box in which they are told
 * @param {() => Promise<void>} changed after some were forgotten
 * @returns {(documents: DocumentInfo[]) => void}
 */
export function createAway(box, changed) {
  /** @param {string} folder @param {number} count */
  async function forget(folder, count) {
    if (!(await confirmed(t("forget_away_question", { folder, count }), t("forget_away")))) return;
    try {
      await forgetFolder(folder);
      announce(t("file_removed"));
      await changed();
      byId("documents-title").focus();
    } catch (error) {
      box.append(problemBox(error));
    }
  }
  return (documents) => {
    box.replaceChildren(
      ...[...awayFolders(documents)].map(([folder, count]) => {
        const button = h("button", { type: "button", class: "secondary" }, t("forget_away"));
        button.addEventListener("click", () => forget(folder, count));
        const words = h("p", {}, t("documents_away", { folder, count }));
        return h("div", { class: "problem" }, icon("warning"), h("div", {}, words, button));
      }),
    );
  };
}
