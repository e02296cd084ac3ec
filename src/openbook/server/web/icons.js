/** A few icons of our own, drawn in lines on 16 by 16. Each stands beside its words, or in their place where room is short. */

import { element, fill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

const PATHS = Object.freeze({
  add: "M8 3v10M3 8h10",
  again: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  before: "M10 3 5 8l5 5",
  close: "m4 4 8 8M12 4l-8 8",
  code: "M6 4 2.5 8 6 12M10 4l3.5 4-3.5 4",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  edit: "m3 13 .6-2.7 7-7 2.1 2.1-7 7zM9.5 4.4l2.1 2.1",
  good: "m5 7 2.5-4.5c1 0 1.5.8 1.3 1.7l-.4 2.3H12c.8 0 1.3.7 1.1 1.5l-1 4c-.2.6-.6 1-1.3 1H5zM5 7H3v6h2",
  bad: "m11 9-2.5 4.5c-1 0-1.5-.8-1.3-1.7l.4-2.3H4c-.8 0-1.3-.7-1.1-1.5l1-4c.2-.6.6-1 1.3-1H11zM11 9h2V3h-2",
  list: "M3 4.5h10M3 8h10M3 11.5h10",
  next: "m6 3 5 5-5 5",
  original: "M8 2.5v7M5 7l3 3 3-3M3 13h10",
  quote: "M3 3h10v10H3zM5.5 6h5M5.5 8.5h5M5.5 11H8",
  search: "M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zm3 7 3.5 3.5",
  share: "M10 3h3v3M13 3 7.5 8.5M11 9v4H3V5h4",
  sliders: "M3 5h4m3 0h3M3 11h1m3 0h6M8.5 3.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3zm-3 6a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z",
  text: "M4 2h5l3 3v9H4zM6 7.5h4M6 10.5h4",
});

/** @typedef {keyof typeof PATHS} IconName */

/** @param {IconName} name */
function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of [["class", "icon"], ["viewBox", "0 0 16 16"], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * Put an icon before the words of a button or link, and a tooltip that says what these do not.
 *
 * @template {HTMLElement} T
 * @param {T} each
 * @param {IconName} name
 * @param {string} [tip] what it does
 * @returns {T}
 */
export function withIcon(each, name, tip) {
  const words = each.textContent?.trim() ?? "";
  fill(each, icon(name), element("span", { class: "label" }, words));
  each.classList.add("with-icon");
  if (tip) each.dataset.tip = tip;
  return each;
}

/** Draw the icons that the page names in `data-icon`. Called once. */
export function drawIcons() {
  for (const each of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-icon]"))) {
    withIcon(each, /** @type {IconName} */ (each.dataset.icon));
  }
}
