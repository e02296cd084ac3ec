"""The values of an answer: citations, claims, repairs, and the answer that contains them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, get_args

from openbook.types import Attachment, Chunk, Document, RetrievalResult, Span, shown_text
from openbook.usage import Usage

Verdict = Literal["exact", "confirmed", "conflict", "unverified", "unknown", "stale"]
"""The result of checking a citation.

`exact`: the cited lines contain the claim verbatim. `confirmed`: an entailment check found that they support it, and
the words it points to occur there verbatim. `conflict`: they contradict it, or a quote, number or identifier of the
claim does not occur there. `unverified`: neither; this does not mean that the claim is wrong. `unknown`: the mark
refers to nothing that was shown. `stale`: the document has changed since it was indexed.
"""

ClaimVerdict = Verdict | Literal["uncited", ""]
"""The verdict on a claim. `uncited`: it states facts without a mark. Empty: it states no facts, so it needs no mark."""

# Verdicts that the reader has to look at.
_WRONG = ("conflict", "unknown", "stale")

Policy = Literal["flag", "drop", "retry"]
"""What happens to claims in conflict: show them with a note, drop them, or ask the model again."""

POLICIES: tuple[Policy, ...] = get_args(Policy)


class RefusalReason(StrEnum):
    """Why there is no answer."""

    NOTHING_FOUND = "nothing found"
    NOTHING_RELEVANT = "nothing relevant"
    NOTHING_QUOTABLE = "nothing that could be quoted"
    NOTHING_FITS = "no source fits into the context"
    NO_SUCH_LESSON = "no such lesson"
    NOT_READ = "not read"
    """The question is about a file that could not be read."""
    EMPTY_LIBRARY = "empty library"
    NOTHING_ASKED = "nothing was asked"
    ARITHMETIC = "arithmetic"
    NOTHING_CLAIMED = "nothing claimed"
    """The model wrote text that states nothing."""
    BUDGET = "budget"
    """The budget does not allow the model call."""
    WITHHELD = "withheld"
    """The model or its provider declined to answer."""
    FILTERED = "filtered"
    """A content filter of the provider withheld the text."""
    LENGTH = "length"
    """The token limit was reached before the model wrote any text."""
    NOTHING_WRITTEN = "nothing written"
    """The model wrote nothing, for an unknown reason."""

    @property
    def is_of_model(self) -> bool:
        """Whether a model wrote no text. This says nothing about the sources."""
        return self in (self.BUDGET, self.WITHHELD, self.FILTERED, self.LENGTH, self.NOTHING_WRITTEN)


SPOKEN = frozenset({"recording", "sbv", "srt", "vtt"})
"""Languages of what is spoken: their anchors are times such as `00:12:05`."""

# Formats whose text is extracted. No other program shows the line numbers of that text.
_WITHOUT_LINES = frozenset(
    "doc docx eml epub ics mbox msg odp ods odt pdf picture ppt pptx rtf xls xlsx zip".split()
).union(SPOKEN)


def anchor_of(chunk: Chunk) -> str | None:
    """Return the anchor of a chunk whose original has no lines, if it has one; else None."""
    return None if has_lines(chunk.language) else chunk.anchor


def has_lines(language: str) -> bool:
    """Return whether the line numbers of a document are those of its original."""
    return language not in _WITHOUT_LINES


def written_place(span: Span, anchor: str | None) -> str:
    """Format a place for users, with lines or, if the original has none, with its anchor.

    Example:
        >>> span = Span("talk.pdf", 9, 20, 3, 4)
        >>> written_place(span, None), written_place(span, "p. 2"), written_place(span, "")
        ('talk.pdf:3-4', 'talk.pdf p. 2', 'talk.pdf')
        >>> written_place(Span("app.py", 0, 20, 3, 3), None)
        'app.py:3'
    """
    if anchor is not None:
        return f"{span.path} {anchor}".rstrip()
    return f"{span.path}:{span.start_line}" if span.start_line == span.end_line else str(span)


def place_of(chunk: Chunk) -> str:
    """Format the place of a chunk for users: `app.py:3-9`, or `slides.pdf p. 4`."""
    return written_place(chunk.span, anchor_of(chunk))


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark in an answer, its span, and the verdict."""

    mark: str
    """As written in the answer, such as `[2:14-18]`."""
    source: str
    span: Span
    quote: str
    """Text of the span when the answer was written."""
    verdict: Verdict
    label: str = ""
    """The place within the original, for users: `cell 3`, or course and lesson."""
    reason: str = ""
    """Explanation for users; empty for `exact` and `confirmed`."""
    symbol: str = ""
    """The symbol defined there, as users write it: `Client` or `Client.get()`."""
    claim: int | None = None
    """Index of its claim in `GenerationResult.claims`. None if it follows no claim."""
    anchor: str | None = None
    """Anchor of the place, such as `p. 4`, if the original has no lines but an anchor. Else None."""
    url: str = ""
    """Permalink to these lines, for repositories on a known host; else empty."""

    @property
    def place(self) -> str:
        """The place for users, with its label: `name() (file.py:10-20)`. Empty if nothing was shown under the mark."""
        if not self.span.path:
            return ""
        where = written_place(self.span, self.anchor)
        place = f"{self.symbol} ({where})" if self.symbol else where
        return f"{place} ({self.label})" if self.label not in ("", self.anchor) else place

    def at_own_anchor(self, document: Document) -> Citation:
        """Return the citation with the `#id` or time at its own start, because it has the one at the chunk's start."""
        if document.language not in {"html", *SPOKEN} or not document.anchors:
            return self
        at = bisect_right([anchor.start_char for anchor in document.anchors], self.span.start_char)
        own = document.anchors[at - 1].label if at else ""
        if document.language in SPOKEN:
            return replace(self, anchor=own, label=own if self.label == self.anchor else self.label)
        headings, _, last = self.label.rpartition(" ")
        headings = headings if last in {anchor.label for anchor in document.anchors} else self.label
        return replace(self, label=" ".join(filter(None, (headings, own))))

    def __str__(self) -> str:
        reason = f", {self.reason}" if self.reason else ""
        return f"{' '.join(filter(None, (self.mark, self.place)))}: {self.verdict}{reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return the citation as JSON values, in the format of `ask --json`."""
        return {
            "mark": self.mark,
            "source": self.source,
            **self.span.to_dict(),
            "label": self.label,
            "anchor": self.anchor or "",
            "quote": shown_text(self.quote),
            "verdict": self.verdict,
            "reason": self.reason,
            "claim": self.claim,
            "url": self.url,
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement in an answer: a sentence, list item, table row, or quote."""

    start_char: int
    """Offset in the answer."""
    end_char: int
    """Offset of the end, after the marks that directly follow."""
    text: str
    """Its text, without marks."""
    marks: tuple[str, ...] = ()
    """Its marks as written in the answer, each once, in order."""
    verdict: ClaimVerdict = ""
    reason: str = ""
    """Explanation for users; empty for `exact` and `confirmed`."""

    @property
    def is_wrong(self) -> bool:
        """Whether the reader has to look at it: in conflict, or with marks that are unknown or stale."""
        return self.verdict in _WRONG


def quality_of(verdicts: Iterable[str | None]) -> float | None:
    """Return the share of `exact` and `confirmed` among the decisive verdicts; None if there are none.

    Example:
        >>> quality_of(["exact", "confirmed", "unverified", "uncited", ""]), quality_of(["unverified"])
        (1.0, None)
    """
    counts = Counter(verdicts)
    good = sum(counts[verdict] for verdict in ("exact", "confirmed"))
    decided = good + sum(counts[verdict] for verdict in _WRONG)
    return good / decided if decided else None


@dataclass(frozen=True, slots=True)
class Repair:
    """A change to an answer, made by the check."""

    what: Literal["anchored", "removed", "dropped", "retried"]
    """Replaced marks, a removed mark, a removed claim, or a new answer."""
    claim: str
    """Text of the claim; empty if the whole answer changed."""
    before: str
    after: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what, "claim": self.claim, "from": self.before, "to": self.after, "why": self.why}


# Characters of the answer in its `repr`, to fit into a line of a log.
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True, repr=False)
class GenerationResult:
    """An answer, its sources, and the verdicts on its citations. `print` shows it with its sources."""

    query: str
    answer: str
    """Markdown with marks such as `[2:14-18]`. For a refusal: the reason, as a message for users."""
    citations: tuple[Citation, ...] = ()
    """In the order of their marks."""
    results: tuple[RetrievalResult, ...] = ()
    """The results that were shown, in the order of their numbers: `[1]` is the first. For a refusal: the nearest."""
    refused: bool = False
    reason: RefusalReason | Literal[""] = ""
    """Why there is no answer; else empty."""
    model: str = "extractive"
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    """None if the price is unknown."""
    took_ms: float = 0.0
    claims: tuple[Claim, ...] = ()
    """The claims of the answer, in order; code without marks comes last."""
    repairs: tuple[Repair, ...] = ()
    """Changes made by the check, in order."""
    searched: str = ""
    """The search query, if it differs from the question: a follow-up rephrased to stand alone."""
    searches: tuple[str, ...] = ()
    """Query expansion by the model. The results were merged with those of the first search."""
    search_failure: str = ""
    """Why the model could not be asked for better searches, if that call failed: only the question was searched for."""
    prompts: str = ""
    """Version of the prompts; empty if no model was called."""
    verifier: str = ""
    """The verifier that checked the claims; empty if none did."""
    verifier_failures: frozenset[str] = frozenset()
    """Why the verifier returned nothing, for one or both of its calls: the reason why claims are `unverified`."""
    stopped: str = ""
    """What stopped the answer early, such as `max_usd` or `length`; else empty."""
    own_chars: int | None = None
    """Length of the part written by the model, if quotes of sources follow; else None."""

    @property
    def sources_cited(self) -> tuple[str, ...]:
        """Return the cited places as `path:start-end` or `slides.pdf p. 4`, each once, in order.

        Unknown marks, stale text, and lines in conflict with their claim are left out.
        """
        good = (citation for citation in self.citations if citation.verdict in ("exact", "confirmed", "unverified"))
        return tuple(dict.fromkeys(written_place(citation.span, citation.anchor) for citation in good))

    @property
    def has_citations(self) -> bool:
        """Whether the answer has citations without a conflict."""
        return bool(self.sources_cited)

    @property
    def answer_length(self) -> int:
        """Count the words of the answer."""
        return len(self.answer.split())

    @property
    def quality_score(self) -> float | None:
        """Return the share of decided claims that are `exact` or `confirmed`, from 0 to 1; None if none is decided.

        `unverified` and `uncited` claims are not decided, so they do not count.
        """
        return quality_of(claim.verdict for claim in self.claims)

    @property
    def context_chunks(self) -> tuple[RetrievalResult, ...]:
        """Alias of `results`: the chunks that the answer was written from."""
        return self.results

    @property
    def total_tokens(self) -> int:
        """Tokens read and written, including the check."""
        return self.usage.input_tokens + self.usage.output_tokens

    @property
    def generation_time(self) -> float:
        """Seconds from the question to the answer."""
        return self.took_ms / 1000

    def __str__(self) -> str:
        return self.format_for_display().rstrip("\n")

    def __repr__(self) -> str:
        """Return a single line with the truncated answer."""
        answer = " ".join(self.answer.split())
        answer = answer if len(answer) <= _SHOWN_CHARS else f"{answer[:_SHOWN_CHARS]}…"
        outcome = f"refused={str(self.reason)!r}" if self.refused else f"citations={len(self.citations)}"
        return f"{type(self).__name__}({self.query!r}, {answer!r}, {outcome}, model={self.model!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values, in the format of `ask --json`."""
        return {
            "query": self.query,
            "answer": self.answer,
            "refused": self.refused,
            "reason": self.reason,
            "citations": [citation.to_dict() for citation in self.citations],
            "sources": [{"number": n, **result.to_dict()} for n, result in enumerate(self.results, start=1)],
            "model": self.model,
            "usage": asdict(self.usage),
            "cost_usd": None if self.cost_usd is None else float(self.cost_usd),
            "took_ms": round(self.took_ms, 1),
            "claims": [
                asdict(claim) | {"text": shown_text(claim.text), "marks": list(claim.marks)} for claim in self.claims
            ],
            "repairs": [repair.to_dict() for repair in self.repairs],
            "quality_score": None if self.quality_score is None else round(self.quality_score, 6),
            "searched": self.searched,
            "searches": list(self.searches),
            "search_failure": self.search_failure,
            "prompts": self.prompts,
            "stopped": self.stopped,
            "verifier": self.verifier,
        }

    def format_for_display(self) -> str:
        """Return the answer and its sources as plain text, ending in a line feed."""
        places = [place_of(result.chunk) for result in self.results] if self.refused else self.citations
        listed = "".join(f"  {place}\n" for place in dict.fromkeys(map(str, places)))
        heading = "Nearest:" if self.refused else "Sources:"
        return f"{self.answer}\n" + (f"\n{heading}\n{listed}" if listed else "")


# What a model is told about an earlier answer that no model wrote, or about a claim that is wrong.
_QUOTED = "(answered with quotes from the sources)"
_CONTRADICTED = "[contradicted by the sources]"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, as context for later questions of the session."""

    question: str
    answer: str
    """The model's text. For refusals and quotes, a note in brackets."""
    images: tuple[Attachment, ...] = field(default=(), repr=False)
    """Images of the question. Follow-ups are asked with the latest ones."""

    @classmethod
    def of(cls, question: str, answer: GenerationResult, images: tuple[Attachment, ...] = ()) -> Exchange:
        """Build an exchange from an answer: the model's text, with notes on claims that the sources contradict.

        Quotes, and names in a refusal, are text from sources, which a model must not mistake for its
        own. They are replaced with a note on the outcome.

        Args:
            question: As it was asked.
            answer: The answer to it.
            images: Images of the question, such as `AnswerOptions.attached`.

        Example:
            >>> Exchange.of("Why?", GenerationResult("Why?", "See `a.md`.", refused=True, reason="nothing found"))
            Exchange(question='Why?', answer='(refused: nothing found)')
        """
        if answer.refused:
            return cls(question, f"(refused: {answer.reason or 'no answer'})", images)
        if answer.model == "extractive":
            return cls(question, _QUOTED, images)
        text = answer.answer[: answer.own_chars]
        for claim in sorted(answer.claims, key=lambda claim: claim.end_char, reverse=True):
            if claim.verdict == "conflict" and claim.end_char <= len(text):
                text = f"{text[: claim.end_char]} {_CONTRADICTED}{text[claim.end_char :]}"
        return cls(question, text, images)


@dataclass(frozen=True, slots=True)
class Stage:
    """The stage that begins now. It lasts until the next one or the answer. Stages may repeat or be missing."""

    name: Literal["rephrasing", "searching", "writing", "checking", "verifying"]
    """`rephrasing`: a model makes a follow-up stand alone, or expands the query. `writing`: a model writes, possibly
    with tools, or quotes are selected.
    `verifying`: a verifier checks whether the cited lines support the claims."""


@dataclass(frozen=True, slots=True)
class Written:
    """A piece of the answer as it is written. Text from a model is not checked yet."""

    text: str
    is_checked: bool = False
    """Whether it is the complete, checked answer, sent in one piece because no model wrote it."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A model has used a tool."""

    name: str
    arguments: str
    """JSON as written by the model."""
    outcome: str
    """Short description for users."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The checked answer. Always the last event, exactly once."""

    answer: GenerationResult


AnswerEvent = Stage | Written | ToolUsed | Answered
"""The events of answering a question."""


def answered(events: Iterable[AnswerEvent]) -> GenerationResult:
    """Return the answer that ends a stream of events."""
    *_, last = events
    assert isinstance(last, Answered)
    return last.answer
