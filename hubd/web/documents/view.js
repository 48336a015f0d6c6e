/**
 * The documents view: what the hub has read, what it is reading, what it could not read and why; adding,
 * looking at, and removing.
 */

import { listDocuments, removeDocument } from "/static/api.js";
import { createAway } from "/static/documents/away.js";
import { chosenFiles } from "/static/documents/files.js";
import { createUpload, problemBox } from "/static/documents/upload.js";
import { announce, byId, confirmed, h, icon } from "/static/dom.js";
import { reasonInWords } from "/static/reasons.js";
import { t } from "/static/strings.js";
import { fileSize } from "/static/text.js";

/** @typedef {import("/static/api.js").DocumentInfo} DocumentInfo */

const MOST_ROWS = 300;
const UNDER_WAY = new Set(["queued", "reading", "embedding"]);
const EVERYTHING = "*";

/** @param {DocumentInfo} info @returns {string} */
function about(info) {
  const reason = reasonInWords(info.reason);
  if (info.status === "skipped") return t("not_read", { reason });
  if (UNDER_WAY.has(info.status))
    return t(info.total ? `is_${info.status}_of` : `is_${info.status}`, {
      done: info.done ?? 0,
      total: info.total ?? 0,
    });
  const pages = info.pages > 1 ? t("pages", { count: info.pages }) : "";
  return [pages, fileSize(info.bytes), reason].filter(Boolean).join(" · ");
}

/**
 * @param {DocumentInfo} info
 * @param {{preview: (info: DocumentInfo, opener: HTMLElement) => void,
 *          remove: (name: string) => void}} actions
 */
function documentRow(info, { preview, remove }) {
  const readable = info.chunks > 0;
  const name = readable
    ? h("button", { type: "button", class: "link row-name" }, info.document)
    : h("span", { class: "row-name" }, info.document);
  if (readable) name.addEventListener("click", () => preview(info, name));
  const busy = UNDER_WAY.has(info.status);
  return h(
    "li",
    { class: info.status },
    icon(info.status === "skipped" ? "warning" : busy ? "again" : "document"),
    h(
      "div",
      { class: "row-text" },
      name,
      h("p", { class: "note" }, about(info)),
      info.total &&
        busy &&
        h("progress", { max: info.total, value: info.done ?? 0, "aria-label": info.document }),
    ),
    h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-label": t("remove_it", { name: info.document }),
        on: { click: () => remove(info.document) },
      },
      icon("remove"),
    ),
  );
}

/** Skipped ones first, then those under way, then by name. @param {DocumentInfo} a @param {DocumentInfo} b */
function inOrder(a, b) {
  const rank = (/** @type {DocumentInfo} */ info) =>
    info.status === "skipped" ? 0 : UNDER_WAY.has(info.status) ? 1 : 2;
  return rank(a) - rank(b) || a.document.localeCompare(b.document);
}

/**
 * @param {{events: import("/static/events.js").Events,
 *          openSource: import("/static/citations.js").OpenSource}} hub
 * @returns {import("/static/views.js").View & {upload: (files: File[]) => Promise<void>}}
 */
export function createDocuments({ events, openSource }) {
  const { files, folder, filter, collections, progress, list, count, problem, away } = build();
  const showAway = createAway(away, refresh);
  let visible = false;
  let asked = 0;

  async function refresh() {
    const mine = ++asked;
    try {
      const documents = await listDocuments();
      if (mine !== asked) return;
      problem.replaceChildren();
      show(documents);
    } catch (error) {
      problem.replaceChildren(problemBox(error));
    }
  }
  const news = () => visible && refresh();

  /** @param {DocumentInfo[]} documents */
  function show(documents) {
    showAway(documents);
    const names = [...new Set(documents.map((info) => info.collection ?? ""))].sort();
    const chosen = collections.value || EVERYTHING;
    collections.hidden = names.length < 2;
    collections.replaceChildren(
      h("option", { value: EVERYTHING }, t("all_collections")),
      ...names.map((name) => h("option", { value: name || "-" }, name || t("no_collection"))),
    );
    collections.value = names.some((name) => (name || "-") === chosen) ? chosen : EVERYTHING;
    const wanted = filter.value.trim().toLocaleLowerCase();
    const found = documents
      .filter((info) => info.document.toLocaleLowerCase().includes(wanted))
      .filter(
        (info) =>
          collections.value === EVERYTHING || (info.collection || "-") === collections.value,
      )
      .sort(inOrder);
    filter.hidden = documents.length < 8;
    count.textContent =
      documents.length > 0
        ? t("documents_count", { count: documents.length, found: found.length })
        : t("no_documents");
    const rows = found.slice(0, MOST_ROWS).map((info) => documentRow(info, { preview, remove }));
    list.replaceChildren(...rows);
  }

  /** @param {DocumentInfo} info @param {HTMLElement} opener */
  function preview(info, opener) {
    const page = info.pages > 1 || info.type === "pdf" ? 1 : null;
    const whole = { document: info.document, page, start: 0, end: 0, text: "", heading: "" };
    openSource({ ...whole, score: 0 }, opener);
  }

  /** @param {string} name */
  async function remove(name) {
    if (!(await confirmed(t("remove_question", { name }), t("remove")))) return;
    try {
      await removeDocument(name);
      announce(t("file_removed"));
    } catch (error) {
      progress.replaceChildren(problemBox(error));
    }
    await refresh();
    byId("documents-title").focus();
  }

  const upload = createUpload(progress, refresh);
  for (const chooser of [files, folder])
    chooser.addEventListener("change", () => {
      upload(chosenFiles(chooser.files));
      chooser.value = "";
    });
  filter.addEventListener("input", refresh);
  collections.addEventListener("change", refresh);
  events.on("documents", news);
  events.on("ingest", news);
  events.onConnected(news);
  return {
    upload,
    shown() {
      visible = true;
      refresh();
    },
    hidden() {
      visible = false;
    },
  };
}

/** The view's parts, in place. @returns {Record<string, any>} */
function build() {
  const files = h("input", { type: "file", id: "file-chooser", multiple: true, hidden: true });
  const folder = h("input", { type: "file", id: "folder-chooser", hidden: true });
  folder.setAttribute("webkitdirectory", "");
  const filter = h("input", {
    type: "search",
    class: "field",
    "aria-label": t("filter"),
    placeholder: t("filter"),
    hidden: true,
  });
  const collections = h("select", { class: "field", "aria-label": t("collection"), hidden: true });
  const progress = h("div", { class: "upload" });
  const problem = h("div");
  const away = h("div");
  const count = h("p", { class: "note", id: "document-count" });
  const list = h("ul", { class: "rows document-list", "aria-label": t("documents") });
  /** @param {string} picture @param {string} key @param {HTMLElement} chooser */
  const add = (picture, key, chooser) =>
    h(
      "button",
      { type: "button", class: "secondary", on: { click: () => chooser.click() } },
      icon(picture),
      t(key),
    );
  byId("view-documents").append(
    h("h1", { id: "documents-title", tabindex: "-1" }, t("documents")),
    h(
      "div",
      { class: "add" },
      icon("upload"),
      h("div", {}, h("p", {}, t("add_words")), h("p", { class: "note" }, t("add_types"))),
      h(
        "div",
        { class: "buttons" },
        add("document", "add_files", files),
        add("folder", "add_folder", folder),
      ),
    ),
    files,
    folder,
    progress,
    problem,
    away,
    h("div", { class: "filters" }, filter, collections),
    count,
    list,
  );
  return { files, folder, filter, collections, progress, list, count, problem, away };
}
