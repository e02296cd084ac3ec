/**
 * Server-sent events out of a stream of bytes. Knows nothing of pages or of questions.
 *
 * @typedef {{event: string, data: any, id?: string}} ServerEvent
 */

/** Cuts text into events, also where one straddles two pieces of the network. */
export class EventReader {
  #rest = "";
  #endsWithReturn = false;

  /**
   * Take the next piece, and give the events that end in it, in order.
   *
   * @param {string} piece
   * @returns {ServerEvent[]}
   */
  feed(piece) {
    // A line may end with CR LF, and a piece between the two: the LF then ends nothing.
    const text = this.#endsWithReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    if (piece) this.#endsWithReturn = piece.endsWith("\r");
    const blocks = (this.#rest + text.replace(/\r\n?/g, "\n")).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(parseEvent).filter((event) => event !== null);
  }
}

/**
 * Read one event. Comments, which keep a connection open, are none.
 *
 * @param {string} block lines without the blank one at the end
 * @returns {ServerEvent | null}
 */
export function parseEvent(block) {
  let event = "message";
  let id = "";
  /** @type {string[]} */
  const data = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  if (!data.length) return null;
  const text = data.join("\n");
  const named = id ? { event, id } : { event };
  try {
    return { ...named, data: JSON.parse(text) };
  } catch {
    return { ...named, data: text };
  }
}

/**
 * Read a response as events until it ends.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* readEvents(body) {
  const bytes = body.getReader();
  const decoder = new TextDecoder();
  const reader = new EventReader();
  try {
    for (;;) {
      const { value, done } = await bytes.read();
      yield* reader.feed(decoder.decode(value, { stream: !done }));
      if (done) return;
    }
  } finally {
    bytes.cancel().catch(() => {});
  }
}
