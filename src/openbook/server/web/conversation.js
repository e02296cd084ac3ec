/** The questions and answers, as elements. Each exchange is one article that changes until its answer is there. */

import { copy, copyLate, element, fill, sanitised } from "./dom.js";
import { editQuestion } from "./editing.js";
import {
  byDocument, cost, counted, doubtful, duration, isUnwritten, labelBeside, lines, marked, openClaims, placeIn, plain,
  sentences, summary, verdictOf,
} from "./formatting.js";
import { withIcon } from "./icons.js";
import { STAGES, tail } from "./state.js";

/**
 * @typedef {import("./state.js").Exchange} Exchange
 * @typedef {import("./state.js").Answer} Answer
 * @typedef {import("./state.js").Citation} Citation
 * @typedef {{ask(query: string): void, open(citations: Citation[], number: number): void,
 *   drop(view: ExchangeView): void, replace(view: ExchangeView, query: string): void, below(view: ExchangeView): number,
 *   markdown(answer: Answer): Promise<string>, share(answer: Answer): void, mayShare(): boolean,
 *   rate(answer: Answer): HTMLElement[]}} Actions
 * `replace`: ask in the place of an exchange. `below`: how many come after it.
 */

// Some lines; of a longer question the rest is shown when it is asked for.
const LONG_QUESTION = 400;

// What may hold the words that come next. A line across holds none.
const GOES_ON = "p, ul, ol, li, blockquote, pre, code.code, div.table, table, thead, tbody, tr, th, td, h3, h4, h5, h6";

// What stopped an answer before its model did, as the server names it.
const STOPPED = /** @type {Record<string, string>} */ ({
  length: "The model reached its longest answer, so the end is missing.",
  refused: "The model or its provider stopped this answer, so the end is missing.",
  filtered: "The content filter of the model's provider stopped this answer, so the end is missing.",
  max_usd: "The money for one question was spent, so the end may be missing.",
  max_tokens: "The tokens for one question were spent, so the end may be missing.",
  max_seconds: "The time for one question was over, so the end may be missing.",
  max_rounds: "The model had used its tools as often as it may.",
});

/** One question and what became of it. */
export class ExchangeView {
  #shownBlocks = 0;
  #shownDraft = "";
  #phase = "";
  /** Of what this answer has replaced, and itself: which is shown. */
  #version = 0;
  #shownQuery = "";

  /**
   * @param {Exchange} exchange
   * @param {Actions} actions
   */
  constructor(exchange, actions) {
    this.actions = actions;
    this.exchange = exchange;
    const id = `question-${exchange.id}`;
    this.#shownQuery = exchange.query;
    this.head = element("div", { class: "question-head" }, ...heading(id, exchange.query));
    this.stage = element("p", { class: "stage" });
    /** What is rendered of the block that is being written. */
    this.draft = element("div", { class: "draft", hidden: true });
    this.body = element("div", { class: "answer" }, this.draft);
    /** The words behind it. They come as they are written, and stand in what they go on with. */
    this.rest = element("span", { class: "unfinished" });
    this.foot = element("div", { class: "answer-foot" });
    this.root = element(
      "article",
      { class: "exchange", "aria-labelledby": id },
      this.head,
      this.stage,
      this.body,
      this.rest,
      this.foot,
    );
    this.update(exchange);
  }

  /**
   * Show the exchange as it is now.
   *
   * @param {Exchange} exchange
   */
  update(exchange) {
    this.exchange = exchange;
    this.root.dataset.phase = exchange.phase;
    this.#showStage();
    if (exchange.phase === this.#phase && exchange.phase !== "asking") return;
    if (this.#phase === "asking" && exchange.answer) this.root.classList.add("settles");
    this.#phase = exchange.phase;
    if (exchange.answer) this.#showVersion(exchange.answer.earlier?.length ?? 0);
    else this.#showWriting();
    if (exchange.phase === "failed") this.#showFailure();
    if (exchange.phase === "stopped") this.#showStopped();
  }

  #showStage() {
    const { phase, stage, place, tools } = this.exchange;
    this.stage.hidden = phase !== "asking";
    const name = STAGES[/** @type {keyof typeof STAGES} */ (stage)] ?? stage;
    const words = place ? `${name}: place ${place} in the queue` : name;
    const used = tools.map(({ name, outcome }) => element("span", { class: "tool" }, `${name}: ${outcome}`));
    fill(this.stage, element("span", { class: "pulse", "aria-hidden": "true" }), words, ...used);
  }

  #showWriting() {
    const { blocks, draft } = this.exchange;
    for (const html of blocks.slice(this.#shownBlocks)) this.draft.before(sanitised(html));
    this.#shownBlocks = blocks.length;
    if (draft !== this.#shownDraft) fill(this.draft, draft && sanitised(draft));
    this.#shownDraft = draft;
    this.draft.hidden = !draft;
    this.rest.textContent = tail(this.exchange);
    this.rest.hidden = !this.rest.textContent;
    if (draft) lastOf(this.draft).append(this.rest);
    else this.body.after(this.rest);
  }

  /** Put the focus on the question. */
  focus() {
    /** @type {HTMLElement | null} */ (this.head.querySelector("[tabindex]"))?.focus({ preventScroll: true });
  }

  /** What is shown of it and of what it has replaced. @returns {Answer | null} */
  get answer() {
    const { answer } = this.exchange;
    return answer && ([...(answer.earlier ?? []), answer][this.#version] ?? answer);
  }

  /** @param {number} at 0 for the oldest */
  #showVersion(at) {
    this.#version = at;
    const { answer } = this;
    if (!answer) return;
    const query = answer.query ?? this.exchange.query;
    if (query !== this.#shownQuery) fill(this.head, ...heading(`question-${this.exchange.id}`, query));
    this.#shownQuery = query;
    this.#showAnswer(answer);
  }

  /** @param {Answer} answer */
  #showAnswer(answer) {
    this.rest.remove();
    fill(this.body, sanitised(answer.html)); // in place of the draft, too
    this.root.dataset.refused = String(answer.refused);
    this.root.dataset.quotes = String(answer.model === "extractive" && !answer.refused);
    for (const chip of this.body.querySelectorAll("a.cite")) this.#wire(/** @type {HTMLAnchorElement} */ (chip));
    for (const chip of this.body.querySelectorAll(".claim :is(.hold, a.cite)")) setApart(chip);
    for (const code of this.body.querySelectorAll("pre")) addCopyButton(code);
    const list = answer.refused ? this.#nearest(answer) : this.#citations(answer);
    const open = openClaims(answer);
    fill(
      this.foot,
      ...this.#remarks(answer),
      this.#doubts(answer),
      open && element("p", { class: "advice open-claims" }, open),
      list,
      this.#closing(answer),
    );
  }

  /** @param {HTMLAnchorElement} chip */
  #wire(chip) {
    chip.hash = `#source-${this.exchange.id}-${chip.dataset.cite}`;
    chip.addEventListener("click", (event) => {
      event.preventDefault();
      this.actions.open(this.answer?.citations ?? [], Number(chip.dataset.cite));
    });
  }

  /** @param {Answer} answer */
  #remarks(answer) {
    // A refusal for lack of evidence or of money says itself what stopped it.
    const isCut = !answer.refused || answer.reason === "nothing claimed";
    return [isCut ? STOPPED[answer.stopped] : "", answer.warning]
      .filter(Boolean)
      .map((words) => element("p", { class: "remark" }, words));
  }

  /** @param {Answer} answer */
  #doubts(answer) {
    const claims = doubtful(answer.claims);
    if (!claims.length) return null;
    const many = counted(claims.length, "claim");
    return element(
      "details",
      { class: "doubts" },
      element("summary", {}, `${many} to look at`),
      element(
        "ul",
        {},
        ...claims.map(({ text, verdict, reason }) =>
          element(
            "li",
            { class: `doubt doubt-${verdict}` },
            element("span", { class: "doubt-text" }, plain(text)),
            element("span", { class: "doubt-why" }, `${verdictOf(verdict).word}${reason ? `: ${reason}` : ""}`),
          ),
        ),
      ),
    );
  }

  /** @param {Answer} answer */
  #citations({ citations }) {
    const documents = byDocument(citations.filter(({ path }) => path)); // without marks that refer to nothing
    if (!documents.length) return null;
    const areSeveral = new Set(documents.map(({ source }) => source)).size > 1;
    const cards = documents.map(({ source, path, citations: own }) =>
      element("li", { class: "document" },
        element("p", { class: "document-name" },
          element("span", { class: "place-name" }, path),
          areSeveral && element("span", { class: "place-label" }, source)),
        element("ol", {}, ...own.map((citation) => this.#cited(citation, citations)))),
    );
    return element("section", { class: "places" }, element("h3", {}, "Sources"), element("ol", {}, ...cards));
  }

  /**
   * @param {Citation} citation
   * @param {Citation[]} all
   */
  #cited(citation, all) {
    const { sign, word } = verdictOf(citation.verdict);
    const { symbol } = citation;
    const label = labelBeside(citation);
    return element(
      "li",
      { id: `source-${this.exchange.id}-${citation.number}` },
      element(
        "button",
        { type: "button", class: "place", onclick: () => this.actions.open(all, citation.number) },
        element("span", { class: `cite cite-${citation.verdict}` },
          sign && element("span", { class: "cite-sign", "aria-hidden": "true" }, sign), String(citation.number)),
        element("span", { class: "place-words" },
          element("span", { class: "place-at" }, placeIn(citation) || "The whole of it"),
          symbol && !label.includes(symbol) && element("code", { class: "place-name" }, symbol),
          label && element("span", { class: "place-label" }, label)),
        element("span", { class: `place-verdict verdict-${citation.verdict}` }, word),
      ),
    );
  }

  /** @param {Answer} answer */
  #nearest({ nearest = [], reason }) {
    const places = nearest.map((place, at) => ({ ...place, number: at + 1, mark: "", verdict: "", reason: "" }));
    if (!places.length) return null;
    const items = places.map((place) =>
      element(
        "li",
        {},
        element(
          "button",
          { type: "button", class: "place", onclick: () => this.actions.open(places, place.number) },
          element("span", { class: "cite-sign", "aria-hidden": "true" }, "→"),
          placeWords(place, ...matchingLine(place)),
        ),
      ),
    );
    return element(
      "section",
      { class: "places" },
      element("h3", {}, "What came nearest"),
      !isUnwritten(reason) && element("p", { class: "advice" }, "Read these, ask in other words, or add a source that says it."),
      element("ol", {}, ...items),
    );
  }

  /** @param {Answer} answer */
  #closing(answer) {
    const quotes = answer.model === "extractive";
    const isCurrent = answer === this.exchange.answer;
    const facts = [isCurrent ? "" : "an earlier version, which the conversation does not go on from", summary(answer), quotes ? "quotes, no model" : answer.model, duration(answer.took_ms)];
    if (answer.verifier && answer.verifier !== answer.model) facts.push(`checked by ${answer.verifier}`);
    if (!quotes) facts.push(cost(answer.cost_usd));
    if (answer.searched) facts.push(`searched for “${answer.searched}”`);
    if (answer.searches?.length) facts.push(`searched also for ${answer.searches.map((search) => `“${search}”`).join(", ")}`);
    return element(
      "div",
      { class: "closing" },
      element("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
      element(
        "p",
        { class: "actions" },
        this.#versions(),
        ...(isCurrent ? [
          withIcon(quiet("Edit", () => this.#edit()), "edit", "Change the question, and ask it in its place"),
          withIcon(quiet("Regenerate", () => this.actions.replace(this, this.exchange.query)), "again", "Ask once more"),
        ] : []),
        withIcon(quiet("Copy answer", (button) => copy(button, answer.answer)), "copy", "Copy the text of the answer"),
        isKept(answer) && withIcon(
          quiet("Copy with sources", (button) => copyLate(button, this.actions.markdown(answer))),
          "quote", "Copy question, answer and sources as Markdown",
        ),
        isCurrent && isKept(answer) && this.actions.mayShare() && withIcon(
          quiet("Share", () => this.actions.share(answer)), "share", "Make a link that shows it to others",
        ),
        ...(isCurrent && isKept(answer) ? this.actions.rate(answer) : []),
      ),
    );
  }

  #versions() {
    const count = (this.exchange.answer?.earlier?.length ?? 0) + 1;
    if (count === 1) return null;
    /** @type {(by: number, sign: string, name: string) => HTMLElement} */
    const step = (by, sign, name) => {
      const to = this.#version + by;
      const show = () => {
        this.#showVersion(to);
        const still = /** @type {HTMLButtonElement | null} */ (this.foot.querySelector(`[data-step="${by}"]`));
        const other = /** @type {HTMLButtonElement | null} */ (this.foot.querySelector(`[data-step="${-by}"]`));
        (still?.disabled ? other : still)?.focus();
      };
      return element("button", {
        ...{ type: "button", class: "quiet", "aria-label": name, "data-step": by, disabled: to < 0 || to >= count, onclick: show },
      }, sign);
    };
    return element("span", { class: "versions" },
      step(-1, "‹", "Earlier version"), `${this.#version + 1} of ${count}`, step(1, "›", "Later version"));
  }

  #edit() {
    const { query } = this.exchange;
    editQuestion(this.head, query, this.actions.below(this), (edited) => this.actions.replace(this, edited));
  }

  #again() {
    const ask = () => {
      if (this.exchange.phase === "failed") this.actions.drop(this);
      this.actions.ask(this.exchange.query);
    };
    return element("button", { type: "button", class: "quiet", onclick: ask }, "Ask again");
  }

  #showFailure() {
    const { failure } = this.exchange;
    this.rest.hidden = true;
    this.root.classList.toggle("has-words", Boolean(this.body.textContent));
    fill(
      this.foot,
      element(
        "div",
        { class: "failure" },
        element("p", { class: "failure-what" }, sentences(failure?.message)),
        failure?.hint && element("p", { class: "failure-hint" }, sentences(failure.hint)),
        element("p", { class: "actions" }, this.#again()),
      ),
    );
  }

  #showStopped() {
    const words = this.exchange.raw
      ? "You stopped it. What stands here has not been checked."
      : "You stopped it before anything was written.";
    fill(
      this.foot,
      element("div", { class: "closing" },
        element("p", { class: "facts" }, words), element("p", { class: "actions" }, this.#again())),
    );
  }
}

/**
 * @param {import("./formatting.js").Located} place
 * @param {...(string | Node)} quote
 */
function placeWords(place, ...quote) {
  return element(
    "span",
    { class: "place-words" },
    element("span", { class: "place-name" }, lines(place)),
    labelBeside(place) && element("span", { class: "place-label" }, labelBeside(place)),
    quote.length > 0 && element("span", { class: "place-quote" }, ...quote),
  );
}

/**
 * The first line that matches the question, its words marked; without a match the first line.
 *
 * @param {{quote: string, matches?: [number, number][]}} place
 */
function matchingLine({ quote, matches = [] }) {
  const characters = [...quote]; // as the server counts them
  const [first] = matches;
  const at = first ? characters.lastIndexOf("\n", first[0]) + 1 : 0;
  const next = characters.indexOf("\n", first ? first[1] : at);
  const end = next < 0 ? characters.length : next;
  const within = matches.filter(([, to]) => to <= end).map(([from, to]) => /** @type {[number, number]} */ ([from - at, to - at]));
  return marked(characters.slice(at, end).join(""), within)
    .map(({ words, isMatch }) => (isMatch ? element("mark", {}, words) : words));
}

/**
 * @param {string} words
 * @param {(button: HTMLElement) => void} act
 */
function quiet(words, act) {
  /** @type {(event: Event) => void} */
  const press = (event) => act(/** @type {HTMLElement} */ (event.currentTarget));
  return element("button", { type: "button", class: "quiet", onclick: press }, words);
}

/**
 * Whether the server has an answer: one that could not be stored says so, and one of an old version has no id.
 *
 * @param {Answer} answer
 */
function isKept({ id, session_id: session, stored }) {
  return Boolean(id && session && stored !== false);
}

/**
 * Write a question as a heading; of a long one the beginning, and all of it on demand.
 *
 * @param {string} id
 * @param {string} query
 */
function heading(id, query) {
  const isLong = query.length > LONG_QUESTION;
  const title = element("h2", { class: isLong ? "question short" : "question", id, tabindex: "-1" }, query);
  if (!isLong) return [title];
  const toggle = element("button", {
    ...{ type: "button", class: "quiet question-more", "aria-expanded": "false", "aria-controls": id },
    onclick: () => {
      const isShort = title.classList.toggle("short");
      toggle.setAttribute("aria-expanded", String(!isShort));
      toggle.textContent = isShort ? "Show the whole question" : "Show less";
    },
  }, "Show the whole question");
  return [title, toggle];
}

/**
 * Find what the next words belong to.
 *
 * @param {Element} within
 * @returns {Element}
 */
function lastOf(within) {
  const last = within.lastElementChild;
  const isLast = !within.lastChild?.textContent?.trim() || within.lastChild === last;
  return last && isLast && last.matches(GOES_ON) ? lastOf(last) : within;
}

/**
 * Keep the line under a claim from running on under the blank before a chip.
 *
 * @param {Element} chip
 */
function setApart(chip) {
  const before = chip.previousSibling;
  if (before?.nodeType !== Node.TEXT_NODE || !/\s$/.test(before.textContent ?? "")) return;
  before.textContent = before.textContent?.trimEnd() ?? "";
  before.after(element("span", { class: "gap" }, " "));
}

/** @param {HTMLElement} code */
function addCopyButton(code) {
  const frame = element("div", { class: "code-frame" });
  code.replaceWith(frame);
  frame.append(
    code,
    element("button", {
      type: "button",
      class: "quiet code-copy",
      onclick: (event) => copy(/** @type {HTMLElement} */ (event.currentTarget), code.textContent ?? ""),
    }, "Copy"),
  );
}
