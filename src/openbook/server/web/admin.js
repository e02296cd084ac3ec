/** The page for owners: keys, classes, use, the server, its sources and jobs, and the log. */

import * as api from "./api.js";
import { ask, confirmed, logIn } from "./dialogs.js";
import { announce, byId, copy, element, fill, refill, startLists } from "./dom.js";
import { ago, counted, sentences } from "./formatting.js";
import { attempt, complain } from "./notices.js";

/**
 * @typedef {{role: string, expires_at: number | null, questions_per_day: number | null, usd_per_day: number | null}} Grant
 * @typedef {Grant & {name: string, class_name: string, created_at: number, last_used_at: number | null,
 *   questions_today: number, usd_today: number, questions: number, usd: number}} Key
 * @typedef {Omit<Grant, "role"> & {name: string, created_at: number, seats: number, students: number}} Class
 */

const ROLES = { reader: "asks and reads", editor: "also changes the sources", owner: "also manages keys" };
const DAY_MS = 24 * 3600 * 1000;

/** @param {number | null} seconds */
const day = (seconds) => (seconds === null ? "" : new Date(seconds * 1000).toISOString().slice(0, 10));

// The export has all of them.
const MAX_SHOWN = 100;

/** @param {number} usd */
const dollars = (usd) => `$${usd.toFixed(2)}`;

/**
 * @param {string[]} heads
 * @param {HTMLElement[]} rows
 * @param {string} none
 */
function table(heads, rows, none) {
  if (!rows.length) return element("p", { class: "empty" }, none);
  const head = heads.map((each) => element("th", { scope: "col" }, each || element("span", { class: "unseen" }, "Actions")));
  // Where there is no room for columns, each cell says what it is.
  for (const row of rows) heads.forEach((each, at) => row.children[at].setAttribute("data-head", each));
  return element("div", { class: "table", tabindex: 0, role: "region", "aria-label": heads[0] },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

/**
 * @param {string} words
 * @param {string} about for those who do not see the row
 * @param {() => void} onclick
 */
const button = (words, about, onclick) => element("button", {
  ...{ type: "button", class: words === "Revoke" ? "quiet danger" : "quiet", "aria-label": `${words} ${about}`, onclick },
}, words);

const ERASED = "Their conversations, ratings and share links are deleted. This cannot be undone.";

/** @param {Key} key */
function keyRow(key) {
  const { name, role, class_name: of, expires_at: end } = key;
  const hasEnded = end !== null && end * 1000 <= Date.now();
  const questions = key.questions_per_day === null ? `${key.questions_today}` : `${key.questions_today} of ${key.questions_per_day}`;
  const spent = key.usd_per_day === null ? dollars(key.usd_today) : `${dollars(key.usd_today)} of ${dollars(key.usd_per_day)}`;
  return element("tr", { class: hasEnded ? "ended" : null, "data-item": name },
    element("td", {}, name),
    element("td", {}, of ? "student" : role),
    element("td", {}, key.last_used_at === null ? "never" : ago(key.last_used_at, Date.now())),
    element("td", {}, questions),
    element("td", {}, spent),
    element("td", {}, `${key.questions}, ${dollars(key.usd)}`),
    element("td", {}, end === null ? "no end" : day(end - 1)),
    element("td", { class: "row-actions" },
      button("Change", name, () => changeKey(key)),
      button(of ? "New PIN" : "Rotate", name, () => rotate(name, of ? "PIN" : "key")),
      button("Revoke", name, () => remove(name, `“${name}” can do nothing any more, from now on. ${ERASED}`))));
}

/** @param {Class} one */
function classRow(one) {
  const { name, seats, students, expires_at: end } = one;
  const words = `The class “${name}” and its ${counted(students, "student")} can do nothing any more, from now on. ${ERASED}`;
  const limits = [
    one.questions_per_day === null ? "" : counted(one.questions_per_day, "question"),
    one.usd_per_day === null ? "" : dollars(one.usd_per_day),
  ].filter(Boolean);
  return element("tr", { "data-item": name },
    element("td", {}, name),
    element("td", {}, `${students} of ${seats}`),
    element("td", {}, limits.length ? `${limits.join(", ")} a day` : "as the server"),
    element("td", {}, end === null ? "no end" : day(end - 1)),
    element("td", { class: "row-actions" },
      button("Change", name, () => changeClass(one)),
      button("New link", name, () => rotate(name, "link")),
      button("Revoke", name, () => remove(name, words))));
}

/** @param {Partial<Grant>} [grant] */
function limitFields({ expires_at: end = null, questions_per_day: questions, usd_per_day: usd } = {}) {
  return [
    element("label", {}, "Last day", element("input", { name: "end", type: "date", value: end === null ? "" : day(end - 1) })),
    element("label", {}, "Questions a day, at most", element("input", { name: "questions", type: "number", min: 0, value: questions })),
    element("label", {}, "US dollars a day, at most", element("input", { name: "usd", type: "number", min: 0, step: "any", value: usd })),
  ];
}

/** @param {string} chosen */
function roleField(chosen) {
  const options = Object.entries(ROLES).map(([role, words]) =>
    element("option", { value: role, selected: role === chosen }, `${role}: ${words}`));
  return element("label", {}, "Role", element("select", { name: "role" }, ...options));
}

/** @param {FormData} sent */
function limitsOf(sent) {
  /** @param {string} name */
  const number = (name) => (sent.get(name) ? Number(sent.get(name)) : null);
  const end = sent.get("end") ? Date.parse(String(sent.get("end"))) + DAY_MS : null;
  return { expires_at: end === null ? null : end / 1000, questions_per_day: number("questions"), usd_per_day: number("usd") };
}

/** @param {string} label */
const nameField = (label) =>
  element("label", {}, label, element("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" }));

async function addKey() {
  const sent = await ask("New key", [nameField("Whose it is"), roleField("reader"), ...limitFields()], { send: "Create" });
  if (!sent) return;
  const body = { name: sent.get("name"), role: sent.get("role"), ...limitsOf(sent) };
  const made = await attempt(() => api.change("POST", "keys", body));
  if (made) await showSecret(`The key of ${made.name}`, made.secret);
  load();
}

/** @param {Key} key */
async function changeKey(key) {
  const sent = await ask(`Change ${key.name}`, [roleField(key.role), ...limitFields(key)], { send: "Change" });
  if (!sent) return;
  const body = { role: sent.get("role"), ...limitsOf(sent) };
  if (await attempt(() => api.change("PUT", `keys/${pathOf(key.name)}`, body).then(() => true))) announce(`${key.name} is changed`);
  load();
}

async function addClass() {
  const seats = element("label", {}, "Students, at most",
    element("input", { name: "seats", type: "number", min: 1, max: 10000, value: 40, required: true }));
  const words = element("p", {}, "Limits are those of each student.");
  const sent = await ask("New class", [nameField("Name of the class"), seats, words, ...limitFields()], { send: "Create" });
  if (!sent) return;
  const body = { name: sent.get("name"), seats: Number(sent.get("seats")), ...limitsOf(sent) };
  const made = await attempt(() => api.change("POST", "classes", body));
  if (made) await showLink(made.name, made.secret);
  load();
}

/** @param {Class} one */
async function changeClass(one) {
  const sent = await ask(`Change ${one.name}`, [element("p", {}, "For all its students."), ...limitFields(one)], { send: "Change" });
  if (!sent) return;
  const body = { role: "reader", ...limitsOf(sent) };
  if (await attempt(() => api.change("PUT", `keys/${pathOf(one.name)}`, body).then(() => true))) announce(`${one.name} is changed`);
  load();
}

/**
 * @param {string} name
 * @param {"key" | "PIN" | "link"} what
 */
async function rotate(name, what) {
  const words = `The ${what} of “${name}” that is in use now ends at once.`;
  if (!(await confirmed(`New ${what}?`, words, "Replace it"))) return;
  const made = await attempt(() => api.change("POST", `rotations/${pathOf(name)}`, {}));
  if (made) await (what === "link" ? showLink(name, made.secret) : showSecret(`The ${what} of ${name}`, made.secret));
  load();
}

/**
 * @param {string} name
 * @param {string} words
 */
async function remove(name, words) {
  if (!(await confirmed("Revoke?", words, "Revoke"))) return;
  if (await attempt(() => api.change("DELETE", `keys/${pathOf(name)}`).then(() => true))) announce(`${name} is revoked`);
  load();
}

/**
 * @param {string} name
 * @param {string} code
 */
const showLink = (name, code) => showSecret(`The link for ${name}`, new URL(`join#${code}`, location.href).href);

/**
 * @param {string} title
 * @param {string} secret
 */
async function showSecret(title, secret) {
  const take = element("button", { type: "button", class: "button small" }, "Copy");
  take.addEventListener("click", () => copy(take, secret));
  const content = [
    element("p", {}, "It is shown this once. Give it on where others cannot read it."),
    element("p", {}, element("code", { class: "secret" }, secret)),
    element("p", {}, take),
  ];
  await ask(title, content, { send: "", cancel: "Done" });
}

/** Students have a `/` in their name. @param {string} name */
const pathOf = (name) => name.split("/").map(encodeURIComponent).join("/");

/** @param {{keys: Key[], classes: Class[], usd_per_day: number}} people */
function showPeople({ keys, classes, usd_per_day: usual }) {
  const heads = ["Name", "Role", "Last used", "Questions today", "Spent today", "Altogether", "Until", ""];
  refill(byId("keys"), table(heads, keys.map(keyRow), "No keys yet."));
  refill(byId("classes"), table(["Class", "Students", "Limits", "Until", ""], classes.map(classRow), "No classes yet."));
  /** @param {"questions_today" | "usd_today" | "questions" | "usd"} what */
  const sum = (what) => keys.reduce((total, key) => total + key[what], 0);
  facts("use", [
    ["Today", `${counted(sum("questions_today"), "question")}, ${dollars(sum("usd_today"))}`],
    ["Altogether", `${counted(sum("questions"), "question")}, ${dollars(sum("usd"))}, of keys that are there now`],
    ["Limit", `${dollars(usual)} a day for a key that has no limit of its own`],
  ]);
}

/**
 * @param {string} id
 * @param {[string, string, boolean?][]} rows a third value is true where something is wrong
 */
function facts(id, rows) {
  fill(byId(id), ...rows.flatMap(([name, value, isBad]) => [
    element("dt", {}, name), element("dd", { class: isBad ? "bad" : null }, value),
  ]));
}

/**
 * @param {{version: string, documents: number, chunks: number, store: string,
 *   jobs: {source: string, state: string, done: number, total: number}[]}} server
 * @param {import("./rail.js").Source[]} sources
 */
function showServer({ version, documents, chunks, store, jobs }, sources) {
  facts("server", [
    ["Version", version],
    ["Library", `${counted(documents, "document")} in ${counted(chunks, "chunk")}`],
    ["Health", store || "The library can be asked", Boolean(store)],
  ]);
  const rows = sources.map(({ name, kind, documents: count, state, message }) => {
    const job = jobs.find(({ source }) => source === name);
    const words = job ? `${job.state}, ${job.done} of ${job.total || "?"}` : message || state;
    return element("tr", {}, ...[name, kind, counted(count, "document"), words].map((each) => element("td", {}, each)));
  });
  const others = jobs.filter(({ source }) => !sources.some(({ name }) => name === source));
  const more = others.map(({ state, done, total }) => element("tr", {},
    ...["a new source", "", "", `${state}, ${done} of ${total || "?"}`].map((each) => element("td", {}, each))));
  fill(byId("sources"), table(["Source", "Kind", "Size", "State"], [...rows, ...more], "Nothing to read yet."));
}

/** @param {{at: number, who: string, did: string, what: string, address: string}[]} events */
function showLog(events) {
  const rows = events.map(({ at, who, did, what, address }) => {
    const when = new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ");
    return element("tr", {}, ...[`${when} UTC`, who || "nobody", did, what, address].map((each) => element("td", {}, each)));
  });
  fill(byId("log"), table(["When", "Who", "Did", "What", "From"], rows, "Nothing has happened yet."));
}

/** @param {{at: number, who: string, rating: string, reason: string, comment: string, query: string, places: string[]}[]} said */
function showFeedback(said) {
  const rows = said.slice(0, MAX_SHOWN).map(({ at, who, rating, reason, comment, query, places }) => {
    const when = new Date(at * 1000).toISOString().slice(0, 10);
    const why = [rating === "good" ? "helpful" : "not helpful", reason, comment && `“${comment}”`].filter(Boolean).join(": ");
    return element("tr", {}, ...[when, who, why, query, places.join(", ")].map((each) => element("td", {}, each)));
  });
  fill(byId("feedback"), table(["When", "Who", "Says", "Question", "Cited"], rows, "Nobody has said anything yet."));
  byId("feedback-export").hidden = !rows.length;
}

async function load() {
  const [people, server, sources, log, said] = await Promise.all([
    attempt(() => api.read("api/admin/people")),
    attempt(() => api.read("api/admin/server")),
    attempt(() => api.read("api/sources")),
    attempt(() => api.read("api/admin/log?most=100")),
    attempt(() => api.read("api/admin/feedback")),
  ]);
  if (said) showFeedback(said.feedback);
  if (people) showPeople(people);
  if (server && sources) showServer(server, sources.sources);
  if (log) showLog(log.events);
}

/** Show the page to an owner, and ask others for the key of one. */
async function start() {
  const me = await api.read("api/me").catch((/** @type {api.ApiError} */ error) => error);
  if (me.role === "owner") {
    byId("office").hidden = false;
    await load();
    return;
  }
  const words = me instanceof api.ApiError && me.status !== 401 ? sentences(me.message, me.hint) : "This page is for owners.";
  const enter = element("button", { type: "button", class: "button small", onclick: async () => {
    if (await logIn()) location.reload();
  } }, "Log in with a key");
  complain(words, enter);
}

startLists();
byId("add-key").addEventListener("click", addKey);
byId("add-class").addEventListener("click", addClass);
start();
