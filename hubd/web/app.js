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
const chat = startChat({ openSource, emptied: refreshDocuments });
const welcome = startWelcome({ submit: chat.submit });
const documents = startDocuments({ changed: welcome.suggest });
const timers = startTimers();
startKeys({
  stop: chat.stop,
  newConversation: chat.newConversation,
  openDocuments: documents.open,
});
byId("add-first").addEventListener("click", documents.open);

// A failure of these shows as the connection banner, nowhere else.
function refreshDocuments() {
  documents.refresh().catch(() => {});
}
function refreshTimers() {
  timers.refresh().catch(() => {});
}

startEvents(
  {
    timer: refreshTimers,
    documents: refreshDocuments,
    engine: setEngine,
  },
  () => {
    // what happened while nobody listened
    refreshDocuments();
    refreshTimers();
  },
);
