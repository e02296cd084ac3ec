/** The quote of a citation, shown while its chip is pointed at or has the focus. Escape puts it away. */

import { byId, element, fill } from "./dom.js";
import { placeBeside } from "./floating.js";
import { labelBeside, lines, verdictOf } from "./formatting.js";

/** @typedef {import("./state.js").Citation} Citation */

// Enough to see what it is; a click shows all.
const MAX_QUOTE_CHARS = 320;
// So that the pointer can travel from the chip to the card, and rest on it.
const LINGER_MS = 150;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let leaving;
/** @type {HTMLElement | undefined} */
let shown;

/**
 * Show cards for the chips within an element.
 *
 * @param {HTMLElement} within
 * @param {(chip: HTMLElement) => Citation | undefined} citationOf
 */
export function startCards(within, citationOf) {
  const card = byId("card");
  /** @param {Event} event */
  const enter = (event) => {
    const chip = /** @type {HTMLElement} */ (event.target).closest?.("a.cite");
    // Who closes a source with the mouse gets the focus back here, and has not asked for its quote.
    if (event.type === "focusin" && !chip?.matches(":focus-visible")) return;
    if (chip) show(/** @type {HTMLElement} */ (chip), citationOf(/** @type {HTMLElement} */ (chip)));
  };
  /** @param {Event} event */
  const leave = (event) => {
    // The pointer may rest where the text is scrolled below it while the keys go through the chips.
    if (event.type !== "focusout" && shown?.matches(":focus-visible")) return;
    clearTimeout(leaving);
    leaving = setTimeout(hideCard, LINGER_MS);
  };
  within.addEventListener("pointerover", enter);
  within.addEventListener("focusin", enter);
  within.addEventListener("pointerout", leave);
  within.addEventListener("focusout", leave);
  card.addEventListener("pointerenter", () => clearTimeout(leaving));
  card.addEventListener("pointerleave", leave);
  byId("scroll").addEventListener("scroll", follow, { passive: true });
}

/** Stay beside a chip that the keyboard has reached, since the focus itself scrolls to it; else go. */
function follow() {
  const card = byId("card");
  if (!card.hidden && shown?.matches(":focus-visible") && isInView(shown)) placeBeside(card, shown);
  else hideCard();
}

/** @param {HTMLElement} chip */
function isInView(chip) {
  const [of, window] = [chip.getBoundingClientRect(), byId("scroll").getBoundingClientRect()];
  return of.top >= window.top && of.bottom <= window.bottom;
}

/** Whether it was there. */
export function hideCard() {
  const card = byId("card");
  const was = !card.hidden;
  card.hidden = true;
  return was;
}

/**
 * @param {HTMLElement} chip
 * @param {Citation | undefined} citation
 */
function show(chip, citation) {
  if (!citation) return;
  clearTimeout(leaving);
  const card = byId("card");
  const { word } = verdictOf(citation.verdict);
  const isLong = citation.quote.length > MAX_QUOTE_CHARS;
  const quote = isLong ? `${citation.quote.slice(0, MAX_QUOTE_CHARS)} …` : citation.quote;
  fill(
    card,
    quote && element("p", { class: "card-quote" }, quote),
    element("p", { class: "card-place" }, lines(citation), labelBeside(citation) && `, ${labelBeside(citation)}`),
    element("p", { class: `card-verdict verdict-${citation.verdict}` },
      citation.reason ? `${word}: ${citation.reason}` : word),
  );
  card.hidden = false;
  shown = chip;
  placeBeside(card, chip);
}
