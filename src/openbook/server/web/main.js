/** Puts the page together: what is asked and what is answered, and what each key and button does. */

import { keepWaiting, leftWaiting, namedSession, nameSession } from "./address.js";
import * as api from "./api.js";
import { hideCard, startCards } from "./card.js";
import {
  holdBack, isHeldBack, mayModelSearch, propose, showAsking, showCourses, showLessons,
  showModels, showScope, startComposer,
} from "./composer.js";
import { ExchangeView } from "./conversation.js";
import { confirmed, logIn, newSource, newTitle, showKeys } from "./dialogs.js";
import { announce, byId, element, fill, rove } from "./dom.js";
import { sentences, summary } from "./formatting.js";
import { startKeys } from "./keys.js";
import { closeMenu, closeRail, openRail, showHistory, showSources } from "./rail.js";
import { applyEvent, createStore, ended, failed, pastExchange, questionBody, STAGES, startExchange } from "./state.js";
import { onSystemTheme, theme, toggleTheme } from "./theme.js";
import { chooseFiles, followJob, readingWords, startUploads } from "./uploads.js";
import { closeViewer, openViewer, startViewer } from "./viewer.js";
import { showWelcome } from "./welcome.js";

const store = createStore({
  /** Whether it is known what there is. */
  ready: false,
  /** Whether nothing can be asked for want of a key. */
  locked: false,
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

const GONE = Object.freeze({
  message: "This conversation was deleted, has expired, or belongs to another browser",
  hint: "Ask, and a new one begins",
});

// While a source is read that somebody else has added.
const LOOK_AGAIN_MS = 3000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking;

/** @type {ExchangeView[]} */
let views = [];
/** Of exchanges, so that each has an id of its own. */
let counted = 0;
/** @type {AbortController | null} */
let asking = null;
// Taken before anything can be asked here: a question of this page would be taken for one of the page before.
let left = leftWaiting();
/** Counts what is opened or begun: of what comes late, the last that was wanted is shown. */
let turn = 0;
/** One dialog, however many calls want a key. @type {Promise<boolean> | null} */
let loggingIn = null;

/** @type {import("./conversation.js").Actions} */
const actions = { ask, drop, open: (citations, number) => (hideCard(), openViewer(citations, number)) };

/** Ask for a key, and tell whether there is one now. */
async function needKey() {
  loggingIn ??= logIn().finally(() => (loggingIn = null));
  const isIn = await loggingIn;
  store.update({ locked: !isIn });
  if (!isIn && views.length) complain("A key is needed to go on.", element("button", {
    ...{ type: "button", class: "quiet", onclick: logInAgain },
  }, "Log in"));
  return isIn;
}

async function logInAgain() {
  byId("notice").hidden = true;
  if (await needKey()) start();
}

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
    if (status === 401) return (await needKey()) ? attempt(request) : null;
    complain(sentences(message, hint));
    return null;
  }
}

/**
 * @param {string} words
 * @param {HTMLElement} [remedy]
 */
function complain(words, remedy) {
  const notice = byId("notice");
  const close = element("button", { type: "button", class: "quiet", onclick: () => (notice.hidden = true) }, "OK");
  fill(notice, element("span", {}, words), remedy ?? close);
  notice.hidden = false;
}

/** @param {string} query */
async function ask(query) {
  if (asking || isHeldBack()) return;
  const control = (asking = new AbortController());
  turn += 1;
  showAsking(true);
  keepWaiting(query);
  byId("welcome").hidden = true;
  byId("notice").hidden = true;
  const view = addView(startExchange(++counted, query));
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
  if (exchange.phase !== "failed") keepWaiting(""); // a page that is left fails first
  view.update(exchange);
  // The question stands where it was written, and the notice above it says why.
  if (isHeldBack() && byId("question").value === query) drop(view);
  else finish(exchange);
}

/** @param {ExchangeView} view to take away */
function drop(view) {
  view.root.remove();
  views = views.filter((each) => each !== view);
  byId("welcome").hidden = views.length > 0;
}

/**
 * @param {import("./state.js").Exchange} exchange
 * @param {api.ApiError} error
 */
function refusedCall(exchange, error) {
  // A day's money comes back at midnight. Until then another model may be chosen, so nothing is held back.
  if (error.status === 429 && error.retryAfter && error.retryAfter < LONGEST_WAIT_S) {
    holdBack(error.retryAfter);
    if (!byId("question").value) propose(exchange.query);
  }
  if (error.status === 401) needKey();
  if (error.status === 404 && /conversation/.test(error.message) && store.get().sessionId) {
    enter("", { lasting: false });
    loadSessions();
    return failed(exchange, GONE);
  }
  if (error.status === 404) loadLibrary(); // somebody else has removed what was chosen
  return failed(exchange, { message: error.message, hint: error.hint });
}

/** @param {import("./state.js").Exchange} exchange */
function finish(exchange) {
  if (exchange.answer) {
    announce(`Answered. ${summary(exchange.answer)}.`);
    // One that could not be kept has begun no conversation.
    if (exchange.answer.session_id && !exchange.answer.warning) enter(exchange.answer.session_id);
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

/**
 * @param {string} sessionId
 * @param {{lasting?: boolean}} [how]
 */
function enter(sessionId, how) {
  nameSession(sessionId, how);
  if (sessionId !== store.get().sessionId) store.update({ sessionId });
}

function clear() {
  asking?.abort();
  closeViewer();
  views = [];
  fill(byId("exchanges"));
  byId("welcome").hidden = false;
  byId("notice").hidden = !isHeldBack();
  closeRail();
}

/** Begin anew. */
function newQuestion() {
  turn += 1;
  clear();
  enter("");
  byId("question").focus();
}

/** @param {string} id */
async function openSession(id) {
  const mine = (turn += 1);
  const session = await attempt(() => api.session(id).catch(unlessGone));
  if (!session || mine !== turn) return;
  clear();
  if (session.isGone) {
    enter("", { lasting: false });
    complain(sentences(GONE.message, GONE.hint));
    loadSessions();
    return;
  }
  enter(id);
  byId("question").focus();
  byId("welcome").hidden = true;
  for (const kept of session.exchanges) addView(pastExchange(++counted, kept));
  announce(`${session.title} is open`);
}

/**
 * @param {api.ApiError} error
 * @returns {{isGone: true}}
 */
function unlessGone(error) {
  if (error.status === 404 || error.status === 422) return { isGone: true };
  throw error;
}

/** Go where the address says, after *Back* or when somebody has changed it. */
function followAddress() {
  const named = namedSession();
  if (named === null || named === store.get().sessionId) return;
  if (named) openSession(named);
  else newQuestion();
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
  if (!now.size) complain("At least one source has to be asked. Tick another one first.");
  if (!now.size) now.add(name);
  store.update({ chosen: now.size === all.length ? [] : all.filter((each) => now.has(each)) });
}

async function loadSessions() {
  const found = await attempt(() => api.read("api/sessions"));
  if (found) store.update({ sessions: found.sessions });
}

async function loadLibrary() {
  const found = await attempt(() => api.read("api/sources"));
  if (!found) return;
  const names = new Set(found.sources.map((/** @type {{name: string}} */ source) => source.name));
  const chosen = store.get().chosen.filter((name) => names.has(name));
  store.update({ ready: true, sources: found.sources, writable: found.writable, chosen });
  clearTimeout(looking);
  if (found.sources.some((/** @type {{state: string}} */ { state }) => state === "indexing")) {
    looking = setTimeout(loadLibrary, LOOK_AGAIN_MS);
  }
  const [courses, suggested] = await Promise.all([
    attempt(() => api.read("api/courses")),
    attempt(() => api.read("api/suggestions")),
  ]);
  if (courses) showCourses(courses.courses);
  store.update({ courses: courses?.courses ?? [], questions: suggested?.questions ?? [] });
}

/** Tell whether anything can be asked here. */
async function loadMe() {
  const found = await attempt(() => api.read("api/me"));
  byId("logout").hidden = !found?.key;
  return found !== null;
}

async function logOut() {
  if (await attempt(api.logout)) location.reload();
}

async function loadModels() {
  const found = await attempt(() => api.read("api/models"));
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
  const isShut = now.locked && !views.length;
  for (const part of [byId("composer"), byId("new-question"), ...document.querySelectorAll("#rail section")]) {
    part.hidden = isShut;
  }
  showWelcome(now, { ask, addSource, logIn: logInAgain });
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
  startComposer(ask, complain);
  startCards(byId("exchanges"), (chip) => {
    const view = views.find(({ root }) => root.contains(chip));
    return view?.exchange.answer?.citations.find(({ number }) => number === Number(chip.dataset.cite));
  });
  rove(byId("history"), ".session-open");
  byId("stop").addEventListener("click", () => (byId("question").focus(), asking?.abort()));
  byId("skip").addEventListener("click", (/** @type {Event} */ event) => {
    event.preventDefault(); // the address names the conversation
    byId("question").focus();
  });
  byId("new-question").addEventListener("click", newQuestion);
  byId("add-source").addEventListener("click", addSource);
  byId("theme").addEventListener("click", changeTheme);
  byId("shortcuts").addEventListener("click", showKeys);
  byId("rail-open").addEventListener("click", openRail);
  byId("rail-close").addEventListener("click", () => closeRail() && byId("rail-open").focus());
  byId("logout").addEventListener("click", logOut);
  byId("model").addEventListener("change", () => store.update({}));
  byId("course").addEventListener("change", () => showLessons(store.get().courses));
  startKeys({ newQuestion, changeTheme, stop: () => asking?.abort() });
  document.addEventListener("click", ({ target }) => closeMenu(/** @type {Element} */ (target)));
  // Another tab may have asked, renamed or deleted meanwhile.
  document.addEventListener("visibilitychange", () => document.hidden || store.get().locked || loadSessions());
  addEventListener("hashchange", followAddress);
  onSystemTheme(showTheme);
}

/** Load all that the server knows, and the session that the address names. */
async function start() {
  // First and alone: its reply tells a browser who it is, and calls at the same time would each be somebody else.
  if (!(await loadMe())) return;
  await Promise.all([loadModels(), loadLibrary(), loadSessions()]);
  const id = namedSession();
  if (id && !views.length) await openSession(id);
  const query = left;
  left = "";
  if (!query || asking || byId("question").value) return;
  propose(query);
  complain("This question had no answer when the page was left. You can ask it again.");
}

wire();
showTheme();
store.subscribe(show);
start();
