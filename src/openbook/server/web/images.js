/**
 * Images that go with the next question: pasted or dropped, and scaled down where they are large.
 *
 * Loaded with the first image.
 */

// What models scale images down to, or less; and what is worth to be sent as it is.
const MAX_PX = 2000;
const MAX_BYTES = 1_500_000;
const THUMB_PX = 56;
const AS_IT_IS = /^image\/(png|jpeg|gif|webp)$/;

/** @type {{url: string, shown: HTMLElement}[]} */
let images = [];

/** The images as data URLs, in order. */
export const urls = () => images.map(({ url }) => url);

/** Take them all away: they have been sent, or are not wanted. */
export function clear() {
  for (const { shown } of images) shown.remove();
  images = [];
}

/**
 * Take images for the next question, and show them above it.
 *
 * @param {File[]} files
 * @param {(words: string) => void} complain
 */
export async function attach(files, complain) {
  for (const file of files) {
    try {
      const bitmap = await createImageBitmap(file);
      add(await encoded(file, bitmap), bitmap, file.name);
      bitmap.close();
    } catch {
      complain(`“${file.name}” cannot be shown to a model. Paste or drop PNG, JPEG, GIF or WebP.`);
    }
  }
  document.getElementById("question")?.focus();
}

/**
 * @param {string} url
 * @param {ImageBitmap} bitmap
 * @param {string} name
 */
function add(url, bitmap, name) {
  const scale = THUMB_PX / Math.max(bitmap.width, bitmap.height);
  const canvas = drawn(bitmap, Math.min(1, scale));
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", name);
  const shown = document.createElement("li");
  const remove = document.createElement("button");
  Object.assign(remove, { type: "button", className: "quiet", textContent: "Remove", ariaLabel: `Remove ${name}` });
  remove.addEventListener("click", () => {
    images = images.filter((each) => each.shown !== shown);
    shown.remove();
    document.getElementById("question")?.focus();
  });
  shown.append(canvas, remove);
  place().append(shown);
  images.push({ url, shown });
}

/** The list above the question, made with the first image. */
function place() {
  const there = document.querySelector("ul.pictures");
  if (there) return there;
  const made = document.createElement("ul");
  Object.assign(made, { className: "pictures", ariaLabel: "Images of the question" });
  Object.assign(made.style, { display: "flex", gap: "0.75rem", margin: "0 0 0.5rem", padding: "0", listStyle: "none" });
  document.querySelector("#composer .ask")?.before(made);
  return made;
}

/**
 * @param {ImageBitmap} bitmap
 * @param {number} scale
 */
function drawn(bitmap, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/**
 * @param {File} file
 * @param {ImageBitmap} bitmap
 * @returns {Promise<string>}
 */
async function encoded(file, bitmap) {
  const scale = Math.min(1, MAX_PX / Math.max(bitmap.width, bitmap.height));
  if (scale < 1 || file.size > MAX_BYTES || !AS_IT_IS.test(file.type)) {
    return drawn(bitmap, scale).toDataURL("image/jpeg", 0.9);
  }
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(/** @type {string} */ (reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}
