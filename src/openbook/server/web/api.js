/**
 * The calls of the page to its server. Every failure is an `ApiError`, with what to do about it.
 */

import { readEvents } from "./events.js";
import { BROKEN } from "./state.js";

// No event comes after one of these.
const LAST = new Set(["done", "error", "stopped"]);
// Before each further attempt: a server that is started anew, or a lift without a signal.
const WAITS_MS = [250, 500, 1000, 2000, 4000, 8000];

/** A call that failed. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {{hint?: string, status?: number, retryAfter?: number}} [about] `status` 0: the server was not reached
   */
  constructor(message, { hint = "", status = 0, retryAfter = 0 } = {}) {
    super(message);
    this.hint = hint;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

// The server takes changes only with this header, which no other site can send.
const OURS = { "X-Openbook": "1" };

const WORDS = Object.freeze({
  401: ["This server wants a key", "Ask whoever runs it for one"],
  413: ["That is too much for this server", "Send less at once"],
  429: ["Too many questions for now", "Wait a little, then ask again"],
  503: ["The server is not ready", "Try again in a moment"],
});

/**
 * Read why a response is an error.
 *
 * @param {{status: number, headers: {get(name: string): string | null}, json(): Promise<any>}} response
 * @param {boolean} [isLogin] whether somebody wanted to come in with what is in their hands, not with a key
 * @returns {Promise<ApiError>}
 */
export async function errorOf(response, isLogin = false) {
  const { status } = response;
  let [message, hint] = WORDS[/** @type {keyof typeof WORDS} */ (status)] ?? [`The server answered ${status}`, ""];
  const retryAfter = Number(response.headers.get("retry-after") ?? 0) || 0;
  try {
    const { error } = await response.json();
    // How programs send a key, and commands that make one, are of no use to who has none.
    if (status !== 401 || isLogin) [message, hint] = [error.message || message, error.hint || hint];
  } catch {
    // It says nothing that can be read, so our own words have to do.
  }
  return new ApiError(message, { hint, status, retryAfter });
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @param {boolean} [isLogin]
 * @returns {Promise<Response>}
 */
async function call(path, options = {}, isLogin = false) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...OURS, ...options.headers }, credentials: "same-origin" });
  } catch (error) {
    if (/** @type {Error} */ (error).name === "AbortError") throw error;
    throw new ApiError("The server cannot be reached", { hint: "See whether it still runs, then try again" });
  }
  if (!response.ok) throw await errorOf(response, isLogin);
  return response;
}

/** @param {unknown} body */
const json = (body) => ({ body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

/** @param {Response} response */
async function* eventsOf(response) {
  try {
    if (response.body) yield* readEvents(response.body);
  } catch (error) {
    if (/** @type {Error} */ (error).name === "AbortError") throw error;
    throw new ApiError(BROKEN.message, BROKEN);
  }
}

/** @type {Promise<Record<string, unknown>>} parts that have been read in one request, and not been taken yet */
let parts = Promise.resolve(/** @type {Record<string, unknown>} */ ({}));

/** Read in one request what a page reads first. Where that fails, each part is asked for by itself, and tells why. */
export function readTogether() {
  parts = call("api/start").then((response) => response.json()).catch(() => ({}));
}

/** @param {string} path */
export async function read(path) {
  const [, name = ""] = /^api\/(\w+)$/.exec(path) ?? [];
  const together = await parts;
  const part = together[name];
  delete together[name]; // the next time, it may have changed
  return /** @type {any} */ (part) ?? (await call(path)).json();
}

/**
 * Have a question answered. The answer goes on until it is finished or stopped, whoever follows it.
 *
 * @param {object} body
 * @returns {Promise<import("./state.js").RunningAnswer>}
 */
export const ask = async (body) => (await call("api/answers", { method: "POST", ...json(body) })).json();

/** @param {string} id */
export const stopAnswer = (id) => call(`api/answers/${encodeURIComponent(id)}`, { method: "DELETE" });

/**
 * Give what has happened to an answer and what happens until it ends, also where the connection breaks off meanwhile.
 *
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<import("./events.js").ServerEvent>}
 */
export async function* followAnswer(id, signal) {
  let after = "0";
  for (let tried = 0; ; tried += 1) {
    try {
      const path = `api/answers/${encodeURIComponent(id)}/events?after=${after}`;
      for await (const event of eventsOf(await call(path, { signal }))) {
        after = event.id ?? after;
        tried = 0;
        yield event;
        if (LAST.has(event.event)) return;
      }
      throw new ApiError(BROKEN.message, BROKEN);
    } catch (error) {
      const { status } = /** @type {ApiError} */ (error);
      if (signal.aborted || status !== 0 || tried >= WAITS_MS.length) throw error;
      await new Promise((resolve) => setTimeout(resolve, WAITS_MS[tried]));
      if (signal.aborted) return;
    }
  }
}

/** @param {string} id */
export const session = (id) => read(`api/sessions/${encodeURIComponent(id)}`);

/** @param {string} id @param {{title?: string, pinned?: boolean}} change */
export const changeSession = (id, change) =>
  call(`api/sessions/${encodeURIComponent(id)}`, { method: "PATCH", ...json(change) });

/** @param {string} text @param {AbortSignal} signal */
export const sessionMatches = async (text, signal) =>
  (await call("api/session-matches", { method: "POST", ...json({ text }), signal })).json();

/** @param {{query: string, filters: object}} body @param {AbortSignal} signal */
export const search = async (body, signal) => (await call("api/search", { method: "POST", ...json(body), signal })).json();

/** @param {string} sessionId @param {string} answerId */
export const answerMarkdown = async (sessionId, answerId) =>
  (await call(`${exportOf(sessionId, "markdown")}&answer=${encodeURIComponent(answerId)}`)).text();

/** @param {string} id */
export const deleteSession = (id) => call(`api/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });

/** @param {string} id @param {"markdown" | "json"} format */
export const exportOf = (id, format) => `api/sessions/${encodeURIComponent(id)}/export?format=${format}`;

/** @param {string} sessionId @param {string} answerId */
const ratingOf = (sessionId, answerId) =>
  `api/sessions/${encodeURIComponent(sessionId)}/answers/${encodeURIComponent(answerId)}/rating`;

/** @param {string} sessionId @param {string} answerId @param {object} said */
export const rate = (sessionId, answerId, said) => call(ratingOf(sessionId, answerId), { method: "PUT", ...json(said) });

/** @param {string} sessionId @param {string} answerId */
export const takeBack = (sessionId, answerId) => call(ratingOf(sessionId, answerId), { method: "DELETE" });

/** @param {string} sessionId @param {string} answerId */
export const followUps = (sessionId, answerId) =>
  read(`api/sessions/${encodeURIComponent(sessionId)}/answers/${encodeURIComponent(answerId)}/suggestions`);

/** @param {object} body @returns {Promise<{id: string, link: string}>} */
export const makeShare = async (body) => (await call("api/shares", { method: "POST", ...json(body) })).json();

/** @param {string} id */
export const revokeShare = (id) => call(`api/shares/${encodeURIComponent(id)}`, { method: "DELETE" });

/** @param {string} token of a link */
export const openShared = async (token) => (await call("api/shared", { method: "POST", ...json({ token }) })).json();

/** @param {string} key */
export const login = (key) => call("api/login", { method: "POST", ...json({ key }) });

/** @typedef {{code: string, name: string, pin: string}} Student */

/** @param {Student} student */
export const loginStudent = (student) => call("api/login", { method: "POST", ...json({ student }) }, true);

/** @param {Student} student who is new */
export const join = (student) => call("api/join", { method: "POST", ...json(student) }, true);

/**
 * Change keys or classes, as an owner.
 *
 * @param {"POST" | "PUT" | "DELETE"} method
 * @param {string} path below `api/admin/`
 * @param {object} [body]
 * @returns {Promise<any>} null where the server has nothing to say
 */
export async function change(method, path, body) {
  const response = await call(`api/admin/${path}`, { method, ...(body ? json(body) : {}) });
  return response.status === 204 ? null : response.json();
}

/**
 * @param {{source: string, path: string, lesson: string, action: string, value: string}} edit
 * @returns {Promise<{courses: any[]}>}
 */
export const editCourse = async (edit) => (await call("api/courses", { method: "PATCH", ...json(edit) })).json();

export const logout = () => call("api/logout", { method: "POST" });

/** @param {{path: string} | {url: string}} where */
export const addSource = async (where) => (await call("api/sources", { method: "POST", ...json(where) })).json();

/** @param {string} name */
export const removeSource = (name) => call(`api/sources/${encodeURIComponent(name)}`, { method: "DELETE" });

/** @param {string} id of a document that was uploaded */
export const removeFile = async (id) =>
  (await call(`api/documents/${encodeURIComponent(id)}`, { method: "DELETE" })).json();

/**
 * @param {string} id
 * @param {{start_char: number, end_char: number}} span
 * @param {number} context lines before and behind
 */
export const documentAt = (id, { start_char: from, end_char: to }, context) =>
  read(`api/documents/${encodeURIComponent(id)}?start_char=${from}&end_char=${to}&context=${context}&rendered=true`);

/** @param {string} id */
export const originalOf = (id) => `api/documents/${encodeURIComponent(id)}/original`;

/** @param {string} id @param {number} page @param {{start_char: number, end_char: number}} span that is marked */
export const pageOf = (id, page, { start_char: from, end_char: to }) =>
  `api/documents/${encodeURIComponent(id)}/pages/${page}?start_char=${from}&end_char=${to}`;

/** @param {string} id */
export const textOf = (id) => `api/documents/${encodeURIComponent(id)}/text`;

/**
 * Give what happens to a job until it ends.
 *
 * @param {string} id
 */
export async function* jobEvents(id) {
  yield* eventsOf(await call(`api/jobs/${encodeURIComponent(id)}/events`));
}

/**
 * Send files, and tell how far they are. `fetch` cannot tell that.
 *
 * @param {File[]} files
 * @param {boolean} asCourse whether they are material of a course
 * @param {(share: number) => void} onShare from 0 to 1
 * @returns {Promise<{job_id: string, accepted: string[], refused: {name: string, reason: string}[]}>}
 */
export function upload(files, asCourse, onShare) {
  const form = new FormData();
  if (asCourse) form.append("course", "true");
  for (const file of files) form.append("files", file, file.name);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", "api/uploads");
    for (const [name, value] of Object.entries(OURS)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => event.total && onShare(event.loaded / event.total));
    request.addEventListener("error", () => reject(new ApiError("The server cannot be reached")));
    request.addEventListener("load", async () => {
      const response = {
        status: request.status,
        headers: { get: (/** @type {string} */ name) => request.getResponseHeader(name) },
        json: async () => JSON.parse(request.responseText),
      };
      if (request.status >= 200 && request.status < 300) resolve(await response.json());
      else reject(await errorOf(response));
    });
    request.send(form);
  });
}
