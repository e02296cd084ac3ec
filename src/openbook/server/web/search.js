/** The search: places in the sources while one types, without a model. It stands in the place of the conversation. */

import * as api from "./api.js";
import { announce, byId, element, fill, rove } from "./dom.js";
import { counted, duration, labelBeside, lines, sentences } from "./formatting.js";
import { markedWords } from "./history.js";
import { closeRail } from "./rail.js";

/**
 * @typedef {import("./state.js").Citation} Citation
 * @typedef {Citation & {kind: string, first_line: number, matches: [number, number][]}} Hit
 */

// Longer than between two keys of somebody who types, shorter than anybody waits for.
const WAIT_MS = 120;

/** @type {AbortController | undefined} */
let searching;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
/** What had the focus before. @type {HTMLElement | null} */
let opener = null;

/** Whether the search is shown. */
const isSearching = () => !byId("search").hidden;

/** @param {string} [words] to begin with */
export function openSearch(words) {
  if (!isSearching()) opener = /** @type {HTMLElement | null} */ (document.activeElement);
  byId("search").hidden = false;
  byId("frame").classList.add("with-search");
  closeRail();
  const field = byId("search-words");
  if (words) field.value = words;
  field.focus();
  field.select();
  search();
}

/** @returns {boolean} whether it was open */
export function closeSearch() {
  if (!isSearching()) return false;
  clearTimeout(waiting);
  searching?.abort();
  byId("search").hidden = true;
  byId("frame").classList.remove("with-search");
  if (opener?.isConnected) opener.focus();
  return true;
}

/** @param {{name: string}[]} sources */
export function showSearchSources(sources) {
  const choice = byId("search-source");
  const names = sources.map(({ name }) => name);
  const chosen = names.includes(choice.value) ? choice.value : "";
  fill(choice, element("option", { value: "" }, "All"), ...names.map((name) => {
    const made = element("option", { selected: name === chosen }, name);
    made.value = name; // as it is: what is shown of it may not be what it is
    return made;
  }));
  byId("search-source-field").hidden = names.length < 2;
}

/**
 * Wire the fields. Called once.
 *
 * @param {{open(citations: Citation[], number: number): void, ask(query: string): void}} actions
 */
export function startSearch({ open, ask }) {
  const form = byId("search-form");
  const list = byId("search-hits");
  const first = () => /** @type {HTMLElement | null} */ (list.querySelector("button"));
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    first()?.click();
  });
  form.addEventListener("input", () => search());
  byId("search-words").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "ArrowDown" || !first()) return;
    event.preventDefault();
    first()?.focus();
  });
  rove(list, "button");
  byId("search-ask").addEventListener("click", () => {
    const query = byId("search-words").value.trim();
    closeSearch();
    if (query) ask(query);
  });
  byId("search-close").addEventListener("click", closeSearch);
  list.addEventListener("click", (/** @type {Event} */ event) => {
    const hit = /** @type {HTMLElement} */ (event.target).closest("button");
    if (hit) open(shown, Number(hit.dataset.number));
  });
}

/** The hits, as the viewer opens citations. @type {Citation[]} */
let shown = [];

function search() {
  clearTimeout(waiting);
  searching?.abort();
  const query = byId("search-words").value.trim();
  byId("search-ask").disabled = !query;
  if (!query) return show([], "");
  const mine = (searching = new AbortController());
  byId("search-hits").setAttribute("aria-busy", "true");
  waiting = setTimeout(async () => {
    try {
      const { hits, reason, took_ms: took } = await api.search({ query, filters: filters() }, mine.signal);
      if (mine !== searching || mine.signal.aborted) return;
      const words = hits.length ? `${counted(hits.length, "place")} · ${duration(took)}` : reason || "Nothing was found.";
      show(hits, sentences(words).replace(/ ms\.$/, " ms"));
    } catch (error) {
      if (mine.signal.aborted) return;
      const { message, hint } = /** @type {api.ApiError} */ (error);
      show([], sentences(message, hint));
    }
  }, WAIT_MS);
}

function filters() {
  const [kind, source, path] = ["search-kind", "search-source", "search-path"].map((id) => byId(id).value.trim());
  return { kinds: kind ? [kind] : [], sources: source ? [source] : [], globs: path ? [path] : [] };
}

/**
 * @param {Hit[]} hits
 * @param {string} words
 */
function show(hits, words) {
  const list = byId("search-hits");
  list.removeAttribute("aria-busy");
  shown = hits.map((hit, at) => ({ ...hit, number: at + 1, mark: "", verdict: "", reason: "" }));
  fill(byId("search-state"), words);
  fill(list, ...hits.map((hit, at) => item(hit, at)));
  if (words) announce(words);
}

/**
 * @param {Hit} hit
 * @param {number} at
 */
function item(hit, at) {
  const label = labelBeside(hit);
  return element("li", { class: "hit", "data-kind": hit.kind === "docs" || hit.kind === "course" ? "prose" : "code" },
    element("button", { type: "button", class: "hit-open", "data-number": at + 1, tabindex: at ? -1 : 0 },
      element("span", { class: "hit-place" },
        element("span", { class: "place-name" }, lines(hit)),
        (hit.symbol || label) && element("span", { class: "place-label" }, hit.symbol || label)),
      element("span", { class: "hit-lines" }, ...markedWords(hit.quote, hit.matches))));
}
