import assert from "node:assert/strict";
import { test } from "node:test";

import { errorOf } from "../../src/openbook/server/web/api.js";
import {
  ago, anchorOf, byDocument, citationText, cost, counted, dayOf, doubtful, duration, isUnwritten, labelBeside, lines, marked, openClaims, plain,
  safeLink, sentences, summary, VERDICTS, verdictOf, visible, wait,
} from "../../src/openbook/server/web/formatting.js";

test("what has no shape or turns the direction is written as its number", () => {
  assert.equal(visible("a\u202eb\u2066c\u0007"), "a‹U+202E›b‹U+2066›c‹U+0007›");
  assert.equal(visible("line\n\ttab \u200d joiner"), "line\n\ttab \u200d joiner");
  assert.equal(visible("a\fb"), "a b");
  assert.equal(visible(null), "");
});

test("every verdict has a word and a meaning, and all differ", () => {
  const verdicts = Object.values(VERDICTS);

  assert.ok(verdicts.every(({ word, meaning }) => word && meaning));
  assert.equal(new Set(verdicts.map(({ word }) => word)).size, verdicts.length);
});

test("what is decided has a sign of its own, and what is not has none", () => {
  const signs = Object.fromEntries(Object.entries(VERDICTS).map(([verdict, { sign }]) => [verdict, sign]));

  const { unverified, uncited, ...decided } = signs;

  assert.deepEqual([unverified, uncited], ["", ""]);
  assert.equal(new Set(Object.values(decided)).size, 5);
  assert.ok(Object.values(decided).every(Boolean));
});

test("what is no verdict has no words", () => {
  for (const name of ["", "toString", "constructor"]) assert.equal(verdictOf(name).word, "");
});

test("counts, times and money read as people write them", () => {
  assert.deepEqual([counted(1, "file"), counted(1200, "file")], ["1 file", "1,200 files"]);
  assert.deepEqual([duration(64.4), duration(2340)], ["64 ms", "2.3 s"]);
  assert.deepEqual([wait(0.2), wait(89), wait(600), wait(7200)], ["1 second", "89 seconds", "10 minutes", "2 hours"]);
  assert.deepEqual([cost(null), cost(0), cost(0.0012), cost(1.5)], ["price not known", "free", "$0.0012", "$1.50"]);
});

test("messages of the server are told as sentences", () => {
  assert.equal(sentences("too many", "", undefined, "wait. Then ask!"), "Too many. Wait. Then ask!");
});

test("an address or the name of a file keeps its first letter", () => {
  assert.equal(sentences("http://127.0.0.1:9/v1 is gone", "notes.md: empty"), "http://127.0.0.1:9/v1 is gone. notes.md: empty.");
});

test("a claim is shown without the signs of Markdown, and code and sums as they are", () => {
  assert.equal(plain("- The **brass** key opens `locker_9`, [see](https://example.org)."),
    "The brass key opens locker_9, see.");
  assert.equal(plain("2 * 3 * 4 is a_b_c and *nearly* all"), "2 * 3 * 4 is a_b_c and nearly all");
});

test("earlier questions are listed by the day when they were asked, which begins at midnight", () => {
  const now = new Date(2026, 0, 12, 0, 30).getTime();
  const at = (/** @type {number} */ day, /** @type {number} */ hour) => new Date(2026, 0, day, hour).getTime() / 1000;

  assert.equal(dayOf(at(12, 0), now), "Today");
  assert.equal(dayOf(now / 1000 + 60, now), "Today");
  assert.equal(dayOf(at(11, 23), now), "Yesterday");
  assert.equal(dayOf(at(11, 0), now), "Yesterday");
  assert.equal(dayOf(at(10, 23), now), "The last seven days");
  assert.equal(dayOf(new Date(2026, 0, 5, 0).toISOString(), now), "The last seven days");
  assert.equal(dayOf(at(4, 23), now), "Before that");
});

test("how long ago something was is told in one unit", () => {
  const now = Date.parse("2026-01-02T12:00:00Z");

  assert.equal(ago(now / 1000, now), "just now");
  assert.equal(ago("2026-01-02T11:15:00Z", now), "45 minutes ago");
  assert.equal(ago("2026-01-02T09:00:00Z", now), "3 hours ago");
  assert.equal(ago("2025-12-31T12:00:00Z", now), "2 days ago");
  assert.equal(ago("never", now), "");
});

test("a place names its line or lines, and a mark that names nothing is nowhere", () => {
  assert.equal(lines({ path: "a.py", start_line: 3, end_line: 3 }), "a.py, line 3");
  assert.equal(lines({ path: "a.py", start_line: 3, end_line: 5 }), "a.py, lines 3–5");
  assert.equal(lines({ path: "", start_line: 1, end_line: 1 }), "nowhere");
  const scan = { path: "a.pdf", label: "", start_line: 1, end_line: 1 };
  assert.equal(lines({ ...scan, place: "a.pdf p. 2 box 71,275,437,319" }), "a.pdf, p. 2");
  assert.equal(lines({ ...scan, place: "a.pdf box 1,2,3,4" }), "a.pdf, box 1,2,3,4");
});

test("a place without lines has what its original calls it, once", () => {
  const at = { path: "good.pdf", start_line: 3, end_line: 3 };
  const page = { ...at, place: "good.pdf p. 2", label: "p. 2" };
  const headed = { ...at, place: "good.pdf p. 2 (Tides › Moon)", label: "Tides › Moon" };
  const bare = { ...at, path: "notes.docx", place: "notes.docx (Moon)", label: "Moon" };
  const inCode = { path: "a.py", start_line: 3, end_line: 4, place: "f() (a.py:3-4)", label: "" };

  assert.deepEqual([page, headed, bare, inCode].map(lines),
    ["good.pdf, p. 2", "good.pdf, p. 2", "notes.docx", "a.py, lines 3–4"]);
  assert.deepEqual([page, headed, bare].map(labelBeside), ["", "Tides › Moon", "Moon"]);
});

/** @param {...string} verdicts */
const each = (...verdicts) => verdicts.map((verdict) => ({ verdict }));

test("a summary counts the citations of each verdict, good ones first", () => {
  const citations = each("conflict", "confirmed", "exact", "unverified", "exact", "unknown");

  assert.equal(summary({ citations, refused: false }),
    "6 citations: 2 exact, 1 confirmed, 1 conflict, 1 not verified, 1 no such source");
  assert.equal(summary({ citations: each("exact"), refused: false }), "1 citation: 1 exact");
  assert.equal(summary({ citations: [], refused: false }), "No citations");
});

test("a refusal names its own reason, and blames the sources for nothing else", () => {
  const why = (/** @type {string} */ reason) => summary({ citations: [], refused: true, reason });

  assert.equal(why("nothing relevant"), "No answer: the sources do not speak of it");
  assert.equal(why("not read"), "No answer: the file could not be read");
  for (const reason of ["budget", "withheld", "length", "nothing written", "nothing claimed", "empty library"]) {
    assert.match(why(reason), /^No answer: \w+/);
    assert.doesNotMatch(why(reason), /sources/);
  }
  assert.deepEqual(["budget", "nothing written", "nothing relevant", ""].map(isUnwritten), [true, true, false, false]);
  assert.equal(why(""), "No answer");
  assert.equal(why("toString"), "No answer: toString");
});

test("a reader is to look at claims in conflict and at marks that name nothing or what has changed", () => {
  const claims = each("exact", "confirmed", "conflict", "unverified", "unknown", "stale", "uncited", "");

  assert.deepEqual(doubtful(claims), each("conflict", "unknown", "stale"));
  assert.deepEqual(doubtful(undefined), []);
});

test("claims that nobody has decided are one quiet line", () => {
  const line = (/** @type {string} */ verifier, /** @type {string[]} */ ...verdicts) =>
    openClaims({ claims: each(...verdicts), refused: false, verifier });

  assert.equal(line("", "unverified", "unverified", "exact"), "2 claims were not verified.");
  assert.equal(line("a:b", "unverified", "confirmed"), "1 claim was not verified; 1 other was, by a:b.");
  assert.equal(line("a:b", "unverified", "conflict"), "1 claim was not verified.");
  assert.equal(line("a:b", "confirmed", "uncited"), "1 claim names no source.");
  assert.equal(line("a:b", "exact", "confirmed", "conflict", ""), "");
  assert.equal(openClaims({ claims: each("unverified"), refused: true }), "");
  assert.equal(openClaims({ refused: false }), "");
});

test("a citation is copied with its place, its quote and its permanent link", () => {
  const url = "https://example.org/a#L3";

  const text = citationText({ place: "f() (a.py:3-4)", source: "lib", quote: "def f():\n    pass", url });

  assert.equal(text, `f() (a.py:3-4) (lib)\n> def f():\n>     pass\n${url}`);
});

test("only web addresses become links", () => {
  assert.equal(safeLink("https://example.org/x#L1"), "https://example.org/x#L1");
  for (const url of ["javascript:alert(1)", " javascript:1", "data:text/html,x", "//example.org", "", null]) {
    assert.equal(safeLink(url), "");
  }
});

test("an error carries what the server says, and how long to wait", async () => {
  const reply = (status, body, wait = null) => ({
    status,
    headers: { get: () => wait },
    json: async () => (body ? JSON.parse(body) : Promise.reject(new Error("no JSON"))),
  });

  const told = await errorOf(reply(429, '{"error": {"message": "too many", "hint": "wait"}}', "7"));
  const silent = await errorOf(reply(503, ""));

  assert.deepEqual([told.message, told.hint, told.retryAfter, told.status], ["too many", "wait", 7, 429]);
  assert.match(silent.message, /not ready/);
  const locked = await errorOf(reply(401, '{"error": {"message": "no key", "hint": "`openbook keys add`"}}'));
  assert.doesNotMatch(`${locked.message} ${locked.hint}`, /openbook/);
});

test("a single line is named as a line, and not taken for what an original has in its stead", () => {
  const at = { path: "guide.md", start_line: 3, end_line: 3, label: "Sessions" };
  const place = "guide.md:3 (Sessions)";

  assert.equal(anchorOf({ ...at, place }), null);
  assert.equal(lines({ ...at, place }), "guide.md, line 3");
  assert.notEqual(anchorOf({ ...at, place: "guide.md:31 (Sessions)" }), null);
});

test("a text is split into what matches and what does not, by whole characters", () => {
  assert.deepEqual(marked("🌊 tide", [[2, 6]]), [
    { words: "🌊 ", isMatch: false }, { words: "tide", isMatch: true },
  ]);
  assert.deepEqual(marked("tide", []), [{ words: "tide", isMatch: false }]);
});

test("citations of one document stand together, in the order in which the documents come", () => {
  const [a, b, c, d] = [["s", "a.md"], ["s", "b.md"], ["s", "a.md"], ["t", "a.md"]].map(([source, path]) => ({ source, path }));

  assert.deepEqual(byDocument([a, b, c, d]), [
    { ...a, citations: [a, c] },
    { ...b, citations: [b] },
    { ...d, citations: [d] },
  ]);
});
