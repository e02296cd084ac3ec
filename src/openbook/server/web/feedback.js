/** What a reader says of an answer: whether it helps, and why not. */

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { announce, element } from "./dom.js";
import { withIcon } from "./icons.js";

/** @typedef {import("./state.js").Answer} Answer */

const REASONS = [
  ["wrong", "Something in it is wrong"],
  ["incomplete", "Something is missing"],
  ["wrong source", "It cites the wrong places"],
  ["should have answered", "The sources do answer this"],
  ["should have refused", "The sources do not answer this"],
  ["other", "Something else"],
];

/**
 * Make the buttons that rate an answer.
 *
 * @param {Answer} answer
 * @param {(request: () => Promise<any>) => Promise<any>} attempt
 */
export function ratingButtons(answer, attempt) {
  /** @type {(words: string, rating: "good" | "bad", tip: string) => HTMLButtonElement} */
  const button = (words, rating, tip) =>
    withIcon(element("button", { type: "button", class: "quiet rate", onclick: () => rate(rating) }, words), rating, tip);
  const [good, bad] = [button("Helpful", "good", "Say that it helps"), button("Not helpful", "bad", "Say why it does not help")];
  const show = () => {
    good.setAttribute("aria-pressed", String(answer.rating === "good"));
    bad.setAttribute("aria-pressed", String(answer.rating === "bad"));
  };
  /** @param {"good" | "bad"} rating */
  const rate = async (rating) => {
    const isTakenBack = answer.rating === rating;
    const why = rating === "bad" && !isTakenBack ? await askWhy(answer) : {};
    if (!why) return;
    const [session, id] = [answer.session_id ?? "", answer.id ?? ""];
    const send = isTakenBack ? () => api.takeBack(session, id) : () => api.rate(session, id, { rating, ...why });
    if (!(await attempt(send))) return;
    answer.rating = isTakenBack ? "" : rating;
    announce(isTakenBack ? "Taken back" : "Thank you");
    show();
  };
  show();
  return [element("span", { class: "ratings" }, good, bad)]; // one never stands alone in a line
}

/** @param {Answer} answer */
async function askWhy({ refused }) {
  const fitting = REASONS.filter(([reason]) => !refused || ["should have answered", "other"].includes(reason));
  const reasons = fitting.map(([value, words], at) =>
    element("label", { class: "check" }, element("input", { type: "radio", name: "reason", value, checked: at === 0 }), words));
  const sent = await ask("What is not good about it?", [
    element("fieldset", { class: "reasons" }, element("legend", { class: "unseen" }, "Reason"), ...reasons),
    element("label", {}, "In your own words, if you like", element("textarea", { name: "comment", maxlength: 1000, rows: 3 })),
    element("p", { class: "advice" }, "Whoever runs this server reads it, with the question and what the answer cites."),
  ], { send: "Send" });
  return sent && { reason: String(sent.get("reason")), comment: String(sent.get("comment")) };
}
