import assert from "node:assert/strict";
import { test } from "node:test";

import {
  applyEvent, createStore, ended, pastExchange, questionBody, startExchange, tail,
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

test("tools that a model has used are kept with what came of them", () => {
  const exchange = after({ event: "tool", data: { name: "search", arguments: "{}", outcome: "3 results" } });

  assert.deepEqual(exchange.tools, [{ name: "search", outcome: "3 results" }]);
});

test("an answer ends the asking", () => {
  const answer = { answer: "Because.", citations: [] };

  const exchange = ended(after({ event: "done", data: answer }), { byPerson: false });

  assert.equal(exchange.phase, "answered");
  assert.equal(exchange.answer, answer);
});

test("a stream that ends without an answer was broken off, and says what to do", () => {
  const exchange = ended(after({ event: "delta", data: { text: "Well" } }), { byPerson: false });

  assert.equal(exchange.phase, "failed");
  assert.match(exchange.failure.hint, /ask again/);
});

test("what a person stops has not failed", () => {
  assert.equal(ended(after(), { byPerson: true }).phase, "stopped");
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
