"""Reads LaTeX, AsciiDoc, Org, man pages and POD line by line: headings, listings, and text without markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from openbook.entries import END_OF_HEAD, END_OF_HEADING, MARKED
from openbook.sources.readers.asciidoc_tables import tables_in, with_rows
from openbook.sources.readers.man import man_lines
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

# LaTeX packages are programs, documented by their comments.
_PROGRAMS = (".sty", ".cls")

_LATEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s?|(?<=\S)[{}$]|[{}$](?=\S)")

# Longer lines are not headings.
_MAX_TITLE_CHARS = 300

# Files with more kinds of listings without an end have no listings.
_MAX_UNCLOSED = 20

# Asciidoctor reads a line as a title if the line below has its length, or one character more or less. Two signs do not
# count as underline here: `--` opens a block.
_MIN_UNDERLINE, _MAX_UNEVEN = 3, 1

# Lines that belong to the block below: attributes, anchors, comments and block titles: `[source]`, `[[moor]]`,
# `.Moors`.
_ABOVE_BLOCK = re.compile(r"\[[^\n]*\]$|//(?!/)|:[\w-]+!?:(?:\s|$)|\.[^\s.]")
_ENDS_BLOCK = re.compile(r"(?:={4,}|\*{4,}|_{4,}|[|,:!]={3,}|--)?$")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The syntax of headings and listings in one format."""

    heading: re.Pattern[str]
    """Has the groups `mark` and `title`."""
    level: Callable[[str], int]
    """Returns the level of a mark."""
    opens: re.Pattern[str] | None = None
    """Matches a line that begins a listing."""
    closes: Callable[[str], re.Pattern[str]] | None = None
    """Returns the pattern of the end of a listing, given its first line."""
    ends_at_heading: bool = False
    """Whether a heading ends an open listing."""
    underlines: str = ""
    """Characters that underline titles, in the order of levels from 1."""


def read_markup(text: str, path: str, language: str) -> Reading:
    r"""Read a file in one of these formats.

    Headings are blocks with a level and the visible title; listings are code, without headings. Markup is removed
    elsewhere. Line numbers do not change. The head of an entry is followed by the mark of `openbook.entries`.

    Example:
        >>> reading = read_markup("\\section{The \\emph{best} knots}\n\nText.\n", "", "latex")
        >>> [(block.level, block.title) for block in reading.blocks]
        [(2, 'The best knots'), (0, '')]
        >>> reading.text.split("\n")[0]
        'The best knots'
    """
    if language in MARKED:
        text = text.replace("\f", " ")  # reserved for our marks
    lines = text.split("\n")
    found = list(_stretches(lines, _DIALECTS[language]))
    plain = _plain(lines, found, language)
    if language == "asciidoc":
        listed = {place for each in found if not each.level for place in range(each.first, each.last + 1)}
        plain = with_rows(plain, list(tables_in(lines, listed.__contains__)))
    is_program = path.lower().endswith(_PROGRAMS)
    if language in MARKED:
        for each in found:
            if each.level and plain[each.first].strip():
                plain[each.first] = plain[each.first].rstrip() + END_OF_HEADING + "\f" * (each.level - 1)
                # Remove the underline.
                plain[each.first + 1 : each.last + 1] = [""] * (each.last - each.first)
    kept = lines if is_program else plain
    starts = [0, *accumulate(len(line) + 1 for line in kept)]
    shown = "\n".join(kept)
    blocks = (
        _block(each, starts[each.first], starts[each.last] + len(kept[each.last].rstrip()), plain, language)
        for each in found
    )
    return Reading(shown, "docs", language, fill_gaps(shown, blocks))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Lines of a heading or listing, from 0, both inclusive."""

    first: int
    last: int
    level: int = 0
    """Level of a heading."""


def _block(stretch: _Stretch, start: int, end: int, plain: Sequence[str], language: str) -> Block:
    """Return a listing, or a heading with its visible title; without one, it is text."""
    if not stretch.level:
        return Block(start, end, "code")
    title = plain[stretch.first]
    if language == "latex":  # the title still contains commands with a meaning
        title = _LATEX_COMMAND.sub("", title)
    title = " ".join(title.split())
    return Block(start, end, "heading", stretch.level, title) if title else Block(start, end)


def _plain(lines: Sequence[str], found: Iterable[_Stretch], language: str) -> list[str]:
    """Remove the markup from all lines except listings; in man pages from those too."""
    if language == "man":
        return man_lines(lines)
    shown: list[str] = []
    for each in (*(each for each in found if not each.level), None):
        text = lines[len(shown) : len(lines) if each is None else each.first]
        shown += _without_markup(text, language)
        shown += lines[each.first : each.last + 1] if each is not None else ()
    return shown


def _without_markup(lines: Sequence[str], language: str) -> Iterable[str]:
    if language == "latex":
        return _without_latex(lines)
    if language == "asciidoc":
        lines = _with_links_closed(lines)
    literal = _literal_lines(lines) if language == "asciidoc" else frozenset()
    return (line if place in literal else _PLAIN[language](line) for place, line in enumerate(lines))


def _with_links_closed(lines: Sequence[str]) -> Sequence[str]:
    """Replace the references of AsciiDoc that go on below their line by their texts."""
    text = "\n".join(lines)
    for pattern, plain in _ASCIIDOC_LINKS:
        text = _without(pattern, plain, text, only_broken=True)
    return text.split("\n") if lines else lines


def _literal_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines of indented AsciiDoc paragraphs, which are literal.

    Not those below the head of an entry, which are its description, and not indented list items.
    """
    found: set[int] = set()
    above = ""  # the last non-blank line
    is_literal, is_behind_blank = False, True
    for place, line in enumerate(lines):
        if not line.strip():
            is_literal, is_behind_blank = False, True
            continue
        if not line.startswith((" ", "\t")):
            is_literal = False
        elif is_behind_blank:
            is_literal = not _LIST_ITEM.match(line) and not _is_mere_head(above)
        if is_literal:
            found.add(place)
        above, is_behind_blank = line, False
    return frozenset(found)


def _is_mere_head(line: str) -> bool:
    head = _ASCIIDOC_HEAD.fullmatch(line.rstrip())
    return head is not None and not head["said"]


def _without_latex(lines: Sequence[str]) -> Sequence[str]:
    """Remove commands from lines, even if they span several; unchanged if that would change the number of lines."""
    shown = latex("\n".join(lines)).split("\n") if lines else []
    return shown if len(shown) == len(lines) else lines


def _stretches(lines: Sequence[str], dialect: _Dialect) -> Iterator[_Stretch]:
    stripped = [line.rstrip() for line in lines]
    listings = _Listings(stripped, dialect)
    begun = 0
    is_between = True  # no open paragraph that an underlined title could belong to
    for place, line in enumerate(stripped):
        if place < begun:
            continue
        was_between, is_between = is_between, _is_between(line, is_between)
        if was_between and dialect.underlines and (level := _level_of_underlined(lines, place, dialect.underlines)):
            begun, is_between = place + 2, True
            yield _Stretch(place, place + 1, level)
        elif (last := listings.last_line(place)) is not None:
            begun, is_between = last + 1, True
            yield _Stretch(place, last)
        elif len(line) <= _MAX_TITLE_CHARS and (found := dialect.heading.match(line)):
            is_between = True
            yield _Stretch(place, place, dialect.level(found["mark"]))


class _Listings:
    """Finds the ends of listings. What only looks like the beginning of one, without an end, is none."""

    def __init__(self, lines: Sequence[str], dialect: _Dialect) -> None:
        self._lines = lines
        self._dialect = dialect
        self._unclosed: set[str] = set()

    def last_line(self, place: int) -> int | None:
        """Return the last line of the listing that begins at a line; None if none does."""
        dialect = self._dialect
        found = dialect.opens.match(self._lines[place]) if dialect.opens else None
        # Each search may read the rest of the file, so do not repeat those that failed.
        if not found or not dialect.closes or found[0] in self._unclosed or len(self._unclosed) >= _MAX_UNCLOSED:
            return None
        closing = dialect.closes(found[0])
        for at in range(place + 1, len(self._lines)):
            if closing.match(self._lines[at]):
                return at
            if dialect.ends_at_heading and dialect.heading.match(self._lines[at]):
                return at - 1
        self._unclosed.add(found[0])
        return None


def _is_between(line: str, was_between: bool) -> bool:
    """Return whether a block can begin after a line of AsciiDoc."""
    return bool(_ENDS_BLOCK.match(line) or (was_between and _ABOVE_BLOCK.match(line)))


def _level_of_underlined(lines: Sequence[str], place: int, signs: str) -> int:
    """Return the level of a title that the line below underlines; 0 without an underline."""
    line, below = lines[place].rstrip(), lines[place + 1].rstrip() if place + 1 < len(lines) else ""
    is_underline = len(below) >= _MIN_UNDERLINE and below[0] in signs and not below.strip(below[0])
    if not is_underline or abs(len(line) - len(below)) > _MAX_UNEVEN or not re.search(r"\w", line):
        return 0
    return 0 if _ABOVE_BLOCK.match(line) else signs.index(below[0]) + 1


_LATEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}

_DIALECTS: Mapping[str, _Dialect] = {
    "latex": _Dialect(
        re.compile(
            r"\s*\\(?P<mark>part|chapter|(?:sub){0,2}section|paragraph)\*?(?:\[[^\]]*\])?\{(?P<title>.*)\}"
            r"(?:\s*\\label\{[^{}]*\})?\s*(?:%.*)?$"
        ),
        _LATEX_LEVELS.__getitem__,
        re.compile(r"\s*\\begin\{(?:verbatim|lstlisting|minted)\*?\}(?!.*\\end\{)"),
        lambda line: re.compile(r"\s*\\end\{" + re.escape(line.split("{")[1])),
    ),
    "asciidoc": _Dialect(
        re.compile(r"(?P<mark>={1,6}|#{1,6})[ \t]+(?P<title>\S.*)$"),
        len,
        re.compile(r"(?:-{4,}|\.{4,}|/{4,}|\+{4,})$|`{3,}"),
        lambda line: re.compile(re.escape(line) + r"\s*$"),
        underlines="=-~^+",
    ),
    "org": _Dialect(
        re.compile(r"(?P<mark>\*+)[ \t]+(?P<title>\S.*)$"),
        lambda mark: min(len(mark), 6),
        re.compile(r"\s*#\+begin_(?:src|example|export)", re.IGNORECASE),
        lambda line: re.compile(r"\s*#\+end_" + re.escape(line.split("_")[1]), re.IGNORECASE),
    ),
    "man": _Dialect(
        re.compile(r"[.']\s*(?P<mark>TH|SH|SS|Sh|Ss|Dt)\s+(?P<title>\S.*)$"),
        lambda mark: {"TH": 1, "Dt": 1, "SH": 2, "Sh": 2}.get(mark, 3),
        re.compile(r"\.(?:nf|EX|Bd\s+-(?:literal|unfilled))\b"),
        lambda line: re.compile({".nf": r"\.fi\b", ".EX": r"\.EE\b"}.get(line, r"\.Ed\b")),
        ends_at_heading=True,
    ),
    "pod": _Dialect(
        re.compile(r"=head(?P<mark>[1-6])\s+(?P<title>\S.*)$"),
        int,
    ),
}

_TEXT_COMMANDS = (
    "emph|text(?:bf|it|tt|sc|sf|rm|sl|up|md|normal)|underline|uline|enquote|mbox|hbox|text|title|author|date|caption"
    "|part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|url|path|nolinkurl|textquote|code|file|pkg|cs|opt|env|cmd"
)
_SETTINGS = (
    "centering|noindent|maketitle|clearpage|newpage|newline|bigskip|medskip|smallskip|par|small|footnotesize|large|bf|it"
    "|tt|em"
)
_KEPT = "equation|align|eqnarray|gather|multlin|tabular|array|math|displaymath|tikz"
_LATEX_FIRST = (
    (re.compile(r"(?<!\\)%.*"), ""),
    (
        re.compile(
            r"~?\\(?:cite\w*|nocite|label|index|vspace|hspace|pagestyle|thispagestyle)\*?(?:\[[^\]]{0,300}\])*\{[^{}]*\}"
        ),
        "",
    ),
    (re.compile(r"\\href\{[^{}]*\}\{([^{}]*)\}"), r"\1"),
    (re.compile(r" ?\\footnote\{([^{}]*)\}"), r" (\1)"),
)
_IN_TEXT = re.compile(rf"\\(?:{_TEXT_COMMANDS})\*?(?:\[[^\]]{{0,300}}\])?\{{([^{{}}]*)\}}")
_LATEX_LAST = (
    (re.compile(r"\\item\s?\[([^\]]{0,300})\]"), r"\1:"),
    (re.compile(r"\\item\b"), "-"),
    (re.compile(rf"\\(?:begin|end)\{{(?!{_KEPT})[^{{}}]*\}}(?:\[[^\]]{{0,300}}\])?"), ""),
    (re.compile(rf"\\(?:{_SETTINGS})\b ?"), ""),
    (re.compile(r"\\(?:ldots|dots)\b(?:\{\})?"), "…"),
    (re.compile(r"\\((?:La)?TeX)\b(?:\{\})?"), r"\1"),
    (re.compile(r"\\verb\*?([^\w\s])([^\n]{0,300}?)\1"), r"\2"),
    (re.compile("``"), "“"),
    (re.compile("''"), "”"),
    (re.compile(r"(?<!-)---(?!-)"), "—"),
    (re.compile(r"(?<!-)--(?!-)"), "–"),
    (re.compile(r"(?<!\\)~|\\[ ,;]"), " "),
    (re.compile(r"\\([%&#$_{}])"), r"\1"),
)  # fmt: skip
_PASSES = 3  # nested commands

# A text within brackets may go on in the next line of its paragraph.
_ASCIIDOC_LINKS = (
    (
        re.compile(
            r"(?<!\+)(?:https?://|link:|xref:|mailto:)[^\s\[\]]{1,2000}"
            r"\[((?:[^\]^\n]|\n(?![ \t]*\n)){1,300})\^?\]"
        ),
        r"\1",
    ),
    (re.compile(r"<<[^,<>\n]{0,300},\s*([*_`]{0,2})((?:[^<>\n]|\n(?![ \t]*\n)){0,300})\1>>"), r"\2"),
    (re.compile(r"<<(?![\s#])((?:[^<>\n]|\n(?![ \t]*\n)){1,300})(?<!\s)>>"), r"\1"),
)
_ASCIIDOC = (
    (re.compile(r"^//(?!/).*|^:[\w-]+!?:.*|^\[[^\]]{0,300}\]\s*$|^[*_=]{4,}$|^\+\s*$|^--\s*$"), ""),
    (re.compile(r"^(?:ifn?def|ifeval|endif|include)::.*"), ""),
    (re.compile(r"\s\+$"), ""),
    (re.compile(r"^={1,6}\s+(.*?)(?:(?<!\s)\s++=++)?$"), r"\1"),
    (re.compile(r"\[\[[^\]]{0,300}\]\]"), ""),
    *_ASCIIDOC_LINKS,
    (re.compile(r"^\s*(?:\*{1,5}|\.{1,5})\s+"), "- "),
)  # fmt: skip

# `ifdef::env-github[Only there.]`
_ASCIIDOC_CONDITION = re.compile(r"ifn?def::[^\s\[]*\[(?P<text>.+)\]\s*")

# `--quiet:: Says nothing.`, continued by the lines below
_ASCIIDOC_HEAD = re.compile(r"\s*(?P<term>[^\s:/][^\n]{0,200}?)(?::{2,4}|;;)(?:\s+(?P<said>\S.*))?")
# Indented lines that are not paragraphs: `  * one`, `  1. two`, `  --rope:: Ties.`, `  | cell`
_LIST_ITEM = re.compile(r"\s*(?:[*.-]{1,5}\s|[a-z]?\||\d{1,9}[.)]\s|[^\s:][^\n]{0,200}?(?::{2,4}|;;)(?:\s|$))")
_QUOTED = re.compile(r"(?<!\w)'([^'\n]{1,100})'(?!\w)")

_ORG = (
    (re.compile(r"^#(?:\s.*|$)"), ""),
    (re.compile(r"^#\+(?:title|subtitle|author|caption):\s*(.*)", re.IGNORECASE), r"\1"),
    (re.compile(r"^\s*#\+\w+.*"), ""),
    (re.compile(r"^\s*:[A-Za-z_-]+:(?:\s.*)?$"), ""),
    (re.compile(r"^\*+\s+(?:(?:TOD[O]|DONE|WAITING|NEXT)\s+)?(?:\[#[A-Z]\]\s*)?(.*?)(?:\s:[\w@:]{1,200}:)?$"), r"\1"),
    (re.compile(r"\[\[(?:[^\]]{0,500}\]\[)?([^\]]{0,500})\]\]"), r"\1"),
)
_ASCIIDOC_EMPHASIS = re.compile(r"(?<![\w*_`+])([*_`+]{1,2})(?=[^\s*_`+])([^\n]{0,300}?)(?<=\S)\1(?![\w*_`+])")
_ASCIIDOC_LITERAL = re.compile(r"`\+([^`\n]{1,300}?)\+`")
_EMPHASIS = re.compile(r"(?<![\w/*_=~`+])([*_/=~`+]{1,2})(?=[^\s*_/=~`+])([^\n]{0,300}?)(?<=\S)\1(?![\w*_/=~`+])")

_POD_MARK = re.compile(r"\b[BCFILSX](?:<([^<>|]{0,300})(?:\|[^<>]{0,300})?>|<<+\s(.{0,300}?)\s>>+)")
_POD = (
    (re.compile(r"^=(?:over|back|cut|pod|encoding|for|begin|end)\b.*"), ""),
    (re.compile(r"^=(?:head[1-6]|item)\s+"), ""),
)
_POD_HEAD = re.compile(r"=item\s++(?!\W*+\d*+\W*+$)(?![*+-]\s|\d+[.)]\s)")


def latex(text: str) -> str:
    r"""Remove formatting commands, citations and comments. Formulas and line ends are kept.

    Example:
        >>> latex(r"The \emph{spring} tide~\cite{a} rises 50\,\%. % why")
        'The spring tide rises 50 %. '
    """
    for pattern, plain in _LATEX_FIRST:
        text = _without(pattern, plain, text)
    for _ in range(_PASSES):
        text = _IN_TEXT.sub(r"\1", text)
    for pattern, plain in _LATEX_LAST:
        text = pattern.sub(plain, text)
    return text


def _without(pattern: re.Pattern[str], plain: str, text: str, *, only_broken: bool = False) -> str:
    """Replace a pattern, keeping the line ends in its matches. `only_broken`: replace only matches with line ends."""

    def replaced(found: re.Match[str]) -> str:
        if only_broken and "\n" not in found[0]:
            return found[0]
        shown = found.expand(plain)
        return shown + "\n" * (found[0].count("\n") - shown.count("\n"))

    return pattern.sub(replaced, text)


def asciidoc(line: str) -> str:
    """Remove marks and attributes from a line, and addresses that have a text.

    Example:
        >>> asciidoc("The *kiln* of `1200` degrees: https://example.org[the manual].")
        'The kiln of 1200 degrees: the manual.'
    """
    if condition := _ASCIIDOC_CONDITION.fullmatch(line):
        line = condition["text"]
    head = _ASCIIDOC_HEAD.fullmatch(line.rstrip())
    if head is None:
        return _of_asciidoc(line)
    said = f": {head['said']}" if head["said"] else ""
    return _of_asciidoc(_QUOTED.sub(r"\1", head["term"]) + said) + END_OF_HEAD


def _of_asciidoc(line: str) -> str:
    return _ASCIIDOC_LITERAL.sub(r"\1", _unmarked(line, _ASCIIDOC, _ASCIIDOC_EMPHASIS))


def org(line: str) -> str:
    """Remove marks, tags and keywords from a line.

    Example:
        >>> org("** DONE The /loom/, see [[https://example.org][the plan]] :tools:")
        'The loom, see the plan'
    """
    return _unmarked(line, _ORG)


def pod(line: str) -> str:
    """Remove commands and formatting codes from a line.

    Example:
        >>> pod("=head1 An B<anchor>"), pod("See L<this|that>, C<< a > b >>, E<gt>.")
        ('An anchor', 'See this, a > b, >.')
    """
    mark = END_OF_HEAD if _POD_HEAD.match(line) else ""
    for pattern, plain in _POD:
        line = pattern.sub(plain, line.rstrip())
    for _ in range(_PASSES):
        line = _POD_MARK.sub(lambda found: found[1] or found[2] or "", line)
    return line.replace("E<lt>", "<").replace("E<gt>", ">").replace("Z<>", "") + mark


def _unmarked(line: str, rules: tuple[tuple[re.Pattern[str], str], ...], emphasis: re.Pattern[str] = _EMPHASIS) -> str:
    for pattern, plain in rules:
        line = pattern.sub(plain, line)
    for _ in range(2):  # nested marks
        line = emphasis.sub(r"\2", line)
    return line


_PLAIN: Mapping[str, Callable[[str], str]] = {"asciidoc": asciidoc, "org": org, "pod": pod}
"""Functions that remove markup from a line, by language."""
