/** The sources of the library: which are asked, and how they are added and removed. */

import * as api from "./api.js";
import { showCourses } from "./composer.js";
import { confirmed, newSource } from "./dialogs.js";
import { chooseFiles, followJob, readingWords } from "./uploads.js";

// While a source is read that somebody else has added.
const LOOK_AGAIN_MS = 3000;

/**
 * Give what can be done with the sources.
 *
 * @param {{store: {get(): {sources: {name: string}[], chosen: string[]}, update(change: object): void},
 *   attempt: <T>(request: () => Promise<T>) => Promise<T | null>, complain(words: string): void}} page
 */
export function libraryOf({ store, attempt, complain }) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let looking;

  async function addSource() {
    const where = await newSource(chooseFiles);
    const added = where && (await attempt(() => api.addSource(where)));
    if (added) followJob(added.job_id, readingWords(added.source), loadLibrary);
  }

  /** @param {string} name */
  async function removeSource(name) {
    const words = `Openbook forgets “${name}”. Files of your own stay where they are; uploads are deleted.`;
    if (!(await confirmed("Remove this source?", words, "Remove"))) return;
    if (await attempt(() => api.removeSource(name))) loadLibrary();
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  async function removeFile(id, name) {
    if (!(await confirmed("Remove this file?", `“${name}” is deleted for good.`, "Remove"))) return;
    const removed = await attempt(() => api.removeFile(id));
    if (removed) followJob(removed.job_id, { doing: `Removing ${name}`, done: `${name} is gone` }, loadLibrary);
  }

  /**
   * @param {string} name
   * @param {boolean} on
   */
  function choose(name, on) {
    const { sources, chosen } = store.get();
    const all = sources.map((source) => source.name);
    const now = new Set(chosen.length ? chosen : all);
    if (on) now.add(name);
    else now.delete(name);
    if (!now.size) complain("At least one source has to be asked. Tick another one first.");
    if (!now.size) now.add(name);
    store.update({ chosen: now.size === all.length ? [] : all.filter((each) => now.has(each)) });
  }

  async function loadLibrary() {
    const found = await attempt(() => api.read("api/sources"));
    if (!found) return;
    const names = new Set(found.sources.map((/** @type {{name: string}} */ source) => source.name));
    const chosen = store.get().chosen.filter((name) => names.has(name));
    store.update({ ready: true, sources: found.sources, writable: found.writable, chosen });
    clearTimeout(looking);
    if (found.sources.some((/** @type {{state: string}} */ { state }) => state === "indexing")) {
      looking = setTimeout(loadLibrary, LOOK_AGAIN_MS);
    }
    const [courses, suggested] = await Promise.all([
      attempt(() => api.read("api/courses")),
      attempt(() => api.read("api/suggestions")),
    ]);
    if (courses) showCourses(courses.courses);
    store.update({ courses: courses?.courses ?? [], questions: suggested?.questions ?? [] });
  }

  return { addSource, choose, loadLibrary, removeFile, removeSource };
}
