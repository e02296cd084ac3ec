/** Where a question is written, and what it may be answered from and by. */

import { byId, element, fill } from "./dom.js";
import { counted, wait } from "./formatting.js";

/**
 * @typedef {{title: string, lessons: {number: number, title: string}[]}} Course
 * @typedef {{name: string, label: string}} Model
 */

const ALL = "";
// What the server calls answering without a model.
const QUOTES = "extractive";
// Eight lines; more scroll.
const HIGHEST_PX = 220;

/** @param {(query: string) => void} ask */
export function startComposer(ask) {
  const field = byId("question");
  byId("composer").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const query = field.value.trim();
    if (!query || byId("send").disabled || byId("send").hidden) return;
    field.value = "";
    grow();
    ask(query);
  });
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
}

function grow() {
  const field = byId("question");
  field.style.height = "auto";
  field.style.height = `${Math.min(HIGHEST_PX, field.scrollHeight)}px`;
}

/**
 * @param {Model[]} models
 * @param {string} chosen
 */
export function showModels(models, chosen) {
  choices("model", models.map(({ name, label }) => [name, label]), chosen);
}

/**
 * @param {Course[]} courses
 */
export function showCourses(courses) {
  byId("course-field").hidden = !courses.length;
  const titles = [...new Set(courses.map(({ title }) => title))];
  choices("course", [[ALL, "All"], ...titles.map((title) => [title, title])], byId("course").value);
  showLessons(courses);
}

/** @param {Course[]} courses */
export function showLessons(courses) {
  const lessons = courses.find(({ title }) => title === byId("course").value)?.lessons ?? [];
  byId("lesson-field").hidden = !lessons.length;
  const named = lessons.map(({ number, title }) => [String(number), `${number}: ${title}`]);
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
 * Say what answers are and what they come from.
 *
 * @param {string[]} chosen sources; none means all
 */
export function showScope(chosen) {
  const named = chosen.length < 3 ? chosen.join(" and ") : counted(chosen.length, "source");
  const from = chosen.length ? `Only from ${named}. ` : "";
  const model = byId("model");
  byId("agent-field").hidden = model.value === QUOTES;
  const written = model.length > 1 ? "Choose a model to have them written." : "The server has no model to write them.";
  fill(byId("scope-words"), from, model.value === QUOTES && `Answers are quotes from the sources. ${written}`);
}

/** Whether a model is chosen and may search by itself. */
export const mayModelSearch = () => !byId("agent-field").hidden && byId("agent").checked;

/** @param {boolean} isAsking */
export function showAsking(isAsking) {
  byId("send").hidden = isAsking;
  byId("stop").hidden = !isAsking;
}

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
