"""Verdicts on the answer of a model: whether marks are valid and current, and whether the cited lines support claims.

Answers are not changed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from openbook.answers import Citation, Claim, Repair, Verdict
from openbook.extractive.citations import TextNow, UnitRange, citation_of, is_current, numbered, places_of
from openbook.extractive.context import Context, ContextItem
from openbook.grounding.blocks import Fence, read_line
from openbook.grounding.claims import Statement, UnattachedMarks, split_claims
from openbook.grounding.code_names import absent_names
from openbook.grounding.entailment import NO_MARK, decide, quotes_literally
from openbook.grounding.facts import has_facts
from openbook.grounding.literal import (
    UNCLEAR,
    LiteralVerdict,
    check_literally,
    is_conclusion,
    is_verbatim,
    unclear_number,
)
from openbook.grounding.lookup import SearchedText
from openbook.grounding.protocol import CitedClaim, Entailment, SourceText
from openbook.types import Span

# Limit of cited places per claim, which also bounds the cost of a claim.
_MAX_PLACES = 40

NEVER_SHOWN = "nothing of that number was shown"
_CHANGED = "the document has changed there since it was indexed"
_GONE = "the document is gone, or cannot be read"
_OTHER_WORDS = "the cited lines do not hold it word for word"
_NO_CLAIM = "it stands behind no claim"
_UNCHECKED_CODE = "code that cites nothing is not checked"

# Reported names in uncited code that no shown source contains.
_MAX_NAMES = 5

Key = tuple[str, ...]
"""Identifies a judgement: the words of a claim, and the marks of its places."""


@dataclass(frozen=True, slots=True)
class Verification:
    """A verified answer: its claims, citations and repairs."""

    answer: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def conflicts(self) -> tuple[Claim, ...]:
        """The claims in conflict with their citations, in order."""
        return tuple(claim for claim in self.claims if claim.verdict == "conflict")


class CitationChecker:
    """Check claims and citations against one context, with a cache of files and verdicts."""

    def __init__(self, context: Context, text_now: TextNow) -> None:
        """Take the context, and a function that returns the current text of a document."""
        self.shown: dict[int, ContextItem] = numbered(context)
        self._text_now = text_now
        self._texts: dict[tuple[str, str], str | None] = {}
        self._fresh: dict[str, bool] = {}
        self.failures: set[str] = set()
        """Why the verifier gave no verdicts, for each failed call."""
        self._judgements: dict[Key, LiteralVerdict] = {}
        self._open: dict[Key, CitedClaim] = {}
        self._split: tuple[str, tuple[list[Statement], list[UnattachedMarks]]] = ("", ([], []))

    def check(self, answer: str) -> Verification:
        """Return all claims and their citations, with the verdicts known so far."""
        statements, loose = self.split(answer)
        claims: list[Claim] = []
        found: list[tuple[int, Citation]] = []
        premise: tuple[UnitRange, ...] = ()
        for position, statement in enumerate(statements):
            claim, citations = self._of_claim(statement, position, premise)
            premise = self._good(claim.marks) or premise
            claims.append(claim)
            found += ((claim.start_char, citation) for citation in citations)
        claims += (
            self._of_code(each) for each in loose if each.is_code and not each.marks and _lines_of_code(each.text)
        )
        cited = {(citation.source, citation.span) for _, citation in found}
        for each in loose:
            found += ((each.start_char, citation) for citation in self._of_loose(each, cited))
        found.sort(key=lambda item: item[0])  # stable: those of one claim keep their order
        return Verification(answer, tuple(claims), tuple(citation for _, citation in found))

    def split(self, answer: str) -> tuple[list[Statement], list[UnattachedMarks]]:
        """Split an answer like `split_claims`, cached, as the checked answer is also repaired."""
        if answer != self._split[0]:
            self._split = (answer, split_claims(answer))
        return self._split[1]

    @property
    def open(self) -> Mapping[Key, CitedClaim]:
        """The claims for a verifier: those judged by words alone and not `exact`, in order."""
        return self._open

    def settle(self, entailments: Mapping[Key, Entailment | None], failure: str = "") -> None:
        """Record the verdicts of a verifier on claims in `open`. `failure` says why it gave none."""
        if failure:
            self.failures.add(failure)
        for key, claim in self._open.items():
            literal = self._judgements[key]
            if not failure:
                self._judgements[key] = decide(claim, literal, entailments.get(key))
            elif literal.verdict == "unverified":
                self._judgements[key] = replace(literal, reason=failure)
        self._open = {}

    def judgement(self, statement: Statement) -> LiteralVerdict | None:
        """Return the verdict on a statement; None if none of its citations can be judged."""
        good = self._good(statement.claim.marks)
        return self.judge(statement.judged, good) if good else None

    def confirm(self, words: str, place: UnitRange, quote: str) -> None:
        """Record that a verifier confirmed a claim at a place, with a quote."""
        self._judgements[words, place.mark] = LiteralVerdict("confirmed", quote=quote)

    def _good(self, marks: Sequence[str]) -> tuple[UnitRange, ...]:
        """Return the places of marks that can be judged."""
        return tuple(place for _, place in self._named(marks) if place is not None and self.is_fresh(place))

    def _of_claim(
        self, statement: Statement, position: int, premise: tuple[UnitRange, ...]
    ) -> tuple[Claim, list[Citation]]:
        claim = statement.claim
        if not claim.marks:
            facts = has_facts(claim.text)
            return replace(claim, verdict="uncited" if facts else "", reason=NO_MARK if facts else ""), []
        named = list(self._named(claim.marks))
        good = self._good(claim.marks)
        whole = self.judge(statement.judged, good, premise) if good else None
        citations = [
            citation_of(mark, place, found.verdict, found.reason, claim=position)
            for mark, place in named
            for found in [self._of_place(statement.judged, place, whole)]
        ]
        if whole is None:
            whole = self._of_place(
                statement.judged, next((place for _, place in named if place is not None), None), None
            )
        return replace(claim, verdict=whole.verdict, reason=whole.reason), citations

    def _of_place(self, words: str, place: UnitRange | None, whole: LiteralVerdict | None) -> LiteralVerdict:
        """Return the contribution of one cited place to the verdict on a claim."""
        if place is None:
            return LiteralVerdict("unknown", NEVER_SHOWN)
        if not self.is_fresh(place):
            return LiteralVerdict("stale", _why_stale(self._text_of(place)))
        assert whole is not None  # a place that is fresh was judged
        if whole.verdict == "exact" and not is_verbatim(words, place.quote):
            return LiteralVerdict("unverified", _OTHER_WORDS)
        is_part = any(
            quotes_literally(part, place.quote) for part in re.split(r"\.\.\.|…", whole.quote) if part.strip()
        )
        if whole.verdict == "confirmed" and not is_part:
            return LiteralVerdict(
                "unverified", "the words that the verifier points to stand in another place that is cited"
            )
        return whole

    def _of_code(self, code: UnattachedMarks) -> Claim:
        """Return uncited code as an unchecked claim, with the names that no shown source contains."""
        text = SearchedText("\n".join(entry.result.chunk.text for entry in self.shown.values()))
        body = "\n".join(_lines_of_code(code.text))
        missing = absent_names(body, text)[:_MAX_NAMES]
        names = f"; no source that was shown has {', '.join(f'`{name}`' for name in missing)}" if missing else ""
        return Claim(code.start_char, code.end_char, body, verdict="uncited", reason=f"{_UNCHECKED_CODE}{names}")

    def _of_loose(self, loose: UnattachedMarks, cited: Set[tuple[str, Span]]) -> Iterator[Citation]:
        for mark, place in self._named([mark.text for mark in loose.marks]):
            if place is not None and self.is_fresh(place) and not loose.text:
                if (place.shown.result.chunk.source, place.span) in cited:
                    continue  # a list of references repeats what is cited above
                found = LiteralVerdict("unverified", _NO_CLAIM)
            elif place is not None and self.is_fresh(place):
                words = loose.text.lstrip("#* \t>")
                found = _judge_code(loose.text, place.quote) if loose.is_code else self.judge(words, (place,))
            else:
                found = self._of_place("", place, None)
            yield citation_of(mark, place, found.verdict, found.reason)

    def _named(self, marks: Sequence[str]) -> Iterator[tuple[str, UnitRange | None]]:
        """Yield each distinct pair of a mark and a place that it cites, in order."""
        seen: set[tuple[str, str]] = set()
        for mark in dict.fromkeys(marks):
            for place in places_of(mark, self.shown):
                key = (mark, place.mark if place else "")
                if key not in seen:
                    seen.add(key)
                    yield mark, place

    def judge(self, words: str, places: tuple[UnitRange, ...], premise: tuple[UnitRange, ...] = ()) -> LiteralVerdict:
        """Judge a claim by all places together, with the verdicts known so far.

        `premise`: the places of the claim before, from which this one may conclude.
        """
        if len(places) > _MAX_PLACES:
            return LiteralVerdict("unverified", f"it cites more than {_MAX_PLACES} places")
        key = (words, *dict.fromkeys(place.mark for place in places))
        if key not in self._judgements:
            claim = _cited_claim(words, places, premise if is_conclusion(words) else ())
            self._judgements[key] = check_literally(claim)
            if self._judgements[key].verdict != "exact" and self._judgements[key].rule != UNCLEAR:
                self._open[key] = claim
        return self._judgements[key]

    def is_fresh(self, place: UnitRange) -> bool:
        """Whether the current document contains the exact text of the place. Documents are read once."""
        if place.mark not in self._fresh:
            self._fresh[place.mark] = is_current(place.span, place.quote, self._text_of(place))
        return self._fresh[place.mark]

    def _text_of(self, place: UnitRange) -> str | None:
        chunk = place.shown.result.chunk
        key = (chunk.source, chunk.span.path)
        if key not in self._texts:
            self._texts[key] = self._text_now(chunk)
        return self._texts[key]


def _why_stale(text: str | None) -> str:
    return _GONE if text is None else _CHANGED


def _cited_claim(words: str, places: Sequence[UnitRange], premise: Sequence[UnitRange] = ()) -> CitedClaim:
    """Return a claim with the text of its places, and the shown parts of their sources."""
    cited = dict.fromkeys(place.quote for place in places)
    shown = {place.shown.number: place.shown for place in places}
    sources = []
    for entry in shown.values():
        chunk = entry.result.chunk
        text = "\n".join(unit.text for unit in entry.units)
        names = list(dict.fromkeys(filter(None, (chunk.symbol, *chunk.context, entry.label))))
        names = [name for name in names if not any(name in other for other in names if other != name)]
        sources.append(SourceText(text, chunk.span.path, " · ".join(names)))
    numbers = list(shown)
    rows = ((numbers.index(place.shown.number), place.first.number, place.last.number) for place in places)
    told = "\n".join(place.quote for place in premise[:_MAX_PLACES])
    return CitedClaim(words, "\n".join(cited), tuple(sources), tuple(rows), told)


def check_quotes(quotes: Sequence[Claim], context: Context, text_now: TextNow) -> Verification:
    """Check quotes: `exact` ones are, word for word, at the cited place and still in the document.

    Each has one mark. Their texts may contain brackets.
    """
    shown = numbered(context)
    texts: dict[tuple[str, str], str | None] = {}
    claims, citations = [], []
    for position, quote in enumerate(quotes):
        (place,) = places_of(quote.marks[0], shown)
        verdict: Verdict = "unknown"
        reason = NEVER_SHOWN
        if place is not None:
            chunk = place.shown.result.chunk
            document = chunk.source, chunk.span.path
            if document not in texts:
                texts[document] = text_now(chunk)
            now = texts[document]
            verdict, reason = "exact", ""
            if not is_current(place.span, place.quote, now):
                verdict, reason = "stale", _why_stale(now)
            elif quote.text not in place.quote:
                verdict, reason = "conflict", _OTHER_WORDS
            elif unclear := unclear_number(quote.text, place.quote):
                verdict, reason = "unverified", unclear
        claims.append(replace(quote, verdict=verdict, reason=reason))
        citations.append(citation_of(quote.marks[0], place, verdict, reason, claim=position))
    return Verification("", tuple(claims), tuple(citations))


def _judge_code(block: str, quote: str) -> LiteralVerdict:
    """Compare the lines of fenced code with the cited ones, ignoring indentation."""
    known = {line.strip(" \t\r>") for line in quote.split("\n")}
    telling = _lines_of_code(block)
    held = sum(line in known for line in telling)
    if telling and held == len(telling):
        return LiteralVerdict("exact")
    if not telling:
        return LiteralVerdict("unverified", _NO_CLAIM)
    return LiteralVerdict(
        "unverified", f"{len(telling) - held} of {len(telling)} lines of the code are not in the cited lines"
    )


def _lines_of_code(block: str) -> list[str]:
    """Return the lines of fenced code that are not blank, without indentation."""
    fence: Fence | None = None
    written = []
    for line in block.split("\n"):
        before = fence
        _, fence = read_line(line, fence)
        if before is not None and fence is not None:
            written.append(line.strip(" \t\r>"))
    return [line for line in written if line]
