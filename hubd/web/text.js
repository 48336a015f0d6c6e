/**
 * Text arithmetic: the daemon counts Unicode code points, JavaScript counts UTF-16 units.
 */

import { language, t } from "/static/strings.js";

/**
 * The UTF-16 index of the code point number `offset`; past the end it is the end.
 *
 * @param {string} text
 * @param {number} offset in code points, as Python counts
 * @returns {number} in UTF-16 units, as JavaScript counts
 */
export function utf16Index(text, offset) {
  let index = 0;
  for (let seen = 0; seen < offset && index < text.length; seen += 1) {
    index += /** @type {number} */ (text.codePointAt(index)) > 0xffff ? 2 : 1;
  }
  return index;
}

/**
 * `text` in three parts: before, within and after a span counted in code points.
 *
 * @param {string} text @param {number} start @param {number} end
 * @returns {[string, string, string]}
 */
export function splitAtSpan(text, start, end) {
  const from = utf16Index(text, start);
  const to = utf16Index(text, Math.max(start, end));
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

/** "oven-manual.pdf" → "oven manual". @param {string} name @returns {string} */
export function spokenName(name) {
  return name
    .replace(/^.*\//, "")
    .replace(/\.[a-z0-9]+$/i, "")
    .replace(/[-_\s]+/g, " ")
    .trim();
}

/** "oven-manual.pdf · page 7". @param {{document: string, page: number | null}} source @returns {string} */
export function sourceName({ document, page }) {
  return page === null ? document : t("source_name", { document, page });
}

/** 95 → "1:35", 3725 → "1:02:05". @param {number} seconds @returns {string} */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/** 45 → "45 seconds", 150 → "3 minutes", 7200 → "2 hours". @param {number} seconds @returns {string} */
export function roughTime(seconds) {
  if (seconds < 90) return t("seconds", { count: Math.round(seconds) });
  if (seconds < 5400) return t("minutes", { count: Math.round(seconds / 60) });
  return t("hours", { count: Math.round(seconds / 3600) });
}

/** 812345 → "812 kB". @param {number} bytes @returns {string} */
export function fileSize(bytes) {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** "14:05" today, else "Tue 14:05" within a week, else "3 Nov". @param {Date} date @param {Date} [now] */
export function moment(date, now = new Date()) {
  const days = Math.abs(startOfDay(date) - startOfDay(now)) / 86_400_000;
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = { hour: "2-digit", minute: "2-digit" };
  if (days < 1) return date.toLocaleTimeString(language, clock);
  if (days < 7) return date.toLocaleString(language, { weekday: "short", ...clock });
  return date.toLocaleDateString(language, { day: "numeric", month: "short" });
}

/** @param {Date} date @returns {number} */
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
