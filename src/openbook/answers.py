"""What answers are made of: citations, claims, repairs, and the answer that holds them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, get_args

from openbook.types import Attachment, Chunk, Document, RetrievalResult, Span, shown_text
from openbook.usage import Usage

Verdict = Literal["exact", "confirmed", "conflict", "unverified", "unknown", "stale"]
"""What a check of a citation found.

`exact`: the very words of the claim stand in the cited lines. `confirmed`: an entailment check found it said there,
and the words that it points to stand there literally. `conflict`: what stands there contradicts it, or a quote,
number or identifier of it is not there at all. `unverified`: neither, which is no fault of the claim. `unknown`: the
mark names nothing that was shown. `stale`: the document has changed since it was indexed.
"""

OLD_VERDICTS: Mapping[str, Verdict] = MappingProxyType(
    {"supported": "unverified", "partial": "unverified", "unsupported": "unverified"}
)
"""Verdicts of answers that were saved by versions which measured word overlap, and what they are worth now."""

ClaimVerdict = Verdict | Literal["uncited", ""]
"""The verdict on a claim. `uncited`: it states facts and has no mark. Empty: it states none, and needs none."""

# What a reader has to look at.
_WRONG = ("conflict", "unknown", "stale")

Policy = Literal["flag", "drop", "retry"]
"""What happens to claims in conflict: they stay and say so, go, or the model is asked again."""

POLICIES: tuple[Policy, ...] = get_args(Policy)


class RefusalReason(StrEnum):
    """Why there is no answer."""

    NOTHING_FOUND = "nothing found"
    NOTHING_RELEVANT = "nothing relevant"
    NOTHING_QUOTABLE = "nothing that could be quoted"
    NOTHING_FITS = "no source fits into the context"
    NO_SUCH_LESSON = "no such lesson"
    NOT_READ = "not read"
    """What the question is about is a file that could not be read."""
    EMPTY_LIBRARY = "empty library"
    NOTHING_ASKED = "nothing was asked"
    ARITHMETIC = "arithmetic"
    NOTHING_CLAIMED = "nothing claimed"
    """The model wrote words, none of which state anything."""
    BUDGET = "budget"
    """The budget forbade the call of the model."""
    WITHHELD = "withheld"
    """The model, or the provider for it, declined."""
    FILTERED = "filtered"
    """A filter of the provider withheld the words."""
    LENGTH = "length"
    """The tokens of the model were used up before it wrote."""
    NOTHING_WRITTEN = "nothing written"
    """The model wrote nothing, for no known reason."""

    @property
    def is_of_model(self) -> bool:
        """Whether a model wrote no words, which says nothing of the sources."""
        return self in (self.BUDGET, self.WITHHELD, self.FILTERED, self.LENGTH, self.NOTHING_WRITTEN)


# Formats that text is extracted from: the lines of that text are shown by no other program.
_WITHOUT_LINES = frozenset(
    "doc docx eml epub ics mbox msg odp ods odt pdf picture ppt pptx recording rtf srt vtt xls xlsx zip".split()
)


def anchor_of(chunk: Chunk) -> str | None:
    """Return the original's own name for the place of a chunk, if it has one, where it has no lines; else None."""
    return None if has_lines(chunk.language) else chunk.anchor


def has_lines(language: str) -> bool:
    """Return whether the lines of a document are those of its original."""
    return language not in _WITHOUT_LINES


def written_place(span: Span, anchor: str | None) -> str:
    """Write a place for people: with lines, or with what the original has in their stead.

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
    """Write where a chunk stands, for people: `app.py:3-9`, or `slides.pdf p. 4`."""
    return written_place(chunk.span, anchor_of(chunk))


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark in an answer, the span it names, and what a check of it found."""

    mark: str
    """As it stands in the answer, such as `[2:14-18]`."""
    source: str
    span: Span
    quote: str
    """Text of the span when the answer was written."""
    verdict: Verdict
    label: str = ""
    """Where the original puts it, for people: `cell 3`, or course and lesson."""
    reason: str = ""
    """Why it has this verdict, for people; empty for `exact` and `confirmed`."""
    symbol: str = ""
    """What is defined there, as people write it: `Client` or `Client.get()`."""
    claim: int | None = None
    """Position of the claim that it stands behind in `GenerationResult.claims`, from 0. None behind no claim."""
    anchor: str | None = None
    """Where the original has no lines: its own name for the place, such as `p. 4`, if it has one. Else None."""
    url: str = ""
    """Permanent address of these lines, for what came from a repository whose host is known; else empty."""

    @property
    def place(self) -> str:
        """Write the place for people: `name() (file.py:10-20)`, and its label. Empty if nothing was shown there."""
        if not self.span.path:
            return ""
        where = written_place(self.span, self.anchor)
        place = f"{self.symbol} ({where})" if self.symbol else where
        return f"{place} ({self.label})" if self.label not in ("", self.anchor) else place

    def at_own_anchor(self, document: Document) -> Citation:
        """Return it with the `#id` that holds in a page where it begins: its label has that of where its chunk does."""
        if document.language != "html" or document.kind != "docs" or not document.anchors:
            return self
        headings, _, last = self.label.rpartition(" ")
        headings = headings if last in {anchor.label for anchor in document.anchors} else self.label
        at = bisect_right([anchor.start_char for anchor in document.anchors], self.span.start_char)
        own = document.anchors[at - 1].label if at else ""
        return replace(self, label=" ".join(filter(None, (headings, own))))

    def __str__(self) -> str:
        reason = f", {self.reason}" if self.reason else ""
        return f"{' '.join(filter(None, (self.mark, self.place)))}: {self.verdict}{reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return the citation as JSON values, in the shape that `ask --json` prints."""
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
    """A statement of an answer: a sentence, an item of a list, a row of a table, or a quote."""

    start_char: int
    """Offset in the answer."""
    end_char: int
    """Offset behind it and the marks that stand right behind it."""
    text: str
    """What it says, without its marks."""
    marks: tuple[str, ...] = ()
    """As they stand in the answer, each once, in order."""
    verdict: ClaimVerdict = ""
    reason: str = ""
    """Why it has this verdict, for people; empty for `exact` and `confirmed`."""

    @property
    def is_wrong(self) -> bool:
        """Whether a reader has to look: it is in conflict, or its marks name nothing, or what has changed."""
        return self.verdict in _WRONG


def quality_of(verdicts: Iterable[str | None]) -> float | None:
    """Return the share of `exact` and `confirmed` among the verdicts that decide something; None if there is none.

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
    """A change that checking made to an answer."""

    what: Literal["anchored", "removed", "dropped", "retried"]
    """Other marks for a claim; a mark out; a claim out; another answer."""
    claim: str
    """What the claim said; empty where the whole answer changed."""
    before: str
    after: str
    why: str

    def to_dict(self) -> dict[str, str]:
        return {"what": self.what, "claim": self.claim, "from": self.before, "to": self.after, "why": self.why}


# Of the answer in its `repr`: one line of a log.
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True, repr=False)
class GenerationResult:
    """An answer, what it was made from, and what a check of its citations found. `print` shows it with its sources."""

    query: str
    answer: str
    """Markdown with marks such as `[2:14-18]`. For a refusal: the reason, in words for people."""
    citations: tuple[Citation, ...] = ()
    """In the order of their marks in the answer."""
    results: tuple[RetrievalResult, ...] = ()
    """What was shown, in the order that marks count: `[1]` is the first. For a refusal: the nearest."""
    refused: bool = False
    reason: RefusalReason | Literal[""] = ""
    """Why there is no answer; else empty."""
    model: str = "extractive"
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    """None if the price is not known."""
    took_ms: float = 0.0
    claims: tuple[Claim, ...] = ()
    """What the answer states, in order; code without marks comes last."""
    repairs: tuple[Repair, ...] = ()
    """What checking changed in the answer, in order."""
    searched: str = ""
    """What was searched for, where it is not the question itself: a follow-up that was made to stand alone."""
    searches: tuple[str, ...] = ()
    """Other searches for the same question that the model wrote. Their results were merged with those of the first."""
    prompts: str = ""
    """Version of the prompts that a model was given; empty where none was asked."""
    verifier: str = ""
    """Who checked the claims for entailment; empty if nobody did."""
    verifier_failures: frozenset[str] = frozenset()
    """Why the verifier said nothing at all, once or twice: reasons of claims that words leave open."""
    stopped: str = ""
    """What ended the answer before the model did, such as `max_usd` or `length`; else empty."""
    own_chars: int | None = None
    """How many characters of the answer the model wrote, where quotes of sources follow; None if none do."""

    @property
    def sources_cited(self) -> tuple[str, ...]:
        """Return the places that are cited as `path:start-end` or `slides.pdf p. 4`, each once, in order.

        Marks that name nothing, changed text, and lines that a claim is in conflict with are left out.
        """
        good = (citation for citation in self.citations if citation.verdict in ("exact", "confirmed", "unverified"))
        return tuple(dict.fromkeys(written_place(citation.span, citation.anchor) for citation in good))

    @property
    def has_citations(self) -> bool:
        """Whether the answer cites anything, conflicts aside."""
        return bool(self.sources_cited)

    @property
    def answer_length(self) -> int:
        """Count the words of the answer."""
        return len(self.answer.split())

    @property
    def quality_score(self) -> float | None:
        """Return the share of decided claims that are `exact` or `confirmed`, from 0 to 1; None if none is decided.

        `unverified` and `uncited` claims are not decided: they count for nothing, and against nothing.
        """
        return quality_of(claim.verdict for claim in self.claims)

    @property
    def context_chunks(self) -> tuple[RetrievalResult, ...]:
        """What the answer was written from: another name of `results`."""
        return self.results

    @property
    def total_tokens(self) -> int:
        """Tokens read and written, those of the check included."""
        return self.usage.input_tokens + self.usage.output_tokens

    @property
    def generation_time(self) -> float:
        """Seconds from the question to the answer."""
        return self.took_ms / 1000

    def __str__(self) -> str:
        return self.format_for_display().rstrip("\n")

    def __repr__(self) -> str:
        """Write it in one line, cut: an answer may fill pages."""
        answer = " ".join(self.answer.split())
        answer = answer if len(answer) <= _SHOWN_CHARS else f"{answer[:_SHOWN_CHARS]}…"
        outcome = f"refused={str(self.reason)!r}" if self.refused else f"citations={len(self.citations)}"
        return f"{type(self).__name__}({self.query!r}, {answer!r}, {outcome}, model={self.model!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values, in the shape that `ask --json` prints."""
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


# What a model is told of an earlier answer that holds no words of a model, and of a claim that is wrong.
_QUOTED = "(answered with quotes from the sources)"
_CONTRADICTED = "[contradicted by the sources]"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, as a later question of the same session looks back on them."""

    question: str
    answer: str
    """Of a model. Of a refusal, and of quotes, what it was, in brackets; empty in sessions of earlier versions."""
    images: tuple[Attachment, ...] = field(default=(), repr=False)
    """Those that came with the question. Later questions are asked with the last ones."""

    @classmethod
    def of(cls, question: str, answer: GenerationResult, images: tuple[Attachment, ...] = ()) -> Exchange:
        """Return what may be looked back on: the words of a model, with those marked that the sources contradict.

        Quotes and the names in a refusal are text of sources, which no model may take for its own words:
        words of ours say in their place what became of the question.

        Args:
            question: As it was asked.
            answer: To it.
            images: That came with it, such as `AnswerOptions.attached`.

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
    """What begins now. A stage lasts until the next one, or the answer; some come twice, or not at all."""

    name: Literal["rephrasing", "searching", "writing", "checking", "verifying"]
    """`rephrasing`: a model makes a follow-up stand alone, or writes other searches. `writing`: a model does, with its
    tools, or quotes are chosen.
    `verifying`: a verifier checks whether the cited lines say what the claims say."""


@dataclass(frozen=True, slots=True)
class Written:
    """Words of an answer as they come. Those of a model have not been checked."""

    text: str
    is_checked: bool = False
    """Whether it is the whole answer, checked: no model wrote words of it, so it comes in one piece."""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A model has used a tool."""

    name: str
    arguments: str
    """JSON as the model wrote it."""
    outcome: str
    """In a few words, for people."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer, checked: the last of what happens, exactly once."""

    answer: GenerationResult


AnswerEvent = Stage | Written | ToolUsed | Answered
"""What happens while a question is answered."""


def read_saved(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved answer, as `to_dict` or the server wrote it, with the verdicts of today.

    Versions before `exact` and `conflict` measured word overlap, which decides nothing: what they called supported
    was found in the very words only where no model wrote.

    Example:
        >>> read_saved({"model": "extractive", "citations": [{"verdict": "supported"}]})["citations"]
        [{'verdict': 'exact'}]
    """
    read = dict(record)
    quoted = record.get("model") == "extractive"
    for name in ("citations", "claims"):
        if isinstance(entries := record.get(name), list):
            read[name] = [
                _with_verdict(entry, quoted=quoted) if isinstance(entry, dict) else entry for entry in entries
            ]
    if "quality_score" in read and read != record:
        verdicts = (claim.get("verdict") for claim in read.get("claims") or () if isinstance(claim, dict))
        read["quality_score"] = quality_of(verdicts)
    return read


def _with_verdict(entry: Mapping[str, Any], *, quoted: bool) -> dict[str, Any]:
    old = entry.get("verdict")
    if not isinstance(old, str) or old not in OLD_VERDICTS:
        return dict(entry)
    return {**entry, "verdict": "exact" if quoted and old == "supported" else OLD_VERDICTS[old]}


def answered(events: Iterable[AnswerEvent]) -> GenerationResult:
    """Return the answer that all of an answer's events end with."""
    *_, last = events
    assert isinstance(last, Answered)
    return last.answer
