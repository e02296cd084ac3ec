/** Questions to go on with, below the last answer. */

import * as api from "./api.js";
import { element } from "./dom.js";

/**
 * Show them below an answer once they are known. What goes wrong says nothing: nobody has asked for them.
 *
 * @param {import("./conversation.js").ExchangeView} view
 * @param {(query: string) => void} ask
 * @param {() => boolean} isLast whether nothing has been asked meanwhile
 */
export async function showFollowUps(view, ask, isLast) {
  const { answer } = view.exchange;
  hideFollowUps();
  if (!answer?.id || !answer.session_id || answer.stored === false || answer.refused || !answer.citations.length) return;
  try {
    const { questions } = await api.followUps(answer.session_id, answer.id);
    if (!questions.length || !isLast()) return;
    hideFollowUps();
    view.root.append(
      element("section", { class: "follow-ups" },
        element("h3", {}, "Go on with"),
        element("ul", { class: "suggestions" }, ...questions.map((/** @type {string} */ question) =>
          element("li", {},
            element("button", { type: "button", class: "suggestion", onclick: () => ask(question) }, question))))),
    );
  } catch {
    // The server is busy, or the answer is gone by now.
  }
}

export function hideFollowUps() {
  for (const each of document.querySelectorAll(".follow-ups")) each.remove();
}
