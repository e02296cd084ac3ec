import assert from "node:assert/strict";
import { test } from "node:test";

import {
  applyEvent, createStore, pastExchange, pendingOf, questionBody, sameFrom, startExchange, tail, withRunning,
} from "../../src/openbook/server/web/state.js";

const after = (...events) => events.reduce(applyEvent, startExchange(1, "Why?"));

test("words that are written stand behind the blocks that are finished", () => {
  const exchange = after(
    { event: "status", data: { stage: "writing" } },
    { event: "delta", data: { text: "One.\n\nT" } },
    { event: "block", data: { index: 0, html: "<p>One.</p>" } },
    { event: "delta", data: { text: "w" } },
  );

  assert.deepEqual(exchange.blocks, ["<p>One.</p>"]);
  assert.equal(tail(exchange), "Tw");
  assert.equal(exchange.stage, "writing");
});

test("when the writing ends, all words stand in blocks", () => {
  const exchange = after(
    { event: "delta", data: { text: "One." } },
    { event: "block", data: { index: 0, html: "<p>One.</p>" } },
    { event: "status", data: { stage: "checking" } },
  );

  assert.equal(tail(exchange), "");
});

test("a question that waits for its turn has a place until it is searched for", () => {
  const queued = { event: "status", data: { stage: "queued", place: 3 } };

  assert.deepEqual([after(queued).stage, after(queued).place], ["queued", 3]);
  assert.equal(after(queued, { event: "status", data: { stage: "searching" } }).place, 0);
});

test("what is rendered of a block stands before the words behind it, until the block is whole", () => {
  const events = [
    { event: "delta", data: { text: "- One\n-" } },
    { event: "draft", data: { html: "<ul><li>One</li></ul>", left_out: 1 } },
    { event: "delta", data: { text: " Two" } },
  ];
  const exchange = after(...events);
  const whole = applyEvent(exchange, { event: "block", data: { index: 0, html: "<ul></ul>" } });

  assert.deepEqual([exchange.draft, tail(exchange)], ["<ul><li>One</li></ul>", "- Two"]);
  assert.equal(whole.draft, "");
});

test("tools that a model has used are kept with what came of them", () => {
  const exchange = after({ event: "tool", data: { name: "search", arguments: "{}", outcome: "3 results" } });

  assert.deepEqual(exchange.tools, [{ name: "search", outcome: "3 results" }]);
});

test("an answer ends the asking", () => {
  const answer = { answer: "Because.", citations: [] };

  const exchange = after({ event: "done", data: answer });

  assert.equal(exchange.phase, "answered");
  assert.equal(exchange.answer, answer);
});

test("what a person stops has not failed", () => {
  assert.equal(after({ event: "stopped", data: {} }).phase, "stopped");
});

test("of a conversation the last answer is pending unless it is kept", () => {
  const answers = [
    { id: "1", session_id: "a", query: "Why?", state: "error" },
    { id: "2", session_id: "a", query: "Why then?", state: "running" },
    { id: "3", session_id: "b", query: "Who?", state: "done" },
  ];

  assert.equal(pendingOf(answers, "a").id, "2");
  assert.equal(pendingOf(answers, "b"), null);
  assert.equal(pendingOf(answers, "c"), null);
});

test("a conversation is listed from its first question on, and says while it is answered", () => {
  const kept = { id: "a", title: "Why?", updated_at: 1, exchanges: 1 };
  const answers = [
    { id: "1", session_id: "a", query: "Why then?", state: "running" },
    { id: "2", session_id: "b", query: "Who?", state: "running" },
    { id: "3", session_id: "c", query: "How?", state: "stopped" },
  ];

  const listed = withRunning([kept], answers);

  assert.deepEqual(listed.map(({ id, title, running }) => [id, title, running]), [["b", "Who?", true], ["a", "Why?", true]]);
  assert.deepEqual(withRunning([kept], []), [{ ...kept, running: false }]);
});

test("an error of the stream is kept with its hint", () => {
  const exchange = after({ event: "error", data: { message: "busy", hint: "wait" } });

  assert.deepEqual([exchange.phase, exchange.failure], ["failed", { message: "busy", hint: "wait" }]);
});

test("events that are not known change nothing", () => {
  assert.deepEqual(after({ event: "surprise", data: 1 }), startExchange(1, "Why?"));
});

test("an exchange of an earlier day is answered", () => {
  assert.equal(pastExchange(2, { query: "Who?", answer: "She." }).phase, "answered");
});

test("a question names only what was chosen, and lesson 0 is a lesson", () => {
  const nothing = { model: "", sources: [], course: "", lesson: "" };

  assert.deepEqual(questionBody("Why?", nothing, ""), { query: "Why?" });
  const all = { model: "m", sources: ["a"], course: "Tides", lesson: "0", agent: true };
  assert.deepEqual(questionBody("Why?", all, "ab"), {
    query: "Why?",
    session_id: "ab",
    model: "m",
    agent: true,
    filters: { sources: ["a"] },
    course_name: "Tides",
    lesson_number: 0,
  });
});

test("a store tells each change to who listens", () => {
  const store = createStore({ a: 1, b: 2 });
  const seen = [];
  const stop = store.subscribe((now) => seen.push(now));

  store.update({ b: 3 });
  stop();
  store.update({ b: 4 });

  assert.deepEqual(seen, [{ a: 1, b: 3 }]);
  assert.deepEqual(store.get(), { a: 1, b: 4 });
});

test("a question that takes the place of an answer names it", () => {
  const scope = { model: "", sources: [], course: "", lesson: "" };

  assert.deepEqual(questionBody("Why?", scope, "s", "a"), { query: "Why?", session_id: "s", replaces: "a" });
});

test("what is shown is what is kept, up to the first answer that has been replaced", () => {
  const kept = [{ id: "a" }, { id: "b" }];

  assert.equal(sameFrom(["a", "b"], kept), 2);
  assert.equal(sameFrom(["a", "old"], kept), 1);
  assert.equal(sameFrom(["a"], kept), 1);
  assert.equal(sameFrom(["a", "b", "not kept"], kept), 2);
});

test("pinned conversations stand before the others", () => {
  const sessions = [{ id: "a" }, { id: "b", pinned: true }].map((each) => ({ title: "", updated_at: 1, exchanges: 1, ...each }));

  assert.deepEqual(withRunning(sessions, []).map(({ id }) => id), ["b", "a"]);
});
