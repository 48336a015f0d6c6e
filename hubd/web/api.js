/**
 * The daemon's HTTP interface as functions (docs/http-api.md). Knows nothing of the page.
 */

import { readEvents } from "/static/sse.js";

/**
 * @typedef {{document: string, page: number | null, start: number, end: number, text: string,
 *            score: number, heading: string}} Passage
 * @typedef {Passage & {answer_start: number, answer_end: number}} Citation
 * @typedef {{tool: string, arguments: Object}} ToolCall
 * @typedef {{tool: string, arguments: Object, text: string, ok: boolean, data: Object,
 *            undo: ToolCall | null}} Action
 * @typedef {{answer: string, citations: Citation[], refused: boolean, actions: Action[],
 *            timings: Object, conversation: string}} Done
 * @typedef {{document: string, path: string, type: string, status: "ready" | "skipped",
 *            reason: string, pages: number, chunks: number, bytes: number}} DocumentInfo
 * @typedef {{document: string, page: number | null, pages: number, text: string, type: string}} Page
 * @typedef {{id: string, name: string, due: string, duration_s: number, left_s: number,
 *            state: "running" | "ringing"}} Timer
 * @typedef {{document: string, path: string, action: string, reason: string, chunks: number}} FileReport
 */

/** What the daemon (or the way to it) says went wrong, with a hint what to do. */
export class HubError extends Error {
  /**
   * @param {string} code @param {string} message @param {string} [hint]
   */
  constructor(code, message, hint = "") {
    super(message);
    this.name = "HubError";
    this.code = code;
    this.hint = hint;
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>} a response with a good status
 * @throws {HubError} with the daemon's own words, or `unreachable`
 */
async function request(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new HubError(
      "unreachable",
      "hubd does not answer.",
      "Is the hub switched on and in the same network?",
    );
  }
  if (response.ok) return response;
  const reply = await response.json().catch(() => ({}));
  const { code, message, hint } = reply.error ?? {};
  throw new HubError(
    code ?? "http",
    message ?? `hubd replied with status ${response.status}.`,
    hint,
  );
}

/** @param {string} path @param {Object} body @returns {Promise<any>} */
async function postJson(path, body) {
  const response = await request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.json();
}

/**
 * The events of a streaming reply with their data parsed, up to and including `done` or `error`.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<{event: string, data: any}>}
 */
async function* parsedEvents(response) {
  if (!response.body) throw new HubError("broken_off", "The reply was empty.");
  try {
    for await (const { event, data } of readEvents(response.body)) {
      yield { event, data: JSON.parse(data) };
      if (event === "done" || event === "error") return;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // fetch's name for a broken connection
  }
  throw new HubError(
    "broken_off",
    "The connection broke off in the middle of the answer.",
    "Ask again in a moment.",
  );
}

/**
 * Ask a question and follow the answer.
 *
 * @param {string} text
 * @param {string | null} conversation
 * @param {AbortSignal} signal aborting it stops the daemon's work too
 */
export async function* ask(text, conversation, signal) {
  const response = await request("/hub/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(
      conversation ? { text, conversation, stream: true } : { text, stream: true },
    ),
    signal,
  });
  yield* parsedEvents(response);
}

/** @returns {Promise<DocumentInfo[]>} */
export const listDocuments = async () => (await request("/hub/documents")).json();

/** @param {string} document @param {number | null} page @returns {Promise<Page>} */
export async function readPage(document, page) {
  const query = new URLSearchParams({ document });
  if (page !== null) query.set("page", String(page));
  return (await request(`/hub/documents/page?${query}`)).json();
}

/** @param {string} document @param {number | null} page @param {string} type @returns {string} */
export function originalAddress(document, page, type) {
  const address = `/hub/documents/file?${new URLSearchParams({ document })}`;
  return type === "pdf" && page !== null ? `${address}#page=${page}` : address;
}

/** @param {string} document @returns {Promise<void>} */
export async function removeDocument(document) {
  await request(`/hub/documents?${new URLSearchParams({ document })}`, { method: "DELETE" });
}

/**
 * Send files and follow their reading: `progress` events, then `done` with a report for each file.
 *
 * @param {Iterable<File>} files
 */
export async function* uploadDocuments(files) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  const response = await request("/hub/documents", {
    method: "POST",
    headers: { Accept: "text/event-stream" },
    body: form,
  });
  yield* parsedEvents(response);
}

/** @param {string} name @param {Object} [parameters] @returns {Promise<{text: string, data: any}>} */
export const runTool = (name, parameters = {}) => postJson(`/hub/tools/${name}`, parameters);
