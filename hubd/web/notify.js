/**
 * Notifications of this device when something rings, where the person has allowed them.
 */

import { h, icon } from "/static/dom.js";
import { t } from "/static/strings.js";

/** @param {string} words */
export async function notify(words) {
  if (globalThis.Notification?.permission !== "granted") return;
  const options = { icon: "/static/icon-192.png", tag: "hubd" };
  // Phones show only what a service worker shows; without one the page shows it itself.
  const registration = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  if (registration?.active) await registration.showNotification(words, options);
  else new Notification(words, options);
}

/** A button that asks for the permission; nothing where it is given, or cannot be. */
export function askToNotify() {
  if (globalThis.Notification?.permission !== "default") return null;
  const button = h(
    "button",
    { type: "button", class: "quiet" },
    icon("bell"),
    t("notify_on_this_device"),
  );
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.remove();
  });
  return button;
}
