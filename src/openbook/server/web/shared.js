/** The page behind a link that somebody has shared: answers with the lines that they cite, and nothing else. */

import * as api from "./api.js";
import { byId, element, fill, sanitised } from "./dom.js";
import { sentences, verdictOf } from "./formatting.js";

/**
 * @typedef {{number: number, verdict: string, reason: string, source: string, place: string, label: string, quote: string}} Cited
 * @typedef {{query: string, html: string, citations: Cited[], refused: boolean, reason: string, model: string,
 *   withheld: boolean}} SharedAnswer
 */

// Behind `#`, so that it reaches no log. It stays there, so that the page can be loaded again.
const token = () => location.hash.slice(1);

async function start() {
  try {
    const { title, expires_at: ends, answers } = await api.openShared(token());
    fill(byId("title"), title);
    document.title = `${title} · Openbook`;
    const day = new Date(ends * 1000).toLocaleDateString("en", { dateStyle: "long" });
    fill(byId("about"), `Shared from somebody’s own sources, until ${day}. Only the cited lines can be read here.`);
    fill(byId("exchanges"), ...answers.map((/** @type {SharedAnswer} */ answer, /** @type {number} */ at) => shown(answer, at, answers.length === 1)));
  } catch (error) {
    const { message, hint } = /** @type {api.ApiError} */ (error);
    fill(byId("about"), sentences(message, hint));
  }
}

/**
 * @param {SharedAnswer} answer
 * @param {number} at
 * @param {boolean} isAlone whether its question is the title of the page
 */
function shown(answer, at, isAlone) {
  const body = element("div", { class: "answer" }, answer.html && sanitised(answer.html));
  for (const chip of body.querySelectorAll("a.cite")) {
    chip.addEventListener("click", (event) => {
      event.preventDefault(); // the address has the token
      byId(`cited-${at}-${/** @type {HTMLElement} */ (chip).dataset.cite}`).focus();
    });
  }
  return element(
    "article",
    { class: "exchange", "aria-labelledby": `question-${at}`, "data-quotes": String(answer.model === "extractive") },
    element("h2", { class: isAlone ? "unseen" : "question", id: `question-${at}` }, answer.query),
    answer.withheld && element("p", { class: "remark" }, "A source of this answer was removed, so it is not shown any more."),
    answer.refused && element("p", { class: "advice" }, sentences("No answer was found", answer.reason)),
    body,
    answer.citations.length > 0 && element("section", { class: "places" },
      element("h3", {}, "Cited lines"),
      element("ol", {}, ...answer.citations.map((cited) => place(cited, at)))),
  );
}

/**
 * @param {Cited} cited
 * @param {number} at
 */
function place({ number, verdict, reason, source, place: where, label, quote }, at) {
  const { sign, word } = verdictOf(verdict);
  return element("li", { class: "shared-place", id: `cited-${at}-${number}`, tabindex: "-1" },
    element("p", { class: "hit-place" },
      element("span", { class: `cite cite-${verdict}` },
        sign && element("span", { class: "cite-sign", "aria-hidden": "true" }, sign), String(number)),
      element("span", { class: "place-name" }, where || "nowhere"),
      element("span", { class: "place-label" }, [label && !where.includes(label) && label, source].filter(Boolean).join(" · ")),
      element("span", { class: `place-verdict verdict-${verdict}` }, word)),
    quote && element("blockquote", { class: "kept-quote" }, quote),
    reason && element("p", { class: "advice" }, sentences(reason)));
}

start();
