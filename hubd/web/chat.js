/**
 * The conversation: the question box, the turns, and the welcome before the first of them.
 */

import { HubError, ask, runTool } from "/static/api.js";
import { createAnswer } from "/static/answer.js";
import { byId, announce } from "/static/dom.js";
import { engineWords, onEngine } from "/static/engine.js";
import { forgetHistory, loadHistory, saveHistory } from "/static/history.js";

/** @typedef {import("/static/citations.js").OpenSource} OpenSource */

const NEAR_THE_END_PX = 160;
const QUESTION_GAP_PX = 16;

/** @param {{openSource: OpenSource, emptied: () => void}} hooks `emptied`: the welcome is shown again */
export function startChat({ openSource, emptied }) {
  const form = byId("composer");
  const box = byId("question");
  const send = byId("send");
  const log = byId("turns");
  const welcome = byId("welcome");
  let history = loadHistory();
  /** @type {AbortController | null} */
  let running = null;

  const page = document.scrollingElement ?? document.documentElement;
  let following = true;
  // Whoever scrolls up to read is left in peace; the page follows the answer only at its end.
  addEventListener(
    "scroll",
    () => {
      following = page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_THE_END_PX;
    },
    { passive: true },
  );
  function grown() {
    if (!following) return;
    const question = log.lastElementChild?.getBoundingClientRect().top ?? 0;
    const head = byId("head").getBoundingClientRect().bottom;
    // A long answer is read from its beginning: the page never scrolls its question away.
    page.scrollTop = Math.min(
      page.scrollHeight,
      page.scrollTop + question - head - QUESTION_GAP_PX,
    );
  }

  /** @param {import("/static/api.js").ToolCall} call @returns {Promise<string>} what came of it */
  async function undo(call) {
    try {
      return (await runTool(call.tool, call.arguments)).text;
    } catch (error) {
      if (error instanceof HubError) return error.message;
      throw error;
    }
  }

  /** @param {string} question */
  function addTurn(question) {
    welcome.hidden = true;
    const answer = createAnswer(question, { openSource, grown, undo });
    log.append(answer.element);
    return answer;
  }

  /** @param {boolean} busy */
  function setBusy(busy) {
    document.body.classList.toggle("answering", busy);
    send.setAttribute("aria-label", busy ? "Stop" : "Send");
    log.setAttribute("aria-busy", String(busy));
  }

  /** @param {string} question */
  async function submit(question) {
    stop();
    const controller = new AbortController();
    running = controller;
    setBusy(true);
    following = true;
    const answer = addTurn(question);
    try {
      await follow(question, answer, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) answer.stopped();
      else answer.fail(asHubError(error), () => retry(answer.element, question));
    } finally {
      if (running === controller) {
        running = null;
        setBusy(false);
      }
    }
  }

  /**
   * @param {string} question @param {ReturnType<typeof createAnswer>} answer @param {AbortSignal} signal
   */
  async function follow(question, answer, signal) {
    let waiting = "Looking in your documents…";
    let spoken = false;
    const showWait = () => spoken || answer.setWorking(engineWords() ?? waiting);
    const unsubscribe = onEngine(showWait);
    showWait();
    /** @type {import("/static/api.js").Passage[]} */
    let passages = [];
    try {
      for await (const { event, data } of ask(question, history.conversation, signal)) {
        if (event === "start") {
          history.conversation = data.conversation;
        } else if (event === "passages") {
          passages = data.passages;
          answer.setPassages(passages);
          waiting = "Reading what I found…";
          showWait();
        } else if (event === "token") {
          spoken = true;
          answer.addToken(data.text);
        } else if (event === "citation") {
          answer.addCitation(data.citation);
        } else if (event === "action") {
          spoken = true;
          answer.addAction(data.action);
        } else if (event === "error") {
          throw new HubError(data.code, data.message, data.hint);
        } else if (event === "done") {
          answer.finish(data);
          history.turns.push({ question, done: data, passages });
        }
      }
    } finally {
      unsubscribe();
      saveHistory(history);
    }
  }

  /** @param {HTMLElement} failed @param {string} question */
  function retry(failed, question) {
    failed.remove();
    submit(question);
    box.focus();
  }

  /** @returns {boolean} whether there was something to stop */
  function stop() {
    if (!running) return false;
    running.abort();
    return true;
  }

  function newConversation() {
    stop();
    forgetHistory();
    history = { conversation: null, turns: [] };
    log.replaceChildren();
    welcome.hidden = false;
    announce("New conversation");
    emptied();
    box.focus();
  }

  function fitBox() {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }

  function submitBox() {
    const question = box.value.trim();
    if (!question) return;
    box.value = "";
    fitBox();
    submit(question);
  }

  box.addEventListener("input", fitBox);
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    // While an input method composes (Chinese, Japanese), Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submitBox();
  });
  form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (running) stop();
    else submitBox();
    box.focus();
  });
  byId("new-conversation").addEventListener("click", newConversation);

  for (const { question, done, passages } of history.turns) {
    const answer = addTurn(question);
    answer.setPassages(passages);
    answer.finish(done, { silent: true });
  }
  return { submit, stop, newConversation };
}

/** @param {unknown} error @returns {{message: string, hint: string}} */
function asHubError(error) {
  if (error instanceof HubError) return error;
  console.error(error);
  return new HubError(
    "page",
    "This page did not understand the reply.",
    "Reload the page and ask again.",
  );
}
