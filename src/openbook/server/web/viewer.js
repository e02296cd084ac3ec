/** The source beside the answer: the cited units, highlighted, with what stands around them. */

import * as api from "./api.js";
import { announce, byId, copy, element, fill, relabel, sanitised } from "./dom.js";
import { pagePicture } from "./pages.js";
import { anchorOf, citationText, labelBeside, lines, safeLink, sentences, verdictOf } from "./formatting.js";

/** @typedef {import("./state.js").Citation} Citation */

const CONTEXT_LINES = 20;
// The server gives at most 400 lines at a time.
const MAX_LINES = 180;

const GONE = Object.freeze({
  ...{ sign: "?", word: "no longer in the library" },
  meaning: "The document was removed after it was quoted.",
});

/** @type {Citation[]} */
let citations = [];
let at = 0;
let context = CONTEXT_LINES;
/** Whether Markdown is shown as it is written, and PDF as its text. */
let isRaw = false;
/** What had the focus before the viewer was opened. @type {HTMLElement | null} */
let opener = null;

/** Whether a source is shown. */
export const isOpen = () => !byId("viewer").hidden;

/**
 * Show the source of one of several citations.
 *
 * @param {Citation[]} all
 * @param {number} number of the one to show
 */
export async function openViewer(all, number) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!byId("viewer").contains(focused)) opener = focused;
  citations = all;
  at = Math.max(0, all.findIndex((citation) => citation.number === number));
  context = CONTEXT_LINES;
  byId("viewer").hidden = false;
  byId("frame").classList.add("with-viewer");
  await show();
  byId("viewer-title").focus({ preventScroll: true });
}

/** Put the source away, and the focus back. */
export function closeViewer() {
  if (!isOpen()) return;
  byId("viewer").hidden = true;
  byId("frame").classList.remove("with-viewer");
  markChips(null);
  if (opener?.isConnected) opener.focus();
}

/** @param {number} by */
export function step(by) {
  if (!isOpen() || !citations[at + by]) return;
  at += by;
  context = CONTEXT_LINES;
  show();
}

function wire() {
  byId("viewer-close").addEventListener("click", closeViewer);
  byId("viewer-before").addEventListener("click", () => step(-1));
  byId("viewer-next").addEventListener("click", () => step(1));
  byId("viewer-raw").addEventListener("click", () => {
    isRaw = !isRaw;
    show();
  });
  byId("viewer-copy").addEventListener("click", (/** @type {Event} */ event) =>
    copy(/** @type {HTMLElement} */ (event.currentTarget), citationText(citations[at])),
  );
}

async function show() {
  const citation = citations[at];
  const body = byId("viewer-body");
  fill(byId("viewer-title"), citation.symbol || citation.path.split("/").pop() || "No such source");
  const place = citation.path && [lines(citation), labelBeside(citation), citation.source].filter(Boolean).join(" · ");
  fill(byId("viewer-place"), place);
  byId("viewer-copy").hidden = !citation.path;
  showVerdict(citation, verdictOf(citation.verdict));
  byId("viewer-before").disabled = at === 0;
  byId("viewer-next").disabled = at === citations.length - 1;
  link("");
  byId("viewer-raw").hidden = true;
  byId("viewer-original").hidden = true;
  byId("viewer-text").hidden = !citation.document_id;
  if (citation.document_id) byId("viewer-text").href = api.textOf(citation.document_id);
  markChips(citation);
  if (!citation.document_id) {
    fill(body, element("p", { class: "empty" }, "There is no such source, so there is nothing to show."));
    return;
  }
  if (body.dataset.of !== citation.document_id) fill(body);
  body.dataset.of = citation.document_id;
  body.setAttribute("aria-busy", "true");
  try {
    const shown = await api.documentAt(citation.document_id, citation, context);
    if (citations[at] === citation) showDocument(shown, citation);
  } catch (error) {
    if (citations[at] !== citation) return;
    const { message, hint, status } = /** @type {api.ApiError} */ (error);
    // Nobody can see any more whether the lines say it.
    if (status === 404) byId("viewer-text").hidden = true;
    if (status === 404) showVerdict({ ...citation, verdict: "unknown", reason: "" }, GONE);
    fill(body, status !== 404 && element("p", { class: "empty" }, sentences(message, hint)), quote(citation));
  } finally {
    body.removeAttribute("aria-busy");
  }
}

/** @param {Citation} citation */
function quote(citation) {
  return element("blockquote", { class: "kept-quote" }, element("p", {}, "As it was quoted:"), citation.quote);
}

/**
 * @param {Citation} citation
 * @param {{sign: string, word: string, meaning: string}} words
 */
function showVerdict({ number, verdict, reason }, { sign, word, meaning }) {
  const place = byId("viewer-verdict");
  place.hidden = !word;
  place.className = `viewer-verdict verdict-${verdict}`;
  fill(
    place,
    element("span", { class: `cite cite-${verdict}` },
      sign && element("span", { class: "cite-sign", "aria-hidden": "true" }, sign), String(number)),
    element("strong", {}, word),
    element("span", {}, sentences(meaning, reason)),
  );
}

/**
 * @param {any} shown the document, as the server gives it
 * @param {Citation} citation
 */
function showDocument(shown, citation) {
  const body = byId("viewer-body");
  const isProse = shown.kind === "docs" || shown.kind === "course";
  body.dataset.kind = isProse ? "prose" : "code";
  body.dataset.language = shown.language;
  const isPaged = shown.page > 0 && !isRaw;
  const isRendered = Boolean(shown.html) && !isRaw;
  byId("viewer-raw").hidden = !(shown.html || shown.page);
  relabel(byId("viewer-raw"), shown.page ? "Text" : "Raw");
  byId("viewer-original").hidden = !shown.original;
  if (shown.original) byId("viewer-original").href = api.originalOf(citation.document_id);
  byId("viewer-raw").setAttribute("aria-pressed", String(isRaw));
  const more = (/** @type {string} */ words) =>
    element("button", { type: "button", class: "quiet more", onclick: widen }, words);
  fill(
    body,
    ...shown.remarks.map((/** @type {string} */ remark) => element("p", { class: "remark" }, remark)),
    ...(isPaged ? [pagePicture(shown, citation, showText)] : [
      !isRendered && shown.more_before && context < MAX_LINES && more("Show more above"),
      isRendered
        ? element("div", { class: "answer rendered" }, sanitised(shown.html))
        : rows(shown.units, anchorOf(citation) === null),
      !isRendered && shown.more_after && context < MAX_LINES && more("Show more below"),
    ]),
  );
  link(citation.url || shown.url);
  const first = body.querySelector("mark, .cited");
  first?.scrollIntoView({ block: "center" });
  announce(`${lines(citation)} is shown${first || isPaged ? ", the cited lines are highlighted" : ""}`);
}

/** Show the text of a PDF whose pages cannot be drawn. */
function showText() {
  isRaw = true;
  show();
}

/**
 * Put units into lines: one row each, with its number, and what the original calls the place where that changes.
 *
 * @param {{number: number, text: string, html: string, cited: boolean, label: string}[]} units
 * @param {boolean} areNumbered whether the original has these lines
 */
function rows(units, areNumbered) {
  const list = element("div", { class: areNumbered ? "lines numbered" : "lines" });
  let label = "";
  let number = 0;
  let row = element("p", {});
  for (const unit of units) {
    if (unit.label && unit.label !== label) list.append(element("p", { class: "line-label" }, unit.label));
    label = unit.label;
    if (unit.number !== number) {
      row = element("p", { class: "line" });
      if (areNumbered) list.append(element("span", { class: "line-number", "aria-hidden": "true" }, String(unit.number)));
      list.append(row);
      number = unit.number;
    } else row.append(" ");
    const words = unit.html ? sanitised(unit.html) : unit.text;
    row.append(element(unit.cited && unit.text.trim() ? "mark" : "span", {}, words));
    if (unit.cited) row.classList.add("cited");
  }
  return list;
}

async function widen() {
  context = Math.min(MAX_LINES, context * 3);
  await show();
  byId("viewer-body").focus({ preventScroll: true });
}

/** @param {string} url */
function link(url) {
  const address = safeLink(url);
  byId("viewer-link").hidden = !address;
  if (address) byId("viewer-link").href = address;
}

/** @param {Citation | null} citation */
function markChips(citation) {
  for (const chip of document.querySelectorAll("a.cite[aria-current]")) chip.removeAttribute("aria-current");
  if (!citation || !opener) return;
  const article = opener.closest("article");
  article?.querySelectorAll(`a.cite[data-cite="${Number(citation.number)}"]`).forEach((chip) =>
    chip.setAttribute("aria-current", "true"),
  );
}

wire();
