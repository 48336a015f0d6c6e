/**
 * The household's events for this page, and whether the hub answers at all.
 */

import { byId } from "/static/dom.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15000;

/** @typedef {{on: (name: string, handle: (data: any) => void) => void,
 *             onConnected: (handle: () => void) => void}} Events */

/**
 * Listen for as long as the page lives; a lost connection is tried again, less and less often.
 *
 * @param {Object<string, (data: any) => void>} handlers by event name
 * @returns {Events} to which views add handlers of their own; `onConnected` ones are called after every
 *   (re)connection: what was missed must be fetched
 */
export function startEvents(handlers) {
  const banner = byId("offline");
  let wait = FIRST_WAIT_MS;
  /** @type {EventSource | null} */
  let source = null;
  let timer = 0;
  /** @type {[string, (data: any) => void][]} */
  const listeners = Object.entries(handlers);
  /** @type {(() => void)[]} */
  const connected = [];

  /** @param {EventSource} to @param {string} name @param {(data: any) => void} handle */
  const listen = (to, name, handle) =>
    to.addEventListener(name, (event) => handle(JSON.parse(event.data)));

  function connect() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource("/hub/events");
    source.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      banner.hidden = true;
      connected.forEach((handle) => handle());
    });
    source.addEventListener("error", () => {
      source?.close();
      banner.hidden = false;
      // A little chance keeps a house full of tablets from all knocking at once.
      timer = setTimeout(connect, wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    for (const [name, handle] of listeners) listen(source, name, handle);
  }

  addEventListener("online", connect);
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    source?.close(); // leaving is not a lost connection
  });
  addEventListener("pageshow", (event) => event.persisted && connect());
  connect();
  return {
    on(name, handle) {
      listeners.push([name, handle]);
      if (source) listen(source, name, handle);
    },
    onConnected: (handle) => connected.push(handle),
  };
}
