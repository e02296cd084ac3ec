/** What a page says above its content when something went wrong. */

import { byId, element, fill } from "./dom.js";
import { sentences } from "./formatting.js";

/**
 * @param {string} words
 * @param {HTMLElement} [remedy] in the place of a button that takes them away
 */
export function complain(words, remedy) {
  const notice = byId("notice");
  const close = element("button", { type: "button", class: "quiet", onclick: () => (notice.hidden = true) }, "OK");
  fill(notice, element("span", {}, words), remedy ?? close);
  notice.hidden = false;
}

/**
 * Call, and tell what went wrong. Null if it did.
 *
 * @template T
 * @param {() => Promise<T>} request
 * @returns {Promise<T | null>}
 */
export async function attempt(request) {
  try {
    return await request();
  } catch (error) {
    const { message, hint } = /** @type {import("./api.js").ApiError} */ (error);
    complain(sentences(message, hint));
    return null;
  }
}
