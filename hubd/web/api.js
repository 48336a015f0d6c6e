/**
 * The daemon's HTTP interface as functions (docs/http-api.md). Knows nothing of the page.
 */

import { readEvents } from "/static/sse.js";
import { language, t } from "/static/strings.js";

/**
 * @typedef {{document: string, page: number | null, start: number, end: number, text: string,
 *            score: number, heading: string, also_in?: string[],
 *            columns?: string}} Passage
 * @typedef {{model: string, milliseconds: number, places: number[], problem: string}} Reranking
 * @typedef {Passage & {answer_start: number, answer_end: number}} Citation
 * @typedef {{tool: string, arguments: Object}} ToolCall
 * @typedef {{tool: string, arguments: Object, text: string, ok: boolean, data: Object,
 *            undo: ToolCall | null, language?: string}} Action `language`: that of `text`
 * @typedef {{answer: string, citations: Citation[], refused: boolean, actions: Action[],
 *            timings: Object, conversation: string,
 *            asks?: "which" | "confirm" | "missing" | null, prompt?: PromptPart[] | null, left_out?: number}} Done
 * @typedef {{role: string, content: string}} PromptPart a message that the language model read
 * @typedef {{conversation: string, started_at: string, last_at: string, turns: number, first: string,
 *            title: string, excerpt: string}} ConversationInfo
 * @typedef {{conversation: string, title: string,
 *            turns: {at: string, utterance: string, outcome: Done, passages: Passage[], reranking: Reranking | null}[]}} Transcript
 * @typedef {{document: string, path: string, type: string, reason: string, pages: number,
 *            status: "queued" | "reading" | "embedding" | "ready" | "skipped", chunks: number,
 *            bytes: number, away: boolean, collection?: string, done?: number, total?: number}} DocumentInfo
 * @typedef {{document: string, page: number | null, pages: number, text: string, type: string}} Page
 * @typedef {{id: string, name: string, due: string, duration_s: number, left_s: number,
 *            state: "running" | "paused" | "ringing"}} Timer
 * @typedef {{version: string, model: string, engine: {state: string, server: string, away: string}, uptime_s: number,
 *            storage: string, set_aside: string,
 *            reranker: {model: string, state: string, problem: string} | null,
 *            documents: {ready: number, skipped: number},
 *            memory: {hub_mb: number | null, engine_mb: number | null},
 *            speed: {tokens_per_second: number | null, first_token_ms: number | null},
 *            load: {answering: number, waiting: number, prompt_tokens: number,
 *                   cached_tokens: number}}} Status
 * @typedef {{id: string, name: string, person: string, scopes: string[], created_at: string,
 *            used_on: string}} Token
 * @typedef {{number: number, at: string, tool: string, arguments: string, person: string,
 *            provenance: string, outcome: string, text: string}} AuditEntry
 * @typedef {{id: string, name: string, area: string | null, state: string,
 *            attributes: Record<string, any>}} Entity
 * @typedef {{floors: Object[], areas: {id: string, name: string}[], entities: Entity[],
 *            version: number}} Household
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

/** @type {(error: HubError) => void} */
let tellError = () => {};

/** @param {(error: HubError) => void} listener hears of each refusal of the daemon */
export function onHubError(listener) {
  tellError = listener;
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
    throw new HubError("unreachable", t("unreachable"), t("unreachable_hint"));
  }
  if (response.ok) return response;
  if (response.status === 401) location.assign("/pair"); // this device was logged out
  const reply = await response.json().catch(() => ({}));
  const { code, message, hint } = reply.error ?? {};
  const error = new HubError(
    code ?? "http",
    message ?? t("bad_status", { status: response.status }),
    hint,
  );
  tellError(error);
  throw error;
}

/** @param {string} path @param {Object} body @param {Record<string, string>} [headers] @returns {Promise<any>} */
async function postJson(path, body, headers = {}) {
  const response = await request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

/**
 * The events of a streaming reply with their data parsed, up to and including `done` or `error`.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<{event: string, data: any, id: string}>}
 */
async function* parsedEvents(response) {
  if (!response.body) throw new HubError("broken_off", t("empty_reply"));
  try {
    for await (const { event, data, id } of readEvents(response.body)) {
      yield { event, data: JSON.parse(data), id };
      if (event === "done" || event === "error") return;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // fetch's name for a broken connection
  }
  throw new HubError("broken_off", t("broke_off"), t("ask_again_soon"));
}

/**
 * Ask a question and follow the answer, over as many connections as that takes.
 *
 * @param {string} text
 * @param {string | null} conversation
 * @param {AbortSignal} signal aborting it ends the reading; `stopAnswer` ends the work
 */
export async function* ask(text, conversation, signal) {
  const body = conversation ? { text, conversation } : { text };
  const response = await request("/hub/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...body, resumable: true }),
    signal,
  });
  let answer = "";
  let last = 0;
  try {
    for await (const { event, data, id } of parsedEvents(response)) {
      if (event === "answer") answer = data.answer;
      last = Number(id);
      yield { event, data };
    }
  } catch (error) {
    if (!answer || !isLost(error)) throw error;
    yield* followAnswer(answer, last, signal);
  }
}

/**
 * The events of an answer after number `last`; a connection that breaks is made again.
 *
 * @param {string} answer @param {number} last @param {AbortSignal} signal
 */
export async function* followAnswer(answer, last, signal) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await request(`/hub/answers/${answer}?after=${last}`, { signal });
      for await (const { event, data, id } of parsedEvents(response)) {
        last = Number(id);
        attempt = 0;
        yield { event, data };
      }
      return;
    } catch (error) {
      if (!isLost(error) || attempt >= RECONNECT_MS.length) throw error;
      await pause(RECONNECT_MS[attempt], signal);
    }
  }
}

/** The hub lets an answer go on for 30 seconds without a reader. */
const RECONNECT_MS = [300, 700, 1500, 3000, 5000, 8000, 10000];

/** @param {unknown} error */
const isLost = (error) =>
  error instanceof HubError && (error.code === "broken_off" || error.code === "unreachable");

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new DOMException("aborted", "AbortError"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    setTimeout(resolve, ms);
  });
}

/** @param {string} answer @returns {Promise<void>} */
export async function stopAnswer(answer) {
  await request(`/hub/answers/${answer}`, { method: "DELETE" });
}

/** @returns {Promise<{answer: string, conversation: string, text: string}[]>} */
export const runningAnswers = async () => (await request("/hub/answers")).json();

/** @param {string} containing @returns {Promise<ConversationInfo[]>} */
export const listConversations = async (containing) =>
  (await request(`/hub/conversations?${new URLSearchParams({ containing })}`)).json();

/** @param {string} name @param {string} [rest] */
const conversationPath = (name, rest = "") =>
  `/hub/conversations/${encodeURIComponent(name)}${rest}`;

/** @param {string} name @returns {Promise<Transcript>} */
export const readConversation = async (name) => (await request(conversationPath(name))).json();

/** @param {string} name @param {string} title @returns {Promise<void>} */
export async function renameConversation(name, title) {
  await request(conversationPath(name), {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ title }),
  });
}

/** Forget the turns after the first `keep`. @param {string} name @param {number} keep */
export async function shortenConversation(name, keep) {
  await request(conversationPath(name, `/turns?keep=${keep}`), { method: "DELETE" });
}

/** @param {string} name */
export async function deleteConversation(name) {
  await request(conversationPath(name), { method: "DELETE" });
}

/** @param {string} name */
export async function restoreConversation(name) {
  await request(conversationPath(name, "/restore"), { method: "POST" });
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

/** The address of a page as a picture. @param {string} document @param {number | null} page */
export function pictureAddress(document, page) {
  const width = devicePixelRatio > 1 ? "1200" : "800";
  return `/hub/documents/picture?${new URLSearchParams({ document, page: String(page ?? 1), width })}`;
}

/**
 * Where a passage stands on the picture of its page.
 *
 * @param {Passage} passage
 * @returns {Promise<[number, number, number, number][]>} left, top, width and height of each line, as
 *   shares of the picture
 */
export async function readMarks({ document, page, start, end }) {
  const place = { document, page: String(page ?? 1), start: String(start), end: String(end) };
  return (await (await request(`/hub/documents/marks?${new URLSearchParams(place)}`)).json()).marks;
}

/** @param {string} document @returns {Promise<void>} */
export async function removeDocument(document) {
  await request(`/hub/documents?${new URLSearchParams({ document })}`, { method: "DELETE" });
}

/**
 * Forget the documents of a folder whose files are not there.
 *
 * @param {string} folder
 */
export async function forgetFolder(folder) {
  await request(`/hub/documents/folder?${new URLSearchParams({ folder })}`, { method: "DELETE" });
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

/** @returns {Promise<Status>} */
export const readStatus = async () => (await request("/hub/status")).json();

/** Who this device is for the hub. @returns {Promise<{person: string | null, scopes?: string[]}>} */
export const readMe = async () => (await request("/hub/me")).json();

/** @returns {Promise<Token[]>} */
export const listTokens = async () => (await request("/hub/tokens")).json();

/** @param {string} id */
export async function revokeToken(id) {
  await request(`/hub/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
}

/** @returns {Promise<{name: string, role: string}[]>} */
export const listPersons = async () => (await request("/hub/persons")).json();

/** @param {string} person @returns {Promise<{code: string, path: string, valid_s: number}>} */
export const offerPairing = (person) => postJson("/hub/pairing", { person });

/** @returns {Promise<Record<string, any>>} */
export const readSettings = async () => (await request("/hub/settings")).json();

/** @param {number} limit @param {number | null} before @returns {Promise<AuditEntry[]>} */
export async function listAudit(limit, before) {
  const query = new URLSearchParams({ limit: String(limit) });
  if (before !== null) query.set("before", String(before));
  return (await request(`/hub/audit?${query}`)).json();
}

/** @returns {Promise<Household>} */
export const readHome = async () => (await request("/hub/home")).json();

/**
 * @param {string} name @param {Object} [parameters]
 * @param {string} [spoken] the language of the parameters and the reply; else the page's
 * @returns {Promise<{text: string, data: any, undo: ToolCall | null}>}
 */
export const runTool = (name, parameters = {}, spoken = language) =>
  postJson(`/hub/tools/${name}`, parameters, { "Accept-Language": spoken });
