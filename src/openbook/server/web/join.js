/** The page behind the link of a class: a new student chooses a name and a PIN, and comes back with both. */

import * as api from "./api.js";
import { byId } from "./dom.js";
import { sentences } from "./formatting.js";
import { complain } from "./notices.js";

// Behind `#`, so that it reaches no log.
const code = () => decodeURIComponent(location.hash.slice(1));

byId("entrance").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const isNew = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value === "join";
  const student = { code: code(), name: byId("name").value, pin: byId("pin").value };
  byId("notice").hidden = true;
  try {
    await (isNew ? api.join(student) : api.loginStudent(student));
    location.assign("./");
  } catch (error) {
    const { message, hint } = /** @type {api.ApiError} */ (error);
    complain(sentences(message, hint));
  }
});

if (!code()) complain("This address has no code. Open the link that you were given.");
