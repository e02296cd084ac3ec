"""Relocates lines of an older text in a newer one. Prefers no result to a wrong one."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import islice, takewhile

# White space aside. A shorter block, such as `return None`, stands in many places for many reasons,
# so that finding it once proves nothing: its surroundings have to agree as well.
DISTINCTIVE_CHARS = 24

# Lines above and below a block that are compared. A screen is about this tall, and what is farther
# away changes for reasons of its own.
_AROUND_LINES = 12

# Of 1: how far surroundings must agree where the block alone proves nothing, and by how much the best
# place must lead. Of 10,000 citations that drifted (20 seeds of `benchmarks.relocation`), a lead of .15 named
# one wrong place, and .25 none, at the price of six that were not found.
_MIN_AGREEMENT = 0.3
_LEAD = 0.25

# The same where only a stretch of the older text is known: a twin may have stood outside of it. The bounds
# above named 11 wrong places, these none.
_MIN_AGREEMENT_OF_PART = 0.5
_LEAD_OF_PART = 0.4

# The same where a comparison of both texts as wholes puts the lines there, too.
_LEAD_IN_ORDER = 0.05

# Places with the same text that are compared, which takes up to 0.2 ms each.
_MAX_PLACES = 1_000

# Aligning two texts of this length takes 0.7 s, and of twice the length 3 s. Longer ones are split where lines agree
# that stand in each of them once.
_MAX_ALIGNED_LINES = 4_000

# An edited line is still the same line if this much of it is: a renamed variable or a new argument.
_SAME_LINE = 0.6

# So much of a block must be left if its first or last line is not found again.
_SAME_BLOCK = 0.6

# The same of a line that is nowhere near where it was, and by how much no other line may come as near.
_NEARLY_SAME_LINE = 0.9
_LEAD_OF_LINE = 0.1

# Characters of a line that is compared with all others.
_MAX_LINE_CHARS = 400

# Pairs of characters that a comparison of two blocks looks at, which takes up to .6 s: all pairs of 90 lines of code.
# Of longer blocks only the lines that differ are compared by characters.
_MAX_PAIRS = 10_000_000

_DIGITS = re.compile(r"\d+")


class ComparedText:
    """A text by lines, compared without white space. Lines end at a line feed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.definitions: dict[str, Sequence[Relocation]] = {}
        """Cache of the definitions by name."""

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines. A final line feed does not open another one."""
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines

    def __len__(self) -> int:
        """Count lines."""
        return len(self.lines)

    @cached_property
    def keys(self) -> Sequence[str]:
        """Each line without white space."""
        return ["".join(line.split()) for line in self.lines]

    @cached_property
    def key_set(self) -> frozenset[str]:
        """The different lines, each without white space."""
        return frozenset(self.keys)

    @cached_property
    def hashes(self) -> Sequence[int]:
        """Hashes of the lines without white space, which take less memory than the lines."""
        return array("q", (hash("".join(line.split())) for line in self.text.split("\n")))

    @cached_property
    def full(self) -> Sequence[int]:
        """Index of each line that is not blank, in order."""
        return [index for index, key in enumerate(self.keys) if key]

    @cached_property
    def squeezed(self) -> str:
        """All of the text without white space."""
        return "".join(self.text.split())

    @cached_property
    def shapes(self) -> dict[str, list[int]]:
        """The 1-based numbers of lines by their shape, in order."""
        shapes = dict[str, list[int]]()
        for number, line in enumerate(self.lines, start=1):
            shapes.setdefault(shape(line), []).append(number)
        return shapes

    @cached_property
    def starts(self) -> Sequence[int]:
        """Where each line of `full` begins in `squeezed`, then its end."""
        offsets, at = [], 0
        for index in self.full:
            offsets.append(at)
            at += len(self.keys[index])
        return [*offsets, at]

    def text_of(self, first: int, last: int) -> str:
        """Return lines `first` to `last`, 1-based and inclusive."""
        return "\n".join(self.lines[first - 1 : last])

    def block(self, first: int, last: int) -> str:
        """Return lines `first` to `last`, 1-based and inclusive, without white space."""
        return "".join(self.keys[first - 1 : last])

    def occurrences(self, block: str) -> Iterator[tuple[int, int]]:
        """Find whole lines that hold a squeezed block, however it is wrapped, as 1-based lines, in order."""
        at = self.squeezed.find(block) if block else -1
        while at >= 0:
            first = bisect_left(self.starts, at)
            behind = bisect_left(self.starts, at + len(block))
            if self.starts[first] == at and self.starts[behind] == at + len(block):
                yield self.full[first] + 1, self.full[behind - 1] + 1
            at = self.squeezed.find(block, at + 1)

    def within(self, words: str) -> list[tuple[int, int]]:
        """Find squeezed words anywhere, as the 1-based lines that hold each of their occurrences."""
        found = []
        at = self.squeezed.find(words) if words else -1
        while at >= 0:
            first, last = bisect_right(self.starts, at) - 1, bisect_left(self.starts, at + len(words)) - 1
            found.append((self.full[first] + 1, self.full[last] + 1))
            at = self.squeezed.find(words, at + len(words))
        return found

    def above(self, line: int) -> list[str]:
        """Return the nearest lines above that are not blank, nearest first."""
        end = bisect_left(self.full, line - 1)
        return [self.keys[index] for index in reversed(self.full[max(0, end - _AROUND_LINES) : end])]

    def below(self, line: int) -> list[str]:
        """Return the nearest lines below that are not blank, nearest first."""
        start = bisect_left(self.full, line)
        return [self.keys[index] for index in self.full[start : start + _AROUND_LINES]]

    def enclosing(self, line: int) -> list[int]:
        """Return the 1-based lines that a line stands under by indentation, innermost first: `def`, then `class`.

        Of a wrapped head, as in `def f(`, `a,`, `):`, it is the first. A blank line stands where the one below it does.
        """
        found = []
        index = self.full[at] if (at := bisect_left(self.full, line - 1)) < len(self.full) else line - 1
        depth = depth_of(self.lines[index])
        index -= 1
        while index >= 0 and depth > 0:
            if self.keys[index] and depth_of(self.lines[index]) < depth:
                depth = depth_of(self.lines[index])
                while index > 0 and (not self.keys[index] or self._goes_on(index, depth)):
                    index -= 1
                depth = min(depth, depth_of(self.lines[index]))
                found.append(index + 1)
            index -= 1
        return found

    def _goes_on(self, index: int, depth: int) -> bool:
        """Return whether a line continues what has begun above it at some depth."""
        return depth_of(self.lines[index]) > depth or goes_on(self.lines[index])


@dataclass(frozen=True, slots=True)
class Relocation:
    """Where a block of lines is now."""

    first_line: int
    """1-based."""
    last_line: int
    """1-based, inclusive."""
    likeness: float = 1.0
    """Share of the block that is the same, white space aside, from 0 to 1."""

    @property
    def lines(self) -> tuple[int, int]:
        """Half-open, for `range`."""
        return self.first_line, self.last_line + 1


@dataclass(frozen=True, slots=True)
class NotRelocated:
    """Why a block of lines was not found again."""

    reason: str


def relocate(
    old: ComparedText, first: int, last: int, new: ComparedText, *, is_part: bool = False
) -> Relocation | NotRelocated:
    r"""Find lines of an older text in a newer one.

    A block is found if the same text, white space and line breaks aside, stands at a place whose
    surroundings agree best, or if it stands in one place only and is long enough to prove something.
    A block that was edited is found between the lines that were not.

    Lines are counted from 1, and inclusive. `is_part`: `old` is only a stretch of the older text.

    Example:
        >>> relocate(ComparedText("a\ndef one(self):\nb"), 2, 2, ComparedText("a\nx\ny\ndef one(self):\nb"))
        Relocation(first_line=4, last_line=4, likeness=1.0)
    """
    if old.text == new.text:
        return Relocation(first, last)
    top, bottom = _trimmed(old, first, last)
    if bottom < top:
        return _blank(old, first, last, new)
    block = old.block(top, bottom)
    candidates = list(islice(new.occurrences(block), _MAX_PLACES))
    if len(candidates) == _MAX_PLACES:
        return NotRelocated("too many places look alike")
    found = _chosen(old, (top, bottom), new, candidates, is_part) if candidates else _edited(old, top, bottom, new)
    if isinstance(found, NotRelocated):
        return found
    begin, end = max(1, found.first_line - (top - first)), min(len(new), found.last_line + last - bottom)
    return Relocation(begin, end, found.likeness)


def is_same_neighbourhood(part: ComparedText, first: int, last: int, new: ComparedText, spot: Relocation) -> bool:
    """Return whether lines found in another file are those of a stretch, and not others that say the same by chance."""
    there = (spot.first_line, spot.last_line)
    return agreement(part, (first, last), new, there) >= _MIN_AGREEMENT


def _trimmed(page: ComparedText, first: int, last: int) -> tuple[int, int]:
    """Leave blank lines at both ends out; all blank gives an empty range."""
    while first <= last and not page.keys[first - 1]:
        first += 1
    while last >= first and not page.keys[last - 1]:
        last -= 1
    return first, last


def _blank(old: ComparedText, first: int, last: int, new: ComparedText) -> Relocation | NotRelocated:
    """Find blank lines by the lines around them, if these are as far apart as they were."""
    aligned = {-1: -1, len(old): len(new), **_alignment(old, new)}
    at = bisect_left(old.full, first - 1)
    above = old.full[at - 1] if at else -1
    below = old.full[at] if at < len(old.full) else len(old)
    if above not in aligned or below not in aligned or aligned[below] - aligned[above] != below - above:
        return NotRelocated("the cited lines are blank")
    return Relocation(first + aligned[above] - above, last + aligned[above] - above)


def _chosen(
    old: ComparedText, here: tuple[int, int], new: ComparedText, candidates: Sequence[tuple[int, int]], is_part: bool
) -> Relocation | NotRelocated:
    """Choose among places that hold the very block."""
    block = old.block(*here)
    twins = list(islice(old.occurrences(block), _MAX_PLACES))
    if len(candidates) == 1 and len(twins) <= 1 and len(block) >= DISTINCTIVE_CHARS:
        return Relocation(*candidates[0])
    ranked = sorted(((agreement(old, here, new, there), there) for there in candidates), reverse=True)
    best, place = ranked[0]
    strict = is_part and len(candidates) > 1
    if best < (_MIN_AGREEMENT_OF_PART if strict else _MIN_AGREEMENT):
        return NotRelocated("the same text stands elsewhere, in other surroundings")
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    # One of several equal lines can be gone while another stays: what stays must not belong to a twin.
    rival = max((agreement(old, twin, new, place) for twin in twins if twin != here), default=0.0)
    lead = best - max(second, rival)
    if lead >= (_LEAD_OF_PART if strict else _LEAD):
        return Relocation(*place)
    aligned = {} if is_part else _alignment(old, new)
    if lead >= _LEAD_IN_ORDER and all(aligned.get(a - 1) == b - 1 for a, b in zip(here, place, strict=True)):
        return Relocation(*place)
    if len(candidates) == 1:
        return NotRelocated("of several copies of the cited text, one is left")
    return NotRelocated(f"{len(candidates)} places look alike")


def agreement(old: ComparedText, here: tuple[int, int], new: ComparedText, there: tuple[int, int]) -> float:
    """Return how far surroundings agree, from 0 to 1: what is above, below, and around by indentation."""
    sides = [(old.above(here[0]), new.above(there[0])), (old.below(here[1]), new.below(there[1]))]
    # An end of the older text proves nothing: people add to the ends of files.
    parts = [_shared(before, now) for before, now in sides if any(map(_has_words, before))]
    under = [old.keys[line - 1] for line in old.enclosing(here[0])]
    if any(map(_has_words, under)):
        parts.append(_shared(under, [new.keys[line - 1] for line in new.enclosing(there[0])]))
    return sum(parts) / len(parts) if parts else 0.0


def _shared(old: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of lines that both have in the same order; each weighs less the farther away it is or was.

    Brackets and bare comment marks weigh nothing: they agree by chance.
    """
    has_words = [*map(_has_words, old)]
    matches = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = sum(has_words[a + step] / (max(a, b) + step + 1) for a, b, size in matches for step in range(size))
    return kept / sum(has_word / (distance + 1) for distance, has_word in enumerate(has_words))


def _has_words(key: str) -> bool:
    return any(map(str.isalnum, key))


def _edited(old: ComparedText, top: int, bottom: int, new: ComparedText) -> Relocation | NotRelocated:
    """Find a block whose text has changed by the lines that have not, in it and next to it."""
    aligned = _alignment(old, new)
    first = _aligned_or_between(old, top - 1, new, aligned)
    last = _aligned_or_between(old, bottom - 1, new, aligned)
    if top == bottom and first is None:
        return _resembling(old, top - 1, new)
    is_clear = first is not None and last is not None
    first = _edge(range(top - 1, bottom), old, new, aligned) if first is None else first
    last = _edge(range(bottom - 1, top - 2, -1), old, new, aligned) if last is None else last
    if first is not None and last is not None and first <= last:
        kept = likeness(old.keys[top - 1 : bottom], new.keys[first : last + 1])
        if is_clear or kept >= _SAME_BLOCK:
            return Relocation(first + 1, last + 1, kept)
    return NotRelocated("the cited text is gone")


def _resembling(old: ComparedText, index: int, new: ComparedText) -> Relocation | NotRelocated:
    """Find a line that lost its neighbors and a few characters: each must be the other's nearest by far."""
    there = _nearest(old.keys[index], new)
    if there is None or _nearest(new.keys[there[0]], old) != (index, there[1]):
        return NotRelocated("the cited text is gone")
    return Relocation(there[0] + 1, there[0] + 1, there[1])


def _nearest(key: str, page: ComparedText) -> tuple[int, float] | None:
    """Return the index of the one line that is nearly the same, and its likeness; None if others come near it."""
    if not DISTINCTIVE_CHARS <= len(key) <= _MAX_LINE_CHARS:
        return None
    matcher = SequenceMatcher(None, "", key, autojunk=False)
    found, rival = (-1, _NEARLY_SAME_LINE), 0.0
    for index in page.full:
        matcher.set_seq1(page.keys[index])
        least = found[1] - _LEAD_OF_LINE
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < least:
            continue
        likeness = matcher.ratio()
        if likeness > found[1]:
            found, rival = (index, likeness), max(rival, found[1] if found[0] >= 0 else 0.0)
        else:
            rival = max(rival, likeness)
    return found if found[0] >= 0 and found[1] - rival >= _LEAD_OF_LINE else None


def likeness(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how much of a block is left, from 0 to 1: the share of both that is the same.

    What was only added counts half: then it is the mean of that and the share of the older lines that are unchanged.
    """
    both = _same_share(old, new)
    matches = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    unchanged = sum(len("".join(old[match.a : match.a + match.size])) for match in matches)
    return max(both, (both + unchanged / max(1, len("".join(old)))) / 2)


def _same_share(old: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of two blocks that is the same; of long ones, the share that is easily seen to be the same."""
    blocks = "".join(old), "".join(new)
    if len(blocks[0]) * len(blocks[1]) <= _MAX_PAIRS:
        return SequenceMatcher(None, *blocks, autojunk=False).ratio()
    kept, left = 0, _MAX_PAIRS
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        stretch = "".join(old[a:b]), "".join(new[c:d])
        # None takes all of what is left from those behind it.
        is_short = len(stretch[0]) * len(stretch[1]) <= left // 10
        for before, now in [stretch] if is_short else zip(old[a:b], new[c:d], strict=False):
            left -= len(before) * len(now) if before != now else 0
            if before == now:
                kept += len(before)
            elif left >= 0:
                matches = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
                kept += sum(match.size for match in matches)
    return 2 * kept / (len(blocks[0]) + len(blocks[1]))


def _aligned_or_between(old: ComparedText, index: int, new: ComparedText, aligned: dict[int, int]) -> int | None:
    """Return where a line is: aligned, or edited between two neighbours that are."""
    if index in aligned:
        return aligned[index]
    at = bisect_left(old.full, index)
    above = aligned.get(old.full[at - 1]) if at else -1
    below = aligned.get(old.full[at + 1]) if at + 1 < len(old.full) else len(new)
    between: list[int] = []
    if above is not None:
        between += new.full[bisect_left(new.full, above + 1) :][:1]
    elif below is not None:
        between += new.full[: bisect_left(new.full, below)][-1:]
    taken = set(aligned.values())
    for line in between:
        if line not in taken and SequenceMatcher(None, old.keys[index], new.keys[line]).ratio() >= _SAME_LINE:
            return line
    return None


def _edge(block: range, old: ComparedText, new: ComparedText, aligned: dict[int, int]) -> int | None:
    """Return where the first line of a block is, or its last, that was edited with the lines beside it.

    It is the line most like it next to the nearest one of the block that is still there, or the one in its place if
    there are as many lines as there were, or else that nearest one.
    """
    step = block.step
    kept = next((index for index in block if index in aligned), None)
    if kept is None:
        return None
    before = [*takewhile(lambda index: index not in aligned, range(kept - step, -1 if step > 0 else len(old), -step))]
    stop = aligned.get(kept - step * (len(before) + 1), -1 if step > 0 else len(new))
    was = [index for index in before if old.keys[index]]
    between = [index for index in range(aligned[kept] - step, stop, -step) if new.keys[index]]
    ranked = [(SequenceMatcher(None, old.keys[block[0]], new.keys[index]).ratio(), index) for index in between]
    best, found = max(ranked, default=(0.0, 0))
    if best >= _SAME_LINE:
        return found
    return between[was.index(block[0])] if len(was) == len(between) else aligned[kept]


@lru_cache(maxsize=32)
def _alignment(old: ComparedText, new: ComparedText) -> dict[int, int]:
    """Map indexes of lines that are the same and in the same order, blank ones left out."""
    left = [old.keys[index] for index in old.full]
    right = [new.keys[index] for index in new.full]
    is_long = len(left) + len(right) > 2 * _MAX_ALIGNED_LINES
    found = dict[int, int]()
    at = (0, 0)
    for a, b in (*(_landmarks(left, right) if is_long else ()), (len(left), len(right))):
        if a - at[0] + b - at[1] <= 2 * _MAX_ALIGNED_LINES:
            matcher = SequenceMatcher(None, left[at[0] : a], right[at[1] : b], autojunk=False)
            for match in matcher.get_matching_blocks():
                for step in range(match.size):
                    found[old.full[at[0] + match.a + step]] = new.full[at[1] + match.b + step]
        if a < len(left):
            found[old.full[a]] = new.full[b]
        at = a + 1, b + 1
    return found


def _landmarks(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return where both have a line that stands in each of them once, as many as there are in the same order."""
    counts, others = Counter(left), Counter(right)
    places = {line: index for index, line in enumerate(right) if others[line] == 1}
    pairs = [(index, places[line]) for index, line in enumerate(left) if counts[line] == 1 and line in places]
    # The longest chain that rises in both: each pair continues the longest chain that ends before it.
    tops, ends, links = list[int](), list[int](), list[int]()
    for number, (_, b) in enumerate(pairs):
        length = bisect_left(tops, b)
        links.append(ends[length - 1] if length else -1)
        tops[length : length + 1], ends[length : length + 1] = [b], [number]
    chain, number = list[tuple[int, int]](), ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = links[number]
    return chain[::-1]


def shape(line: str) -> str:
    """Return a line with each number replaced by a zero."""
    return _DIGITS.sub("0", line)


def goes_on(line: str) -> bool:
    """Return whether a line that is not blank continues what began above it at its depth, as `) -> int {` does.

    Example:
        >>> goes_on("}"), goes_on("where T: Shape"), goes_on("def f():")
        (True, True, False)
    """
    return line.lstrip()[0] in ")]}{" or line.split(maxsplit=1)[0] == "where"


def depth_of(line: str) -> int:
    """Count the columns that a line is indented by. A tab goes to the next multiple of four."""
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
