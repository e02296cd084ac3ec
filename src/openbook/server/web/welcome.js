/** What stands where no question has been asked yet: what can be asked, or what is missing for that. */

import { byId, element, fill, refill } from "./dom.js";

/**
 * @typedef {{ready: boolean, locked: boolean, sources: unknown[], questions: string[] | null, writable: boolean}} Known
 * @typedef {{ask(query: string): void, addSource(): void, logIn(): void}} Actions
 */

/**
 * @param {Known} now
 * @param {Actions} actions
 */
export function showWelcome({ ready, locked, sources, questions, writable }, actions) {
  const place = byId("welcome");
  if (locked) {
    const words = "Without one, nothing can be read or asked here. Ask whoever runs the server for one.";
    fill(place, ...opening("A key is needed", words), button("Log in", actions.logIn));
  } else if (!ready) fill(place);
  else if (!sources.length) {
    const how = writable
      ? "Drop files anywhere on this page, or add a folder or a Git repository. Then ask."
      : "Start the server with a folder to read: openbook serve PATH";
    const add = writable && button("Add a source", actions.addSource);
    refill(place, ...opening("There is nothing to read yet", how), add);
  } else {
    const words = "Answers come from your sources only. Every citation is checked against the lines it names.";
    refill(place, ...opening("What would you like to know?", words), suggestions(questions, actions.ask));
  }
}

/**
 * @param {string} title
 * @param {string} words
 */
const opening = (title, words) => [element("h2", {}, title), element("p", {}, words)];

/**
 * @param {string} words
 * @param {() => void} onclick
 */
const button = (words, onclick) => element("button", { type: "button", class: "button", onclick }, words);

/**
 * @param {string[] | null} questions
 * @param {(query: string) => void} ask
 */
function suggestions(questions, ask) {
  if (!questions) return element("div", { class: "suggestions", "aria-busy": "true" });
  if (!questions.length) return null;
  const items = questions.map((question) =>
    element("li", {},
      element("button", { type: "button", class: "suggestion", onclick: () => ask(question) }, question)),
  );
  return element("ul", { class: "suggestions", "aria-label": "Questions to begin with" }, ...items);
}
