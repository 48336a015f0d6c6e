/**
 * The devices by room with their states, and who is at home. States come as events; a room that changed
 * its devices is fetched again.
 */

import { readHome } from "/static/api.js";
import { h, icon } from "/static/dom.js";
import { deviceRow } from "/static/home/devices.js";
import { t } from "/static/strings.js";

/**
 * @typedef {import("/static/api.js").Entity} Entity
 * @typedef {import("/static/api.js").Household} Household
 * @typedef {{element: HTMLElement, update: (entity: Entity) => void}} Row
 */

const PEOPLE = new Set(["person"]);
const HIDDEN = new Set([
  "automation",
  "calendar",
  "conversation",
  "device_tracker",
  "event",
  "notify",
  "stt",
  "sun",
  "todo",
  "tts",
  "update",
  "weather",
  "zone",
]);
const OPEN_ROOM_ROWS = 24;

/** @param {Entity} entity */
const domainOf = ({ id }) => id.slice(0, id.indexOf("."));

/** @param {Entity} entity a person */
const whereabouts = ({ state }) =>
  state === "home"
    ? t("at_home")
    : state === "not_home"
      ? t("away")
      : state === "unknown"
        ? "?"
        : state;

/** @param {{say: (text: string) => void}} hub */
export function createRooms({ say }) {
  const element = h("div", { class: "rooms" });
  const people = h("ul", { class: "people", "aria-label": t("who_is_home") });
  /** @type {Map<string, Row>} */
  const rows = new Map();
  let version = -1;

  /** @param {string} id @param {string} name @param {Entity[]} entities */
  function room(id, name, entities) {
    const list = entities.map((entity) => {
      const row = deviceRow(entity, say);
      rows.set(entity.id, row);
      return row.element;
    });
    const title = `room-${id.replaceAll(/\W+/g, "-")}`;
    const shown = h(
      "ul",
      { class: "devices", "aria-labelledby": title },
      ...list.slice(0, OPEN_ROOM_ROWS),
    );
    const more = list.slice(OPEN_ROOM_ROWS);
    return h(
      "section",
      { class: "card", "aria-labelledby": title },
      h("h2", { id: title }, icon("room"), name),
      shown,
      more.length > 0 &&
        h(
          "details",
          {},
          h("summary", {}, t("more_devices", { count: more.length })),
          h("ul", { class: "devices", "aria-label": name }, ...more),
        ),
    );
  }

  /** @param {Household} household */
  function show({ areas, entities, version: now }) {
    version = now;
    rows.clear();
    const devices = entities.filter(
      (entity) => !HIDDEN.has(domainOf(entity)) && !PEOPLE.has(domainOf(entity)),
    );
    const inArea = (/** @type {string | null} */ area) =>
      devices.filter((entity) => (entity.area ?? null) === area);
    const rooms = areas
      .map(({ id, name }) => ({ id, name, entities: inArea(id) }))
      .filter((one) => one.entities.length > 0);
    const rest = inArea(null);
    if (rest.length > 0) rooms.push({ id: "rest", name: t("no_room"), entities: rest });
    element.replaceChildren(
      ...(rooms.length > 0
        ? rooms.map((one) => room(one.id, one.name, one.entities))
        : [h("p", { class: "note" }, t("no_devices"))]),
    );
    const persons = entities.filter((entity) => PEOPLE.has(domainOf(entity)));
    people.hidden = persons.length === 0;
    people.replaceChildren(...persons.map(person));
  }

  /** @param {Entity} entity */
  function person(entity) {
    const where = h("span", { class: "note" }, whereabouts(entity));
    const row = h("li", {}, icon("person"), h("span", {}, entity.name), where);
    row.classList.toggle("away", entity.state !== "home");
    rows.set(entity.id, {
      element: row,
      update(now) {
        where.textContent = whereabouts(now);
        row.classList.toggle("away", now.state !== "home");
      },
    });
    return row;
  }

  /** What changed while the household was being fetched, which may be older. @type {Entity[] | null} */
  let meanwhile = null;
  let fetches = 0;

  async function refresh() {
    const mine = ++fetches;
    meanwhile = [];
    try {
      const household = await readHome();
      if (mine !== fetches) return; // a later one shows what is newer
      show(household);
      for (const entity of meanwhile) rows.get(entity.id)?.update(entity);
    } finally {
      if (mine === fetches) meanwhile = null;
    }
  }

  return {
    element,
    people,
    refresh,
    /** @param {{version: number, entities: Entity[]}} change */
    changed({ version: now, entities }) {
      if (now !== version) refresh().catch(() => {});
      else for (const entity of entities) rows.get(entity.id)?.update(entity);
      meanwhile?.push(...entities);
    },
  };
}
