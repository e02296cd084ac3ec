import assert from "node:assert/strict";
import { test } from "node:test";

import { EventReader, parseEvent, readEvents } from "../../src/openbook/server/web/events.js";

const STREAM = 'event: delta\ndata: {"text": "zwölf"}\n\n: still here\n\nevent: done\ndata: {"refused": false}\n\n';
const EVENTS = [
  { event: "delta", data: { text: "zwölf" } },
  { event: "done", data: { refused: false } },
];

test("a stream gives the same events wherever the network cuts it", () => {
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    const reader = new EventReader();

    const events = [...reader.feed(STREAM.slice(0, cut)), ...reader.feed(STREAM.slice(cut))];

    assert.deepEqual(events, EVENTS, `cut at ${cut}`);
  }
});

test("lines may end with a carriage return, also where the network cuts between it and the line feed", () => {
  for (const end of ["\r\n", "\r"]) {
    const reader = new EventReader();

    const events = [...STREAM.replaceAll("\n", end)].flatMap((char) => reader.feed(char));

    assert.deepEqual(events, EVENTS);
  }
});

test("bytes of one letter may come in two pieces", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });

  const events = [];
  for await (const event of readEvents(body)) events.push(event);

  assert.deepEqual(events, EVENTS);
});

test("an event that has not ended is none", () => {
  assert.deepEqual(new EventReader().feed('event: done\ndata: {"refused"'), []);
});

test("who stops reading ends the stream", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: 1\n\n")),
    cancel: () => (cancelled = true),
  });

  for await (const event of readEvents(body)) {
    assert.equal(event.data, 1);
    break;
  }

  assert.ok(cancelled);
});

test("data of several lines are one text, and a comment is no event", () => {
  assert.deepEqual(parseEvent("data: a\ndata: b"), { event: "message", data: "a\nb" });
  assert.equal(parseEvent(": ping"), null);
});

test("an event keeps its id, from which a stream is read on", () => {
  assert.deepEqual(parseEvent("event: delta\ndata: 1\nid: 7"), { event: "delta", data: 1, id: "7" });
});
