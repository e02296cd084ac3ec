/** Files that are dropped or chosen: sent, then read, with progress for both. */

import * as api from "./api.js";
import { announce, byId, element, fill } from "./dom.js";
import { counted, listed, sentences } from "./formatting.js";
import { BROKEN } from "./state.js";

/** @typedef {{name: string, reason: string}} LeftOut */

// More names than these are not read, so they are counted.
const MAX_NAMES = 3;

/** What was said of the files that are being chosen. */
let asCourse = false;

/**
 * Take files that are dropped anywhere on the page, or chosen. Images are for the question.
 *
 * @param {() => void} changed called when something new can be asked about
 * @param {(files: File[]) => void} attach
 */
export function startUploads(changed, attach) {
  const veil = byId("drop");
  const isFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  // What a person may not add is not taken, and the browser must not open it in place of the page either.
  const mayAdd = () => !byId("add-source").hidden;
  addEventListener("dragenter", (event) => isFiles(event) && mayAdd() && (veil.hidden = false));
  addEventListener("dragover", (event) => isFiles(event) && event.preventDefault());
  veil.addEventListener("dragleave", () => (veil.hidden = true));
  addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    veil.hidden = true;
    const { files: all, folders } = dropped(event.dataTransfer);
    const isImage = (/** @type {File} */ { type }) => type.startsWith("image/");
    const files = all.filter((file) => !isImage(file));
    if (files.length < all.length) attach(all.filter(isImage));
    if (!mayAdd()) return;
    if (folders.length) new Row("Folders cannot be dropped").failed(new api.ApiError(
      `a folder cannot be dropped: ${listed(folders.map((name) => `“${name}”`))}`,
      { hint: "drop the files that are in it, or give its place under Add if it lies on the server" },
    ));
    if (files.length) send(files, false, changed);
  });
  byId("files").addEventListener("change", () => {
    send([...byId("files").files], asCourse, changed);
    byId("files").value = "";
  });
}

/** @param {DataTransfer | null} transfer */
function dropped(transfer) {
  const files = /** @type {File[]} */ ([]);
  const folders = /** @type {string[]} */ ([]);
  for (const item of transfer?.items ?? []) {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    const file = item.getAsFile();
    if (entry?.isDirectory) folders.push(entry.name);
    else if (file) files.push(file);
  }
  return { files, folders };
}

/**
 * Open the browser's own dialog for files.
 *
 * @param {boolean} course whether they are material of a course
 */
export function chooseFiles(course) {
  asCourse = course;
  byId("files").click();
}

/**
 * @param {File[]} files
 * @param {boolean} course whether they are material of a course
 * @param {() => void} changed
 */
async function send(files, course, changed) {
  if (!files.length) return;
  Row.clear();
  const name = files.length === 1 ? files[0].name : counted(files.length, "file");
  const row = new Row(`Sending ${name}`);
  try {
    const { job_id: job, accepted, refused } = await api.upload(files, course, (share) => row.share(share));
    const { left_out: unread = [] } = await follow(job, row, `Reading ${name}`, changed);
    const names = accepted.filter((each) => !unread.some(({ name }) => name === each));
    row.ended(names, [...refused, ...unread]);
  } catch (error) {
    row.failed(/** @type {api.ApiError} */ (error));
  }
}

/**
 * Show how far a source is that was added, or of which a file was removed.
 *
 * @param {string} job
 * @param {{doing: string, done: string}} words
 * @param {() => void} changed
 */
export async function followJob(job, words, changed) {
  const row = new Row(words.doing);
  try {
    await follow(job, row, words.doing, changed);
    row.done(words.done);
  } catch (error) {
    row.failed(/** @type {api.ApiError} */ (error));
  }
}

/**
 * @param {string} job
 * @param {Row} row
 * @param {string} doing
 * @param {() => void} changed
 * @returns {Promise<{left_out?: LeftOut[]}>} what the job reports
 */
async function follow(job, row, doing, changed) {
  /** @type {{left_out?: LeftOut[]} | null} */
  let report = null;
  row.words(doing);
  row.share(null);
  changed();
  for await (const { event, data } of api.jobEvents(job)) {
    if (event === "progress") row.share(data.total ? data.done / data.total : null);
    if (event === "error") throw new api.ApiError(data.message, { hint: data.hint });
    if (event === "done") report = data.report ?? {};
  }
  if (!report) throw new api.ApiError(BROKEN.message, { hint: "See whether the server still runs, then reload the page" });
  changed();
  return report;
}

/** @param {string} name of what is read */
export const readingWords = (name) => ({ doing: `Reading ${name}`, done: `${name} can be asked about now` });

/** One line about what is under way. */
class Row {
  /** @param {string} words */
  constructor(words) {
    this.label = element("span", {}, words);
    this.bar = element("progress", { max: 1, value: 0, "aria-label": words });
    this.root = element("div", { class: "upload" }, this.label, this.bar);
    byId("uploads").append(this.root);
    announce(words);
  }

  /** @param {string} words */
  words(words) {
    fill(this.label, words);
    this.bar.setAttribute("aria-label", this.label.textContent ?? "");
  }

  /** @param {number | null} share from 0 to 1; null: not known */
  share(share) {
    if (share === null) this.bar.removeAttribute("value");
    else this.bar.value = share;
  }

  /**
   * Say that it went well. The words stay until the next files come, or somebody has read them.
   *
   * @param {string} words
   */
  done(words) {
    this.root.dataset.ended = "well";
    this.#end(words);
  }

  /**
   * Say what became of each file.
   *
   * @param {string[]} names of those that were read
   * @param {LeftOut[]} left
   */
  ended(names, left) {
    const named = names.length > MAX_NAMES ? counted(names.length, "file") : listed(names);
    if (!left.length) return this.done(`${named} can be asked about now`);
    const reasons = left.map(({ name, reason }) => `${name}: ${reason}`);
    const words = names.length ? `${named} can be asked about now` : "Nothing of it can be asked about";
    this.#end(words, element("p", {}, "Left out:"),
      element("ul", {}, ...reasons.map((reason) => element("li", {}, reason))));
    announce(`${words}. Left out: ${reasons.join("; ")}`);
  }

  /** @param {api.ApiError} error */
  failed(error) {
    this.root.classList.add("upload-failed");
    this.#end(sentences(error.message, error.hint));
  }

  /** Take away what nobody needs to read any more. */
  static clear() {
    for (const root of document.querySelectorAll(".upload[data-ended=well]")) root.remove();
  }

  /**
   * @param {string} words
   * @param {...Element} more
   */
  #end(words, ...more) {
    this.words(words);
    this.bar.remove();
    const dismiss = element("button", { type: "button", class: "quiet", onclick: () => this.root.remove() }, "OK");
    this.root.append(...more, dismiss);
    announce(words);
  }
}
