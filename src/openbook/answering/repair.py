"""Repair of answers: a failing claim gets the marks of units that support it, or goes. Each change is recorded."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from openbook.answering.citations import Place, places_of
from openbook.answering.context import words_of_units
from openbook.answering.verdicts import NEVER_SHOWN, Checked, Checker
from openbook.generation import Claim, Repair
from openbook.grounding.claims import Statement
from openbook.grounding.marks import Mark
from openbook.retrieval.tokens import tokenize

# Units that are tried for one claim. The words of a claim find the unit that carries it among the
# first three, or it needs a judge that reads.
_MOST_TRIED = 3

# An answer where more claims than this fail is not worth repairing; it also bounds what that costs.
_MOST_REPAIRED = 100

# What is left is read anew: lines that were apart can have become one claim.
_MOST_ROUNDS = 3

_BEFORE = re.compile(r"[ \t>]*(?:(?:[-*+•]|\d{1,9}[.)])[ \t]*|\|[ \t]*)?")
_BEHIND = re.compile(r"[ \t|\r]*")
_BLANKS = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str = ""


def anchored(checked: Checked, checker: Checker) -> Checked:
    """Give each claim that fails the marks of the best units that support it, if some do.

    A mark that names nothing goes where other marks support its claim. Without anything to change,
    or if the changes would not help, the answer stays as it is.
    """
    statements, loose = checker.split(checked.answer)
    shelf = _Shelf(checker)
    edits: list[_Edit] = []
    repairs: list[Repair] = []
    moved: list[Statement] = []
    kept = {mark for each in loose for mark in each.marks}
    left = _MOST_REPAIRED
    for statement, claim in zip(statements, checked.claims, strict=True):
        inside = [mark for mark in statement.marks if claim.start_char <= mark.start_char < claim.end_char]
        left -= claim.fails
        places = shelf.best(claim.text) if claim.fails and left >= 0 else ()
        if places:
            marks = "".join(place.mark for place in places)
            edits += _with_marks(checked.answer, claim, inside, marks)
            repairs.append(Repair("anchored", claim.text, "".join(claim.marks), marks, claim.reason))
            moved.append(statement)
            continue
        kept.update(statement.marks)
        if claim.verdict == "supported":
            unknown = [mark for mark in inside if not any(places_of(mark.text, checker.shown))]
            edits += (_Edit(_start_of_blanks(checked.answer, mark), mark.end_char) for mark in unknown)
            repairs += (Repair("removed", claim.text, mark.text, "", NEVER_SHOWN) for mark in unknown)
    if not edits:
        return checked
    edits += _orphans(checked.answer, moved, kept)
    again = checker.check(_edited(checked.answer, edits))
    if len(again.failing) > len(checked.failing) - len(moved):
        return checked
    return replace(again, repairs=(*checked.repairs, *repairs))


def dropped(checked: Checked, checker: Checker) -> Checked:
    """Take the claims that fail out of the answer, and the marks that belonged to nothing else."""
    for _ in range(_MOST_ROUNDS):
        if not checked.failing:
            break
        answer = checked.answer
        statements, loose = checker.split(answer)
        pairs = list(zip(statements, checked.claims, strict=True))
        gone = [statement for statement, claim in pairs if claim.fails]
        kept = {mark for statement, claim in pairs if not claim.fails for mark in statement.marks}
        kept.update(mark for each in loose for mark in each.marks)
        places = [(claim.start_char, claim.end_char) for claim in checked.failing]
        places += [(edit.start, edit.end) for edit in _orphans(answer, gone, kept)]
        repairs = [
            Repair("dropped", claim.text, answer[claim.start_char : claim.end_char], "", claim.reason)
            for claim in checked.failing
        ]
        again = checker.check(_edited(answer, _removals(answer, sorted(places))))
        checked = replace(again, repairs=(*checked.repairs, *repairs))
    return checked


class _Shelf:
    """The units that were shown, to be looked through for claims."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._places: list[Place] = []
        self._words: list[tuple[str, ...]] = []

    def best(self, claim: str) -> tuple[Place, ...]:
        """Give the places that support a claim: one unit, else one with its neighbours, else the best two.

        Equal ones are ordered by where they were shown. Empty if none supports it.
        """
        near = self._nearest(claim)
        wide = [_widened(place) for place in near]
        pair = sorted(near[:2], key=lambda place: (place.shown.number, place.first.number))
        for options in ([(place,) for place in near], [(place,) for place in wide], [tuple(pair)]):
            worth = [option for option in options if option and self._checker.may_support(claim, option)]
            judged = [(self._checker.judge(claim, option), option) for option in worth]
            supported = [(found.score, option) for found, option in judged if found.verdict == "supported"]
            fresh = [(score, option) for score, option in supported if all(map(self._checker.is_fresh, option))]
            if fresh:
                return max(fresh, key=lambda item: item[0])[1]
        return ()

    def _nearest(self, claim: str) -> list[Place]:
        """Give the fresh units that hold most of the words of a claim, rare ones weighing more."""
        if not self._places:
            self._fill()
        wanted = frozenset(tokenize(claim))
        holding: defaultdict[str, list[int]] = defaultdict(list)
        for position, words in enumerate(self._words):
            for token in wanted.intersection(words):
                holding[token].append(position)
        scores: defaultdict[int, float] = defaultdict(float)
        for token in sorted(holding):
            rarity = math.log(1 + len(self._places) / len(holding[token]))
            for position in holding[token]:
                scores[position] += rarity
        ranked = sorted(scores, key=lambda position: (-scores[position], position))
        fresh = (self._places[position] for position in ranked)
        return [place for _, place in zip(range(_MOST_TRIED), filter(self._checker.is_fresh, fresh), strict=False)]

    def _fill(self) -> None:
        for shown in self._checker.shown.values():
            self._places += (Place(shown, unit, unit) for unit in shown.units)
            self._words += words_of_units(shown.result.chunk)[: len(shown.units)]


def _widened(place: Place) -> Place:
    units = place.shown.units
    first, last = max(1, place.first.number - 1), min(len(units), place.last.number + 1)
    return Place(place.shown, units[first - 1], units[last - 1])


def _with_marks(answer: str, claim: Claim, inside: Sequence[Mark], marks: str) -> Iterator[_Edit]:
    """Put marks where the first ones of the claim stand, else behind it."""
    if not inside:
        yield _Edit(claim.end_char, claim.end_char, f" {marks}")
        return
    yield _Edit(inside[0].start_char, inside[0].end_char, marks)
    yield from (_Edit(_start_of_blanks(answer, mark), mark.end_char) for mark in inside[1:])


def _orphans(answer: str, changed: Iterable[Statement], kept: set[Mark]) -> list[_Edit]:
    """Take out marks on lines of their own that belonged to none but claims that no longer need them."""
    orphans = {
        mark
        for statement in changed
        for mark in statement.marks
        if mark not in kept and not statement.claim.start_char <= mark.start_char < statement.claim.end_char
    }
    return [_Edit(_start_of_blanks(answer, mark, " \t\r\n"), mark.end_char) for mark in orphans]


def _start_of_blanks(answer: str, mark: Mark, blanks: str = " \t") -> int:
    start = mark.start_char
    while start and answer[start - 1] in blanks:
        start -= 1
    return start


def _removals(answer: str, places: Sequence[tuple[int, int]]) -> Iterator[_Edit]:
    """Cut places out: neighbours together, and with them the lines that they fill, bullets included."""
    together: list[tuple[int, int]] = []
    for start, end in places:
        if together and _BLANKS.fullmatch(answer, together[-1][1], start):
            together[-1] = (together[-1][0], max(together[-1][1], end))
        else:
            together.append((start, end))
    for start, end in together:
        line = answer.rfind("\n", 0, start) + 1
        following = answer.find("\n", end)
        following = len(answer) if following < 0 else following
        if _BEFORE.fullmatch(answer, line, start) and _BEHIND.fullmatch(answer, end, following):
            blank_before = line == 0 or answer.startswith("\n\n", line - 2)
            blank_behind = answer.startswith("\n\n", following)
            yield _Edit(line, min(len(answer), following + 1 + (blank_before and blank_behind)))
        else:
            behind = _BLANKS.match(answer, end, following)
            yield _Edit(start, behind.end() if behind else end)


def _edited(answer: str, edits: Iterable[_Edit]) -> str:
    """Apply edits, in any order. What one has taken away, another cannot take again."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [answer[at : edit.start], edit.text]  # a slice that ends before it starts is empty
        at = max(at, edit.end)
    return "".join([*parts, answer[at:]])
