/**
 * Puts the page together.
 */

import { startChat } from "/static/chat.js";
import { byId } from "/static/dom.js";
import { startDocuments } from "/static/documents.js";
import { setEngine } from "/static/engine.js";
import { startEvents } from "/static/events.js";
import { startKeys } from "/static/keys.js";
import { startSources } from "/static/sources.js";
import { startTimers } from "/static/timers.js";
import { startWelcome } from "/static/welcome.js";

const openSource = startSources();
const chat = startChat({ openSource });
const welcome = startWelcome({ submit: chat.submit });
const documents = startDocuments({ changed: welcome.suggest });
const timers = startTimers();
startKeys({ stop: chat.stop, newConversation: chat.newConversation, openDocuments: documents.open });
byId("add-first").addEventListener("click", documents.open);

/** What happened while nobody listened. A failure shows as the connection banner, nowhere else. */
async function catchUp() {
  await Promise.allSettled([documents.refresh(), timers.refresh()]);
}

startEvents(
  {
    timer: () => timers.refresh().catch(() => {}),
    documents: () => documents.refresh().catch(() => {}),
    engine: setEngine,
  },
  catchUp,
);
