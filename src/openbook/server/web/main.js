/** Puts the page together: what is asked and what is answered, and what each key and button does. */

import * as api from "./api.js";
import { hideCard, startCards } from "./card.js";
import {
  holdBack, mayModelSearch, showAsking, showCourses, showLessons,
  showModels, showScope, startComposer,
} from "./composer.js";
import { ExchangeView } from "./conversation.js";
import { confirmed, keysAreOn, logIn, newSource, newTitle, showKeys } from "./dialogs.js";
import { announce, byId, element, fill, rove } from "./dom.js";
import { sentences, summary } from "./formatting.js";
import { showHistory, showSources } from "./rail.js";
import { applyEvent, createStore, ended, failed, pastExchange, questionBody, STAGES, startExchange } from "./state.js";
import { onSystemTheme, theme, toggleTheme } from "./theme.js";
import { chooseFiles, followJob, readingWords, startUploads } from "./uploads.js";
import { closeViewer, isOpen, openViewer, startViewer, step } from "./viewer.js";

const store = createStore({
  sessionId: "",
  sessions: /** @type {import("./rail.js").Session[]} */ ([]),
  sources: /** @type {import("./rail.js").Source[]} */ ([]),
  courses: /** @type {import("./composer.js").Course[]} */ ([]),
  questions: /** @type {string[]} */ ([]),
  writable: false,
  /** Sources that are asked; none chosen means all. */
  chosen: /** @type {string[]} */ ([]),
});

// Questions are counted by the minute.
const LONGEST_WAIT_S = 120;

// While a source is read that somebody else has added.
const LOOK_AGAIN_MS = 3000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking;

/** @type {ExchangeView[]} */
let views = [];
/** @type {AbortController | null} */
let asking = null;
/** One dialog, however many calls want a key. @type {Promise<boolean> | null} */
let loggingIn = null;

/** @type {import("./conversation.js").Actions} */
const actions = { ask, open: (citations, number) => (hideCard(), openViewer(citations, number)) };

/**
 * Call, and ask for a key where the server wants one. Null if the call failed; the page then says so.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @returns {Promise<T | null>}
 */
async function attempt(request) {
  try {
    return await request();
  } catch (error) {
    const { message, hint, status } = /** @type {api.ApiError} */ (error);
    if (status === 401) {
      loggingIn ??= logIn().finally(() => (loggingIn = null));
      if (await loggingIn) return attempt(request);
    }
    const noKey = "Without a key nothing can be asked here. Reload the page to type one.";
    complain(status === 401 ? noKey : sentences(message, hint));
    return null;
  }
}

/** @param {string} words */
function complain(words) {
  const notice = byId("notice");
  const close = element("button", { type: "button", class: "quiet", onclick: () => (notice.hidden = true) }, "OK");
  fill(notice, element("span", {}, words), close);
  notice.hidden = false;
}

/** @param {string} query */
async function ask(query) {
  if (asking) return;
  const control = (asking = new AbortController());
  showAsking(true);
  byId("welcome").hidden = true;
  byId("notice").hidden = true;
  const view = addView(startExchange(views.length + 1, query));
  const scope = {
    ...{ model: byId("model").value, sources: store.get().chosen },
    ...{ course: byId("course").value, lesson: byId("lesson").value, agent: mayModelSearch() },
  };
  let exchange = view.exchange;
  try {
    for await (const event of api.ask(questionBody(query, scope, store.get().sessionId), control.signal)) {
      exchange = applyEvent(exchange, event);
      if (event.event === "status") announce(STAGES[/** @type {keyof typeof STAGES} */ (exchange.stage)] ?? "");
      view.update(exchange);
    }
  } catch (error) {
    if (!control.signal.aborted) exchange = refusedCall(exchange, /** @type {api.ApiError} */ (error));
  }
  asking = null;
  showAsking(false);
  exchange = ended(exchange, { byPerson: control.signal.aborted });
  view.update(exchange);
  finish(exchange);
}

/**
 * @param {import("./state.js").Exchange} exchange
 * @param {api.ApiError} error
 */
function refusedCall(exchange, error) {
  // A day's money comes back at midnight. Until then another model may be chosen, so nothing is held back.
  if (error.status === 429 && error.retryAfter && error.retryAfter < LONGEST_WAIT_S) {
    holdBack(error.retryAfter);
    byId("question").value ||= exchange.query;
  }
  if (error.status === 401) attempt(() => Promise.reject(error));
  if (error.status === 404 && store.get().sessionId) enter("");
  return failed(exchange, { message: error.message, hint: error.hint });
}

/** @param {import("./state.js").Exchange} exchange */
function finish(exchange) {
  if (exchange.answer) {
    announce(`Answered. ${summary(exchange.answer)}.`);
    if (exchange.answer.session_id) enter(exchange.answer.session_id);
    loadSessions();
  } else if (exchange.failure) announce(sentences("No answer", exchange.failure.message, exchange.failure.hint));
  else announce("Stopped");
}

/** @param {import("./state.js").Exchange} exchange */
function addView(exchange) {
  const view = new ExchangeView(exchange, actions);
  views.push(view);
  byId("exchanges").append(view.root);
  view.root.scrollIntoView({ block: "start" });
  return view;
}

/** @param {string} sessionId */
function enter(sessionId) {
  if (sessionId === store.get().sessionId) return;
  store.update({ sessionId });
  history.replaceState(null, "", sessionId ? `#session=${sessionId}` : location.pathname);
}

/** Begin anew. */
function newQuestion() {
  asking?.abort();
  closeViewer();
  views = [];
  fill(byId("exchanges"));
  enter("");
  byId("welcome").hidden = false;
  closeRail();
  byId("question").focus();
}

/** @param {string} id */
async function openSession(id) {
  const session = await attempt(() => api.session(id));
  if (!session) return;
  newQuestion();
  enter(id);
  byId("welcome").hidden = true;
  for (const kept of session.exchanges) addView(pastExchange(views.length + 1, kept));
  announce(`${session.title} is open`);
}

/** @param {import("./rail.js").Session} session */
async function rename(session) {
  const title = await newTitle(session.title);
  if (title && (await attempt(() => api.renameSession(session.id, title)))) loadSessions();
}

/** @param {import("./rail.js").Session} session */
async function remove(session) {
  const words = `“${session.title}” and its answers are deleted for good. Export it first if you want to keep it.`;
  if (!(await confirmed("Delete these questions?", words, "Delete"))) return;
  if (!(await attempt(() => api.deleteSession(session.id)))) return;
  if (session.id === store.get().sessionId) newQuestion();
  announce("Deleted");
  loadSessions();
}

async function addSource() {
  const where = await newSource(chooseFiles);
  const added = where && (await attempt(() => api.addSource(where)));
  if (added) followJob(added.job_id, readingWords(added.source), loadLibrary);
}

/** @param {string} name */
async function removeSource(name) {
  const words = `Openbook forgets “${name}”. Files of your own stay where they are; uploads are deleted.`;
  if (!(await confirmed("Remove this source?", words, "Remove"))) return;
  if (await attempt(() => api.removeSource(name))) loadLibrary();
}

/**
 * @param {string} id
 * @param {string} name
 */
async function removeFile(id, name) {
  if (!(await confirmed("Remove this file?", `“${name}” is deleted for good.`, "Remove"))) return;
  const removed = await attempt(() => api.removeFile(id));
  if (removed) followJob(removed.job_id, { doing: `Removing ${name}`, done: `${name} is gone` }, loadLibrary);
}

/**
 * @param {string} name
 * @param {boolean} on
 */
function choose(name, on) {
  const { sources, chosen } = store.get();
  const all = sources.map((source) => source.name);
  const now = new Set(chosen.length ? chosen : all);
  if (on) now.add(name);
  else now.delete(name);
  store.update({ chosen: now.size === all.length ? [] : all.filter((each) => now.has(each)) });
}

async function loadSessions() {
  const found = await attempt(() => api.read("/api/sessions"));
  if (found) store.update({ sessions: found.sessions });
}

async function loadLibrary() {
  const found = await attempt(() => api.read("/api/sources"));
  if (!found) return;
  const names = new Set(found.sources.map((/** @type {{name: string}} */ source) => source.name));
  const chosen = store.get().chosen.filter((name) => names.has(name));
  store.update({ sources: found.sources, writable: found.writable, chosen });
  clearTimeout(looking);
  if (found.sources.some((/** @type {{state: string}} */ { state }) => state === "indexing")) {
    looking = setTimeout(loadLibrary, LOOK_AGAIN_MS);
  }
  const [courses, suggested] = await Promise.all([
    attempt(() => api.read("/api/courses")),
    attempt(() => api.read("/api/suggestions")),
  ]);
  if (courses) showCourses(courses.courses);
  store.update({ courses: courses?.courses ?? [], questions: suggested?.questions ?? [] });
}

async function loadMe() {
  const found = await attempt(() => api.read("/api/me"));
  byId("logout").hidden = !found?.key;
}

async function logOut() {
  if (await attempt(api.logout)) location.reload();
}

async function loadModels() {
  const found = await attempt(() => api.read("/api/models"));
  if (found) showModels(found.models, found.default);
  store.update({});
}

/** @param {ReturnType<typeof store.get>} now */
function show(now) {
  showSources(byId("sources"), now.sources, { ...now, choose, remove: removeSource, removeFile });
  const how = { current: now.sessionId, now: Date.now(), open: openSession, rename, remove };
  showHistory(byId("history"), now.sessions, how);
  const title = now.sessions.find(({ id }) => id === now.sessionId)?.title ?? "";
  fill(byId("title"), title || "Ask your sources");
  document.title = title ? `${title} · Openbook` : "Openbook";
  showScope(now.chosen);
  byId("add-source").hidden = !now.writable;
  showWelcome(now);
}

/** @param {ReturnType<typeof store.get>} now */
function showWelcome({ sources, questions, writable }) {
  if (!sources.length) {
    const how = writable
      ? "Drop files anywhere on this page, or add a folder or a Git repository. Then ask."
      : "Start the server with a folder to read: openbook serve PATH";
    const add = element("button", { type: "button", class: "button", onclick: addSource }, "Add a source");
    fill(byId("welcome"), element("h2", {}, "There is nothing to read yet"), element("p", {}, how), writable && add);
    return;
  }
  const asks = questions.map((question) =>
    element("li", {},
      element("button", { type: "button", class: "suggestion", onclick: () => ask(question) }, question)),
  );
  fill(
    byId("welcome"),
    element("h2", {}, "What would you like to know?"),
    element("p", {}, "Answers come from your sources only. Every citation is checked against the lines it names."),
    asks.length > 0 && element("ul", { class: "suggestions", "aria-label": "Questions to begin with" }, ...asks),
  );
}

function closeRail() {
  byId("frame").classList.remove("with-rail");
  byId("rail-open").setAttribute("aria-expanded", "false");
}

function openRail() {
  byId("frame").classList.add("with-rail");
  byId("rail-open").setAttribute("aria-expanded", "true");
  byId("rail-close").focus();
}

/** Escape goes from the smallest to the largest: the card, the source, the rail, the answer. */
function escape() {
  if (hideCard()) return;
  if (isOpen()) closeViewer();
  else if (byId("frame").classList.contains("with-rail")) {
    closeRail();
    byId("rail-open").focus();
  } else asking?.abort();
}

/** @param {number} by */
function moveBetweenCitations(by) {
  const chips = /** @type {HTMLElement[]} */ ([...byId("exchanges").querySelectorAll("a.cite")]);
  const at = chips.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = at < 0 ? (by > 0 ? 0 : chips.length - 1) : at + by;
  chips[to]?.focus();
}

/** @type {Record<string, () => void>} */
const KEYS = {
  "/": () => byId("question").focus(),
  "?": showKeys,
  "[": () => step(-1),
  "]": () => step(1),
  j: () => moveBetweenCitations(1),
  k: () => moveBetweenCitations(-1),
  n: newQuestion,
  t: changeTheme,
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (byId("dialog").open) return;
  if (event.key === "Escape") {
    escape();
    return;
  }
  const target = /** @type {HTMLElement} */ (event.target);
  const isTyped = target.matches("textarea, select, input:not([type=checkbox])");
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!keysAreOn() || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function changeTheme() {
  toggleTheme();
  showTheme();
}

function showTheme() {
  byId("theme").textContent = theme() === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", theme() === "dark" ? "Use light colours" : "Use dark colours");
}

function wire() {
  startViewer();
  startUploads(loadLibrary);
  startComposer(ask);
  startCards(byId("exchanges"), (chip) => {
    const view = views.find(({ root }) => root.contains(chip));
    return view?.exchange.answer?.citations.find(({ number }) => number === Number(chip.dataset.cite));
  });
  rove(byId("history"), ".session-open");
  byId("stop").addEventListener("click", () => asking?.abort());
  byId("new-question").addEventListener("click", newQuestion);
  byId("add-source").addEventListener("click", addSource);
  byId("theme").addEventListener("click", changeTheme);
  byId("shortcuts").addEventListener("click", showKeys);
  byId("rail-open").addEventListener("click", openRail);
  byId("rail-close").addEventListener("click", () => (closeRail(), byId("rail-open").focus()));
  byId("logout").addEventListener("click", logOut);
  byId("model").addEventListener("change", () => store.update({}));
  byId("course").addEventListener("change", () => showLessons(store.get().courses));
  document.addEventListener("keydown", onKey);
  onSystemTheme(showTheme);
}

/** Load all that the server knows, and the session that the address names. */
async function start() {
  await Promise.all([loadMe(), loadModels(), loadLibrary(), loadSessions()]);
  const id = new URLSearchParams(location.hash.slice(1)).get("session");
  if (id && !views.length) openSession(id);
}

wire();
showTheme();
store.subscribe(show);
start();
