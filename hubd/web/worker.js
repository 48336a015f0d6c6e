/*
 * The service worker: the page's own files, kept under one version, so that the page opens at once on a
 * slow network and says what is the matter when the hub does not answer. Nothing else is kept: what the
 * hub knows is always asked of the hub. VERSION and FILES are written in front by the hub.
 */
/* global VERSION, FILES */

const CACHE = `hubd-${VERSION}`;

addEventListener("install", (event) => {
  // Past the browser's own cache, which may hold files of another version; and never the pairing page
  // in place of the page.
  const fresh = FILES.map((file) => new Request(file, { cache: "no-cache", redirect: "error" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)));
});

addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("hubd-") && name !== CACHE;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => clients.claim()),
  );
});

addEventListener("message", (event) => {
  if (event.data === "take over") skipWaiting();
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  const kept =
    request.method === "GET" &&
    address.origin === location.origin &&
    address.search === "" &&
    FILES.includes(address.pathname);
  if (!kept) return;
  event.respondWith(
    caches.open(CACHE).then(async (cache) => (await cache.match(address.pathname)) ?? fetch(request)),
  );
});
