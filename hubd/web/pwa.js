/**
 * Installable, and there when the hub is not: registers the service worker, and offers a new version.
 * Browsers have service workers only over https and on the hub's own machine.
 */

import { byId } from "/static/dom.js";

export function startPwa() {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  addEventListener("load", () => register(workers).catch(() => {})); // blocked: the page works without
}

/** @param {ServiceWorkerContainer} workers */
async function register(workers) {
  const registration = await workers.register(workerAddress());
  /** @param {ServiceWorker | null} worker */
  function offer(worker) {
    if (!worker || !workers.controller) return; // the first one replaces nothing
    byId("updated").hidden = false;
    byId("updated-reload").addEventListener("click", () => {
      workers.addEventListener("controllerchange", () => location.reload(), { once: true });
      worker.postMessage("take over");
    });
  }
  offer(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const coming = registration.installing;
    coming?.addEventListener("statechange", () => coming.state === "installed" && offer(coming));
  });
}

/** The one script address that this page may ever make. @returns {any} */
function workerAddress() {
  const address = "/worker.js";
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return address;
  return types.createPolicy("hubd-worker", { createScriptURL: () => address }).createScriptURL("");
}
