"""Tells a citation in a version of its page from the others that the page has, and had."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from posixpath import basename

from openbook.text import LineIndex
from openbook.verify.mentions import Mention, find_mentions
from openbook.verify.relocation import ComparedText, agreement, shape

# A citation can be missing from this many versions in a row. A revert and its revert make two.
_MAX_TAKEN_BACK = 4

# Of 1: lines of one form that stand in surroundings this much alike are the same line.
_SAME_PLACE = 0.9

# By how much more alike another line must be. In labelled pages of seven projects, 34 of 35 are by more than .3. Those
# that only stand beside a reworded sentence are by .15 at most.
_MIN_LEAD = 0.2

# Lines of one form that are compared with the one in question, so that long pages take no longer for each citation.
# In the generated pages of tBTC and Fastify, another line was the earlier form of 82 of 515, and never more than one
# rank away. One regeneration may add twenty entries above a line.
_MAX_RIVALS = 40


class Dating:
    """Follows a citation back through the versions of its page, from the newest to the one that it was written in."""

    def __init__(self, words: str, line: str = "", *, keeps_path: bool = True) -> None:
        """Take a citation and its line. `keeps_path`: whether a citation with another path is a different one."""
        self.words = words
        """Path and lines as written in the oldest version found so far."""
        self.age = 0
        """Number of that version, 1 for the newest; 0 if none has the citation."""
        self.is_followed = False
        """Whether an older version was found by the line without its paths."""
        self._line = line
        self._keeps_path = keeps_path
        self._seen = 0
        self._newer: ComparedText | None = None

    def goes_on(self, page: ComparedText | None) -> bool:
        """Take the next older version, None if it has no text; return whether older ones can have the citation."""
        words = self._words_in(page) if page is not None else ""
        self._seen += 1
        if words:
            self.words, self.age, self._newer = words, self._seen, page
        goes_on = self.age > 0 and self._seen - self.age <= _MAX_TAKEN_BACK
        if not goes_on:
            self._newer = None
        return goes_on

    def _words_in(self, page: ComparedText) -> str:
        words, newer, gap = self.words, self._newer, self._seen - self.age
        # A file or a change can be reverted and restored. Its citations are not reviewed then.
        if newer is not None and gap and not lines_with(words, newer) <= lines_with(words, page):
            return ""
        if has_citation(page, words, self._line, newer):
            return words
        before = "" if newer is None or gap or self._keeps_path else words_before(newer.text, page.text, words)
        self.is_followed |= before != ""
        return before


def _places(words: str, text: str) -> Iterator[int]:
    """Return where a text contains words, not just as the beginning of a longer number."""
    at = text.find(words)
    while at >= 0:
        if not text[at + len(words) : at + len(words) + 1].isdecimal():
            yield at
        at = text.find(words, at + 1)


def _stands_in(words: str, text: str) -> bool:
    return next(_places(words, text), -1) >= 0


def has_citation(page: ComparedText, words: str, line: str, newer: ComparedText | None = None) -> bool:
    """Return whether a page contains words, not just in another line than the one that they were written into.

    A line that the `newer` version has as well is not an earlier form of that one.
    """
    if not _stands_in("".join(words.split()), page.squeezed):
        return False
    if line and line not in page.text:
        same = {page.lines[number - 1] for number in page.shapes.get(shape(line), ())}
        same -= {*newer.lines} if same and newer is not None else set()
        if same and not any(_stands_in(words, each) for each in same):
            return False
    return newer is None or _keeps_its_place(words, newer, page)


def _keeps_its_place(words: str, new: ComparedText, old: ComparedText) -> bool:
    """Return whether the line with some words is not the new form of another line of the older version.

    In a generated page many lines differ in nothing but numbers, and one gets by chance those that another had.
    """
    here, own = _numbers(words, new), _numbers(words, old)
    if len(here) != 1 or not own:
        return True
    shapes = {shape(old.lines[number - 1]) for number in own}
    others = sorted(chain.from_iterable(map(old.shapes.__getitem__, shapes)))
    if len(others) <= len(own):
        return True

    def fit(there: int) -> float:
        return agreement(old, (there, there), new, (here[0], here[0]))

    best = max(map(fit, own))
    if best >= _SAME_PLACE:
        return True
    # Of many lines of one form, those are compared that come about as early among them as the line does today.
    rank = bisect_left(new.shapes[shape(new.lines[here[0] - 1])], here[0])
    start = max(0, min(rank, len(others)) - _MAX_RIVALS // 2)
    return all(fit(number) < best + _MIN_LEAD for number in others[start : start + _MAX_RIVALS] if number not in own)


def _numbers(words: str, page: ComparedText) -> list[int]:
    """Return the 1-based lines that contain words, in order."""
    return [] if "\n" in words else [*dict.fromkeys(map(_line_index(page).line_at, _places(words, page.text)))]


@lru_cache(maxsize=2)  # of two versions, one after the other
def _line_index(page: ComparedText) -> LineIndex:
    return LineIndex(page.text)


def lines_with(words: str, page: ComparedText) -> set[str]:
    """Return the lines of a page that contain words."""
    return {line for line in page.lines if _stands_in(words, line)}


def line_before(line: str, text: str, words: str) -> str:
    """Return the line of an older text that had the same words, and differed in nothing but its other citations.

    It is the line itself if the text has that; empty if no line is like it, or if several are.

    Example:
        >>> line_before("`f` (a.py:7) and `g` (a.py:9)", "`f` (a.py:3) and `g` (a.py:9)", "a.py:9")
        '`f` (a.py:3) and `g` (a.py:9)'
    """
    lines = {*text.split("\n")}
    if line in lines:
        return line
    said = _without_citations(line)
    found = [each for each in lines if _stands_in(words, each) and _without_citations(each) == said]
    return found[0] if len(found) == 1 else ""


def _without_citations(line: str) -> str:
    parts, at = [], 0
    for mention in find_mentions(line):
        parts.append(line[at : mention.start_char])
        at = max(at, mention.end_char)
    return "\0".join([*parts, line[at:]])


def words_before(newer: str, older: str, words: str) -> str:
    """Return the wording of a citation before a change of paths alone.

    Args:
        newer: A text that has the citation.
        older: The version before, which has not.
        words: Path and lines, as they stand in the newer text.

    Returns:
        Path and lines as they stand in the line of the older text that differs in nothing but paths; empty if there is
        no such line, if several have different ones, or if the newer text cites the old path as well.

    Example:
        >>> words_before("See [`A`](lib/a.py#L3).", "See [`A`](src/a.py#L3).", "lib/a.py#L3")
        'src/a.py#L3'
    """
    lines = words[max(words.rfind("#"), words.rfind(":")) :]  # of lines in words, the last digit, which is enough
    skeletons = dict[str, list[str]]()
    # An address on somebody's machine, `file:///home/me/shop/src/a.py#L3`, is a path as well.
    for line in older.replace("file:///", "/").split("\n"):
        if lines in line:
            mentions = find_mentions(line)
            skeletons.setdefault(_without_paths(line, mentions), [_words(line, mention) for mention in mentions])
    found = set[str]()
    for line in newer.split("\n"):
        if words in line:
            mentions = find_mentions(line)
            before = skeletons.get(_without_paths(line, mentions), [])
            found |= {old for old, new in zip(before, mentions, strict=False) if _words(line, new) == words}
    old = found.pop() if len(found) == 1 else ""
    return old if _is_rewritten(_path(old, lines), _path(words, lines), newer) else ""


def _path(words: str, lines: str) -> str:
    return words.removesuffix(lines).partition("?")[0]


def _is_rewritten(old: str, new: str, newer: str) -> bool:
    """Return whether a file has got another path, and is not another file whose citation has the same form.

    Either only its folder is another one, or the page has no citation of the old path any more.
    """
    return basename(old) == basename(new) or old not in newer


def _words(text: str, mention: Mention) -> str:
    return text[mention.path_chars[0] : mention.lines_chars[1]]


def _without_paths(line: str, mentions: Sequence[Mention]) -> str:
    parts, at = [], 0
    for mention in mentions:
        # The address of a permalink changes when its branch, or the repository, is renamed.
        parts.append(line[at : mention.start_char if mention.form == "permalink" else mention.path_chars[0]])
        behind = mention.path_chars[1]
        # A page may be asked for in another view, `a.md?plain=1#L3`, and names the same lines.
        at = max(at, mention.lines_chars[0] - len("#") if line[behind : behind + 1] == "?" else behind)
    return "\0".join([*parts, line[at:]])
