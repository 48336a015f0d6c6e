/**
 * Text arithmetic: the daemon counts Unicode code points, JavaScript counts UTF-16 units.
 */

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
  return page === null ? document : `${document} · page ${page}`;
}

/** "1 page", "3 pages". @param {number} count @param {string} noun @returns {string} */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** 95 → "1:35", 3725 → "1:02:05". @param {number} seconds @returns {string} */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}

/** 45 → "45 seconds", 150 → "3 minutes", 7200 → "2 hours". @param {number} seconds @returns {string} */
export function roughTime(seconds) {
  if (seconds < 90) return counted(Math.round(seconds), "second");
  if (seconds < 5400) return counted(Math.round(seconds / 60), "minute");
  return counted(Math.round(seconds / 3600), "hour");
}
