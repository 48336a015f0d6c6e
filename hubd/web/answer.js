/**
 * One question and its answer on the page: what is happening, the words as they come, the sources,
 * what was done, and why. Knows nothing of the network.
 */

import { markers, passageList, sourceChips } from "/static/citations.js";
import { announce, h, icon } from "/static/dom.js";
import { createStream, renderAnswer } from "/static/render.js";
import { counted } from "/static/text.js";

/**
 * @typedef {import("/static/api.js").Passage} Passage
 * @typedef {import("/static/api.js").Citation} Citation
 * @typedef {import("/static/api.js").Action} Action
 * @typedef {import("/static/api.js").Done} Done
 * @typedef {import("/static/citations.js").OpenSource} OpenSource
 * @typedef {(call: import("/static/api.js").ToolCall) => Promise<string>} Undo what came of it, in words
 */

/**
 * @param {Action} action
 * @param {Undo | null} undo takes it back; null where it is too late for that
 */
function actionCard(action, undo) {
  const timer = action.tool.startsWith("timers.");
  const words = h("p", {}, action.text);
  const card = h(
    "div",
    { class: action.ok ? "action" : "action failed" },
    icon(action.ok ? (timer ? "timer" : "done") : "warning"),
    words,
  );
  const call = action.undo;
  if (call && undo) {
    const button = h("button", { type: "button", class: "quiet" }, "Undo");
    button.addEventListener("click", async () => {
      button.disabled = true;
      words.textContent = await undo(call);
      button.remove();
      announce(words.textContent);
    });
    card.append(button);
  }
  return card;
}

/** @param {string} text @returns {Promise<boolean>} whether it is on the clipboard */
async function copy(text) {
  // Browsers offer the clipboard to https and localhost only; at home the hub is often plain http.
  if (navigator.clipboard)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const before = document.activeElement;
  const carrier = h("textarea", { class: "visually-hidden" }, text);
  document.body.append(carrier);
  /** @type {HTMLTextAreaElement} */ (carrier).select();
  const copied = document.execCommand("copy");
  carrier.remove();
  /** @type {HTMLElement | null} */ (before)?.focus();
  return copied;
}

/** @param {string} text @returns {HTMLElement} */
function copyButton(text) {
  const label = h("span", {}, "Copy");
  const button = h("button", { type: "button", class: "quiet" }, icon("copy"), label);
  button.addEventListener("click", async () => {
    const copied = await copy(text);
    label.textContent = copied ? "Copied" : "The browser does not allow it";
    announce(label.textContent);
    setTimeout(() => (label.textContent = "Copy"), 2000);
  });
  return button;
}

/**
 * @param {string} question
 * @param {{openSource: OpenSource, grown: () => void, undo: Undo}} hooks
 *   `grown` is called when the answer got longer
 */
export function createAnswer(question, { openSource, grown, undo }) {
  const doing = h("span");
  const working = h(
    "p",
    { class: "working", hidden: true },
    h("span", { class: "pulse", "aria-hidden": "true" }),
    doing,
  );
  const actions = h("div", { class: "actions" });
  const prose = h("div", { class: "prose" });
  const chips = h("ul", { class: "chips", "aria-label": "Sources" });
  const footer = h("div", { class: "answer-footer" });
  const reply = h("div", { class: "reply", hidden: true }, working, actions, prose, chips, footer);
  const element = h(
    "article",
    { class: "turn" },
    h(
      "h2",
      { class: "question" },
      h("span", { class: "visually-hidden" }, "You asked: "),
      question,
    ),
    reply,
  );
  /** @type {Citation[]} */
  const citations = [];
  /** @type {Passage[]} */
  let passages = [];
  const stream = createStream(prose, grown);
  let text = "";

  return {
    element,
    /** @param {string} words what the hub is doing; empty when it is done */
    setWorking(words) {
      working.hidden = words === "";
      doing.textContent = words;
      reply.hidden = false;
      if (words) announce(words);
      grown();
    },
    /** @param {string} piece */
    addToken(piece) {
      working.hidden = true;
      text += piece;
      stream.append(piece);
    },
    /** @param {Passage[]} found */
    setPassages(found) {
      passages = found;
    },
    /** @param {Citation} citation */
    addCitation(citation) {
      citations.push(citation);
      chips.replaceChildren(...sourceChips(citations, openSource));
      grown();
    },
    /** @param {Action} action */
    addAction(action) {
      working.hidden = true;
      actions.append(actionCard(action, undo));
      grown();
    },
    /** @param {Done} done @param {{silent?: boolean}} [options] silent: nothing is announced */
    finish(done, { silent = false } = {}) {
      stream.stop();
      reply.hidden = false;
      working.hidden = true;
      reply.classList.toggle("refused", done.refused);
      const takeBack = silent ? null : undo;
      actions.replaceChildren(...done.actions.map((action) => actionCard(action, takeBack)));
      // A tool's answer repeats the card word for word: the card alone says it.
      const repeated =
        done.actions
          .map((action) => action.text)
          .join(" ")
          .trim() === done.answer.trim();
      const body = renderAnswer(repeated ? "" : done.answer, markers(done.citations, openSource));
      prose.replaceChildren(body);
      if (done.refused) prose.prepend(icon("question"));
      chips.replaceChildren(...sourceChips(done.citations, openSource));
      const title = done.refused
        ? `What I looked at (${counted(passages.length, "passage")})`
        : "Why this answer?";
      footer.replaceChildren(
        ...(repeated ? [] : [copyButton(done.answer)]),
        ...(passages.length > 0 ? [passageList(passages, title, openSource)] : []),
      );
      if (!silent) announce(done.answer);
      grown();
    },
    /** The person stopped it: what came so far stays. */
    stopped() {
      working.hidden = true;
      footer.replaceChildren(
        h("p", { class: "note" }, text ? "Stopped here." : "Stopped."),
        ...(text ? [copyButton(text)] : []),
      );
      announce("Stopped");
    },
    /** @param {{message: string, hint?: string}} error @param {() => void} retry */
    fail(error, retry) {
      working.hidden = true;
      reply.hidden = false;
      const again = h(
        "button",
        { type: "button", class: "secondary", on: { click: retry } },
        icon("again"),
        "Try again",
      );
      footer.replaceChildren(
        h(
          "div",
          { class: "problem", role: "alert" },
          icon("warning"),
          h(
            "div",
            {},
            h("p", {}, error.message),
            error.hint ? h("p", { class: "note" }, error.hint) : null,
            again,
          ),
        ),
      );
      grown();
    },
  };
}
