/** Puts the page together: what is asked and what is answered, and what each key and button does. */

import { keepWaiting, leftWaiting, namedSession, nameSession } from "./address.js";
import * as api from "./api.js";
import { hideCard, startCards } from "./card.js";
import {
  holdBack, isHeldBack, mayModelSearch, propose, showAsking, showLessons, showModels, showScope, startComposer,
} from "./composer.js";
import { ExchangeView } from "./conversation.js";
import { confirmed, logIn, showKeys } from "./dialogs.js";
import { belowWords } from "./editing.js";
import { announce, byId, element, fill, rove, startLists } from "./dom.js";
import { sentences, summary } from "./formatting.js";
import { ratingButtons } from "./feedback.js";
import { hideFollowUps, showFollowUps } from "./followups.js";
import { historyOf } from "./history.js";
import { startTips } from "./floating.js";
import { drawIcons } from "./icons.js";
import { startKeys } from "./keys.js";
import { libraryOf } from "./library.js";
import { complain } from "./notices.js";
import { closeRail, openRail, showHistory, showSources, startMenu } from "./rail.js";
import { closeSearch, openSearch, showSearchSources, startSearch } from "./search.js";
import {
  applyEvent, createStore, failed, pastExchange, pendingOf, questionBody, sameFrom, STAGES, startExchange, withRunning,
} from "./state.js";
import { onSystemTheme, theme, toggleTheme } from "./theme.js";
import { startUploads } from "./uploads.js";
import { showWelcome } from "./welcome.js";

const store = createStore({
  /** Whether it is known what there is. */
  ready: false,
  /** Whether the conversations are known. */
  listed: false,
  /** Whether nothing can be asked for want of a key. */
  locked: false,
  sessionId: "",
  sessions: /** @type {import("./rail.js").Session[]} */ ([]),
  answers: /** @type {import("./state.js").RunningAnswer[]} */ ([]),
  sources: /** @type {import("./rail.js").Source[]} */ ([]),
  courses: /** @type {import("./composer.js").Course[]} */ ([]),
  /** To begin with. Null while they are not known. */
  questions: /** @type {string[] | null} */ (null),
  writable: false,
  mayShare: false,
  /** Sources that are asked; none chosen means all. */
  chosen: /** @type {string[]} */ ([]),
});

// Questions are counted by the minute.
const MAX_WAIT_S = 120;

const GONE = Object.freeze({
  isGone: true,
  message: "This conversation was deleted, has expired, or belongs to another browser",
  hint: "Ask, and a new one begins",
});

const LOOK_AGAIN_MS = 3000;
/** While something is answered that is not shown. @type {ReturnType<typeof setTimeout> | undefined} */
let watching;

/** @type {ExchangeView[]} */
let views = [];
/** Of exchanges, so that each has an id of its own. */
let counted = 0;
/**
 * The answer that is shown while it is written. `aside`: exchanges whose place it takes, which come back if there is none.
 *
 * @type {{control: AbortController, id: string, begins: boolean, isUnwanted: boolean, aside: ExchangeView[]} | null}
 */
let asking = null;
/** When the open conversation had last been changed as it was read. @type {number | string} */
let seenAt = "";
/** Whether a conversation is being opened. */
let opening = 0;
/** Tells other tabs of this page that something has been asked, answered or changed. */
const tabs = new BroadcastChannel(`openbook ${location.pathname}`);
// Taken before anything can be asked here: a question of this page would be taken for one of the page before.
let left = leftWaiting();
/** Counts what is opened or begun: of what comes late, the last that was wanted is shown. */
let turn = 0;
/** One dialog, however many calls want a key. @type {Promise<boolean> | null} */
let loggingIn = null;

const { addSource, choose, loadLibrary, removeFile, removeSource } = libraryOf({ store, attempt, complain });

const { rename, pin, remove, startFilter } = historyOf({
  attempt,
  open: openSession,
  changed: (what) => (tabs.postMessage(what), loadSessions()),
  deleted: (id) => id === store.get().sessionId && newQuestion(),
});

/** @type {import("./conversation.js").Actions} */
const actions = {
  ...{ ask, drop, replace, below },
  open: async (citations, number) => (hideCard(), (await loadViewer())?.openViewer(citations, number)),
  markdown: ({ id, session_id: session }) => api.answerMarkdown(session ?? "", id ?? ""),
  share: ({ id, session_id: session }) => share(session ?? "", id),
  rate: (answer) => ratingButtons(answer, attempt),
  mayShare: () => store.get().mayShare,
};

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
 * Load a part of the page that has not been wanted before.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @returns {Promise<T | null>}
 */
async function later(load) {
  try {
    return await load();
  } catch {
    complain("This part of the page cannot be loaded. See whether the server still runs, then reload the page.");
    return null;
  }
}

/** @type {typeof import("./images.js") | null | undefined} */
let images;

/** @param {File[]} files */
async function attach(files) {
  images ??= await later(() => import("./images.js"));
  await images?.attach(files, complain);
}

/** @type {typeof import("./viewer.js") | null | undefined} */
let viewer;
const loadViewer = async () => (viewer ??= await later(() => import("./viewer.js")));

/** @type {typeof import("./sharing.js").share} */
const share = async (...what) => (await later(() => import("./sharing.js")))?.share(...what);

const palette = async () => (await later(() => import("./palette.js")))?.openPalette(commands());

/**
 * @param {string} query
 * @param {ExchangeView} [replaced] whose place it takes
 */
async function ask(query, replaced) {
  if (asking || isHeldBack()) return;
  turn += 1;
  const mine = beginAsking(!store.get().sessionId, replaced);
  keepWaiting(query);
  byId("welcome").hidden = true;
  byId("notice").hidden = true;
  const view = addView(startExchange(++counted, query));
  // What was pressed may be gone by now, and whoever types goes on typing.
  if (document.activeElement !== byId("question")) view.focus();
  const scope = {
    ...{ model: byId("model").value, sources: store.get().chosen },
    ...{ course: byId("course").value, lesson: byId("lesson").value, agent: mayModelSearch() },
  };
  let begun;
  try {
    const body = questionBody(query, scope, store.get().sessionId, replaced?.exchange.answer?.id);
    begun = await api.ask(replaced ? body : { ...body, images: images?.urls() });
    if (!replaced) images?.clear();
  } catch (error) {
    if (asking === mine) end(view, refusedCall(view.exchange, /** @type {api.ApiError} */ (error)));
    return;
  }
  tabs.postMessage("asked");
  if (mine.isUnwanted) api.stopAnswer(begun.id).catch(() => {});
  if (asking !== mine) return loadSessions(); // another conversation is open by now
  enter(begun.session_id);
  loadSessions();
  loadViewer(); // wanted as soon as there is an answer
  follow(view, begun.id);
}

/**
 * Ask in the place of an exchange.
 *
 * @param {ExchangeView} view
 * @param {string} query
 */
async function replace(view, query) {
  const count = below(view);
  const isSame = query === view.exchange.query; // else the form of the question has said so
  if (count && isSame && !(await confirmed("Answer this question again?", belowWords(count), "Answer again"))) return;
  if (view.exchange.answer?.id) ask(query, view);
  else ask(query);
}

/** @param {ExchangeView} view */
function below(view) {
  return views.slice(views.indexOf(view) + 1).filter(({ exchange }) => exchange.phase === "answered").length;
}

/**
 * @param {boolean} begins whether the question is the first of its conversation
 * @param {ExchangeView} [replaced]
 */
function beginAsking(begins, replaced) {
  const at = replaced ? views.indexOf(replaced) : -1;
  const aside = at < 0 ? [] : views.splice(at);
  for (const { root } of aside) root.hidden = true;
  if (aside.length) viewer?.closeViewer();
  hideFollowUps();
  asking = { control: new AbortController(), id: "", begins, isUnwanted: false, aside };
  showAsking(true);
  return asking;
}

/**
 * Take away what an answer has replaced, or bring it back if there is none.
 *
 * @param {ExchangeView} view
 * @param {ExchangeView[]} aside
 */
function settle(view, aside) {
  const { phase, failure } = view.exchange;
  if (phase === "answered") return aside.forEach(({ root }) => root.remove());
  drop(view);
  views.push(...aside);
  for (const { root } of aside) root.hidden = false;
  byId("welcome").hidden = true;
  if (failure) complain(sentences(failure.message, failure.hint, "The answer that was there stays"));
}

/**
 * Show what happens to an answer until it ends, or something else is opened.
 *
 * @param {ExchangeView} view
 * @param {string} id
 */
async function follow(view, id) {
  const mine = asking;
  if (!mine) return;
  mine.id = id;
  let { exchange } = view;
  try {
    for await (const event of api.followAnswer(id, mine.control.signal)) {
      if (asking !== mine) return;
      const { stage } = exchange;
      exchange = applyEvent(exchange, event);
      const isNext = event.event === "status" && exchange.stage !== stage; // not each place in the queue
      if (isNext) announce(STAGES[/** @type {keyof typeof STAGES} */ (exchange.stage)] ?? "");
      view.update(exchange);
    }
  } catch (error) {
    exchange = refusedCall(exchange, /** @type {api.ApiError} */ (error));
  }
  if (asking === mine) end(view, exchange);
}

/**
 * @param {ExchangeView} view
 * @param {import("./state.js").Exchange} exchange
 */
function end(view, exchange) {
  const begins = asking?.begins ?? false;
  const aside = asking?.aside ?? [];
  asking = null;
  showAsking(false);
  tabs.postMessage("ended");
  if (exchange.phase !== "failed") keepWaiting(""); // a page that is left fails first
  view.update(exchange);
  // One that could not be kept has begun no conversation.
  if (begins && (!exchange.answer || exchange.answer.stored === false)) enter("", { lasting: false });
  if (aside.length) settle(view, aside);
  // The question stands where it was written, and the notice above it says why.
  if (isHeldBack() && byId("question").value === exchange.query) drop(view);
  else finish(exchange);
  suggest();
}

/** Suggest what to go on with after the last answer. */
function suggest() {
  const last = views.at(-1);
  if (last && !asking) showFollowUps(last, ask, () => last === views.at(-1) && !asking);
}

/** Stop the answer that is shown. It ends when the server says so: it may be finished by now. */
function stop() {
  if (!asking) return;
  asking.isUnwanted = true;
  const { id } = asking;
  if (id) attempt(() => api.stopAnswer(id));
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
  if ((error.status === 429 || error.status === 503) && error.retryAfter && error.retryAfter < MAX_WAIT_S) {
    holdBack(error.retryAfter);
    if (!byId("question").value && !asking?.aside.length) propose(exchange.query);
  }
  if (error.status === 401) needKey();
  if (error.status === 404 && /conversation/.test(error.message) && store.get().sessionId) {
    enter("", { lasting: false });
    loadSessions();
    return failed(exchange, GONE);
  }
  if (error.status === 404) loadLibrary(); // somebody else has removed what was chosen
  return failed(exchange, { message: error.message, hint: error.hint, status: error.status });
}

/** @param {import("./state.js").Exchange} exchange */
function finish(exchange) {
  if (exchange.answer) announce(`Answered. ${summary(exchange.answer)}.`);
  else if (exchange.failure) announce(sentences("No answer", exchange.failure.message, exchange.failure.hint));
  else announce("Stopped");
  if (exchange.failure?.status !== 0) loadSessions(); // the server can be reached
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

/** Show nothing of a conversation any more. An answer of it that is being written goes on. */
function clear() {
  if (asking) {
    asking.control.abort();
    asking = null;
    showAsking(false);
    keepWaiting("");
    loadSessions(); // which watches it
  }
  viewer?.closeViewer();
  closeSearch();
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
  opening += 1;
  const { session, pending } = await readSession(id).finally(() => (opening -= 1));
  if (!session || mine !== turn) return;
  clear();
  if (session.isGone && !pending) {
    enter("", { lasting: false });
    complain(sentences(GONE.message, GONE.hint));
    loadSessions();
    return;
  }
  enter(id);
  loadViewer();
  byId("question").focus();
  byId("welcome").hidden = true;
  for (const kept of session.exchanges ?? []) addView(pastExchange(++counted, kept));
  if (pending) resume(pending, Boolean(session.isGone));
  else suggest();
  announce(`${session.title ?? pending?.query} is open`);
}

/**
 * Read a conversation, and what has become of its last question if it does not have that.
 *
 * @param {string} id
 */
async function readSession(id) {
  for (;;) {
    const before = pendingOf(await loadAnswers(), id);
    if (before?.begins) return { session: GONE, pending: before };
    const session = await attempt(() => api.session(id).catch(unlessGone));
    if (before?.state !== "running") return { session, pending: before };
    const pending = pendingOf(await loadAnswers(), id); // it may have ended in between, and then it is kept
    if (pending?.id === before.id) return { session, pending };
  }
}

/**
 * Show an answer that was asked for before, or in another tab, from its beginning.
 *
 * @param {import("./state.js").RunningAnswer} pending
 * @param {boolean} begins whether it is the first of its conversation
 */
function resume(pending, begins) {
  const replaced = views.find(({ exchange }) => pending.replaces && exchange.answer?.id === pending.replaces);
  beginAsking(begins, replaced);
  follow(addView(startExchange(++counted, pending.query)), pending.id);
}

/** Show what has been asked and answered in the open conversation by another tab. */
async function catchUp() {
  const { sessionId, sessions, answers } = store.get();
  // What stands above from a conversation that is gone is no part of this one.
  const shown = () => views.filter(({ exchange }) => exchange.answer?.session_id === sessionId);
  const listed = sessions.find(({ id }) => id === sessionId);
  const isBehind = (listed && listed.updated_at !== seenAt) || pendingOf(answers, sessionId)?.state === "running";
  if (!sessionId || asking || opening || !isBehind) return;
  const mine = turn;
  opening += 1;
  const { session, pending } = await readSession(sessionId).finally(() => (opening -= 1));
  if (!session || mine !== turn || asking) return;
  seenAt = listed?.updated_at ?? "";
  const kept = session.exchanges ?? [];
  const same = sameFrom(shown().map(({ exchange }) => exchange.answer?.id), kept);
  if (same < kept.length) shown().slice(same).forEach(drop); // another tab has replaced them
  for (const each of kept.slice(same)) addView(pastExchange(++counted, each));
  byId("welcome").hidden = views.length > 0;
  if (pending?.state === "running") resume(pending, false);
}

/** @param {api.ApiError} error */
function unlessGone(error) {
  if (error.status === 404 || error.status === 422) return GONE;
  throw error;
}

/** Go where the address says, after *Back* or when somebody has changed it. */
function followAddress() {
  const named = namedSession();
  if (named === null || named === store.get().sessionId) return;
  if (named) openSession(named);
  else newQuestion();
}

async function loadSessions() {
  const answers = await readAnswers();
  const found = await attempt(() => api.read("api/sessions"));
  // At once: a conversation whose first answer has just ended would be missing in between.
  store.update({ ...(answers && { answers }), ...(found && { sessions: found.sessions, listed: true }) });
  catchUp();
  clearTimeout(watching);
  const isUnseen = answers?.some(({ id, state }) => state === "running" && id !== asking?.id);
  if (isUnseen) watching = setTimeout(loadSessions, LOOK_AGAIN_MS);
}

/** Read what is being answered, and show it. */
async function loadAnswers() {
  const answers = await readAnswers();
  if (answers) store.update({ answers });
  return answers ?? [];
}

/** Read what is being answered. Tell of what has ended where it is not shown. */
async function readAnswers() {
  const found = await attempt(() => api.read("api/answers"));
  if (!found) return null;
  /** @type {import("./state.js").RunningAnswer[]} */
  const answers = found.answers;
  const { answers: before, sessionId } = store.get();
  const ran = new Set(before.filter(({ state }) => state === "running").map(({ id }) => id));
  for (const { id, state, query, session_id: of } of answers) {
    if (ran.has(id) && state === "done" && of !== sessionId) announce(`“${query}” is answered`);
  }
  return answers;
}

/** Tell whether anything can be asked here. */
async function loadMe() {
  const found = await attempt(() => api.read("api/me"));
  byId("logout").hidden = !found?.key;
  byId("admin").hidden = found?.role !== "owner";
  byId("shares").hidden = !found?.may_share;
  store.update({ mayShare: Boolean(found?.may_share) });
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
  if (now.ready) showSources(byId("sources"), now.sources, { ...now, choose, remove: removeSource, removeFile });
  const how = { current: now.sessionId, now: Date.now(), open: openSession, rename, pin, remove };
  const sessions = withRunning(now.sessions, now.answers);
  if (now.listed) showHistory(byId("history"), sessions, how);
  const title = sessions.find(({ id }) => id === now.sessionId)?.title ?? "";
  fill(byId("title"), title || "Ask your sources");
  document.title = title ? `${title} · Openbook` : "Openbook";
  showScope({ ...now, choose });
  showSearchSources(now.sources);
  byId("add-source").hidden = !now.writable;
  const isShut = now.locked && !views.length;
  for (const part of [byId("composer"), byId("new-question"), byId("search-open"), ...document.querySelectorAll("#rail section")]) {
    part.hidden = isShut;
  }
  showWelcome(now, { ask, addSource, logIn: logInAgain });
}

/** What the palette offers: what can be done now, then the conversations. */
function commands() {
  const { sessions, writable, mayShare, locked } = store.get();
  if (locked) return [{ words: "Log in", act: logInAgain }];
  const last = views.at(-1);
  /** @type {(import("./palette.js").Command | false)[]} */
  const listed = [
    { words: "New question", key: "n", act: newQuestion },
    { words: "Search the sources", key: "s", act: () => openSearch() },
    { words: "Go to the question", key: "/", act: () => byId("question").focus() },
    last?.exchange.phase === "answered" && { words: "Answer the last question again", act: () => replace(last, last.exchange.query) },
    writable && { words: "Add a source", act: addSource },
    mayShare && { words: "Links that I have shared", act: () => share("") },
    { words: "Find words in earlier questions", act: () => (openRail(), byId("history-search").focus()) },
    { words: theme() === "dark" ? "Use light colours" : "Use dark colours", key: "t", act: changeTheme },
    { words: "Shortcuts", key: "?", act: showKeys },
    !byId("admin").hidden && { words: "People and server", act: () => location.assign("admin") },
    !byId("logout").hidden && { words: "Log out", act: logOut },
    ...sessions.map(({ id, title }) => ({ words: `Open “${title}”`, act: () => openSession(id) })),
  ];
  return listed.filter((each) => each !== false && each !== undefined);
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
  drawIcons();
  startTips();
  startLists();
  startMenu();
  startUploads(loadLibrary, attach);
  startComposer(ask, complain, attach);
  startCards(byId("exchanges"), (chip) => {
    const view = views.find(({ root }) => root.contains(chip));
    return view?.answer?.citations.find(({ number }) => number === Number(chip.dataset.cite));
  });
  rove(byId("history"), ".session-open");
  startFilter();
  startSearch({ open: actions.open, ask });
  byId("search-open").addEventListener("click", () => openSearch());
  byId("stop").addEventListener("click", () => (byId("question").focus(), stop()));
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
  byId("shares").addEventListener("click", () => share(""));
  byId("course").addEventListener("change", () => showLessons(store.get().courses));
  byId("scope").addEventListener("change", () => showScope({ ...store.get(), choose }));
  startKeys({ newQuestion, changeTheme, stop, palette, viewer: () => viewer });
  // Another tab may have asked, renamed or deleted meanwhile.
  document.addEventListener("visibilitychange", () => document.hidden || store.get().locked || loadSessions());
  tabs.addEventListener("message", () => store.get().locked || loadSessions());
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
  if (!query || asking || byId("question").value || views.some(({ exchange }) => exchange.query === query)) return;
  propose(query);
  complain("This question had no answer when the page was left. You can ask it again.");
}

wire();
showTheme();
store.subscribe(show);
api.readTogether();
start();
