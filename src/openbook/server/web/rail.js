/** The rail: sources with their state, and earlier questions. */

import { exportOf } from "./api.js";
import { byId, element, fill, refill } from "./dom.js";
import { floatBeside } from "./floating.js";
import { ago, counted, dayOf } from "./formatting.js";

// What the server says of a file that can be asked about; of others it says why not.
const ADDED = "added";

// Thousands, as those who share a key may have, take the browser seconds to draw.
const MAX_AT_ONCE = 100;
let most = MAX_AT_ONCE;

/**
 * @typedef {{name: string, kind: string, location: string, documents: number, state: string, message: string,
 *   skipped: Record<string, number>, remarks: string[],
 *   uploaded: {document_id: string, name: string, outcome: string}[]}} Source
 * @typedef {{id: string, title: string, updated_at: number | string, exchanges: number, running?: boolean,
 *   pinned?: boolean}} Session
 */

/**
 * @param {HTMLElement} list
 * @param {Source[]} sources
 * @param {{chosen: string[], writable: boolean, choose(name: string, on: boolean): void,
 *   remove(name: string): void, removeFile(id: string, name: string): void}} how
 */
export function showSources(list, sources, how) {
  list.removeAttribute("aria-busy");
  const none = !sources.length && element("li", { class: "empty" }, "Nothing to read yet.");
  refill(list, ...sources.map((source) => sourceItem(source, how)), none);
}

/**
 * @param {Source} source
 * @param {Parameters<typeof showSources>[2]} how
 */
function sourceItem(source, { chosen, writable, choose, remove, removeFile }) {
  const box = element("input", {
    ...{ type: "checkbox", checked: !chosen.length || chosen.includes(source.name) },
    "data-focus": source.name,
  });
  box.addEventListener("change", () => choose(source.name, box.checked));
  return element(
    "li",
    { class: "source", "data-state": source.state, "data-item": source.name },
    element("label", { class: "check" }, box, element("span", { class: "source-name" }, source.name)),
    element("span", { class: "source-state" }, sourceWords(source)),
    writable &&
      element("button", {
        ...{ type: "button", class: "quiet small-remove", "aria-label": `Remove ${source.name}` },
        onclick: () => remove(source.name),
      }, "Remove"),
    files(source, writable, removeFile),
    ...details(source),
  );
}

/** @param {Source} source */
function sourceWords({ state, documents, message }) {
  if (state === "indexing") return message || "reading …";
  if (state === "error") return message || "could not be read";
  return counted(documents, "document");
}

/**
 * @param {Source} source
 * @param {boolean} writable
 * @param {(id: string, name: string) => void} removeFile
 */
function files({ name: source, uploaded }, writable, removeFile) {
  if (!uploaded.length) return null;
  const items = uploaded.map(({ document_id: id, name, outcome }) =>
    element("li", { class: "file" }, element("span", {}, name), " ",
      writable && element("button", {
        ...{ type: "button", class: "quiet", "aria-label": `Remove ${name}` },
        onclick: () => removeFile(id, name),
      }, "Remove"),
      outcome && outcome !== ADDED && element("span", { class: "file-outcome" }, outcome)));
  return element("details", { class: "source-more", "data-details": `files of ${source}` },
    element("summary", {}, counted(uploaded.length, "file")),
    element("ul", {}, ...items));
}

/** @param {Source} source */
function details({ name, skipped, remarks }) {
  const left = Object.entries(skipped ?? {}).map(([reason, count]) => `${counted(count, "file")} left out: ${reason}`);
  const words = [...left, ...(remarks ?? [])];
  if (!words.length) return [];
  return [
    element("details", { class: "source-more", "data-details": `remarks on ${name}` },
      element("summary", {}, counted(words.length, "remark")),
      element("ul", {}, ...words.map((word) => element("li", {}, word)))),
  ];
}

/** Show the rail where it is a drawer. */
export function openRail() {
  byId("frame").classList.add("with-rail");
  byId("rail-open").setAttribute("aria-expanded", "true");
  byId("rail-close").focus();
}

/** Whether it was open. */
export function closeRail() {
  const was = byId("frame").classList.contains("with-rail");
  byId("frame").classList.remove("with-rail");
  byId("rail-open").setAttribute("aria-expanded", "false");
  return was;
}

/** Which earlier question the menu is of. The list may be drawn anew while it is open. */
let ofMenu = "";

/** Wire the menu of earlier questions. Called once. */
export function startMenu() {
  const menu = byId("menu");
  floatBeside(menu, () => document.querySelector(`[data-menu="${CSS.escape(ofMenu)}"]`), { below: true });
  // Before an item acts, so that a dialog, too, gives the focus back to the button that opened the menu.
  menu.addEventListener("click", () => {
    /** @type {HTMLElement | null} */ (document.querySelector(`[data-menu="${CSS.escape(ofMenu)}"]`))?.focus();
    menu.hidePopover();
  }, { capture: true });
  byId("rail").addEventListener("scroll", () => menu.hidePopover(), { passive: true });
}

/**
 * @param {Session} session
 * @param {{rename(session: Session): void, pin(session: Session): void, remove(session: Session): void}} how
 */
function fillMenu(session, { rename, pin, remove }) {
  /** @param {string} words @param {() => void} onclick @param {string} [kind] */
  const item = (words, onclick, kind = "") => element("button", { type: "button", class: `quiet ${kind}`, onclick }, words);
  ofMenu = session.id;
  fill(
    byId("menu"),
    item("Rename", () => rename(session)),
    item(session.pinned ? "Unpin" : "Pin", () => pin(session)),
    element("a", { class: "quiet", href: exportOf(session.id, "markdown"), download: true }, "Export Markdown"),
    element("a", { class: "quiet", href: exportOf(session.id, "json"), download: true }, "Export JSON"),
    item("Delete", () => remove(session), "danger"),
  );
}

/**
 * @param {HTMLElement} list
 * @param {Session[]} sessions those that are pinned first, then the latest
 * @param {{current: string, now: number, open(id: string): void, rename(session: Session): void,
 *   pin(session: Session): void, remove(session: Session): void}} how
 */
export function showHistory(list, sessions, how) {
  list.removeAttribute("aria-busy");
  const more = () => ((most += MAX_AT_ONCE), showHistory(list, sessions, how));
  let day = "";
  /** @type {HTMLElement[]} */
  const items = [];
  for (const [at, session] of sessions.slice(0, most).entries()) {
    const here = session.pinned ? "Pinned" : dayOf(session.updated_at, how.now);
    if (here !== day) items.push(element("li", { class: "day" }, here));
    day = here;
    items.push(sessionItem(session, at, how));
  }
  refill(
    list,
    ...items,
    sessions.length > most && element("li", {},
      element("button", { type: "button", class: "quiet", onclick: more }, "Show older ones")),
    !sessions.length && element("li", { class: "empty" }, "None yet."),
  );
}

/**
 * @param {Session} session
 * @param {number} at
 * @param {Parameters<typeof showHistory>[2]} how
 */
function sessionItem(session, at, { current, now, open, ...how }) {
  const isCurrent = session.id === current;
  const name = session.title || "Untitled";
  return element(
    "li",
    { class: "session", "data-current": String(isCurrent), "data-item": session.id },
    element("button", {
      ...{ type: "button", class: "session-open", tabindex: at === 0 ? 0 : -1, "data-focus": session.id },
      "aria-current": isCurrent ? "true" : null,
      onclick: () => open(session.id),
    }, element("span", { class: "session-title" }, name),
      element("span", { class: "session-when" }, session.running ? "answering …" : ago(session.updated_at, now))),
    session.exchanges > 0 && element("button", {
      ...{ type: "button", class: "quiet session-more", popovertarget: "menu", "data-menu": session.id, "data-focus": `more ${session.id}` },
      ...{ "aria-label": `More for ${name}`, onclick: () => fillMenu(session, how) },
    }, "…"),
  );
}
