/** Links that show answers to others: made, copied once, listed and revoked in one dialog. */

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { copy, element, fill } from "./dom.js";
import { counted, sentences } from "./formatting.js";

/** @typedef {{id: string, title: string, answers: number, expires_at: number}} Share */

const DAYS = [["1", "one day"], ["7", "a week"], ["30", "30 days"], ["90", "90 days"]];

/**
 * Ask what is to be shared and for how long, and show the links that there are.
 *
 * @param {string} sessionId of the conversation that can be shared; empty for none
 * @param {string} [answerId] of the answer that is meant
 */
export async function share(sessionId, answerId) {
  const made = element("div", { class: "share-made", role: "status" });
  const links = element("ul", { class: "share-links", "aria-label": "Links that you have shared" });
  const days = element("select", { name: "days" }, ...DAYS.map(([value, words]) => {
    const option = element("option", { value, selected: value === "7" }, words);
    return option;
  }));
  const whole = element("input", { type: "checkbox" });
  const make = async () => {
    try {
      const body = { session_id: sessionId, days: Number(days.value), ...(whole.checked ? {} : { answer_id: answerId }) };
      showLink(made, await api.makeShare(body));
    } catch (error) {
      fill(made, failure(error));
    }
    listLinks(links, made);
  };
  listLinks(links, made);
  const content = [
    element("p", {}, "Whoever has the link sees the question, the answer and the cited lines, without a key. "
      + "Nothing else of your sources or conversations can be reached with it."),
    element("label", {}, "The link ends after", days),
    answerId && element("label", { class: "check" }, whole, "All answers that this conversation has now"),
    element("p", {}, element("button", { type: "button", class: "button", onclick: make }, "Make a link")),
    made,
    element("h3", { class: "share-title" }, "Your links"),
    links,
  ];
  await ask("Share a link", sessionId ? content : content.slice(-2), { send: "", cancel: "Close" });
}

/**
 * @param {HTMLElement} place
 * @param {{id: string, link: string}} share its link is relative to this page
 */
function showLink(place, { id, link }) {
  place.dataset.share = id;
  const address = new URL(link, location.href.split("#")[0]).href;
  const field = element("input", { value: address, readonly: true, "aria-label": "Link", class: "filter" });
  const button = element("button", {
    type: "button", class: "button small",
    onclick: (event) => copy(/** @type {HTMLElement} */ (event.currentTarget), address),
  }, "Copy");
  fill(place, element("p", {}, "Copy it now: it is not shown again."), element("p", { class: "share-link" }, field, button));
  field.focus();
  field.select();
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement} made what shows the link that was just made
 */
async function listLinks(list, made) {
  try {
    const { shares } = await api.read("api/shares");
    fill(
      list,
      ...shares.map((/** @type {Share} */ each) => {
        const day = new Date(each.expires_at * 1000).toLocaleDateString("en", { dateStyle: "medium" });
        const revoke = async () => {
          try {
            await api.revokeShare(each.id);
          } catch (error) {
            list.append(element("li", {}, failure(error)));
            return;
          }
          if (made.dataset.share === each.id) fill(made); // nobody should copy it now
          await listLinks(list, made);
          const buttons = [...(list.closest("dialog")?.querySelectorAll("button") ?? [])];
          (list.querySelector("button") ?? buttons.at(-1))?.focus();
        };
        return element("li", {},
          element("span", {}, each.title, element("span", { class: "session-when" },
            ` ${counted(each.answers, "answer")}, until ${day}`)),
          element("button", { type: "button", class: "quiet danger", "aria-label": `Revoke the link to ${each.title}`, onclick: revoke },
            "Revoke"));
      }),
      !shares.length && element("li", { class: "empty" }, "None."),
    );
  } catch (error) {
    fill(list, element("li", {}, failure(error)));
  }
}

/** @param {unknown} error */
function failure(error) {
  const { message, hint } = /** @type {api.ApiError} */ (error);
  return element("p", { class: "remark" }, sentences(message, hint));
}
