/**
 * What the page knows, and how it changes. No page is needed to read or test this.
 *
 * @typedef {{number: number, mark: string, verdict: string, reason: string, quote: string, label: string,
 *   place: string, source: string, path: string, document_id: string, start_char: number, end_char: number,
 *   start_line: number, end_line: number, symbol: string, url: string, matches?: [number, number][]}} Citation
 * @typedef {{text: string, verdict: string, reason: string}} Claim
 * @typedef {{answer: string, html: string, citations: Citation[], claims?: Claim[],
 *   nearest?: Omit<Citation, "number" | "mark" | "verdict" | "reason">[], refused: boolean, reason: string,
 *   model: string, cost_usd: number | null, took_ms: number, searched?: string, searches?: string[], stopped: string, verifier?: string, warning?: string, stored?: boolean,
 *   session_id?: string, query?: string, id?: string, rating?: string,
 *   earlier?: (Answer & {query: string})[]}} Answer
 * @typedef {{message: string, hint: string, status?: number, retryAfter?: number}} Failure
 * @typedef {{id: string, session_id: string, query: string, state: string, begins?: boolean,
 *   replaces?: string}} RunningAnswer
 * @typedef {"asking" | "answered" | "stopped" | "failed"} Phase
 * @typedef {{id: number, query: string, phase: Phase, stage: string, place: number, raw: string, covered: number, blocks: string[], draft: string,
 *   tools: {name: string, outcome: string}[], answer: Answer | null, failure: Failure | null}} Exchange
 */

/** What each stage is called while it lasts. */
export const STAGES = Object.freeze({
  sending: "Sending the question",
  queued: "Waiting for a turn",
  searching: "Searching the sources",
  writing: "Writing. Nothing is checked yet",
  checking: "Checking each claim against its source",
  verifying: "Verifying that the sources say this",
});

/** What is said of a stream that ends before its time. */
export const BROKEN = Object.freeze({
  message: "The connection broke off before the end",
  hint: "See whether the server still runs, then reload the page",
});

/**
 * @param {number} id
 * @param {string} query
 * @returns {Exchange}
 */
export function startExchange(id, query) {
  return {
    ...{ id, query, phase: "asking", stage: "sending", place: 0, raw: "", covered: 0, blocks: [], draft: "", tools: [] },
    ...{ answer: null, failure: null },
  };
}

/**
 * Give an exchange that was had before, as the server keeps it.
 *
 * @param {number} id
 * @param {Answer & {query: string}} kept
 * @returns {Exchange}
 */
export function pastExchange(id, kept) {
  return { ...startExchange(id, kept.query), phase: "answered", stage: "", answer: kept };
}

/**
 * Give the exchange after an event of its stream. Events that are not known change nothing.
 *
 * @param {Exchange} exchange
 * @param {import("./events.js").ServerEvent} event
 * @returns {Exchange}
 */
export function applyEvent(exchange, { event, data }) {
  switch (event) {
    case "status":
      return { ...exchange, stage: data.stage, place: data.place ?? 0, covered: exchange.raw.length, draft: "" };
    case "delta":
      return { ...exchange, raw: exchange.raw + data.text };
    case "block": {
      const blocks = exchange.blocks.slice();
      blocks[data.index] = data.html;
      return { ...exchange, blocks, draft: "", covered: endOfBlocks(exchange.raw) };
    }
    case "draft":
      return { ...exchange, draft: data.html, covered: exchange.raw.length - data.left_out };
    case "tool":
      return { ...exchange, tools: [...exchange.tools, { name: data.name, outcome: data.outcome }] };
    case "done":
      return { ...exchange, phase: "answered", stage: "", answer: data };
    case "error":
      return failed(exchange, data);
    case "stopped":
      return { ...exchange, phase: "stopped", stage: "" };
    default:
      return exchange;
  }
}

/** @param {string} raw */
function endOfBlocks(raw) {
  let end = 0;
  for (const blank of raw.matchAll(/\n[ \t]*\n/g)) end = blank.index + blank[0].length;
  return end;
}

/**
 * Give the words behind the last finished block, or behind what is rendered of the next one.
 *
 * @param {Exchange} exchange
 */
export function tail({ raw, covered }) {
  return raw.slice(covered);
}

/**
 * @param {Exchange} exchange
 * @param {Failure} failure
 * @returns {Exchange}
 */
export function failed(exchange, failure) {
  return { ...exchange, phase: "failed", stage: "", failure };
}

/**
 * Give what has become of the last question of a conversation if its answer is not kept there: it runs, or has failed.
 *
 * @param {RunningAnswer[]} answers of the server, in order
 * @param {string} sessionId
 * @returns {RunningAnswer | null}
 */
export function pendingOf(answers, sessionId) {
  const last = answers.findLast((answer) => answer.session_id === sessionId);
  return last && last.state !== "done" ? last : null;
}

/**
 * Give the conversations with those that begin with an answer that still runs, and say of each whether one does.
 *
 * @param {{id: string, title: string, updated_at: number | string, exchanges: number, pinned?: boolean}[]} sessions
 * @param {RunningAnswer[]} answers
 */
export function withRunning(sessions, answers) {
  const running = answers.filter(({ state }) => state === "running").toReversed();
  const known = new Set(sessions.map(({ id }) => id));
  const begun = running.filter(({ session_id: id }) => !known.has(id));
  const answering = new Set(running.map(({ session_id: id }) => id));
  return [
    ...begun.map(({ session_id: id, query }) => ({ id, title: query, updated_at: "", exchanges: 0, pinned: false })),
    ...sessions.filter(({ pinned }) => pinned),
    ...sessions.filter(({ pinned }) => !pinned),
  ].map((session) => ({ ...session, running: answering.has(session.id) }));
}

/**
 * Give how many of the exchanges that are shown are those that are kept, from the first one on.
 *
 * @param {(string | undefined)[]} shown ids of answers
 * @param {{id?: string}[]} kept
 */
export function sameFrom(shown, kept) {
  const at = kept.findIndex(({ id }, place) => id !== shown[place]);
  return at < 0 ? kept.length : at;
}

/**
 * Write the body of a question. What is not chosen is left out.
 *
 * @param {string} query
 * @param {{model: string, sources: string[], course: string, lesson: string, agent?: boolean}} scope
 * @param {string} sessionId
 * @param {string} [replaces] id of the answer whose place it takes
 */
export function questionBody(query, scope, sessionId, replaces) {
  /** @type {Record<string, unknown>} */
  const body = { query };
  if (sessionId) body.session_id = sessionId;
  if (replaces) body.replaces = replaces;
  if (scope.model) body.model = scope.model;
  if (scope.agent) body.agent = true;
  if (scope.sources.length) body.filters = { sources: scope.sources };
  if (scope.course) body.course_name = scope.course;
  const [number, part] = scope.lesson.split(".");
  if (number) body.lesson_number = Number(number);
  if (part) body.lesson_part = Number(part);
  return body;
}

/**
 * Keep a value and tell who listens when it changes.
 *
 * @template T
 * @param {T} initial
 */
export function createStore(initial) {
  let value = initial;
  /** @type {Set<(value: T) => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    /** @param {Partial<T>} change */
    update(change) {
      value = { ...value, ...change };
      for (const listener of listeners) listener(value);
    },
    /** @param {(value: T) => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
