/**
 * The conversation: the question box, the turns, and the welcome before the first of them. What was said
 * is kept by the hub; the address names the conversation, and other tabs hear of every turn.
 */

import {
  HubError,
  ask,
  followAnswer,
  readConversation,
  runTool,
  runningAnswers,
  shortenConversation,
  stopAnswer,
} from "/static/api.js";
import { createComposer } from "/static/composer.js";
import { byId, announce, h } from "/static/dom.js";
import { engineWords, onEngine } from "/static/engine.js";
import { createFollower } from "/static/scroll.js";
import { t } from "/static/strings.js";

/**
 * @typedef {import("/static/citations.js").OpenSource} OpenSource
 * @typedef {import("/static/answer.js").Answer} Answer
 * @typedef {typeof import("/static/answer.js").createAnswer} CreateAnswer
 * @typedef {AsyncGenerator<{event: string, data: any}>} Events
 */

const MOST_SHOWN = 30;

/** How answers are shown: a third of the page's bytes, fetched while the question is being typed. */
const answers = () => import("/static/answer.js");

/** @param {{openSource: OpenSource, emptied: () => void}} hooks `emptied`: the welcome is shown again */
export function startChat({ openSource, emptied }) {
  const log = byId("turns");
  const welcome = byId("welcome");
  const title = byId("chat-title");
  const follower = createFollower(log);
  /** @type {string | null} */
  let conversation = null;
  let kept = 0; // turns of the conversation that the hub keeps
  /** @type {{controller: AbortController, answer: string | null} | null} */
  let running = null;
  let shown = false; // whether the chat is the view that is looked at

  const composer = createComposer({ submit, stop, typing: answers });

  /** @type {import("/static/actions.js").Undo} */
  async function undo(call, language) {
    try {
      return (await runTool(call.tool, call.arguments, language)).text;
    } catch (error) {
      if (error instanceof HubError) return error.message;
      throw error;
    }
  }

  /** @param {CreateAnswer} createAnswer @param {string} question */
  function addTurn(createAnswer, question) {
    welcome.hidden = true;
    const answer = createAnswer(question, {
      openSource,
      grown: follower.grown,
      undo,
      say: submit,
      again,
    });
    log.append(answer.element);
    const turns = log.querySelectorAll(".turn");
    if (turns.length > MOST_SHOWN) {
      turns[0].remove();
      offerEarlier();
    }
    return answer;
  }

  /** The turns that are not on the page can be fetched. */
  function offerEarlier() {
    if (log.querySelector(".earlier")) return;
    const button = h("button", { type: "button", class: "secondary earlier" }, t("earlier_turns"));
    button.addEventListener("click", () => load(Infinity).catch(showProblem));
    log.prepend(button);
  }

  /** Ask in the conversation that is shown. @param {string} question */
  async function submit(question) {
    stop();
    await carry(question, (signal) => ask(question, conversation, signal));
  }

  /** Ask anew: what was said from this turn on is forgotten. @param {Answer} answer @param {string} question */
  async function again(answer, question) {
    stop();
    while (answer.element.nextElementSibling) answer.element.nextElementSibling.remove();
    answer.element.remove();
    if (answer.number !== null && conversation) {
      kept = answer.number;
      await shortenConversation(conversation, kept).catch(() => {});
    }
    submit(question);
    composer.focus();
  }

  /**
   * A new turn with an answer from the hub, to its end.
   *
   * @param {string} question @param {(signal: AbortSignal) => Events} begin
   */
  async function carry(question, begin) {
    const controller = new AbortController();
    const mine = { controller, answer: null };
    running = mine;
    composer.setBusy(true);
    follower.start();
    const { createAnswer } = await answers();
    const answer = addTurn(createAnswer, question);
    if (kept === 0) title.textContent = question;
    try {
      await follow(answer, begin(controller.signal), mine);
    } catch (error) {
      if (controller.signal.aborted || asHubError(error).code === "cancelled") answer.stopped();
      else answer.fail(asHubError(error));
    } finally {
      if (running === mine) {
        running = null;
        composer.setBusy(false);
      }
    }
  }

  /** @param {Answer} answer @param {Events} events @param {{answer: string | null}} mine */
  async function follow(answer, events, mine) {
    let waiting = t("looking");
    let spoken = false;
    const showWait = () => spoken || answer.setWorking(engineWords() ?? waiting);
    const unsubscribe = onEngine(showWait);
    showWait();
    try {
      for await (const { event, data } of events) {
        if (event === "answer") {
          mine.answer = data.answer;
        } else if (event === "start") {
          conversation = data.conversation;
          if (shown) history.replaceState(null, "", `#/chat/${conversation}`);
        } else if (event === "passages") {
          answer.setPassages(data.passages, data.quote, data.reranking);
          waiting = t("reading_found");
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
          answer.number = kept;
          kept += 1;
          answer.finish(data);
        }
      }
    } finally {
      unsubscribe();
    }
  }

  /** @returns {boolean} whether there was something to stop */
  function stop() {
    if (!running) return false;
    if (running.answer) stopAnswer(running.answer).catch(() => {}); // it may have ended meanwhile
    running.controller.abort();
    return true;
  }

  /** Leave an answer to itself: it is found again in its conversation. */
  function leave() {
    running?.controller.abort();
    running = null;
    composer.setBusy(false);
  }

  function newConversation() {
    stop();
    empty();
    if (shown) history.replaceState(null, "", "#/chat");
    announce(t("new_conversation"));
    composer.focus();
  }

  function empty() {
    conversation = null;
    kept = 0;
    log.replaceChildren();
    title.textContent = t("ask_your_home");
    welcome.hidden = false;
    emptied();
  }

  /** @param {import("/static/api.js").Transcript} transcript */
  function showTitle({ title: given, turns }) {
    title.textContent = given || turns[0]?.utterance || t("ask_your_home");
  }

  /** Show what the hub keeps of the conversation. @param {number} [most] turns */
  async function load(most = MOST_SHOWN) {
    const asked = conversation;
    if (!asked) return;
    const [{ createAnswer }, transcript] = await Promise.all([
      answers(),
      readConversation(asked),
    ]);
    if (asked !== conversation || running) return;
    log.replaceChildren();
    showTitle(transcript);
    kept = transcript.turns.length;
    const first = Math.max(0, kept - most);
    for (const [i, turn] of transcript.turns.slice(first).entries()) {
      const answer = createAnswer(turn.utterance, {
        openSource,
        grown: () => {},
        undo,
        say: submit,
        again,
      });
      answer.number = first + i;
      answer.setPassages(turn.passages, null, turn.reranking);
      answer.finish(turn.outcome, { silent: true });
      log.append(answer.element);
    }
    if (first > 0) offerEarlier();
    welcome.hidden = kept > 0;
    if (most === MOST_SHOWN) log.lastElementChild?.scrollIntoView();
  }

  /** Open another conversation, and the answer that is being made in it. @param {string} name */
  async function open(name) {
    leave();
    empty();
    conversation = name;
    try {
      await load();
    } catch (error) {
      if (asHubError(error).code !== "not_found") throw error;
    }
    const found = (await runningAnswers()).find((one) => one.conversation === name);
    if (found && conversation === name && !running) watch(found.answer, found.text);
    else if (kept === 0 && conversation === name) newConversation();
  }

  /** Read along with an answer that somebody asked for elsewhere. @param {string} id @param {string} text */
  const watch = (id, text) => carry(text, (signal) => followAnswer(id, 0, signal));

  /** @param {unknown} error */
  function showProblem(error) {
    announce(asHubError(error).message);
  }

  /** @param {{conversation: string, change: string, answer?: string}} news */
  async function changed(news) {
    if (news.conversation !== conversation || running) return;
    if (news.change === "deleted") empty();
    else if (news.change === "answering") {
      const found = (await runningAnswers()).find((one) => one.answer === news.answer);
      if (found && !running) watch(found.answer, found.text);
    } else {
      const transcript = await readConversation(conversation);
      showTitle(transcript);
      if (!running && transcript.turns.length !== kept) await load();
    }
  }

  byId("new-conversation").addEventListener("click", newConversation);

  return {
    submit,
    stop,
    newConversation,
    /** @param {{conversation: string, change: string, answer?: string}} news */
    changed: (news) => changed(news).catch(showProblem),
    /** After a lost connection: what was said meanwhile. */
    caughtUp: () => conversation && changed({ conversation, change: "turn" }).catch(() => {}),
    view: {
      /** @param {string} name */
      shown(name) {
        shown = true;
        if (name && name !== conversation) open(name).catch(showProblem);
        else if (!name && conversation)
          history.replaceState(null, "", `#/chat/${encodeURIComponent(conversation)}`);
      },
      hidden() {
        shown = false;
      },
    },
  };
}

/** @param {unknown} error @returns {HubError} */
function asHubError(error) {
  if (error instanceof HubError) return error;
  console.error(error);
  return new HubError("page", t("not_understood"), t("reload_and_ask"));
}
