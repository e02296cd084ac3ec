"""Repairs answers on evidence: moves marks to the place with the exact words of a claim, and may remove conflicts.

Each change is recorded. Lexical scores are no evidence, and ranges are not narrowed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from openbook.answering.verification import NEVER_SHOWN, CitationChecker, Verification
from openbook.answers import Claim, Repair
from openbook.extractive.citations import UnitRange, places_of
from openbook.grounding.blocks import ITEM, read_line
from openbook.grounding.claims import Statement
from openbook.grounding.literal import check_literally, is_verbatim
from openbook.grounding.lookup import squash
from openbook.grounding.marks import CitationMark
from openbook.grounding.protocol import CitedClaim

# After a removal, the answer is parsed again, as lines may have become one claim.
_MAX_ROUNDS = 3

# Limit of a place with the exact words of a claim: a sentence, or a few lines.
_MAX_UNITS = 8

_BEFORE = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]*(?:\[[ xX]\][ \t]+)?|\|[ \t]*)?")


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str = ""


def anchored(checked: Verification, checker: CitationChecker) -> Verification:
    """Move the marks of claims to places with evidence for them.

    Evidence for a claim in conflict is its exact text in one other place of the context, or the judgment of a verifier.
    Invalid marks move to where other marks of their claim are `exact` or `confirmed`.
    """
    statements, loose = checker.split(checked.answer)
    edits: list[_Edit] = []
    repairs: list[Repair] = []
    moved: list[Statement] = []
    kept = {mark for each in loose for mark in each.marks}
    for statement, claim in zip(statements, checked.claims, strict=False):  # uncited code follows them
        inside = [mark for mark in statement.marks if claim.start_char <= mark.start_char < claim.end_char]
        place = _evidence(statement, checker)
        if place is not None:
            edits += _with_marks(checked.answer, claim, inside, place.mark)
            repairs.append(Repair("anchored", claim.text, "".join(claim.marks), place.mark, claim.reason))
            moved.append(statement)
            continue
        kept.update(statement.marks)
        if claim.verdict in ("exact", "confirmed"):
            unknown = [mark for mark in inside if not any(places_of(mark.text, checker.shown))]
            edits += _without(checked.answer, unknown)
            repairs += (Repair("removed", claim.text, mark.text, "", NEVER_SHOWN) for mark in unknown)
    if not edits:
        return checked
    edits += _orphans(checked.answer, moved, kept)
    return replace(checker.check(_edited(checked.answer, edits)), repairs=(*checked.repairs, *repairs))


def _evidence(statement: Statement, checker: CitationChecker) -> UnitRange | None:
    """Return the only other place that supports a claim; None if there is none, or if it is ambiguous."""
    found = checker.judgement(statement)
    if found is None:
        return None
    if found.verdict == "conflict":
        return _only_place(statement.judged, checker, whole=True)
    if found.verdict == "unverified" and found.quote:
        place = _only_place(found.quote, checker, whole=False)
        if place is None or check_literally(CitedClaim(statement.judged, place.quote)).verdict == "conflict":
            return None
        checker.confirm(statement.judged, place, found.quote)
        return place
    return None


def _only_place(words: str, checker: CitationChecker, *, whole: bool) -> UnitRange | None:
    """Return the shortest range of units with some words, if only one current place in the context has them.

    If they are a `whole` claim, it must be a whole statement of the place.
    """
    places: list[UnitRange] = []
    wanted = squash(words).strip(" .,;:!?-•")
    for entry in checker.shown.values():
        if wanted not in squash("\n".join(unit.text for unit in entry.units)):
            continue
        for first in range(len(entry.units)):
            for last in range(first, min(first + _MAX_UNITS, len(entry.units))):
                place = UnitRange(entry, entry.units[first], entry.units[last])
                if is_verbatim(words, place.quote) if whole else wanted in squash(place.quote):
                    places.append(place)
                    break
    smallest = [place for place in places if not any(_is_within(other, place) for other in places)]
    return smallest[0] if len(smallest) == 1 and checker.is_fresh(smallest[0]) else None


def _is_within(inner: UnitRange, outer: UnitRange) -> bool:
    """Return whether a range is a proper part of another one of the same source."""
    if inner.shown.number != outer.shown.number or inner.mark == outer.mark:
        return False
    return outer.first.number <= inner.first.number and inner.last.number <= outer.last.number


def dropped(checked: Verification, checker: CitationChecker) -> Verification:
    """Remove claims in conflict from the answer, and the marks of no other claim."""
    for _ in range(_MAX_ROUNDS):
        if not checked.conflicts:
            break
        answer = checked.answer
        statements, loose = checker.split(answer)
        pairs = list(zip(statements, checked.claims, strict=False))
        gone = [statement for statement, claim in pairs if claim.verdict == "conflict"]
        kept = {mark for statement, claim in pairs if claim.verdict != "conflict" for mark in statement.marks}
        kept.update(mark for each in loose for mark in each.marks)
        places = [(claim.start_char, claim.end_char) for claim in checked.conflicts]
        places += [(edit.start, edit.end) for edit in _orphans(answer, gone, kept)]
        repairs = [
            Repair("dropped", claim.text, answer[claim.start_char : claim.end_char], "", claim.reason)
            for claim in checked.conflicts
        ]
        again = checker.check(_edited(answer, _removals(answer, sorted(places))))
        checked = replace(again, repairs=(*checked.repairs, *repairs))
    return checked


def _with_marks(answer: str, claim: Claim, inside: Sequence[CitationMark], marks: str) -> Iterator[_Edit]:
    """Insert marks at the first ones of a claim, or after it."""
    if not inside:
        yield _Edit(claim.end_char, claim.end_char, f" {marks}")
        return
    yield _Edit(inside[0].start_char, inside[0].end_char, marks)
    yield from (_Edit(_start_of_blanks(answer, mark), mark.end_char) for mark in inside[1:])


def _without(answer: str, marks: Sequence[CitationMark]) -> Iterator[_Edit]:
    """Remove marks with the blanks before them, unless a remaining mark needs these."""
    runs: list[list[CitationMark]] = []
    for mark in marks:
        if runs and runs[-1][-1].end_char == mark.start_char:
            runs[-1].append(mark)
        else:
            runs.append([mark])
    for run in runs:
        end = run[-1].end_char
        yield _Edit(run[0].start_char if answer.startswith("[", end) else _start_of_blanks(answer, run[0]), end)


def _orphans(answer: str, changed: Iterable[Statement], kept: set[CitationMark]) -> list[_Edit]:
    """Remove marks on separate lines that only belonged to changed claims."""
    orphans = {
        mark
        for statement in changed
        for mark in statement.marks
        if mark not in kept and not statement.claim.start_char <= mark.start_char < statement.claim.end_char
    }
    return [_Edit(_start_of_blanks(answer, mark, " \t\r\n"), mark.end_char) for mark in orphans]


def _start_of_blanks(answer: str, mark: CitationMark, blanks: str = " \t") -> int:
    start = mark.start_char
    while start and answer[start - 1] in blanks:
        start -= 1
    return start


def _removals(answer: str, places: Sequence[tuple[int, int]]) -> Iterator[_Edit]:
    """Remove ranges: adjacent ones together, with whole lines and their bullets if these become empty."""
    together: list[tuple[int, int]] = []
    for start, end in places:
        if together and not answer[together[-1][1] : start].strip():
            together[-1] = (together[-1][0], max(together[-1][1], end))
        else:
            together.append((start, end))
    shifts: Counter[int] = Counter()
    for start, end in together:
        line = answer.rfind("\n", 0, start) + 1
        following = answer.find("\n", end)
        following = len(answer) if following < 0 else following
        is_whole = _BEFORE.fullmatch(answer, line, start) and not answer[end:following].strip(" \t|\r")
        goes_on = _continuation(answer, line, following + 1)
        if is_whole and goes_on is None:
            blank_before = line == 0 or answer.startswith("\n\n", line - 2)
            blank_behind = answer.startswith("\n\n", following)
            end_of_cut = min(len(answer), following + 1 + (blank_before and blank_behind))
            yield _Edit(line, end_of_cut, "\n" if _would_join(answer, line, end_of_cut) else "")
            shifts.update(dict(_shifts(answer, line, following + 1)))
        else:
            behind = following - len(answer[end:following].lstrip())
            yield _Edit(start, goes_on if is_whole and goes_on else behind)
    yield from (_Edit(start, start + min(shift, _indent(answer, start))) for start, shift in shifts.items())


def _continuation(answer: str, start: int, behind: int) -> int | None:
    """Return where a list item continues in the next line; None if it does not."""
    line = answer[behind:].partition("\n")[0]
    indent = _indent(answer, behind)
    if not ITEM.match(answer, start) or read_line(line, None)[0] != "text" or indent <= _indent(answer, start):
        return None
    return behind + indent


def _shifts(answer: str, start: int, behind: int) -> Iterator[tuple[int, int]]:
    """Outdent the lines nested below a removed item, so that they do not become part of the item before.

    Yields:
        The start of each line, and the number of blanks to remove.
    """
    level = _indent(answer, start)
    deeper = 0
    while ITEM.match(answer, start) and behind < len(answer):
        following = answer.find("\n", behind) + 1 or len(answer) + 1
        if answer[behind : following - 1].strip():
            indent = _indent(answer, behind)
            if indent <= level:
                break
            deeper = deeper or indent - level
            yield behind, deeper
        behind = following


def _indent(answer: str, start: int) -> int:
    """Return the indentation of a line."""
    line = answer[start:].partition("\n")[0]
    return len(line) - len(line.lstrip(" \t"))


def _would_join(answer: str, start: int, end: int) -> bool:
    """Return whether a sentence after a removal would become part of the list item before."""
    before = answer[:start].rstrip("\n").rpartition("\n")[2]
    behind = answer[end:].partition("\n")[0]
    is_apart = answer[:start].endswith("\n\n") or not before.strip() or not behind.strip()
    return not is_apart and ITEM.match(before) is not None and not ITEM.match(behind) and not behind.startswith(" ")


def _edited(answer: str, edits: Iterable[_Edit]) -> str:
    """Apply edits, in any order. Overlapping removals are applied once."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [answer[at : edit.start], edit.text]  # a slice that ends before it starts is empty
        at = max(at, edit.end)
    return "".join([*parts, answer[at:]])
