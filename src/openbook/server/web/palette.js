/** The command palette: what can be done, and earlier conversations, by typing some of their words. */

import { byId, element, fill } from "./dom.js";

/** @typedef {{words: string, key?: string, act(): void}} Command */

// More are found by more words.
const MAX_SHOWN = 12;

/**
 * Open it over whatever is shown. Enter does what is marked, Escape closes it.
 *
 * @param {Command[]} commands in the order in which they are listed
 */
export function openPalette(commands) {
  const dialog = byId("dialog");
  /** @type {Command[]} */
  let found = [];
  let at = 0;
  const list = element("ul", { class: "palette-list", id: "palette-list", role: "listbox", "aria-label": "Commands" });
  const none = element("p", { class: "palette-none", role: "status" });
  const field = element("input", {
    ...{ type: "text", role: "combobox", "aria-label": "Command", "aria-expanded": "true", "aria-autocomplete": "list" },
    ...{ "aria-controls": "palette-list", placeholder: "What would you like to do?", autocomplete: "off" },
  });
  /** @param {number} to */
  const mark = (to) => {
    at = Math.max(0, Math.min(found.length - 1, to));
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === at)));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (found.length) field.setAttribute("aria-activedescendant", `command-${at}`);
    else field.removeAttribute("aria-activedescendant");
  };
  /** @param {Command | undefined} command */
  const run = (command) => {
    if (!command) return;
    dialog.close();
    command.act();
  };
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = commands.filter((each) => words.every((word) => each.words.toLowerCase().includes(word))).slice(0, MAX_SHOWN);
    fill(list, ...found.map((command, place) =>
      element("li", { role: "option", id: `command-${place}`, class: "command", onclick: () => run(command) },
        element("span", {}, command.words), command.key && element("kbd", { "aria-hidden": "true" }, command.key))));
    none.textContent = found.length ? "" : "No command and no earlier question has these words.";
    mark(0);
  };
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
    if (to !== undefined) mark(to);
    else if (event.key === "Enter") run(found[at]);
    else return;
    event.preventDefault();
  });
  fill(dialog, element("h2", { id: "dialog-title", class: "unseen" }, "Commands"), field, list, none);
  filter();
  dialog.showModal();
  field.focus();
}
