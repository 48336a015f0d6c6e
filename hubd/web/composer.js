/**
 * The question box: sending, stopping, dictating.
 */

import { byId } from "/static/dom.js";
import { startDictation } from "/static/speech.js";
import { t } from "/static/strings.js";

/** @param {{submit: (question: string) => void, stop: () => boolean, typing: () => void}} hooks */
export function createComposer({ submit, stop, typing }) {
  const form = byId("composer");
  const box = byId("question");
  const send = byId("send");
  let busy = false;

  function fit() {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  }

  function submitBox() {
    const question = box.value.trim();
    if (!question) return;
    box.value = "";
    fit();
    submit(question);
  }

  box.addEventListener("input", fit);
  box.addEventListener("input", typing, { once: true });
  box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    // While an input method composes (Chinese, Japanese), Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submitBox();
  });
  form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy) stop();
    else submitBox();
    box.focus();
  });
  startDictation(byId("dictate"), (text, final) => {
    box.value = text;
    fit();
    if (final) submitBox();
  });

  return {
    focus: () => box.focus(),
    /** @param {boolean} now whether an answer is being made */
    setBusy(now) {
      busy = now;
      document.body.classList.toggle("answering", now);
      send.setAttribute("aria-label", t(now ? "stop" : "send"));
      byId("turns").setAttribute("aria-busy", String(now));
    },
  };
}
