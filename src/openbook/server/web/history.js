/** Earlier conversations: renamed, pinned, deleted, and found by words. */

import * as api from "./api.js";
import { confirmed, newTitle } from "./dialogs.js";
import { announce, byId, element, fill } from "./dom.js";
import { counted, marked, sentences } from "./formatting.js";

const WAIT_MS = 200;

/** @typedef {import("./rail.js").Session} Session */

/**
 * @param {{attempt<T>(request: () => Promise<T>): Promise<T | null>, changed(what: string): void,
 *   deleted(id: string): void, open(id: string): void}} page `changed`: the list has to be read anew, here and in other tabs
 */
export function historyOf({ attempt, changed, deleted, open }) {
  return {
    /** @param {Session} session */
    async rename(session) {
      const title = await newTitle(session.title);
      if (title && (await attempt(() => api.changeSession(session.id, { title })))) changed("renamed");
    },
    /** @param {Session} session */
    async pin({ id, title, pinned }) {
      if (!(await attempt(() => api.changeSession(id, { pinned: !pinned })))) return;
      announce(`${title} is ${pinned ? "no longer pinned" : "pinned"}`);
      changed("pinned");
    },
    /** @param {Session} session */
    async remove({ id, title }) {
      const words = `“${title}” and its answers are deleted for good. Export it first if you want to keep it.`;
      if (!(await confirmed("Delete these questions?", words, "Delete"))) return;
      if (!(await attempt(() => api.deleteSession(id)))) return;
      deleted(id);
      announce("Deleted");
      changed("deleted");
    },
    /** Let the field above the list find conversations. Called once. */
    startFilter() {
      startFilter(open);
    },
  };
}

/** @param {(id: string) => void} open */
function startFilter(open) {
  const field = byId("history-search");
  const found = byId("history-found");
  /** @type {AbortController | undefined} */
  let searching;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const search = () => {
    clearTimeout(waiting);
    searching?.abort();
    const text = field.value.trim();
    byId("history").hidden = Boolean(text);
    found.hidden = !text;
    if (!text) return fill(found);
    const mine = (searching = new AbortController());
    waiting = setTimeout(async () => {
      try {
        const { sessions } = await api.sessionMatches(text, mine.signal);
        if (mine === searching) showFound(found, sessions, open);
      } catch (error) {
        if (mine.signal.aborted) return;
        const { message, hint } = /** @type {api.ApiError} */ (error);
        fill(found, element("li", { class: "empty" }, sentences(message, hint)));
      }
    }, WAIT_MS);
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !field.value) return;
    event.stopPropagation();
    field.value = "";
    search();
  });
}

/**
 * @param {HTMLElement} list
 * @param {(Session & {snippet: string, matches: [number, number][]})[]} sessions
 * @param {(id: string) => void} open
 */
function showFound(list, sessions, open) {
  fill(
    list,
    ...sessions.map(({ id, title, snippet, matches }) =>
      element("li", { class: "session" },
        element("button", { type: "button", class: "session-open", onclick: () => open(id) },
          element("span", { class: "session-title" }, title || "Untitled"),
          snippet !== title && element("span", { class: "session-snippet" }, ...markedWords(snippet, matches))))),
    !sessions.length && element("li", { class: "empty" }, "None has these words."),
  );
  announce(sessions.length ? `${counted(sessions.length, "conversation")} found` : "None found");
}

/**
 * @param {string} text
 * @param {[number, number][]} matches
 */
export function markedWords(text, matches) {
  return marked(text, matches).map(({ words, isMatch }) => (isMatch ? element("mark", {}, words) : words));
}
