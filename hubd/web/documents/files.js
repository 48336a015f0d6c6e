/**
 * The files in what was dropped or chosen, folders with all that is in them.
 */

const MOST_FILES = 2000;

/** @param {string} name @returns {boolean} what systems leave in folders is no document */
const isHidden = (name) => name.startsWith(".") || /^(thumbs\.db|desktop\.ini)$/i.test(name);

/** @param {DataTransfer} transfer @returns {Promise<File[]>} */
export async function droppedFiles(transfer) {
  // The entries must be taken before anything is awaited: afterwards the list is empty.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return [...transfer.files];
  /** @type {File[]} */
  const files = [];
  for (const entry of entries) if (entry) await gather(entry, files);
  return files;
}

/** @param {any} entry a FileSystemEntry @param {File[]} files to which those in it are added */
async function gather(entry, files) {
  if (isHidden(entry.name) || files.length >= MOST_FILES) return;
  if (entry.isFile) {
    files.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A folder is read in parts; an empty part is its end.
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const inner of part) await gather(inner, files);
  }
}

/** @param {FileList} list of a chooser, which may have chosen a folder @returns {File[]} */
export const chosenFiles = (list) =>
  [...list].filter((file) => !isHidden(file.name)).slice(0, MOST_FILES);

/**
 * Files dropped anywhere on the page are documents.
 *
 * @param {HTMLElement} veil shown while files hover @param {(files: File[]) => void} take
 */
export function acceptDrops(veil, take) {
  let depth = 0; // dragenter and dragleave come for every element crossed
  const carriesFiles = (/** @type {DragEvent} */ event) =>
    event.dataTransfer?.types.includes("Files");
  function leave() {
    depth = 0;
    veil.hidden = true;
  }
  addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    depth += 1;
    veil.hidden = false;
  });
  addEventListener("dragleave", () => {
    depth -= 1;
    if (depth <= 0) leave();
  });
  addEventListener("dragover", (event) => {
    if (carriesFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    leave();
    droppedFiles(/** @type {DataTransfer} */ (event.dataTransfer)).then(take);
  });
}
