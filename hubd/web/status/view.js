/**
 * The status view: how the hub is doing, live; its settings; and what was done in the house.
 */

import { listAudit, readMe, readSettings, readStatus } from "/static/api.js";
import { byId, h, icon } from "/static/dom.js";
import { card } from "/static/home/card.js";
import { createDevices } from "/static/status/devices.js";
import { createChart } from "/static/status/chart.js";
import { setStorage } from "/static/storage.js";
import { LANGUAGES, chooseLanguage, language, t } from "/static/strings.js";
import { moment, roughTime } from "/static/text.js";
import { toast } from "/static/toast.js";

/**
 * @typedef {import("/static/api.js").Status} Status
 * @typedef {import("/static/api.js").AuditEntry} AuditEntry
 */

const LOOK_EVERY_MS = 2000;
const AUDIT_ROWS = 50;

/** The charts, and how each number follows from the hub's status. */
function createCharts() {
  /** @type {{prompt: number, cached: number} | null} */
  let before = null;
  const number = (/** @type {string} */ key) => (/** @type {number} */ count) => t(key, { count });
  const charts = {
    speed: createChart(t("speed"), number("tokens_per_second")),
    first: createChart(t("first_word"), number("milliseconds")),
    memory: createChart(t("memory"), number("megabytes")),
    cache: createChart(t("cache_hits"), number("percent"), 100),
    queue: createChart(t("queue"), number("questions_now")),
  };

  /** The share of the prompt tokens since the last look that were known. @param {Status["load"]} load */
  function cacheShare({ prompt_tokens: prompt, cached_tokens: cached }) {
    const last = before ?? { prompt: 0, cached: 0 };
    before = { prompt, cached };
    const read = prompt - last.prompt;
    return read > 0 ? Math.round(((cached - last.cached) / read) * 100) : null;
  }

  return {
    elements: Object.values(charts).map(({ element }) => element),
    /** @param {Status} status */
    add({ speed, memory, load }) {
      charts.speed.add(speed.tokens_per_second);
      charts.first.add(speed.first_token_ms === null ? null : Math.round(speed.first_token_ms));
      charts.memory.add(
        memory.hub_mb === null ? null : memory.hub_mb + (memory.engine_mb ?? 0),
      );
      charts.cache.add(cacheShare(load));
      charts.queue.add(load.answering + load.waiting);
    },
  };
}

/** Where the language model is, if a server elsewhere was named. @param {Status["engine"]} engine */
function serverWords({ server, away }) {
  if (!server) return [];
  return [t(away ? "server_is_away" : "server_answers", { server })];
}

/** Whether passages are put in order by a second model, where one is configured. @param {Status["reranker"]} reranker */
function rerankerWords(reranker) {
  if (!reranker) return [];
  const { model, problem } = reranker;
  return [problem ? t("not_reranked", { model, problem }) : t("reranks", { model })];
}

/** @param {AuditEntry} entry */
function auditRow(entry) {
  const bad = entry.outcome !== "done";
  return h(
    "li",
    { class: bad ? "skipped" : "ready" },
    icon(bad ? "warning" : "done"),
    h(
      "div",
      { class: "row-text" },
      h("span", {}, entry.text || entry.tool),
      h(
        "p",
        { class: "note" },
        [
          moment(new Date(entry.at)),
          entry.person,
          t(`by_${entry.provenance}`),
          entry.tool,
          bad ? t(`outcome_${entry.outcome}`) : "",
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    ),
  );
}

/** What can be chosen for this page. */
function pageSettings() {
  const languages = /** @type {HTMLSelectElement} */ (
    h(
      "select",
      { class: "field", id: "language" },
      ...Object.entries(LANGUAGES).map(([tag, name]) => h("option", { value: tag }, name)),
    )
  );
  languages.value = language;
  languages.addEventListener("change", () => chooseLanguage(languages.value));
  return h(
    "div",
    { class: "setting" },
    h("label", { for: "language" }, t("language")),
    languages,
  );
}

/** @param {Record<string, any>} settings by section */
function settingRows(settings) {
  return Object.entries(settings).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => [
      h("dt", {}, `${section}.${name}`),
      h("dd", {}, Array.isArray(value) ? value.join(", ") || "–" : String(value) || "–"),
    ]),
  );
}

/**
 * @param {{events: import("/static/events.js").Events}} hub
 * @returns {import("/static/views.js").View}
 */
export function createStatus({ events }) {
  const charts = createCharts();
  const devices = createDevices();
  const about = h("p", { class: "note", id: "about-hub" });
  const aside = h("p", { class: "trouble", id: "set-aside", role: "status" });
  const rows = h("ul", { class: "rows", "aria-label": t("audit_log") });
  const more = h("button", { type: "button", class: "secondary" }, t("earlier"));
  const settings = h("dl", { class: "settings" });
  let clock = 0;
  let visible = false;
  let last = 0;
  let isOwner = false;
  const auditCard = card("audit-title", "done", t("audit_log"), rows, more);
  const hubSettings = h("details", {}, h("summary", {}, t("hub_settings")), settings);
  const onlyOwners = h("p", { class: "note", hidden: true }, t("only_owners"));

  async function look() {
    try {
      const status = await readStatus();
      charts.add(status);
      setStorage(status.storage);
      aside.textContent = status.set_aside;
      const parts = [
        status.model,
        t(`engine_is_${status.engine.state}`),
        ...serverWords(status.engine),
        ...rerankerWords(status.reranker),
        t("documents_known", { count: status.documents.ready }),
        t("running_for", { time: roughTime(status.uptime_s) }),
        `hubd ${status.version}`,
      ];
      about.textContent = parts.join(" · ");
    } catch {
      about.textContent = t("unreachable");
    }
  }

  /** @param {number | null} before */
  async function audit(before) {
    const entries = await listAudit(AUDIT_ROWS, before);
    const shown = entries.map(auditRow);
    if (before === null) rows.replaceChildren(...shown);
    else rows.append(...shown);
    last = entries.at(-1)?.number ?? last;
    more.hidden = entries.length < AUDIT_ROWS;
    if (before === null && entries.length === 0)
      rows.append(h("li", { class: "note" }, t("nothing_done")));
  }

  const problem = (/** @type {Error} */ error) => toast(error.message);
  const news = () => visible && isOwner && audit(null).catch(problem);

  /** What only owners may see. */
  async function ownersPart() {
    isOwner = (await readMe()).scopes?.includes("admin") ?? false;
    for (const part of [auditCard, devices.element, hubSettings]) part.hidden = !isOwner;
    onlyOwners.hidden = isOwner;
    if (!isOwner) return;
    const [read] = await Promise.all([readSettings(), audit(null), devices.refresh()]);
    settings.replaceChildren(...settingRows(read).flat());
  }
  more.addEventListener("click", () => audit(last).catch(problem));
  for (const name of ["timer", "reminder", "list", "home"]) events.on(name, news);

  byId("view-status").append(
    h("h1", { id: "status-title", tabindex: "-1" }, t("status")),
    about,
    aside,
    h("dl", { class: "tiles" }, ...charts.elements),
    h(
      "div",
      { class: "cards" },
      auditCard,
      h(
        "div",
        { class: "cards one" },
        card("settings-title", "list", t("settings"), pageSettings(), hubSettings, onlyOwners),
        devices.element,
      ),
    ),
  );
  return {
    shown() {
      visible = true;
      clearInterval(clock);
      clock = setInterval(look, LOOK_EVERY_MS);
      look();
      ownersPart().catch(problem);
    },
    hidden() {
      visible = false;
      clearInterval(clock);
    },
  };
}
