/**
 * One question and its answer on the page: what is happening, the words as they come, the sources,
 * what was done, and why. Knows nothing of the network.
 */

import { actionCard, confirmationCard } from "/static/actions.js";
import { markers, passageList, sourceChips } from "/static/citations.js";
import { announce, h, icon } from "/static/dom.js";
import { createStream, plainText, renderAnswer } from "/static/render.js";
import { readable } from "/static/sources.js";
import { canSpeak, speak } from "/static/speech.js";
import { t } from "/static/strings.js";
import { sourceName } from "/static/text.js";

/**
 * @typedef {import("/static/api.js").Passage} Passage
 * @typedef {import("/static/api.js").Reranking} Reranking
 * @typedef {import("/static/api.js").Citation} Citation
 * @typedef {import("/static/api.js").Action} Action
 * @typedef {import("/static/api.js").Done} Done
 * @typedef {import("/static/citations.js").OpenSource} OpenSource
 * @typedef {import("/static/actions.js").Undo} Undo
 * @typedef {{openSource: OpenSource, grown: () => void, undo: Undo, say: (word: string) => void,
 *            again: (answer: Answer, question: string) => void}} Hooks
 *   `grown`: the answer got longer; `say`: answer the hub's question; `again`: ask anew, in these words
 * @typedef {ReturnType<typeof createAnswer>} Answer
 */

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
  const label = h("span", {}, t("copy"));
  const button = h("button", { type: "button", class: "quiet" }, icon("copy"), label);
  button.addEventListener("click", async () => {
    const copied = await copy(text);
    label.textContent = t(copied ? "copied" : "not_allowed");
    announce(label.textContent);
    setTimeout(() => (label.textContent = t("copy")), 2000);
  });
  return button;
}

/** @param {string} text @returns {HTMLElement} */
function speakButton(text) {
  const label = h("span", {}, t("read_aloud"));
  const button = h("button", { type: "button", class: "quiet" }, icon("speak"), label);
  button.addEventListener("click", () => {
    label.textContent = t("stop");
    speak(text, () => (label.textContent = t("read_aloud")));
  });
  return button;
}

/**
 * The question, and the field in which it can be put otherwise.
 *
 * @param {string} question @param {(question: string) => void} ask
 */
function questionHead(question, ask) {
  const edit = h(
    "button",
    { type: "button", class: "icon-button edit", "aria-label": t("edit_question") },
    icon("edit"),
  );
  const asked = h(
    "h2",
    { class: "question" },
    h("span", { class: "visually-hidden" }, t("you_asked")),
    question,
  );
  const element = h("div", { class: "asked" }, edit, asked);
  edit.addEventListener("click", () => {
    const field = /** @type {HTMLTextAreaElement} */ (
      h("textarea", { class: "field", "aria-label": t("your_question"), maxlength: 4000 })
    );
    field.value = question;
    const form = h(
      "form",
      { class: "edit-form" },
      field,
      h("button", { type: "button", class: "secondary", on: { click: close } }, t("cancel")),
      h("button", { class: "primary" }, t("ask")),
    );
    function close() {
      form.replaceWith(element);
      edit.focus();
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (field.value.trim()) ask(field.value.trim());
    });
    form.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && !event.shiftKey && event.target === field) {
        event.preventDefault();
        form.requestSubmit();
      } else return;
      event.stopPropagation();
    });
    element.replaceWith(form);
    field.focus();
  });
  return element;
}

/** @param {string} question @param {Hooks} hooks */
export function createAnswer(question, { openSource, grown, undo, say, again }) {
  const doing = h("span");
  const working = h(
    "p",
    { class: "working", hidden: true },
    h("span", { class: "pulse", "aria-hidden": "true" }),
    doing,
  );
  const actions = h("div", { class: "actions" });
  const meanwhile = h("blockquote", { class: "meanwhile", hidden: true });
  const prose = h("div", { class: "prose" });
  const chips = h("ul", { class: "chips", "aria-label": t("sources") });
  const footer = h("div", { class: "answer-footer" });
  const reply = h("div", { class: "reply", hidden: true }, working, actions, meanwhile, prose, chips, footer);
  const asked = questionHead(question, (words) => again(answer, words));
  const element = h("article", { class: "turn" }, asked, reply);
  /** @type {Citation[]} */
  const citations = [];
  /** @type {Passage[]} */
  let passages = [];
  /** @type {Reranking | null} */
  let reranking = null;
  const stream = createStream(prose, grown);
  let text = "";

  const againButton = () =>
    h(
      "button",
      { type: "button", class: "quiet", on: { click: () => again(answer, question) } },
      icon("again"),
      t("ask_again"),
    );

  const answer = {
    element,
    /** @type {number | null} the turn's place in its conversation; null while it is not kept there */
    number: null,
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
      working.hidden = meanwhile.hidden = true;
      text += piece;
      stream.append(piece);
    },
    /** @param {Passage[]} found @param {Passage | null} [quote] to be read until the answer comes @param {Reranking | null} [put] what put them in order besides the search */
    setPassages(found, quote = null, put = null) {
      passages = found;
      reranking = put;
      if (!quote) return;
      meanwhile.replaceChildren(
        h("p", {}, ...readable(quote.text)),
        h("cite", {}, sourceName(quote)),
      );
      meanwhile.hidden = reply.hidden = false;
      grown();
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
      working.hidden = meanwhile.hidden = true;
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
      const spoken = plainText(done.answer);
      prose.replaceChildren(body);
      if (done.refused) prose.prepend(icon("question"));
      chips.replaceChildren(...sourceChips(done.citations, openSource));
      const title = done.refused
        ? t("looked_at", { count: passages.length })
        : t("why_this_answer");
      footer.replaceChildren(
        ...(done.asks === "confirm" && !silent ? [confirmationCard(say)] : []),
        ...(repeated ? [] : [copyButton(done.answer)]),
        ...(!repeated && canSpeak() ? [speakButton(spoken)] : []),
        ...(done.actions.length === 0 ? [againButton()] : []),
        ...(passages.length > 0
          ? [passageList(passages, reranking, title, openSource, done.prompt ?? null, done.left_out ?? 0)]
          : []),
      );
      if (!silent) announce(spoken);
      grown();
    },
    /** The person stopped it: what came so far stays. */
    stopped() {
      working.hidden = meanwhile.hidden = true;
      footer.replaceChildren(
        h("p", { class: "note" }, t(text ? "stopped_here" : "stopped")),
        ...(text ? [copyButton(text)] : []),
        againButton(),
      );
      announce(t("stopped"));
    },
    /** @param {{message: string, hint?: string}} error */
    fail(error) {
      working.hidden = meanwhile.hidden = true;
      reply.hidden = false;
      const retry = h(
        "button",
        { type: "button", class: "secondary", on: { click: () => again(answer, question) } },
        icon("again"),
        t("try_again"),
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
            retry,
          ),
        ),
      );
      grown();
    },
  };
  return answer;
}
