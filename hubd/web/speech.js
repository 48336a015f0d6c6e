/**
 * Reading aloud and dictation by the browser, only where that happens on this device: some browsers send
 * the text or the voice to their maker, and nothing said at home leaves the home.
 */

import { language } from "/static/strings.js";

const LONGEST_UTTERANCE = 2000;

/** A voice of this device for the page's language, if there is one. */
function localVoice() {
  const voices = globalThis.speechSynthesis?.getVoices() ?? [];
  return voices.find((voice) => voice.localService && voice.lang.startsWith(language));
}

/** @returns {boolean} */
export const canSpeak = () => localVoice() !== undefined;

/** Read a text aloud, or stop when it is being read. @param {string} text @param {() => void} ended */
export function speak(text, ended) {
  if (speechSynthesis.speaking) {
    speechSynthesis.cancel();
    return;
  }
  const words = new SpeechSynthesisUtterance(text.slice(0, LONGEST_UTTERANCE));
  words.voice = localVoice() ?? null;
  words.lang = language;
  words.addEventListener("end", ended);
  words.addEventListener("error", ended);
  speechSynthesis.speak(words);
}

/**
 * Make the microphone button work where speech is recognised on the device; elsewhere it stays hidden.
 *
 * @param {HTMLElement} button
 * @param {(text: string, final: boolean) => void} heard
 */
export async function startDictation(button, heard) {
  const Recognition = /** @type {any} */ (globalThis).SpeechRecognition;
  if (!Recognition?.available) return;
  const options = { langs: [language], processLocally: true };
  if ((await Recognition.available(options).catch(() => "")) !== "available") return;
  const recognition = new Recognition();
  recognition.lang = language;
  recognition.processLocally = true;
  recognition.interimResults = true;
  let listening = false;
  /** @param {boolean} now */
  function show(now) {
    listening = now;
    button.setAttribute("aria-pressed", String(now));
  }
  recognition.addEventListener("result", (/** @type {any} */ event) => {
    const results = [...event.results];
    const text = results.map((result) => result[0].transcript).join("");
    heard(
      text,
      results.every((result) => result.isFinal),
    );
  });
  recognition.addEventListener("end", () => show(false));
  recognition.addEventListener("error", () => show(false));
  button.addEventListener("click", () => {
    if (listening) {
      recognition.stop();
      return;
    }
    show(true);
    recognition.start();
  });
  button.hidden = false;
}
