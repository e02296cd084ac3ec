/** Pages of a PDF as pictures, with the cited words marked, in the place of its text. */

import { pageOf } from "./api.js";
import { element, fill } from "./dom.js";

/**
 * @typedef {{document_id: string, page: number, pages: number}} Paged
 * @typedef {{start_char: number, end_char: number}} Span
 */

/**
 * Show the page on which a citation begins, and let others be turned to.
 *
 * @param {Paged} shown
 * @param {Span} span what is marked
 * @param {() => void} showText in place of a page that cannot be drawn
 */
export function pagePicture({ document_id: id, page, pages }, span, showText) {
  const frame = element("div", { class: "page-frame" });
  const words = element("p", { class: "page-number", role: "status" });
  /** @type {(by: number, name: string) => HTMLButtonElement} */
  const turner = (by, name) => element("button", { type: "button", class: "quiet", onclick: () => turn(at + by) }, name);
  const [before, next] = [turner(-1, "Previous page"), turner(1, "Next page")];
  let at = page;
  /** @param {number} to */
  const turn = (to) => {
    at = to;
    before.disabled = at <= 1;
    next.disabled = at >= pages;
    fill(words, `Page ${at} of ${pages}`);
    const picture = element("img", {
      ...{ class: "page", src: pageOf(id, at, span), onerror: showText },
      alt: `Page ${at} as it is printed${at === page ? ", with the cited words marked" : ""}. Its words can be read under Text.`,
    });
    frame.setAttribute("aria-busy", "true");
    picture.addEventListener("load", () => frame.removeAttribute("aria-busy"));
    fill(frame, picture);
  };
  turn(page);
  return element("div", { class: "paged" }, element("div", { class: "page-turn" }, before, words, next), frame);
}
