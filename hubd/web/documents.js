/**
 * The documents drawer: what the hub has read, what it could not read and why, adding and removing.
 */

import { listDocuments, removeDocument, uploadDocuments } from "/static/api.js";
import { announce, byId, confirmed, h, icon } from "/static/dom.js";
import { counted } from "/static/text.js";

/**
 * @typedef {import("/static/api.js").DocumentInfo} DocumentInfo
 * @typedef {import("/static/api.js").FileReport} FileReport
 */

const OUTCOMES = new Map([
  ["added", "Added"],
  ["replaced", "Brought up to date"],
  ["unchanged", "Already known"],
  ["removed", "Removed"],
  ["skipped", "Not read"],
]);

/** @param {number} bytes @returns {string} */
function fileSize(bytes) {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** @param {DocumentInfo} info @param {(name: string) => void} remove */
function documentRow(info, remove) {
  const about =
    info.status === "ready"
      ? [info.pages > 1 ? counted(info.pages, "page") : "", fileSize(info.bytes)]
          .filter(Boolean)
          .join(" · ")
      : `Not read: ${info.reason}`;
  const address = `/hub/documents/file?${new URLSearchParams({ document: info.document })}`;
  return h(
    "li",
    { class: info.status },
    icon(info.status === "ready" ? "document" : "warning"),
    h(
      "div",
      {},
      h("a", { href: address, target: "_blank", rel: "noopener" }, info.document),
      h("p", { class: "note" }, about),
    ),
    h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": `Remove ${info.document}`,
        on: { click: () => remove(info.document) },
      },
      icon("remove"),
    ),
  );
}

/** @param {FileReport} report */
function outcomeRow(report) {
  const bad = report.action === "skipped";
  const words = OUTCOMES.get(report.action) ?? report.action;
  return h(
    "li",
    { class: bad ? "skipped" : "ready" },
    icon(bad ? "warning" : "done"),
    h(
      "div",
      {},
      h("span", {}, report.document),
      h("p", { class: "note" }, report.reason ? `${words}: ${report.reason}` : words),
    ),
  );
}

/**
 * @param {{changed: (documents: DocumentInfo[]) => void}} hooks `changed` gets every new list
 */
export function startDocuments({ changed }) {
  const drawer = byId("documents");
  const list = byId("document-list");
  const progress = byId("upload");
  const chooser = byId("file-chooser");
  let busy = false;

  async function refresh() {
    const documents = await listDocuments();
    documents.sort(
      (a, b) =>
        Number(a.status === "ready") - Number(b.status === "ready") ||
        a.document.localeCompare(b.document),
    );
    list.replaceChildren(...documents.map((info) => documentRow(info, remove)));
    byId("no-documents").hidden = documents.length > 0;
    byId("document-count").textContent = documents.length > 0 ? String(documents.length) : "";
    changed(documents);
  }

  /** @param {string} name */
  async function remove(name) {
    const question = `Remove “${name}”? The hub will no longer answer from it.`;
    if (!(await confirmed(question, "Remove"))) return;
    try {
      await removeDocument(name);
      announce(`${name} removed`);
    } catch (error) {
      showProblem(error);
    }
    await refresh().catch(showProblem);
    byId("documents-title").focus();
  }

  /** @param {unknown} error */
  function showProblem(error) {
    const { message, hint } = /** @type {import("/static/api.js").HubError} */ (error);
    progress.replaceChildren(
      h(
        "div",
        { class: "problem", role: "alert" },
        icon("warning"),
        h("div", {}, h("p", {}, message), hint ? h("p", { class: "note" }, hint) : null),
      ),
    );
  }

  /** @param {File[]} files */
  async function upload(files) {
    if (busy || files.length === 0) return;
    busy = true;
    if (!drawer.open) drawer.showModal();
    const words = h("p", { id: "upload-words" }, `Sending ${counted(files.length, "file")}…`);
    const bar = h("progress", { "aria-labelledby": "upload-words", max: 1 });
    progress.replaceChildren(words, bar);
    try {
      for await (const { event, data } of uploadDocuments(files)) {
        if (event === "progress") {
          words.textContent = `Reading ${data.document}…`;
          const within = data.chunks_total > 0 ? data.chunks_done / data.chunks_total : 0;
          bar.setAttribute(
            "value",
            String((data.files_done + within) / Math.max(1, data.files_total)),
          );
        } else if (event === "done") {
          progress.replaceChildren(
            h(
              "ul",
              { class: "outcomes", "aria-label": "What became of the files" },
              ...data.files.map(outcomeRow),
            ),
          );
          announce(
            data.files
              .map(
                (/** @type {FileReport} */ file) =>
                  `${file.document}: ${file.reason || OUTCOMES.get(file.action)}`,
              )
              .join(". "),
          );
        } else if (event === "error") {
          showProblem(data);
        }
      }
    } catch (error) {
      showProblem(error);
    } finally {
      busy = false;
      refresh().catch(showProblem);
    }
  }

  function open() {
    if (drawer.open) return;
    if (!busy) progress.replaceChildren();
    drawer.showModal();
    refresh().catch(showProblem);
  }

  chooser.addEventListener("change", () => {
    upload([...chooser.files]);
    chooser.value = "";
  });
  byId("add-files").addEventListener("click", () => chooser.click());
  byId("open-documents").addEventListener("click", open);
  byId("documents-close").addEventListener("click", () => drawer.close());
  drawer.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    if (event.target === drawer) drawer.close(); // the backdrop
  });
  acceptDrops(upload);
  return { refresh, open };
}

/** Files dropped anywhere on the page are documents. @param {(files: File[]) => void} upload */
function acceptDrops(upload) {
  const veil = byId("drop");
  let depth = 0; // dragenter and dragleave come for every element crossed
  const carriesFiles = (/** @type {DragEvent} */ event) =>
    event.dataTransfer?.types.includes("Files");
  function leave() {
    depth = 0;
    veil.hidden = true;
  }
  addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    depth += 1;
    veil.hidden = false;
  });
  addEventListener("dragleave", () => {
    depth -= 1;
    if (depth <= 0) leave();
  });
  addEventListener("dragover", (event) => {
    if (carriesFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    leave();
    upload([.../** @type {DataTransfer} */ (event.dataTransfer).files]);
  });
}
