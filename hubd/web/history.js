/**
 * The conversation on this page, kept for a reload of this tab and no longer.
 */

const KEY = "hubd.conversation";
const MOST_TURNS = 50;

/**
 * @typedef {{question: string, done: import("/static/api.js").Done,
 *            passages: import("/static/api.js").Passage[]}} Turn
 * @typedef {{conversation: string | null, turns: Turn[]}} History
 */

/** @returns {History} */
export function loadHistory() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (Array.isArray(stored?.turns)) return stored;
  } catch {
    // Unreadable: begin afresh.
  }
  return { conversation: null, turns: [] };
}

/** Keep as many of the latest turns as the browser takes. @param {History} history */
export function saveHistory(history) {
  let turns = history.turns.slice(-MOST_TURNS);
  for (;;) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ ...history, turns }));
      return;
    } catch {
      if (turns.length === 0) return; // storage is switched off
      turns = turns.slice(Math.ceil(turns.length / 2));
    }
  }
}

export function forgetHistory() {
  sessionStorage.removeItem(KEY);
}
