/** What floats above the page: where it stands, the menus and panels that a button opens, and tooltips. */

import { byId, fill } from "./dom.js";

const GAP_PX = 8;
// Longer than a pointer takes on its way across.
const TIP_AFTER_MS = 400;

/**
 * Put something beside what it belongs to, within the window.
 *
 * @param {HTMLElement} floating fixed to the window
 * @param {Element} anchor
 * @param {{below?: boolean}} [how] below it if there is room, else above; without it, the other way round
 */
export function placeBeside(floating, anchor, { below = false } = {}) {
  const mark = anchor.getBoundingClientRect();
  const { width, height } = floating.getBoundingClientRect();
  const left = Math.min(Math.max(GAP_PX, mark.left), innerWidth - width - GAP_PX);
  const above = mark.top - height - GAP_PX;
  const under = mark.bottom + GAP_PX;
  const isBelow = below ? under + height < innerHeight || above < GAP_PX : above <= GAP_PX;
  floating.style.left = `${Math.max(GAP_PX, left)}px`;
  floating.style.top = `${Math.max(GAP_PX, isBelow ? under : above)}px`;
}

/** What opens each menu and panel. @type {Map<HTMLElement, () => HTMLElement | null>} */
const openers = new Map();

/** Close the menu or panel that is open, and give the focus back. @returns {boolean} whether one was */
export function closeFloating() {
  const open = [...openers.keys()].find((each) => each.matches(":popover-open"));
  if (!open) return false;
  const hadFocus = open.contains(document.activeElement);
  open.hidePopover();
  if (hadFocus) openers.get(open)?.()?.focus();
  return true;
}

/**
 * Place a menu or panel before it is painted, whenever it is opened or what it shows comes late, and close it when
 * something else is wanted.
 *
 * @param {HTMLElement} floating
 * @param {() => HTMLElement | null} openerOf
 * @param {{below?: boolean}} [how]
 */
export function floatBeside(floating, openerOf, how) {
  openers.set(floating, openerOf);
  const place = () => {
    const opener = openerOf();
    if (opener && floating.matches(":popover-open")) placeBeside(floating, opener, how);
  };
  floating.addEventListener("beforetoggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState === "open") requestAnimationFrame(place);
  });
  new ResizeObserver(place).observe(floating);
  // The browser goes on from what has opened it, but not from what took the place of that in a list put anew.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || event.shiftKey || !floating.matches(":popover-open")) return;
    const first = document.activeElement === openerOf() && floating.querySelector("a, button, select, input");
    if (!first) return;
    event.preventDefault();
    /** @type {HTMLElement} */ (first).focus();
  });
  // Not by the browser: it may close them before it tells of the key, and then Escape would close what is beneath, too.
  for (const type of ["pointerdown", "focusin"]) {
    document.addEventListener(type, (event) => {
      const target = /** @type {Node} */ (event.target);
      if (!floating.contains(target) && !openerOf()?.contains(target)) floating.hidePopover();
    });
  }
}

/** Show what `data-tip` says of what is pointed at for a moment, or has the focus by the keyboard. Called once. */
export function startTips() {
  const tip = byId("tip");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  /** @type {HTMLElement | null} */
  let shown = null;
  let lastKey = "";
  const hide = () => {
    clearTimeout(waiting);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    if (tip.matches(":popover-open")) tip.hidePopover();
  };
  /** @param {HTMLElement} each */
  const show = (each) => {
    if (!each.isConnected) return;
    shown = each;
    fill(tip, each.dataset.tip);
    each.setAttribute("aria-describedby", "tip");
    tip.showPopover();
    placeBeside(tip, each, { below: true });
  };
  /** @param {Event} event */
  const enter = ({ type, target }) => {
    const each = /** @type {HTMLElement | null} */ (/** @type {Element} */ (target).closest?.("[data-tip]"));
    if (each === shown && each) return clearTimeout(waiting);
    hide();
    // What gets the focus back because something was closed has not been asked for.
    if (!each || (type === "focusin" && lastKey !== "Tab")) return;
    if (type === "focusin") show(each);
    else waiting = setTimeout(() => show(each), TIP_AFTER_MS);
  };
  // Not as it enters: a pointer that lies still while the page moves beneath it asks nothing.
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch" && !tip.contains(/** @type {Node} */ (event.target))) enter(event);
  });
  document.documentElement.addEventListener("pointerleave", hide);
  document.addEventListener("focusin", enter);
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerdown", () => (hide(), (lastKey = "")));
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    lastKey = event.key;
    if (event.key === "Escape" && shown) event.stopImmediatePropagation(); // it is the smallest that Escape closes
    hide();
  });
}
