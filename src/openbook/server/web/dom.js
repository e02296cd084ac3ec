/**
 * Elements out of values. Text goes in as text; one function here takes HTML, and only what the server has sanitised.
 */

import { visible } from "./formatting.js";

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | EventListener>} Properties
 */

/**
 * Make an element. `on…` takes a function, `class` and all else are attributes; true is an empty one, false is none.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Properties} [properties]
 * @param {...Child} children strings become text
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, visible(value));
  }
  made.append(...texts(children));
  return made;
}

/**
 * Put children in place of those that are there.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  waiting.delete(parent);
  parent.replaceChildren(...texts(children));
}

/** How long the click of a finger may take to follow. */
const AFTER_TOUCH_MS = 100;
/** What the pointer holds down. @type {Node | null} */
let pressed = null;
/** Lists in which something is pressed, with their new items. @type {Map<Element, Child[]>} */
const waiting = new Map();

/** Let lists wait that would be put anew beneath a pressed pointer: what is pressed would never be clicked. Called once. */
export function startLists() {
  const release = () => {
    pressed = null;
    for (const [list, items] of [...waiting]) refill(list, ...items);
  };
  document.addEventListener("pointerdown", ({ target }) => (pressed = /** @type {Node} */ (target)), { capture: true });
  // A click of the mouse follows in the same task, that of a finger later. A menu of the browser may swallow that the
  // pointer is let go.
  for (const type of ["pointerup", "pointercancel", "contextmenu"]) {
    const listener = (/** @type {Event} */ event) =>
      setTimeout(release, event instanceof PointerEvent && event.pointerType === "touch" ? AFTER_TOUCH_MS : 0);
    document.addEventListener(type, listener, { capture: true });
  }
}

/**
 * Put the items of a list anew. What had the focus gets it back if it is there again, known by its `data-focus`,
 * else by the `data-item` that it stands in and its words; details that were open are open again, known by their
 * `data-details`. While something in the list is pressed, this waits until it is let go.
 *
 * @param {Element} list
 * @param {...Child} items
 */
export function refill(list, ...items) {
  if (list.contains(pressed)) {
    waiting.set(list, items);
    return;
  }
  const focused = list.contains(document.activeElement) && document.activeElement;
  const name = focused && nameOf(focused);
  const open = new Set([...list.querySelectorAll("details[open]")].map((each) => each.getAttribute("data-details")));
  fill(list, ...items);
  for (const each of list.querySelectorAll("details[data-details]")) {
    each.toggleAttribute("open", open.has(each.getAttribute("data-details")));
  }
  const again = name && [...list.querySelectorAll("a, button, input, summary")].find((each) => nameOf(each) === name);
  if (again) /** @type {HTMLElement} */ (again).focus();
}

/** @param {Element} each */
function nameOf(each) {
  const item = each.closest("[data-item]")?.getAttribute("data-item") ?? "";
  return each.getAttribute("data-focus") ?? `${item} ${each.getAttribute("aria-label") ?? each.textContent}`;
}

/** @param {Child[]} children */
function texts(children) {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "string" ? visible(child) : /** @type {Node} */ (child)));
}

/** @type {{createHTML(html: string): any}} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("openbook", {
  createHTML: (/** @type {string} */ html) => html,
}) ?? { createHTML: (html) => html };

/**
 * Turn HTML of the server's sanitiser into elements. Nothing else may be handed in.
 *
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function sanitised(html) {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(html); // the one place: what comes here, `rendering.py` has made
  // Bullets and the lines beside quotes stand where their text begins, whichever way it is written.
  for (const each of template.content.querySelectorAll("ul, ol, blockquote, table")) each.setAttribute("dir", "auto");
  return template.content;
}

/**
 * Find an element that `index.html` promises.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/**
 * Say something to who does not see the page.
 *
 * @param {string} words
 */
export function announce(words) {
  byId("announcer").textContent = visible(words);
}

/**
 * Put text where it can be pasted, and say so on the button that was pressed.
 *
 * @param {HTMLElement} button
 * @param {string} text
 */
export async function copy(button, text) {
  await copied(button, () => navigator.clipboard.writeText(text));
}

/**
 * The same with text that has to be fetched first. Browsers take it as long as they know of the click.
 *
 * @param {HTMLElement} button
 * @param {Promise<string>} text
 */
export async function copyLate(button, text) {
  const blob = text.then((words) => new Blob([words], { type: "text/plain" }));
  await copied(button, () => navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]));
}

/**
 * @param {HTMLElement} button
 * @param {() => Promise<void>} write
 */
async function copied(button, write) {
  const before = labelOf(button).textContent ?? "";
  button.classList.add("told"); // its words are seen, also where it is but an icon
  try {
    await write();
    relabel(button, "Copied");
    announce("Copied");
  } catch {
    relabel(button, "The browser forbids copying");
  }
  setTimeout(() => (relabel(button, before), button.classList.remove("told")), 2000);
}

/** @param {HTMLElement} button */
const labelOf = (button) => button.querySelector(".label") ?? button;

/**
 * Change the words of a button, which may have an icon before them.
 *
 * @param {HTMLElement} button
 * @param {string} words
 */
export function relabel(button, words) {
  labelOf(button).textContent = words;
}

/**
 * Let arrow keys move between the items of a list, of which Tab reaches one.
 *
 * @param {HTMLElement} list
 * @param {string} selector of what takes the focus
 */
export function rove(list, selector) {
  const items = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll(selector)]);
  list.addEventListener("keydown", (event) => {
    const all = items();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined || !all[to]) return;
    event.preventDefault();
    all[to].focus();
  });
  list.addEventListener("focusin", (event) => {
    if (!(/** @type {HTMLElement} */ (event.target).matches(selector))) return;
    for (const item of items()) item.tabIndex = item === event.target ? 0 : -1;
  });
}
