/** Dark or light: as the system says, until a person decides. Loaded before the page is painted. */

const KEPT = "openbook-theme";
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @returns {"dark" | "light"} */
export function theme() {
  const chosen = root.dataset.theme;
  if (chosen === "dark" || chosen === "light") return chosen;
  return dark.matches ? "dark" : "light";
}

/** Change to the other one, and remember it. */
export function toggleTheme() {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  remember(KEPT, root.dataset.theme);
}

/** @param {() => void} listener called when the system changes its mind */
export function onSystemTheme(listener) {
  dark.addEventListener("change", listener);
}

/**
 * Keep a choice in this browser, where it allows that.
 *
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A browser may forbid it. The choice then holds until the page is left.
  }
}

/**
 * @param {string} name
 * @returns {string} empty if nothing is kept
 */
export function recall(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

const kept = recall(KEPT);
if (kept === "dark" || kept === "light") root.dataset.theme = kept;
