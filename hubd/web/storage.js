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

/** @param {string} state of `/hub/status`: `ok`, or what is wrong */
export function setStorage(state) {
  const banner = byId("storage");
  const bad = state !== "ok";
  if (bad) banner.textContent = t(`storage_${state}`);
  banner.hidden = !bad;
  clearInterval(clock);
  clock = setInterval(look, bad ? LOOK_EVERY_MS_IN_TROUBLE : LOOK_EVERY_MS);
}

/** Where the status cannot be had, the connection banner says so. */
async function look() {
  const status = await readStatus().catch(() => null);
  if (status) setStorage(status.storage);
}

export function startStorage() {
  onHubError(({ code }) => {
    if (code === "storage") look();
  });
  look();
}
