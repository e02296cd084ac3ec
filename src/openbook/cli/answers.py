"""Prints answers on a terminal, with numbered citations and the claims that need attention."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence

from openbook.answers import Citation, Claim, GenerationResult
from openbook.cli.printing import LocationFormatter, one_line, print_excerpt, say, wrapped
from openbook.grounding.literal import NOT_CHECKED
from openbook.grounding.marks import with_marks_replaced
from openbook.text import counted

# The most frequent reasons why claims were not verified, and the claims that are shown for each.
_MAX_REASONS, _MAX_SHOWN = 3, 5

_GOOD = ("exact", "confirmed")

# What ends an answer in the middle, and what to say below it.
_CUT_OFF = {
    "length": "The answer is cut off: it has as many tokens as an answer may have. Ask a narrower question.",
    "filtered": "The answer is cut off: the content filter of the model's provider withheld the rest.",
}

# The beginning of a Markdown line that may be wrapped: plain text, a quote or a list item, but not tables or headings.
_PROSE = re.compile(r"(?P<lead>(?:> ?)*)(?P<item>(?:[-*]|\d{1,3}\.) )?(?P<words>[^\s|#>].*)")


class CitationNumbers:
    """Numbers the citations of an answer, from 1 in order of appearance; each place has one number.

    The marks of an answer, such as `[2:14-18]`, refer to numbered results and lines, which readers do not see.
    """

    def __init__(self, answer: GenerationResult) -> None:
        places: dict[str, list[str]] = {}
        for citation in answer.citations:
            places.setdefault(citation.mark, []).append(
                f"{citation.source} {citation.span} {citation.anchor}" if citation.place else citation.mark
            )
        numbers: dict[tuple[str, ...], int] = {}
        self._numbers = {mark: numbers.setdefault(tuple(each), len(numbers) + 1) for mark, each in places.items()}

    def of(self, mark: str) -> str:
        """Return the number of a mark in brackets; an unknown mark is returned as it is."""
        number = self._numbers.get(mark)
        return mark if number is None else f"[{number}]"


def print_answer(answer: GenerationResult, places: LocationFormatter, *, show: bool) -> None:
    """Print an answer, then its sources."""
    numbers = CitationNumbers(answer)
    _print_words(with_marks_replaced(answer.answer, numbers.of))
    if (
        answer.stopped in _CUT_OFF and answer.reason != answer.stopped
    ):  # then nothing was written, and the answer says so
        say(f"\n({_CUT_OFF[answer.stopped]})")
    say()
    print_sources(answer, places, show=show)
    _print_claims(answer, numbers)
    if show and not answer.refused:
        for result in answer.results:
            say()
            say(places.of(result.chunk), style={"bold": True})
            print_excerpt(result.chunk)


def print_sources(answer: GenerationResult, places: LocationFormatter, *, show: bool = False) -> None:
    """Print the citations of an answer by number, or the nearest results of a refusal, in full if `show`."""
    if not answer.refused:
        numbers = CitationNumbers(answer)
        if answer.citations:
            say("Sources:", style={"bold": True})
        width = max((len(numbers.of(citation.mark)) for citation in answer.citations), default=0)
        good = {numbers.of(citation.mark) for citation in answer.citations if citation.verdict in _GOOD}
        lines: dict[str, None] = {}
        for citation in answer.citations:
            number, settled = numbers.of(citation.mark), _settled(answer, citation, numbers)
            if not (settled and number in good):
                lines[_source_line(citation, f"{number:<{width}}", places, settled)] = None
        for line in lines:
            say(line)
        return
    if answer.results:
        say("Nearest:", style={"bold": True})
    for result in answer.results:
        say(f"  {places.of(result.chunk)}")
        if show:
            print_excerpt(result.chunk)


def _print_words(text: str) -> None:
    """Print Markdown: unchanged in a pipe; on a terminal, wrapped by paragraph."""
    if not sys.stdout.isatty():
        say(text)
        return
    in_code = False
    paragraph: list[re.Match[str]] = []
    for line in text.split("\n"):
        is_fence = line.lstrip("> ").startswith(("```", "~~~"))
        in_code = in_code != is_fence
        prose = None if in_code or is_fence else _PROSE.fullmatch(line)
        goes_on = prose and paragraph and not prose["item"] and prose["lead"] == paragraph[0]["lead"]
        goes_on = goes_on and not paragraph[-1].string.endswith("  ")  # a hard line break
        if paragraph and not goes_on:
            _print_paragraph(paragraph)
            paragraph = []
        if prose is None:
            say(line)
        else:
            paragraph.append(prose)
    if paragraph:
        _print_paragraph(paragraph)


def _print_paragraph(lines: Sequence[re.Match[str]]) -> None:
    lead, item = lines[0]["lead"], lines[0]["item"] or ""
    words = " ".join(line["words"].strip() for line in lines)
    say(wrapped(words, first=lead + item, indent=lead + " " * len(item)))


def _settled(answer: GenerationResult, citation: Citation, numbers: CitationNumbers) -> str:
    """Return what decides a claim if another of its citations does; else empty.

    A claim may take its name from one place and its number from another. The verifier points to one of them.
    """
    claim = None if citation.claim is None else answer.claims[citation.claim]
    if citation.verdict != "unverified" or claim is None or claim.verdict not in _GOOD:
        return ""
    others = {
        numbers.of(other.mark): None
        for other in answer.citations
        if other.claim == citation.claim and other.verdict in _GOOD
    }
    others.pop(numbers.of(citation.mark), None)
    done = "confirmed by" if claim.verdict == "confirmed" else "exact in"
    return f"cited too, {done} {', '.join(others)}" if others else ""


def _source_line(citation: Citation, number: str, places: LocationFormatter, settled: str) -> str:
    place = places.link(citation.source, citation.span, citation.anchor) if citation.place else ""
    if citation.symbol:
        place = f"{one_line(citation.symbol)} ({place})"
    label = "" if citation.label == citation.anchor else one_line(citation.label)
    parts = (number, place, settled or citation.verdict, label)
    # The reason of unverified claims is printed once for all.
    reason = "" if citation.verdict == "unverified" else one_line(citation.reason)
    return f"  {'  '.join(filter(None, parts))}{f': {reason}' if reason else ''}"


def _print_claims(answer: GenerationResult, numbers: CitationNumbers) -> None:
    """Print the claims that need attention, those that were not verified and why, and the repairs."""
    stated = [claim for claim in answer.claims if claim.verdict]
    wrong = [claim for claim in stated if claim.is_wrong]
    if wrong:
        say()
        say(f"Problems ({len(wrong)} of {counted(len(stated), 'claim')}):")
    for claim in wrong:
        say(wrapped(f"{claim.verdict}: {one_line(claim.reason)}", indent="  "))
        say(wrapped(_prose(claim.text), indent="      "), style={"dim": True})
    if not answer.refused:
        _print_open_claims(stated, answer.verifier_failures)
    if answer.repairs:
        say()
        say("Changes made by the check:")
    for repair in answer.repairs:
        done = {"anchored": f"now cites {numbers.of(repair.after)}", "removed": "a mark was removed"}
        say(wrapped(f"{done.get(repair.what, repair.what)}: {one_line(repair.why)}", indent="  "))
        if repair.claim:
            say(wrapped(_prose(repair.claim), indent="      "), style={"dim": True})


def _print_open_claims(stated: Sequence[Claim], failures: Collection[str]) -> None:
    """Print the claims that were not verified by reason. They are only counted if nothing was checked at all."""
    open_ones = [claim for claim in stated if claim.verdict in ("unverified", "uncited")]
    if not open_ones:
        return
    say()
    say(f"Not verified ({len(open_ones)} of {counted(len(stated), 'claim')}):", style={"dim": True})
    reasons = Counter(claim.reason for claim in open_ones)
    for reason, count in reasons.most_common(_MAX_REASONS):
        say(wrapped(f"{counted(count, 'claim')}: {one_line(reason)}", indent="  "), style={"dim": True})
        if reason == NOT_CHECKED or reason in failures:
            continue
        for claim in [claim for claim in open_ones if claim.reason == reason][:_MAX_SHOWN]:
            say(wrapped(_prose(claim.text), indent="      "), style={"dim": True})
        if count > _MAX_SHOWN:
            say(f"      and {count - _MAX_SHOWN} more", style={"dim": True})


def _prose(text: str) -> str:
    """Write a claim, which may have several lines, on one."""
    return one_line(" ".join(text.split()))
