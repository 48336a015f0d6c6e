/**
 * Says on every view when the hub cannot keep what it is told: its disk is full, its database is
 * held by another program. Gone by itself when the cause is.
 */

import { onHubError, readStatus } from "/static/api.js";
import { byId } from "/static/dom.js";
import { t } from "/static/strings.js";

const LOOK_EVERY_MS = 30_000;
const LOOK_EVERY_MS_IN_TROUBLE = 3000;

let clock = 0;

/** @param {string} words what is wrong; empty where nothing is */
function tell(words) {
  const banner = byId("storage");
  // An alert is read aloud whenever it is written, so the same words are not written again.
  if (words && banner.textContent !== words) banner.textContent = words;
  banner.hidden = !words;
  clearInterval(clock);
  clock = setInterval(look, words ? LOOK_EVERY_MS_IN_TROUBLE : LOOK_EVERY_MS);
}

/** @param {string} state of `/hub/status`: `ok`, or what is wrong */
export function setStorage(state) {
  tell(state === "ok" ? "" : t(`storage_${state}`));
}

/** A status that cannot be had is told by the listener below, or by the connection banner. */
async function look() {
  const status = await readStatus().catch(() => null);
  if (status) setStorage(status.storage);
}

export function startStorage() {
  onHubError(({ code, message, hint }) => {
    if (code === "storage") tell([message, hint].filter(Boolean).join(" "));
  });
  look();
}
