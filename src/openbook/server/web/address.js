/** What outlives a reload: the conversation, in the address of the page, and a question that waits for its answer. */

const WAITING = "openbook-waiting";

/** Give the conversation that the address names; null if the address is about something else. */
export function namedSession() {
  if (!location.hash) return "";
  return new URLSearchParams(location.hash.slice(1)).get("session");
}

/**
 * Let the address name a conversation.
 *
 * @param {string} sessionId empty for none
 * @param {{lasting?: boolean}} [how] `lasting`: *Back* leads to what was there before
 */
export function nameSession(sessionId, { lasting = true } = {}) {
  if (namedSession() === sessionId) return;
  const address = sessionId ? `#session=${sessionId}` : location.pathname;
  if (lasting) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

/**
 * Keep a question while it is answered, for this tab alone.
 *
 * @param {string} query empty for none
 */
export function keepWaiting(query) {
  try {
    if (query) sessionStorage.setItem(WAITING, query);
    else sessionStorage.removeItem(WAITING);
  } catch {
    // A browser may forbid it. The question is then lost with the page.
  }
}

/** Give the question that had no answer when the page was left, once; empty if there was none. */
export function leftWaiting() {
  try {
    const query = sessionStorage.getItem(WAITING) ?? "";
    sessionStorage.removeItem(WAITING);
    return query;
  } catch {
    return "";
  }
}
