/** Files that are dropped or chosen: sent, then read, with progress for both. */

import * as api from "./api.js";
import { announce, byId, element, fill } from "./dom.js";
import { counted, sentences } from "./formatting.js";

/** What was said of the files that are being chosen. */
let asCourse = false;

/**
 * Take files that are dropped anywhere on the page, or chosen.
 *
 * @param {() => void} changed called when something new can be asked about
 */
export function startUploads(changed) {
  const veil = byId("drop");
  const isFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragenter", (event) => isFiles(event) && (veil.hidden = false));
  addEventListener("dragover", (event) => isFiles(event) && event.preventDefault());
  veil.addEventListener("dragleave", () => (veil.hidden = true));
  addEventListener("drop", (event) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    veil.hidden = true;
    send([...(event.dataTransfer?.files ?? [])], false, changed);
  });
  byId("files").addEventListener("change", () => {
    send([...byId("files").files], asCourse, changed);
    byId("files").value = "";
  });
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
  const name = files.length === 1 ? files[0].name : counted(files.length, "file");
  const row = new Row(`Sending ${name}`);
  try {
    const { job_id: job, accepted, refused } = await api.upload(files, course, (share) => row.share(share));
    if (accepted.length) await follow(job, row, readingWords(name), changed);
    else row.words(`${name}: nothing of it was taken`);
    row.refused(refused);
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
    await follow(job, row, words, changed);
  } catch (error) {
    row.failed(/** @type {api.ApiError} */ (error));
  }
}

/**
 * @param {string} job
 * @param {Row} row
 * @param {{doing: string, done: string}} words
 * @param {() => void} changed
 */
async function follow(job, row, { doing, done }, changed) {
  row.words(doing);
  row.share(null);
  changed();
  for await (const { event, data } of api.jobEvents(job)) {
    if (event === "progress") row.share(data.total ? data.done / data.total : null);
    if (event === "error") throw new api.ApiError(data.message, { hint: data.hint });
    if (event === "done") row.done(done);
  }
  changed();
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

  /** @param {string} words */
  done(words) {
    this.words(words);
    this.bar.remove();
    this.root.append(this.#dismiss());
    announce(words);
  }

  /** @param {{name: string, reason: string}[]} files */
  refused(files) {
    if (!files.length) return;
    const items = files.map(({ name, reason }) => element("li", {}, `${name}: ${reason}`));
    this.root.append(element("p", {}, "Not taken:"), element("ul", {}, ...items));
    if (this.bar.isConnected) this.done(this.label.textContent ?? "");
  }

  /** @param {api.ApiError} error */
  failed(error) {
    this.root.classList.add("upload-failed");
    this.done(sentences(error.message, error.hint));
  }

  #dismiss() {
    return element("button", { type: "button", class: "quiet", onclick: () => this.root.remove() }, "OK");
  }
}
