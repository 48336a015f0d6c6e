/**
 * The household's events for this page, and whether the hub answers at all.
 */

import { byId } from "/static/dom.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15000;

/**
 * Listen for as long as the page lives; a lost connection is tried again, less and less often.
 *
 * @param {Object<string, (data: any) => void>} handlers by event name
 * @param {() => void} connected called after every (re)connection: what was missed must be fetched
 */
export function startEvents(handlers, connected) {
  const banner = byId("offline");
  let wait = FIRST_WAIT_MS;
  /** @type {EventSource | null} */
  let source = null;
  let timer = 0;

  function connect() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource("/hub/events");
    source.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      banner.hidden = true;
      connected();
    });
    source.addEventListener("error", () => {
      source?.close();
      banner.hidden = false;
      // A little chance keeps a house full of tablets from all knocking at once.
      timer = setTimeout(connect, wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    for (const [name, handle] of Object.entries(handlers)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data)));
    }
  }

  addEventListener("online", connect);
  addEventListener("pagehide", () => {
    clearTimeout(timer);
    source?.close(); // leaving is not a lost connection
  });
  addEventListener("pageshow", (event) => event.persisted && connect());
  connect();
}
