/**
 * Puts the page together.
 */

import { listDocuments } from "/static/api.js";
import { startChat } from "/static/chat.js";
import { startConversations } from "/static/conversations.js";
import { acceptDrops } from "/static/documents/files.js";
import { byId } from "/static/dom.js";
import { setEngine } from "/static/engine.js";
import { startEvents } from "/static/events.js";
import { startKeys } from "/static/keys.js";
import { startPwa } from "/static/pwa.js";
import { startSources } from "/static/sources.js";
import { canSpeak, speak } from "/static/speech.js";
import { startStorage } from "/static/storage.js";
import { fillPage } from "/static/strings.js";
import { startTimers } from "/static/timers.js";
import { startToast, toast } from "/static/toast.js";
import { go, startViews } from "/static/views.js";
import { startWelcome } from "/static/welcome.js";

fillPage();
startToast();
startStorage();
const openSource = startSources();
const chat = startChat({ openSource, emptied: refreshDocuments });
const welcome = startWelcome({ submit: chat.submit });
const conversations = startConversations();
const timers = startTimers();
startKeys({
  stop: chat.stop,
  newConversation: chat.newConversation,
  openConversations: conversations.open,
});

// A failure of these shows as the connection banner, nowhere else.
function refreshDocuments() {
  listDocuments()
    .then(welcome.suggest)
    .catch(() => {});
}
function refreshTimers() {
  timers.refresh().catch(() => {});
}

const events = startEvents({
  timer: refreshTimers,
  reminder: refreshTimers,
  announcement: ({ text }) => toast(text),
  notification: ({ title, message, speak: aloud }) => {
    const words = [title, message].filter(Boolean).join(": ");
    toast(words);
    if (aloud && canSpeak()) speak(words, () => {});
  },
  documents: refreshDocuments,
  engine: setEngine,
  conversation: (news) => {
    chat.changed(news);
    conversations.changed();
  },
});
// what happened while nobody listened
events.onConnected(() => {
  refreshDocuments();
  refreshTimers();
  chat.caughtUp();
});

/** Ask where a confirmation can be given. @param {string} text */
function sayInChat(text) {
  go("chat");
  chat.submit(text);
}

const view = startViews({
  chat: async () => chat.view,
  home: async () => {
    const { createHome } = await import("/static/home/view.js");
    return createHome({ events, say: sayInChat });
  },
  status: async () => {
    const { createStatus } = await import("/static/status/view.js");
    return createStatus({ events });
  },
  documents: async () => {
    const { createDocuments } = await import("/static/documents/view.js");
    return createDocuments({ events, openSource });
  },
});
acceptDrops(byId("drop"), async (files) => {
  go("documents");
  /** @type {any} */ (await view("documents")).upload(files);
});
startPwa();
