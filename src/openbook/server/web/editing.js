/** A question that is changed where it stands, and asked once more in its place. */

import { element } from "./dom.js";
import { counted } from "./formatting.js";

/**
 * Put a form in the place of a heading until it is sent or given up.
 *
 * @param {HTMLElement} head what shows the question
 * @param {string} query
 * @param {number} below questions that come after it, and are deleted with its answer
 * @param {(query: string) => void} ask
 */
export function editQuestion(head, query, below, ask) {
  const field = element("textarea", {
    ...{ class: "edit-field", maxlength: 10_000, rows: Math.min(8, query.split("\n").length + 1), "aria-label": "Question" },
  });
  field.value = query;
  const close = () => {
    form.remove();
    head.hidden = false;
    /** @type {HTMLElement | null} */ (head.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  };
  const send = () => {
    const edited = field.value.trim();
    if (!edited) return;
    close();
    ask(edited);
  };
  const form = element(
    "form",
    { class: "edit" },
    element("h2", { class: "unseen" }, "Edit the question"), // in the place of the one that it hides
    field,
    below > 0 && element("p", { class: "advice" }, belowWords(below)),
    element("p", { class: "edit-actions" },
      element("button", { type: "submit", class: "button small" }, "Ask"),
      element("button", { type: "button", class: "quiet", onclick: close }, "Cancel")),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.stopPropagation(); // it closes nothing else
      close();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  });
  head.hidden = true;
  head.after(form);
  field.focus();
}

/** @param {number} below */
export function belowWords(below) {
  return `${counted(below, "question")} below it ${below === 1 ? "is" : "are"} deleted, with the answer${below === 1 ? "" : "s"}.`;
}
