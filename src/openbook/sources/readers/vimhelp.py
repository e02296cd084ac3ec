"""Reads help files of Vim: sections, entries named by their tags, and listings."""

from __future__ import annotations

import re
from itertools import accumulate
from operator import attrgetter

from openbook.entries import END_OF_HEAD, END_OF_HEADING
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

_RULER = re.compile(r"(?:={10,}|-{10,})\s*")
# `*:Moor*  *moor-quay*`, of which the first may stand behind a title.
_TAG = re.compile(r"(?<!\S)\*([^\s*|]+|[^\s|]*[^\s*|])\*(?!\S)")
_TITLED = re.compile(rf"(?P<title>\w.*?)(?P<tags>(?:\s+{_TAG.pattern})+)\s*")
# `Ropes and knots ~`, but not the names of columns.
_SUBTITLE = re.compile(r"(?P<title>\S+(?: \S+)*) ~\s*")
_OPENS_CODE = re.compile(r"(?:^|\s)>[a-z]*\s*$")
# Behind the names of columns.
_COLUMNS = re.compile(r"\s~\s*$")
_FOLD = re.compile(r"\s*(?:\{\{\{|\}\}\})\d*\s*$")
_MODELINE = re.compile(r"\s*vim?:.*\bf(?:ile)?t(?:ype)?=help\b.*")
# Between a name and what is said of it.
_GAP = re.compile(r"\s{2}|\t")

# Further ones are a table, which is hard to read in one line.
_MOST_NAMES = 8

# Of what an entry says, so that indentation alone tells where it ends.
_INDENT = "  "


def read_vimhelp(text: str, path: str) -> Reading:
    r"""Read a help file.

    What is below a ruler, or a title with a tag, is a section. Lines of tags, and of the names that these stand behind
    or above, are the head of an entry: one line with the mark of `openbook.entries`. Its text up to the next one is
    indented. With a name it is also a section. Line numbers do not change.

    Example:
        >>> reading = read_vimhelp("*moor.txt*\n==========\nROPES *ropes*\n\n*:Moor*\nMoors. >\n  :Moor\n<\n", "")
        >>> [line.strip() for line in reading.text.split("\n")]
        ['moor.txt', '', 'ROPES ropes', '', ':Moor', 'Moors.', ':Moor', '', '']
        >>> [(block.level, block.title) for block in reading.blocks if block.kind == "heading"]
        [(1, 'moor.txt'), (2, 'ROPES ropes')]
    """
    page = _Page()
    for line in text.replace("\f", " ").split("\n"):
        page.read(_FOLD.sub("", line))
    return page.reading()


class _Page:
    """What is shown of the lines so far."""

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._headings: dict[int, tuple[int, str]] = {}
        self._listings: list[list[int]] = []
        """The places of the lines of each listing."""
        self._first_of_head = 0
        self._names: list[str] = []
        """Of the entry whose head ends in the line above."""
        self._is_below_ruler = self._in_entry = self._in_listing = False

    def read(self, line: str) -> None:
        """Add a line."""
        if self._in_listing:
            self._in_listing = not line or line[0].isspace()
            if self._in_listing:
                self._listings[-1].append(len(self._shown))
                self._add(line)
                return
            line = f" {line[1:]}" if line.startswith("<") else line
        is_ruler = _RULER.fullmatch(line) is not None
        level, title = _heading(line, len(self._shown), is_below_ruler=self._is_below_ruler)
        above = self._names if _can_join(self._names, line) else []
        self._names = [] if level else _names(line, above)
        self._in_entry = bool(self._names) or (self._in_entry and not level and not is_ruler)
        self._is_below_ruler = is_ruler or (self._is_below_ruler and not line.strip())
        if level:
            self._headings[len(self._shown)] = (level, title)
            shown = title if level > 1 else " ".join(_untagged(line).split())
            self._shown.append(shown + END_OF_HEADING + "\f" * (level - 1))
        elif self._names:
            self._add_head(_without_tags(line), is_further=bool(above))
        else:
            self._in_listing = _OPENS_CODE.search(line) is not None
            self._listings += [[] for _ in range(self._in_listing)]
            self._add(_plain(line))

    def _add_head(self, name: str, *, is_further: bool) -> None:
        if not is_further:
            self._first_of_head = len(self._shown)
        head = ", ".join(self._names)
        self._shown.append("")
        self._shown[self._first_of_head] = head + END_OF_HEAD
        if name and not _GAP.search(name):  # tags alone may stand above any paragraph
            self._headings[self._first_of_head] = (4, head)

    def _add(self, line: str) -> None:
        self._shown.append(f"{_INDENT}{line}" if self._in_entry and line.strip() else line)

    def reading(self) -> Reading:
        """Return the whole."""
        lines = self._shown
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        listings = ([place for place in listing if lines[place].strip()] for listing in self._listings)
        blocks = [
            *(Block(starts[at], starts[at] + len(lines[at]), "heading", *told) for at, told in self._headings.items()),
            *(Block(starts[each[0]], starts[each[-1]] + len(lines[each[-1]]), "code") for each in listings if each),
        ]
        text = "\n".join(lines)
        return Reading(text, "docs", "vimhelp", fill_gaps(text, sorted(blocks, key=attrgetter("start_char"))))


def _heading(line: str, place: int, *, is_below_ruler: bool) -> tuple[int, str]:
    """Return the level and the title of a heading; 0 for other lines."""
    tags = _TAG.findall(line)
    if place == 0 and tags:
        return 1, tags[0]
    titled = _TITLED.fullmatch(line)
    if titled and (is_below_ruler or not _is_named(titled["title"], tags)):
        return 2, " ".join(_untagged(line).split())  # a link may name the tag
    if is_below_ruler and line.strip():
        return (2, " ".join(tags)) if tags and not _without_tags(line) else (0, "")
    subtitle = _SUBTITLE.fullmatch(line)
    return (3, subtitle["title"]) if subtitle else (0, "")


def _can_join(names: list[str], line: str) -> bool:
    """Return whether a line may continue a head: none that has a description beside its name is joined."""
    return len(names) < _MOST_NAMES and not any(_GAP.search(each) for each in (*names[-1:], _without_tags(line)))


def _names(line: str, above: list[str]) -> list[str]:
    """Return the names of an entry, which may have some in the lines above; none if a line is not of its head."""
    tags = _TAG.findall(line)
    said = _without_tags(line)
    if not said:
        return [*above, *tags] if tags else []
    is_alone = not line[0].isspace() and any(said in name for name in above)
    if not is_alone and not (_is_named(said, tags) and line.rstrip().endswith("*")):
        return []
    # Tags such as `moor-event` and `options.moor` only make the name `moor` unique.
    unique = re.compile(rf"(?:.*[.-])?{re.escape(said)}(?:[.-].*)?")
    return [*(name for name in above if not unique.fullmatch(name)), said]


def _is_named(said: str, tags: list[str]) -> bool:
    return any(tag.strip("'").removesuffix("()") in said for tag in tags)


def _plain(line: str) -> str:
    if _RULER.fullmatch(line) or _MODELINE.fullmatch(line):
        return ""
    return _COLUMNS.sub("", _OPENS_CODE.sub("", _untagged(line))).rstrip()


def _without_tags(line: str) -> str:
    return _TAG.sub("", line).strip()


def _untagged(line: str) -> str:
    return _TAG.sub(r"\1", line)
