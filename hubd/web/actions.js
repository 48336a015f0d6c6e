/**
 * What was done, with its undo; and the question "Yes or no?" before something dangerous is done.
 */

import { announce, h, icon } from "/static/dom.js";
import { t } from "/static/strings.js";

/**
 * @typedef {import("/static/api.js").Action} Action
 * @typedef {(call: import("/static/api.js").ToolCall, language?: string) => Promise<string>} Undo what
 *   came of it, in words of that language
 */

const ANSWER_WITHIN_S = 30;

/**
 * @param {Action} action
 * @param {Undo | null} undo takes it back; null where it is too late for that
 */
export function actionCard(action, undo) {
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
    const button = h("button", { type: "button", class: "quiet" }, icon("undo"), t("undo"));
    button.addEventListener("click", async () => {
      button.disabled = true;
      words.textContent = await undo(call, action.language || undefined);
      button.remove();
      announce(words.textContent);
    });
    card.append(button);
  }
  return card;
}

/**
 * Yes and No under a question of the hub's. Unanswered, it closes by itself, and nothing is done.
 *
 * @param {(word: string) => void} say tells the hub; "yes" and "no" are understood in every language
 * @returns {HTMLElement}
 */
export function confirmationCard(say) {
  let left = ANSWER_WITHIN_S;
  const countdown = h("span", { class: "note", role: "timer" });
  const bar = h("progress", { max: ANSWER_WITHIN_S, "aria-label": t("time_to_answer") });
  const card = h("div", { class: "confirmation" });
  const clock = setInterval(tick, 1000);

  /** @param {string} words what is left of the card */
  function close(words) {
    clearInterval(clock);
    card.replaceChildren(...(words ? [h("p", { class: "note" }, words)] : []));
  }
  function show() {
    countdown.textContent = t("seconds_left", { count: left });
    bar.setAttribute("value", String(left));
  }
  function tick() {
    left -= 1;
    if (!card.isConnected) clearInterval(clock);
    else if (left > 0) show();
    else {
      close(t("nothing_was_done"));
      announce(t("nothing_was_done"));
    }
  }
  /** @param {string} word @param {string} kind */
  const button = (word, kind) =>
    h(
      "button",
      {
        type: "button",
        class: kind,
        on: {
          click: () => {
            close("");
            say(word);
          },
        },
      },
      t(word),
    );
  card.append(button("yes", "danger"), button("no", "secondary"), countdown, bar);
  show();
  return card;
}
