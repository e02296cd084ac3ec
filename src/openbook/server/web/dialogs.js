/** Everything the page asks in a dialog. The browser keeps the focus inside, and Escape closes it. */

import * as api from "./api.js";
import { byId, element, fill } from "./dom.js";
import { sentences } from "./formatting.js";
import { recall, remember } from "./theme.js";

/** @typedef {import("./dom.js").Child} Child */

// What the code of a class begins with, which students may type where a key is asked for.
const CLASS_CODE = "obc_";

const KEYS_OFF = "openbook-keys-off";

/** Whether single keys do something. A person may turn that off. */
export const keysAreOn = () => recall(KEYS_OFF) !== "yes";

/**
 * Show a form in the dialog, and give what was sent; null if it was closed.
 *
 * @param {string} title
 * @param {Child[]} content
 * @param {{send: string, danger?: boolean, cancel?: string}} words
 * @returns {Promise<FormData | null>}
 */
export function ask(title, content, { send, danger = false, cancel = "Cancel" }) {
  const dialog = byId("dialog");
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", { id: "dialog-title" }, title),
    ...content,
    element(
      "p",
      { class: "dialog-actions" },
      element("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, cancel),
      send && element("button", { type: "submit", class: danger ? "button danger" : "button", value: "send" }, send),
    ),
  );
  fill(dialog, form);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      () => resolve(dialog.returnValue === "send" ? new FormData(form) : null),
      { once: true },
    );
  });
}

/**
 * @param {string} title
 * @param {string} words what cannot be undone
 * @param {string} send
 */
export async function confirmed(title, words, send) {
  return (await ask(title, [element("p", {}, words)], { send, danger: true })) !== null;
}

/**
 * @param {string} before
 * @returns {Promise<string>} empty if nothing is to be changed
 */
export async function newTitle(before) {
  const field = element("input", { name: "title", value: before, maxlength: 200, required: true });
  const sent = await ask("Rename", [element("label", {}, "Title", field)], { send: "Rename" });
  const title = String(sent?.get("title") ?? "").trim();
  return title === before ? "" : title;
}

/** Ask for the key until the server takes it. */
export async function logIn() {
  let wrong = "";
  for (;;) {
    const field = element("input", {
      ...{ name: "key", type: "password", required: true, autocomplete: "current-password" },
      "aria-describedby": "login-words",
    });
    const words = wrong || "Type the key that you were given. This browser keeps it until you log out.";
    const content = [element("p", { id: "login-words" }, words), element("label", {}, "Key", field)];
    if ("oidc" in document.body.dataset) {
      content.push(element("p", {}, "Or ", element("a", { href: "api/oidc/login" }, "log in with your account"), "."));
    }
    const sent = await ask("This server wants a key", content, { send: "Log in", cancel: "Not now" });
    if (!sent) return false;
    const key = String(sent.get("key")).trim();
    if (key.startsWith(CLASS_CODE)) {
      location.assign(`join#${key}`);
      return false;
    }
    try {
      await api.login(key);
      return true;
    } catch (error) {
      const { message, hint, status } = /** @type {api.ApiError} */ (error);
      wrong = status === 401 ? "This key is not known here. Ask whoever runs the server." : sentences(message, hint);
    }
  }
}

/**
 * Ask where a new source is.
 *
 * @param {(asCourse: boolean) => void} chooseFiles
 * @returns {Promise<{path: string} | {url: string} | null>}
 */
export async function newSource(chooseFiles) {
  const field = element("input", { name: "where", required: true, placeholder: "docs or https://github.com/…" });
  const asCourse = element("input", { type: "checkbox" });
  const pick = element("button", {
    type: "button",
    class: "button small",
    onclick: () => {
      byId("dialog").close();
      chooseFiles(asCourse.checked);
    },
  }, "Choose files");
  const content = [
    element("p", {}, "Files of your own: drop them anywhere on the page, or"),
    element("p", {}, pick),
    element("label", { class: "check" }, asCourse, "Treat as course: they are read by lessons"),
    element("label", {}, "A folder on the server, or the address of a Git repository", field),
  ];
  const where = String((await ask("Add a source", content, { send: "Add" }))?.get("where") ?? "").trim();
  if (!where) return null;
  return /^[a-z+]+:\/\/|^git@/i.test(where) ? { url: where } : { path: where };
}

const KEYS = [
  ["/", "go to the question"],
  ["Ctrl K", "commands and earlier questions; on a Mac, ⌘ K"],
  ["Enter", "ask; Shift and Enter for a new line"],
  ["j, k", "next and previous citation"],
  ["Enter", "on a citation: open its source"],
  ["[ ]", "previous and next citation of the open source"],
  ["n", "new question"],
  ["s", "search the sources"],
  ["t", "dark or light"],
  ["Escape", "close the source; stop the answer"],
  ["?", "these shortcuts"],
];

/** Show what can be done with keys, and let a person turn those off that are single. */
export async function showKeys() {
  const toggle = element("input", { type: "checkbox", checked: keysAreOn() });
  toggle.addEventListener("change", () => remember(KEYS_OFF, toggle.checked ? "no" : "yes"));
  const rows = KEYS.flatMap(([key, what]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)]);
  const content = [
    element("dl", { class: "keys" }, ...rows),
    element("label", { class: "check" }, toggle, "Use shortcuts of a single key"),
  ];
  await ask("Shortcuts", content, { send: "", cancel: "Close" });
}
