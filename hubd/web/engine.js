/**
 * What the language model is doing, in words, from `engine` events.
 */

import { t } from "/static/strings.js";

/** @typedef {{state: string, message?: string, progress?: number | null}} EngineState */

const WAITING = new Map([
  ["starting", "engine_starting"],
  ["restarting", "engine_restarting"],
]);

/** @type {EngineState | null} */
let current = null;
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {EngineState | null | undefined} state */
export function setEngine(state) {
  current = state ?? null;
  for (const listener of listeners) listener();
}

/** @param {() => void} listener @returns {() => void} call it to unsubscribe */
export function onEngine(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * What to tell someone who waits, or `null` when the engine is not what they wait for.
 *
 * @returns {string | null}
 */
export function engineWords() {
  const key = WAITING.get(current?.state ?? "");
  if (!current || !key) return null;
  const words = t(key);
  if (!current.message) return `${words}…`;
  const progress =
    typeof current.progress === "number" ? ` ${Math.round(current.progress * 100)} %` : "";
  return `${words}: ${current.message}${progress}…`;
}
