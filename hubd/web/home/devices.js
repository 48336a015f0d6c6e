/**
 * One device as a row: its name, its state, and what can be done with it. What lets somebody in is asked
 * for in a conversation, where the hub wants a confirmation.
 */

import { h } from "/static/dom.js";
import { act } from "/static/home/card.js";
import { t } from "/static/strings.js";

/** @typedef {import("/static/api.js").Entity} Entity */

const SWITCHED = new Set([
  "fan",
  "humidifier",
  "input_boolean",
  "light",
  "media_player",
  "siren",
  "switch",
]);
const ACTIVATED = new Set(["button", "input_button", "scene", "script"]);
const SECURE = new Set(["garage", "gate", "door"]);
const KNOWN_STATES = new Set([
  "closed",
  "closing",
  "home",
  "locked",
  "not_home",
  "off",
  "on",
  "open",
  "opening",
  "unavailable",
  "unknown",
  "unlocked",
]);
const GONE = new Set(["unavailable", "unknown"]);
/** What a sensor's "on" and "off" are of its kind, as keys of words. @type {Record<string, [string, string]>} */
const SENSED = {
  door: ["open", "closed"],
  garage_door: ["open", "closed"],
  opening: ["open", "closed"],
  window: ["open", "closed"],
  lock: ["unlocked", "locked"],
  moisture: ["wet", "dry"],
  motion: ["detected", "clear"],
  occupancy: ["detected", "clear"],
  presence: ["home", "not_home"],
  smoke: ["detected", "clear"],
  gas: ["detected", "clear"],
};

/** @param {Entity} entity @returns {string} */
function stateWords({ id, state, attributes }) {
  const unit = attributes.unit_of_measurement;
  if (unit) return `${state} ${unit}`;
  if (id.startsWith("climate.") && attributes.current_temperature !== undefined)
    return `${attributes.current_temperature} → ${attributes.temperature ?? "–"} °`;
  const sensed = id.startsWith("binary_sensor.") ? SENSED[attributes.device_class ?? ""] : undefined;
  if (sensed && (state === "on" || state === "off")) return t(`state_${sensed[state === "on" ? 0 : 1]}`);
  const percent = Math.round(((attributes.brightness ?? 0) / 255) * 100);
  if (id.startsWith("light.") && state === "on" && percent) return `${percent} %`;
  return KNOWN_STATES.has(state) ? t(`state_${state}`) : state;
}

/**
 * @param {Entity} entity
 * @param {(text: string) => void} say
 * @returns {HTMLElement | null} the control of what can be switched, opened or started
 */
function control(entity, say) {
  const { id, name, state, attributes } = entity;
  const domain = id.slice(0, id.indexOf("."));
  const entities = [id];
  /** @param {string} label @param {() => void} click */
  const button = (label, click) =>
    h(
      "button",
      {
        type: "button",
        class: "secondary small",
        "aria-label": t("do_with", { label, name }),
        on: { click },
      },
      label,
    );
  if (SWITCHED.has(domain)) {
    const on = state !== "off" && !GONE.has(state);
    return h("button", {
      type: "button",
      class: "switch",
      role: "switch",
      "aria-checked": String(on),
      "aria-label": name,
      disabled: state === "unavailable",
      on: { click: () => act(on ? "home.turn_off" : "home.turn_on", { entities }) },
    });
  }
  if (domain === "cover") {
    if (["open", "opening"].includes(state))
      return button(t("close_it"), () => act("home.close", { entities }));
    return SECURE.has(attributes.device_class)
      ? button(t("open_it"), () => say(t("say_open", { name })))
      : button(t("open_it"), () => act("home.open", { entities }));
  }
  if (domain === "lock")
    return state === "locked"
      ? button(t("unlock_it"), () => say(t("say_unlock", { name })))
      : button(t("lock_it"), () => act("home.lock", { entities }));
  if (ACTIVATED.has(domain)) return button(t("start"), () => act("home.activate", { entities }));
  return null;
}

/** @param {Entity} entity @param {(text: string) => void} say */
export function deviceRow(entity, say) {
  const state = h("span", { class: "device-state note" });
  const place = h("span", { class: "device-control" });
  const element = h(
    "li",
    {},
    h("span", { class: "device-name" }, entity.name),
    state,
    place,
  );
  /** @param {Entity} now */
  function update(now) {
    state.textContent = stateWords(now);
    element.classList.toggle("gone", GONE.has(now.state));
    const focused = place.contains(document.activeElement);
    place.replaceChildren(...[control(now, say)].filter((node) => node !== null));
    if (focused) /** @type {HTMLElement | null} */ (place.firstElementChild)?.focus();
  }
  update(entity);
  return { element, update };
}
