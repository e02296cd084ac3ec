/** What each key does, on the page as a whole. */

import { hideCard } from "./card.js";
import { keysAreOn, showKeys } from "./dialogs.js";
import { byId } from "./dom.js";
import { closeFloating } from "./floating.js";
import { closeRail } from "./rail.js";
import { closeSearch, openSearch } from "./search.js";

/**
 * @typedef {{newQuestion(): void, changeTheme(): void, stop(): void, palette(): void,
 *   viewer(): typeof import("./viewer.js") | null | undefined}} Actions
 */

/** @param {Actions} actions */
export function startKeys(actions) {
  /** @type {Record<string, () => void>} */
  const single = {
    "/": () => byId("question").focus(),
    "?": showKeys,
    "[": () => actions.viewer()?.step(-1),
    "]": () => actions.viewer()?.step(1),
    j: () => moveBetweenCitations(1),
    k: () => moveBetweenCitations(-1),
    n: actions.newQuestion,
    s: () => openSearch(),
    t: actions.changeTheme,
  };
  document.addEventListener("keydown", (event) => {
    if (byId("dialog").open) return;
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault(); // some browsers go to their own search
      actions.palette();
      return;
    }
    if (event.key === "Escape") {
      escape(actions);
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyped = target.matches("textarea, select, input:not([type=checkbox])");
    if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!keysAreOn() || !Object.hasOwn(single, event.key)) return;
    event.preventDefault();
    single[event.key]();
  });
}

/**
 * Escape goes from the smallest to the largest: the card, the menu or panel, the source, the search, the rail, the answer.
 *
 * @param {Actions} actions
 */
function escape({ stop, viewer }) {
  if (hideCard() || closeFloating()) return;
  if (viewer()?.isOpen()) viewer()?.closeViewer();
  else if (closeSearch()) return;
  else if (closeRail()) byId("rail-open").focus();
  else stop();
}

/** @param {number} by */
function moveBetweenCitations(by) {
  const chips = /** @type {HTMLElement[]} */ ([...byId("exchanges").querySelectorAll("a.cite")]);
  const at = chips.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = at < 0 ? (by > 0 ? 0 : chips.length - 1) : at + by;
  chips[to]?.focus();
}
