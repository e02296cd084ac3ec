"""The verdicts on an answer in the words of a model: the mark names something, it is fresh, it says so.

Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from openbook.answering.citations import Place, TextNow, citation_of, numbered, places_of, verdict_of
from openbook.answering.context import Context
from openbook.generation import Citation, Claim, Repair, Verdict
from openbook.grounding.blocks import Fence, read_line
from openbook.grounding.claims import Loose, Statement, split_claims
from openbook.grounding.facts import has_facts
from openbook.grounding.judge import Judge, Judgement
from openbook.types import Span

# A claim that names forty places names none. It also bounds what one claim costs.
_MOST_PLACES = 40

NEVER_SHOWN = "nothing of that number was shown"
_CHANGED = "the document has changed there since it was indexed"
_GONE = "the document is gone, or cannot be read"
_OTHER_WORDS = "the cited lines do not hold it word for word"
_NO_MARK = "it states facts and cites nothing"
_NO_CLAIM = "it stands behind no claim"


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer, what it states, and what was found and changed when it was checked."""

    answer: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def failing(self) -> tuple[Claim, ...]:
        """The claims that are not supported in full, in order."""
        return tuple(claim for claim in self.claims if claim.fails)

    @property
    def refusal(self) -> str:
        """Why this is no answer to show: `nothing supported` or `nothing claimed`; empty if it is one."""
        found = {claim.verdict for claim in self.claims} | {citation.verdict for citation in self.citations}
        if found & {"supported", "partial"}:
            return ""
        return "nothing supported" if found - {""} or self.repairs else "nothing claimed"


class Checker:
    """Checks texts against one context. What it has read and judged is remembered until it goes."""

    def __init__(self, context: Context, judge: Judge, text_now: TextNow) -> None:
        self.shown = numbered(context)
        self._judge = judge
        self._text_now = text_now
        self._texts: dict[tuple[str, str], str | None] = {}
        self._fresh: dict[str, bool] = {}
        self._judgements: dict[tuple[str, ...], Judgement] = {}
        self._split: tuple[str, tuple[list[Statement], list[Loose]]] = ("", ([], []))

    def check(self, answer: str) -> Checked:
        """Give every claim, and every place that it cites, a verdict."""
        statements, loose = self.split(answer)
        claims: list[Claim] = []
        found: list[tuple[int, Citation]] = []
        for position, statement in enumerate(statements):
            claim, citations = self._of_claim(statement.claim, position)
            claims.append(claim)
            found += ((claim.start_char, citation) for citation in citations)
        cited = {(citation.source, citation.span) for _, citation in found}
        for each in loose:
            found += ((each.marks[0].start_char, citation) for citation in self._of_loose(each, cited))
        found.sort(key=lambda item: item[0])  # stable: those of one claim keep their order
        return Checked(answer, tuple(claims), tuple(citation for _, citation in found))

    def split(self, answer: str) -> tuple[list[Statement], list[Loose]]:
        """Do what `split_claims` does. What is repaired is what was checked before."""
        if answer != self._split[0]:
            self._split = (answer, split_claims(answer))
        return self._split[1]

    def _of_claim(self, claim: Claim, position: int) -> tuple[Claim, list[Citation]]:
        if not claim.marks:
            facts = has_facts(claim.text)
            return replace(claim, verdict="uncited" if facts else "", reason=_NO_MARK if facts else ""), []
        named = list(self._named(claim.marks))
        good = {place.mark: place for _, place in named if place is not None and self.is_fresh(place)}
        citations = []
        for mark, place in named:
            found = self._of_place(claim.text, place)
            citations.append(citation_of(mark, place, found.verdict, found.reason, claim=position))
        if good:
            found = self.judge(claim.text, tuple(good.values()))
        else:
            found = self._of_place(claim.text, next((place for _, place in named if place is not None), None))
        return replace(claim, verdict=found.verdict, reason=found.reason), citations

    def _of_loose(self, loose: Loose, cited: Set[tuple[str, Span]]) -> Iterator[Citation]:
        for mark, place in self._named([mark.text for mark in loose.marks]):
            if place is not None and self.is_fresh(place) and not loose.text:
                if (place.shown.result.chunk.source, place.span) in cited:
                    continue  # a list of references repeats what is cited above
                found = Judgement("unsupported", _NO_CLAIM)
            elif place is not None and self.is_fresh(place) and loose.is_code:
                found = _judge_code(loose.text, place.quote)
            else:
                found = self._of_place(loose.text.lstrip("#* \t>"), place)
            yield citation_of(mark, place, found.verdict, found.reason)

    def _named(self, marks: Sequence[str]) -> Iterator[tuple[str, Place | None]]:
        """Give each mark with each place that it names, each pair once, in order."""
        seen: set[tuple[str, str]] = set()
        for mark in dict.fromkeys(marks):
            for place in places_of(mark, self.shown):
                key = (mark, place.mark if place else "")
                if key not in seen:
                    seen.add(key)
                    yield mark, place

    def _of_place(self, claim: str, place: Place | None) -> Judgement:
        if place is None:
            return Judgement("unknown", NEVER_SHOWN)
        if not self.is_fresh(place):
            return Judgement("stale", _why_stale(self._text_of(place)))
        return self.judge(claim, (place,))

    def judge(self, claim: str, places: tuple[Place, ...]) -> Judgement:
        """Judge a claim by all places together. Units that several places share count once."""
        key = (claim, *(place.mark for place in places))
        if key not in self._judgements:
            if len(places) > _MOST_PLACES:
                return Judgement("unsupported", f"it cites more than {_MOST_PLACES} places")
            self._judgements[key] = self._judge.judge(claim, *_held(places))
        return self._judgements[key]

    def may_support(self, claim: str, places: tuple[Place, ...]) -> bool:
        """Say whether it is worth judging a claim by some places: if not, they do not support it."""
        return self._judge.may_support(claim, *_held(places))

    def is_fresh(self, place: Place) -> bool:
        """Whether the document still holds the place, character by character. It is read once."""
        if place.mark not in self._fresh:
            self._fresh[place.mark] = verdict_of(place.span, place.quote, self._text_of(place)) == "supported"
        return self._fresh[place.mark]

    def _text_of(self, place: Place) -> str | None:
        chunk = place.shown.result.chunk
        key = (chunk.source, chunk.span.path)
        if key not in self._texts:
            self._texts[key] = self._text_now(chunk)
        return self._texts[key]


def _why_stale(text: str | None) -> str:
    return _GONE if text is None else _CHANGED


def _held(places: Sequence[Place]) -> tuple[list[str], list[str]]:
    """Give the texts of the units of places, and the names that hold of them, each once."""
    units = dict.fromkeys(unit.text for place in places for unit in place.units)
    return list(units), list(dict.fromkeys(name for place in places for name in place.around))


def check_quotes(quotes: Sequence[Claim], context: Context, text_now: TextNow) -> Checked:
    """Check claims that are quotes: supported is what the cited place holds word for word, as the document still does.

    Args:
        quotes: Each with one mark. Their texts may hold brackets of their own.
        context: What was shown.
        text_now: Gives the text of a document as it is now.
    """
    shown = numbered(context)
    claims, citations = [], []
    for position, quote in enumerate(quotes):
        (place,) = places_of(quote.marks[0], shown)
        verdict: Verdict = "unknown"
        reason = NEVER_SHOWN
        if place is not None:
            now = text_now(place.shown.result.chunk)
            verdict = verdict_of(place.span, place.quote, now)
            verdict = "unsupported" if quote.text not in place.quote else verdict
            reason = {"stale": _why_stale(now), "unsupported": _OTHER_WORDS}.get(verdict, "")
        claims.append(replace(quote, verdict=verdict, reason=reason))
        citations.append(citation_of(quote.marks[0], place, verdict, reason, claim=position))
    return Checked("", tuple(claims), tuple(citations))


def _judge_code(block: str, quote: str) -> Judgement:
    """Compare the lines between fences with those that are cited, their indentation aside."""
    fence: Fence | None = None
    written = []
    for line in block.split("\n"):
        before = fence
        _, fence = read_line(line, fence)
        if before is not None and fence is not None:
            written.append(line.strip(" \t\r>"))
    known = {line.strip(" \t\r>") for line in quote.split("\n")}
    telling = [line for line in written if line]
    held = sum(line in known for line in telling)
    if telling and held == len(telling):
        return Judgement("supported", "", 1.0)
    share = held / len(telling) if telling else 0.0
    reason = f"{len(telling) - held} of {len(telling)} lines of the code are not in the cited lines"
    return Judgement("partial" if held else "unsupported", reason, share)
