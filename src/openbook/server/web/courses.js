/** The page of courses: their lessons, which editors may rename, move, split and hide, and study guides to them. */

import * as api from "./api.js";
import { ask, confirmed, logIn } from "./dialogs.js";
import { announce, byId, element, refill, sanitised, startLists } from "./dom.js";
import { counted, sentences } from "./formatting.js";
import { attempt, complain } from "./notices.js";

/**
 * @typedef {{number: number, part: number | null, label: string, title: string, link: string}} Lesson
 * @typedef {{source: string, path: string, title: string, instructor: string, link: string, lessons: Lesson[]}} Course
 * @typedef {"rename" | "move" | "split" | "hide"} Action
 */

let mayEdit = false;

/** @param {Course} course */
const keyOf = ({ source, path }) => (path === "." ? source : `${source}/${path}`);

/**
 * @param {Course} course
 * @param {Lesson} lesson
 * @param {Action} action
 * @param {string} said what was done, for those who do not see it
 * @param {string} [value]
 */
async function change({ source, path }, { label }, action, said, value = "") {
  const found = await attempt(() => api.editCourse({ source, path, lesson: label, action, value }));
  if (!found) return;
  byId("notice").hidden = true;
  show(found.courses);
  announce(said);
}

/**
 * @param {string} title
 * @param {string} name
 * @param {string} before
 * @returns {Promise<string>} empty if nothing is to be changed
 */
async function asked(title, name, before) {
  const field = element("input", { name: "value", value: before, maxlength: 200, required: true });
  const sent = await ask(title, [element("label", {}, name, field)], { send: "Save" });
  const value = String(sent?.get("value") ?? "").trim();
  return value === before ? "" : value;
}

/**
 * @param {Course} course
 * @param {Lesson} lesson
 * @param {-1 | 1} step
 * @returns {Lesson | undefined} the lesson whose place it would take
 */
function neighbour({ lessons }, lesson, step) {
  const beside = lessons.filter(({ number, part }) =>
    lesson.part === null ? part === null : part !== null && number === lesson.number);
  return beside[beside.indexOf(lesson) + step];
}

/**
 * @param {Course} course
 * @param {Lesson} lesson
 */
function tools(course, lesson) {
  const name = `lesson ${lesson.label}`;
  /**
   * @param {string} words
   * @param {string} key
   * @param {() => void} act
   * @param {boolean} [off]
   */
  const button = (words, key, act, off = false) =>
    element("button", {
      ...{ type: "button", class: "quiet", disabled: off, onclick: act, "aria-label": `${words}: ${name}` },
      "data-focus": `${keyOf(course)} ${lesson.label} ${key}`,
    }, words);
  /** @param {-1 | 1} step */
  const move = (step) => {
    const to = neighbour(course, lesson, step);
    if (to) change(course, lesson, "move", `${name} is now ${to.label}`, to.label);
  };
  return [
    button("Rename", "rename", async () => {
      const title = await asked(`Rename ${name}`, "Title", lesson.title);
      if (title) change(course, lesson, "rename", `${name} is renamed`, title);
    }),
    button("Up", "up", () => move(-1), !neighbour(course, lesson, -1)),
    button("Down", "down", () => move(1), !neighbour(course, lesson, 1)),
    button("Split", "split", async () => {
      const heading = await asked(`Split ${name}`, "Heading that begins the next lesson", "");
      if (heading) change(course, lesson, "split", `${name} is split`, heading);
    }),
    button("Hide", "hide", async () => {
      const words = "Its file is still searched, but is no lesson any more. course.toml can bring it back.";
      if (await confirmed(`Hide ${name}?`, words, "Hide")) change(course, lesson, "hide", `${name} is hidden`);
    }),
  ];
}

/**
 * Show a study guide, which can take seconds to make.
 *
 * @param {Course} course
 * @param {Lesson} lesson
 * @param {HTMLElement} opener
 */
async function showGuide(course, lesson, opener) {
  const address = `api/study?course=${encodeURIComponent(keyOf(course))}&lesson=${encodeURIComponent(lesson.label)}`;
  opener.setAttribute("disabled", "");
  const guide = await attempt(() => api.read(`${address}&format=json`));
  opener.removeAttribute("disabled");
  if (!guide) return;
  const file = `${course.title} ${lesson.label}.md`;
  await ask(`Study guide: lesson ${lesson.label}`, [
    // First, because the dialog opens where the first thing is that takes the focus.
    element("p", {}, element("a", { href: address, download: file }, "Download as Markdown")),
    element("div", { class: "answer" }, sanitised(guide.html)),
  ], { send: "", cancel: "Close" });
}

/**
 * @param {Course} course
 * @param {Lesson} lesson
 */
function row(course, lesson) {
  const title = lesson.title || "(no title)";
  const shown = lesson.link
    ? element("a", { href: lesson.link, rel: "noopener noreferrer nofollow", target: "_blank" }, title)
    : title;
  const study = element("button", {
    ...{ type: "button", class: "quiet", "aria-label": `Study guide: lesson ${lesson.label}` },
    onclick: () => showGuide(course, lesson, study),
  }, "Study guide");
  return element("tr", {},
    element("td", {}, lesson.label),
    element("td", {}, shown),
    element("td", { class: "row-actions" }, study, ...(mayEdit ? tools(course, lesson) : [])));
}

/** @param {Course} course */
function section(course) {
  const words = [counted(course.lessons.length, "lesson"), course.instructor, keyOf(course)].filter(Boolean).join(" · ");
  const heads = ["Lesson", "Title"].map((each) => element("th", { scope: "col" }, each));
  const last = element("th", { scope: "col" }, element("span", { class: "unseen" }, "Actions"));
  return element("section", { "aria-label": course.title },
    element("div", { class: "section-head" }, element("h2", {}, course.title)),
    element("p", { class: "aside" }, words),
    course.lessons.length > 0 &&
      element("div", { class: "table", tabindex: 0, role: "region", "aria-label": `Lessons of ${course.title}` },
        element("table", {},
          element("thead", {}, element("tr", {}, ...heads, last)),
          element("tbody", {}, ...course.lessons.map((lesson) => row(course, lesson))))));
}

/** @param {Course[]} courses */
function show(courses) {
  const none = element("p", { class: "empty" }, "No courses yet. Add files on the page of questions, and treat them as a course.");
  refill(byId("courses"), ...(courses.length ? courses.map(section) : [none]));
}

const again = () => element("button", { type: "button", class: "button small", onclick: () => location.reload() }, "Log in");

async function start() {
  let found = null;
  while (!found) {
    try {
      found = await Promise.all([api.read("api/courses"), api.read("api/sources")]);
    } catch (error) {
      const { message, hint, status } = /** @type {api.ApiError} */ (error);
      if (status !== 401) return complain(sentences(message, hint));
      if (!(await logIn())) return complain("A key is needed to see the courses.", again());
    }
  }
  mayEdit = found[1].writable;
  show(found[0].courses);
}

startLists();
start();
