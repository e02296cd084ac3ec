/**
 * Words for what the server says. Pure functions from values to text.
 *
 * @typedef {import("./state.js").Citation} Citation
 */

/** What each verdict is called, and what it means. */
export const VERDICTS = Object.freeze({
  exact: { sign: "=", word: "exact", meaning: "The very words stand in the cited lines." },
  confirmed: { sign: "✓", word: "confirmed", meaning: "A verifier found this in the cited lines, in words that stand there." },
  conflict: { sign: "×", word: "conflict", meaning: "The cited lines contradict this, or do not hold what it names." },
  unverified: { sign: "", word: "not verified", meaning: "The cited lines are there. Whether they say this is not decided." },
  unknown: { sign: "?", word: "no such source", meaning: "The answer names a source that was never shown." },
  stale: { sign: "!", word: "changed since", meaning: "The source has changed since it was read." },
  uncited: { sign: "", word: "no source given", meaning: "The answer states this and names no source." },
});

const NOTHING = { sign: "", word: "", meaning: "" };

/**
 * @param {string} verdict
 * @returns {{sign: string, word: string, meaning: string}} empty words for what is no verdict
 */
export function verdictOf(verdict) {
  return Object.hasOwn(VERDICTS, verdict) ? VERDICTS[/** @type {keyof typeof VERDICTS} */ (verdict)] : NOTHING;
}

// Marks of writing direction and controls: they show other words than there are, or nothing.
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Write what has no shape of its own, or turns the direction of writing, as its number.
 *
 * @param {unknown} text
 * @returns {string} such as `a‹U+202E›b`
 */
export function visible(text) {
  // Where a document had a tag or began a page, a form feed may stand: a blank like others.
  return String(text ?? "").replaceAll("\f", " ").replace(INVISIBLE, (char) => {
    const number = char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `‹U+${number}›`;
  });
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

// What begins with anything else may be an address or the name of a file, which are written as they are.
const PLAIN_WORD = /^\p{Ll}[\p{L}’'-]*[.,;:!?]*(?=\s|$)/u;

/**
 * Write messages, which the server gives in lower case and without a full stop, as sentences.
 *
 * @param {...(string | undefined)} messages empty ones are left out
 */
export function sentences(...messages) {
  return messages
    .map((message) => message?.trim() ?? "")
    .filter(Boolean)
    .map((message) => (PLAIN_WORD.test(message) ? `${message.charAt(0).toUpperCase()}${message.slice(1)}` : message))
    .map((message) => (/[.!?…]$/.test(message) ? message : `${message}.`))
    .join(" ");
}

/** @param {number | null | undefined} usd null: the price is not known */
export function cost(usd) {
  if (usd === null || usd === undefined) return "price not known";
  if (usd === 0) return "free";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** @param {number} seconds */
export function wait(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 90) return counted(whole, "second");
  if (whole < 5400) return counted(Math.round(whole / 60), "minute");
  return counted(Math.round(whole / 3600), "hour");
}

/**
 * Say how long ago something was.
 *
 * @param {string | number} when ISO 8601, or seconds since 1970
 * @param {number} now milliseconds since 1970
 */
export function ago(when, now) {
  const then = typeof when === "number" ? when * 1000 : Date.parse(when);
  if (Number.isNaN(then)) return "";
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${counted(minutes, "minute")} ago`;
  if (minutes < 60 * 24) return `${counted(Math.floor(minutes / 60), "hour")} ago`;
  return `${counted(Math.floor(minutes / 60 / 24), "day")} ago`;
}

/**
 * Give the part of a list that something belongs to, by the day when it was.
 *
 * @param {string | number} when ISO 8601, or seconds since 1970
 * @param {number} now milliseconds since 1970
 */
export function dayOf(when, now) {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const then = typeof when === "number" ? when * 1000 : Date.parse(when);
  const days = Math.ceil((midnight - then) / (24 * 60 * 60_000));
  if (!(days > 0)) return "Today";
  if (days === 1) return "Yesterday";
  return days <= 7 ? "The last seven days" : "Before that";
}

/**
 * Write several names as a list.
 *
 * @param {string[]} names
 */
export function listed(names) {
  return new Intl.ListFormat("en").format(names);
}

/** @typedef {Pick<Citation, "path" | "place" | "label" | "start_line" | "end_line">} Located */

/**
 * Give the original's own name for a place, such as `p. 2`, where it has no lines: a PDF, a book, slides, subtitles.
 *
 * @param {Located} citation
 * @returns {string | null} empty if it has no name for it; null if it has lines
 */
export function anchorOf({ path, place, label, start_line: first, end_line: last }) {
  const begin = place?.indexOf(path) ?? -1;
  if (!path || begin < 0) return null;
  const named = `${place} `.split(`${path}:`).slice(1).map((rest) => rest.split(/[^\d-]/, 1)[0]);
  if (named.includes(first === last ? String(first) : `${first}-${last}`)) return null;
  const rest = place.slice(begin + path.length);
  const labelled = ` (${label})`;
  return (label && rest.endsWith(labelled) ? rest.slice(0, -labelled.length) : rest).trim();
}

/**
 * Name the place of a citation for a list: the file, and its lines or what the original has in their stead.
 *
 * @param {Located} citation
 */
export function lines(citation) {
  return [citation.path || "nowhere", placeIn(citation)].filter(Boolean).join(", ");
}

/**
 * Name the place of a citation in its file: its lines, or what the original has in their stead; empty if it has nothing.
 *
 * @param {Located} citation
 */
export function placeIn(citation) {
  const { path, start_line: first, end_line: last } = citation;
  const anchor = path ? anchorOf(citation) : "";
  // The place on a scanned page is marked there, and tells people nothing in numbers.
  if (anchor !== null) return anchor.replace(/^(p\. \d+) box [\d,]+$/, "$1");
  return first === last ? `line ${first}` : `lines ${first}–${last}`;
}

/**
 * Put citations of the same document together, in the order in which the documents are cited first.
 *
 * @template {{source: string, path: string}} T
 * @param {T[]} citations
 * @returns {{source: string, path: string, citations: T[]}[]}
 */
export function byDocument(citations) {
  /** @type {Map<string, {source: string, path: string, citations: T[]}>} */
  const found = new Map();
  for (const citation of citations) {
    const { source, path } = citation;
    const key = JSON.stringify([source, path]);
    if (!found.has(key)) found.set(key, { source, path, citations: [] });
    found.get(key)?.citations.push(citation);
  }
  return [...found.values()];
}

/**
 * Give what the original calls a place, unless `lines` says it already.
 *
 * @param {Located} citation
 */
export function labelBeside(citation) {
  return citation.label === anchorOf(citation) ? "" : citation.label;
}

/**
 * Take the signs of Markdown off a line of text: what they do to it cannot be shown there.
 *
 * @param {string} text
 */
export function plain(text) {
  return text
    .replace(/^\s*(?:[-*+>]|#{1,6}|\d+[.)])\s+/gm, "")
    .replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])/g, "$2");
}

/** What a reader has to look at. All else is good, or was not decided. */
const WRONG = new Set(["conflict", "unknown", "stale"]);

/**
 * Return the claims that are in conflict with their sources, or cite what is not there.
 *
 * @template {{verdict: string}} T
 * @param {T[] | undefined} claims
 * @returns {T[]}
 */
export function doubtful(claims) {
  return (claims ?? []).filter(({ verdict }) => WRONG.has(verdict));
}

/**
 * Say in one line how many claims nobody has decided, which is no fault of theirs; empty if there are none.
 *
 * @param {{claims?: {verdict: string}[], refused: boolean, verifier?: string}} answer
 */
export function openClaims({ claims = [], refused, verifier }) {
  const count = (/** @type {string} */ wanted) => claims.filter(({ verdict }) => verdict === wanted).length;
  const [open, confirmed, uncited] = [count("unverified"), count("confirmed"), count("uncited")];
  if (refused || !(open || uncited)) return "";
  const others = confirmed && verifier ? `; ${counted(confirmed, "other")} ${confirmed === 1 ? "was" : "were"}, by ${verifier}` : "";
  return [
    open && `${counted(open, "claim")} ${open === 1 ? "was" : "were"} not verified${others}.`,
    uncited && `${counted(uncited, "claim")} ${uncited === 1 ? "names" : "name"} no source.`,
  ].filter(Boolean).join(" ");
}

/** Why a model wrote nothing, which says nothing of the sources. */
const UNWRITTEN = /** @type {Record<string, string>} */ ({
  budget: "the budget stopped it",
  withheld: "the model or its provider declined",
  length: "the model used up its tokens",
  "nothing written": "the model wrote nothing",
});

/** Why there is no answer, where the word that the server has for it is none for people. */
const NO_ANSWER = /** @type {Record<string, string>} */ ({
  ...UNWRITTEN,
  "nothing relevant": "the sources do not speak of it",
  "not read": "the file could not be read",
  arithmetic: "no source is needed for it",
});

/**
 * Whether there is no answer because a model wrote none, whatever the sources say.
 *
 * @param {string} reason
 */
export function isUnwritten(reason) {
  return Object.hasOwn(UNWRITTEN, reason);
}

/**
 * Say in one line what the check of an answer found, or why there is no answer.
 *
 * @param {{citations: {verdict: string}[], refused: boolean, reason?: string}} answer
 */
export function summary({ citations, refused, reason = "" }) {
  if (refused) return ["No answer", Object.hasOwn(NO_ANSWER, reason) ? NO_ANSWER[reason] : reason].filter(Boolean).join(": ");
  if (!citations.length) return "No citations";
  const count = (/** @type {string} */ wanted) => citations.filter(({ verdict }) => verdict === wanted).length;
  const parts = Object.entries(VERDICTS).map(([verdict, { word }]) => ({ number: count(verdict), word }));
  const found = parts.filter(({ number }) => number).map(({ number, word }) => `${number} ${word}`);
  return [counted(citations.length, "citation"), found.join(", ")].filter(Boolean).join(": ");
}

/**
 * Write a citation as text that can be pasted anywhere.
 *
 * @param {Citation} citation
 */
export function citationText(citation) {
  const quote = visible(citation.quote).split("\n").map((line) => `> ${line}`).join("\n");
  const head = `${visible(citation.place || lines(citation))} (${visible(citation.source)})`;
  return [head, quote, citation.url].filter(Boolean).join("\n");
}

/**
 * Let through what may be the address of a link; empty for all else, scripts among it.
 *
 * @param {string | undefined | null} url
 */
export function safeLink(url) {
  return /^https?:\/\/\S+$/i.test(url ?? "") ? String(url) : "";
}

/**
 * Split a text into what matches and what does not.
 *
 * @param {string} text
 * @param {[number, number][]} matches half-open ranges in order, counted in characters, as the server does
 * @returns {{words: string, isMatch: boolean}[]}
 */
export function marked(text, matches) {
  const characters = [...text];
  /** @type {(from: number, to?: number) => string} */
  const words = (from, to) => characters.slice(from, to).join("");
  const parts = [];
  let at = 0;
  for (const [from, to] of matches) {
    parts.push({ words: words(at, from), isMatch: false }, { words: words(from, to), isMatch: true });
    at = to;
  }
  return [...parts, { words: words(at), isMatch: false }].filter(({ words }) => words);
}
