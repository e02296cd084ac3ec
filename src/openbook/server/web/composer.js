/** Where a question is written, and what it may be answered from and by. */

import { byId, element, fill, refill } from "./dom.js";
import { floatBeside } from "./floating.js";
import { counted, listed, wait } from "./formatting.js";

/**
 * @typedef {{source: string, path: string, title: string, lessons: {label: string, title: string}[]}} Course
 * @typedef {{name: string, label: string}} Model
 */

const ALL = "";
// What the server calls answering without a model.
const QUOTES = "extractive";
// Eight lines, and of a low screen no more than leaves the answer in sight; more scroll.
const HIGHEST_PX = 220;
const HIGHEST_SHARE = 0.3;

/**
 * @param {(query: string) => void} ask
 * @param {(words: string) => void} complain
 * @param {(files: File[]) => void} attach
 */
export function startComposer(ask, complain, attach) {
  const field = byId("question");
  byId("composer").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const query = field.value.trim();
    if (!query || isHeldBack() || byId("send").hidden) return;
    propose("");
    ask(query);
  });
  floatBeside(byId("scope"), () => byId("scope-open"));
  field.addEventListener("input", grow);
  field.addEventListener("paste", (/** @type {ClipboardEvent} */ event) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    if (!pasted && files.length) return attach(files);
    const kept = field.value.length - (field.selectionEnd - field.selectionStart);
    if (kept + pasted.length <= field.maxLength) return;
    complain(`A question has at most ${counted(field.maxLength, "character")}: the rest was cut off.`);
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
}

function grow() {
  const field = byId("question");
  field.style.height = "auto";
  field.style.height = `${Math.min(HIGHEST_PX, innerHeight * HIGHEST_SHARE, field.scrollHeight)}px`;
}

/**
 * Put a question where it can be changed and asked.
 *
 * @param {string} query
 */
export function propose(query) {
  byId("question").value = query;
  grow();
}

/**
 * @param {Model[]} models
 * @param {string} chosen
 */
export function showModels(models, chosen) {
  choices("model", models.map(({ name, label }) => [name, label]), chosen);
}

/** @param {Course} course */
const placeOf = ({ source, path }) => (path === "." ? source : `${source}/${path}`);

/** @param {Course[]} courses */
export function showCourses(courses) {
  byId("course-field").hidden = !courses.length;
  const titles = courses.map(({ title }) => title);
  const named = courses.map((course) => {
    const isOneOfSeveral = titles.indexOf(course.title) !== titles.lastIndexOf(course.title);
    return [placeOf(course), isOneOfSeveral ? `${course.title} (${placeOf(course)})` : course.title];
  });
  choices("course", [[ALL, "All"], ...named], byId("course").value);
  showLessons(courses);
}

/** @param {Course[]} courses */
export function showLessons(courses) {
  const lessons = courses.find((course) => placeOf(course) === byId("course").value)?.lessons ?? [];
  byId("lesson-field").hidden = !lessons.length;
  const named = lessons.map(({ label, title }) => [label, title ? `${label}: ${title}` : label]);
  choices("lesson", [[ALL, "All"], ...named], byId("lesson").value);
}

/**
 * @param {string} id
 * @param {string[][]} options values and words
 * @param {string} chosen
 */
function choices(id, options, chosen) {
  fill(byId(id), ...options.map(([value, words]) => option(value, words, value === chosen)));
}

/**
 * @param {string} value
 * @param {string} words
 * @param {boolean} selected
 */
function option(value, words, selected) {
  const made = element("option", { selected }, words);
  made.value = value; // as it is: what is shown of it may not be what it is
  return made;
}

/**
 * Say what answers and from what, on the chip below the question and in what that opens.
 *
 * @param {{sources: {name: string}[], chosen: string[], choose(name: string, on: boolean): void}} now `chosen`: none means all
 */
export function showScope({ sources, chosen, choose }) {
  const model = byId("model");
  byId("agent-field").hidden = model.value === QUOTES;
  const written = model.length > 1 ? "Choose a model to have them written." : "The server has no model to write them.";
  fill(byId("scope-words"), model.value === QUOTES && `Answers are quotes from the sources. ${written}`);
  byId("scope-sources-field").hidden = sources.length < 2;
  refill(byId("scope-sources"), ...sources.map(({ name }) => sourceChoice(name, chosen, choose)));
  const from = chosen.length < 3 ? listed(chosen) : `${chosen.length} of ${counted(sources.length, "source")}`;
  const parts = [
    wordsOf("model"),
    mayModelSearch() && "searches by itself",
    chosen.length ? `only ${from}` : "all sources",
    byId("course").value && wordsOf("course"),
    byId("lesson").value && wordsOf("lesson"),
  ];
  const label = byId("scope-open").querySelector(".label");
  if (model.length && label) fill(label, parts.filter(Boolean).join(" · "));
}

/** @param {string} id of a field with options */
const wordsOf = (id) => byId(id).selectedOptions[0]?.textContent;

/**
 * @param {string} name
 * @param {string[]} chosen
 * @param {(name: string, on: boolean) => void} choose
 */
function sourceChoice(name, chosen, choose) {
  const box = element("input", { type: "checkbox", checked: !chosen.length || chosen.includes(name), "data-focus": name });
  box.addEventListener("change", () => choose(name, box.checked));
  return element("li", {}, element("label", { class: "check" }, box, element("span", { class: "source-name" }, name)));
}

/** Whether a model is chosen and may search by itself. */
export const mayModelSearch = () => !byId("agent-field").hidden && byId("agent").checked;

/** @param {boolean} isAsking */
export function showAsking(isAsking) {
  const [shown, gone] = isAsking ? ["stop", "send"] : ["send", "stop"];
  const hadFocus = document.activeElement === byId(gone);
  byId(shown).hidden = false;
  if (hadFocus) byId(shown).focus(); // else it would be nowhere
  byId(gone).hidden = true;
}

/** Whether the server takes no questions for now. */
export const isHeldBack = () => byId("send").disabled;

/** @type {ReturnType<typeof setInterval> | undefined} */
let counting;

/**
 * Keep questions back until the server takes them again, and count down.
 *
 * @param {number} seconds
 */
export function holdBack(seconds) {
  const until = Date.now() + seconds * 1000;
  const notice = byId("notice");
  const left = element("span", { "aria-hidden": "true" });
  clearInterval(counting);
  // Who does not see it is told once, not every second.
  const words = `Too many questions for now. Ask again in ${wait(seconds)}.`;
  fill(notice, element("span", { class: "unseen" }, words), left);
  notice.hidden = false;
  byId("send").disabled = true;
  const count = () => {
    const rest = (until - Date.now()) / 1000;
    left.textContent = `Too many questions for now. You can ask again in ${wait(rest)}; what you wrote stays.`;
    if (rest > 0) return;
    clearInterval(counting);
    notice.hidden = true;
    byId("send").disabled = false;
  };
  count();
  counting = setInterval(count, 1000);
}
