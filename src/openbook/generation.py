"""What answers are made of: citations, claims, repairs, and the answer that holds them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal, get_args

from openbook.types import Chunk, Document, RetrievalResult, Span
from openbook.usage import Usage

Verdict = Literal["supported", "partial", "unsupported", "unknown", "stale"]
"""How far a citation can be trusted.

`unknown`: the mark names nothing that was shown. `stale`: the document has changed since it was
indexed. The other three say how much of the claim the cited text carries.
"""

ClaimVerdict = Verdict | Literal["uncited", ""]
"""The verdict on a claim. `uncited`: it states facts and has no mark. Empty: it states none, and needs none."""

Policy = Literal["flag", "drop", "retry"]
"""What happens to claims that fail, and that no unit supports: they stay and say so, go, or are asked for again."""

POLICIES: tuple[Policy, ...] = get_args(Policy)


# Formats that text is extracted from: the lines of that text are shown by no other program.
_WITHOUT_LINES = frozenset({"docx", "epub", "odt", "pdf", "pptx", "srt", "vtt"})


def anchor_of(chunk: Chunk) -> str | None:
    """Give the original's own name for the place of a chunk, if it has one, where it has no lines; else None."""
    return None if has_lines(chunk.language) else chunk.anchor


def has_lines(language: str) -> bool:
    """Tell whether the lines of a document are those of its original."""
    return language not in _WITHOUT_LINES


def written_place(span: Span, anchor: str | None) -> str:
    """Write a place for people: with lines, or with what the original has in their stead.

    Example:
        >>> span = Span("talk.pdf", 9, 20, 3, 4)
        >>> written_place(span, None), written_place(span, "p. 2"), written_place(span, "")
        ('talk.pdf:3-4', 'talk.pdf p. 2', 'talk.pdf')
    """
    return str(span) if anchor is None else f"{span.path} {anchor}".rstrip()


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
    """Why it is not supported, for people."""
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
        """Give it with the `#id` that holds in a page where it begins: its label has that of where its chunk does."""
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
        """Give the citation as JSON values, in the shape that `ask --json` prints."""
        return {
            "mark": self.mark,
            "source": self.source,
            **self.span.to_dict(),
            "label": self.label,
            "anchor": self.anchor or "",
            "quote": self.quote,
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
    """Why it is not supported, for people."""

    @property
    def fails(self) -> bool:
        """Whether it states facts that nothing it cites supports in full."""
        return self.verdict not in ("supported", "")


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


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """An answer, what it was made from, and what a check of its citations found."""

    query: str
    answer: str
    """Markdown with marks such as `[2:14-18]`. For a refusal: the reason, in words for people."""
    citations: tuple[Citation, ...] = ()
    """In the order of their marks in the answer."""
    results: tuple[RetrievalResult, ...] = ()
    """What was shown, in the order that marks count: `[1]` is the first. For a refusal: the nearest."""
    refused: bool = False
    reason: str = ""
    """Why there is no answer, such as `nothing relevant` or `nothing supported`; else empty."""
    model: str = "extractive"
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    """None if the price is not known."""
    took_ms: float = 0.0
    claims: tuple[Claim, ...] = ()
    """What the answer states, in order. For a refusal: what was not shown, with offsets in what was withheld."""
    repairs: tuple[Repair, ...] = ()
    """What checking changed in the answer, in order."""
    searched: str = ""
    """What was searched for, where it is not the question itself: a follow-up that was made to stand alone."""
    prompts: str = ""
    """Version of the prompts that a model was given; empty where none was asked."""
    stopped: str = ""
    """What ended the answer before the model did, such as `max_usd` or `length`; else empty."""

    @property
    def sources_cited(self) -> tuple[str, ...]:
        """Name the places of supported citations as `path:start-end` or `slides.pdf p. 4`, each once, in order."""
        supported = (citation for citation in self.citations if citation.verdict == "supported")
        return tuple(dict.fromkeys(written_place(citation.span, citation.anchor) for citation in supported))

    @property
    def has_citations(self) -> bool:
        """Whether anything in the answer is cited and supported."""
        return bool(self.sources_cited)

    @property
    def answer_length(self) -> int:
        """Count the words of the answer."""
        return len(self.answer.split())

    @property
    def quality_score(self) -> float:
        """Give the share of claims with facts that are supported, from 0 to 1; 0 without any."""
        verdicts = [claim.verdict for claim in self.claims if claim.verdict]
        return verdicts.count("supported") / len(verdicts) if verdicts else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Give the answer as JSON values, in the shape that `ask --json` prints."""
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
            "claims": [asdict(claim) | {"marks": list(claim.marks)} for claim in self.claims],
            "repairs": [repair.to_dict() for repair in self.repairs],
            "quality_score": round(self.quality_score, 6),
            "searched": self.searched,
            "prompts": self.prompts,
            "stopped": self.stopped,
        }

    def format_for_display(self) -> str:
        """Give the answer and its sources as plain text, ending in a line feed."""
        places = [place_of(result.chunk) for result in self.results] if self.refused else self.citations
        listed = "".join(f"  {place}\n" for place in dict.fromkeys(map(str, places)))
        heading = "Nearest:" if self.refused else "Sources:"
        return f"{self.answer}\n" + (f"\n{heading}\n{listed}" if listed else "")


# What a model is told of an earlier answer that holds no words of a model, and of a claim that is wrong.
_QUOTED = "(answered with quotes from the sources)"
_CONTRADICTED = "[contradicted by the sources]"


def _is_contradicted(verdict: str) -> bool:
    return verdict == "conflict"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, as a later question of the same session looks back on them."""

    question: str
    answer: str
    """Of a model. Of a refusal, and of quotes, what it was, in brackets; empty in sessions of earlier versions."""

    @classmethod
    def of(cls, question: str, answer: GenerationResult) -> Exchange:
        """Return what may be looked back on: the words of a model, with those marked that the sources contradict.

        Quotes and the names in a refusal are text of sources, which no model may take for its own words:
        words of ours say in their place what became of the question.

        Example:
            >>> Exchange.of("Why?", GenerationResult("Why?", "See `a.md`.", refused=True, reason="nothing found"))
            Exchange(question='Why?', answer='(refused: nothing found)')
        """
        if answer.refused:
            return cls(question, f"(refused: {answer.reason or 'no answer'})")
        if answer.model == "extractive":
            return cls(question, _QUOTED)
        text = answer.answer
        for claim in sorted(answer.claims, key=lambda claim: claim.end_char, reverse=True):
            if _is_contradicted(claim.verdict):
                text = f"{text[: claim.end_char]} {_CONTRADICTED}{text[claim.end_char :]}"
        return cls(question, text)


@dataclass(frozen=True, slots=True)
class Stage:
    """What begins now. A stage lasts until the next one, or the answer; some come twice, or not at all."""

    name: Literal["rephrasing", "searching", "writing", "checking"]
    """`rephrasing`: a model makes a follow-up stand alone. `writing`: a model, with its tools, or quotes."""


@dataclass(frozen=True, slots=True)
class Written:
    """Words of a model while it writes. They have not been checked."""

    text: str


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


def answered(events: Iterable[AnswerEvent]) -> GenerationResult:
    """Give the answer that all of an answer's events end with."""
    *_, last = events
    assert isinstance(last, Answered)
    return last.answer
