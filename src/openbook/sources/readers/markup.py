"""Reads LaTeX, AsciiDoc, Org, man pages and POD: their headings, listings, and words without markup, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from openbook.entries import END_OF_HEAD, END_OF_HEADING, MARKED
from openbook.sources.readers.man import man_lines
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

# Packages of LaTeX are programs, whose comments explain them.
_PROGRAMS = (".sty", ".cls")

_LATEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s?|(?<=\S)[{}$]|[{}$](?=\S)")

# What is longer is no heading.
_LONGEST_TITLE_CHARS = 300

# Asciidoctor takes a line for a title if the one below is as long as it, or a character longer or shorter. Two signs
# are no underline here: `--` opens a block.
_SHORTEST_UNDERLINE, _MOST_UNEVEN = 3, 1

# Attributes, anchors, comments and titles of blocks stand above what they belong to: `[source]`, `[[moor]]`, `.Moors`.
_ABOVE_BLOCK = re.compile(r"\[[^\n]*\]$|//(?!/)|:[\w-]+!?:(?:\s|$)|\.[^\s.]")
_ENDS_BLOCK = re.compile(r"(?:={4,}|\*{4,}|_{4,}|[|,:!]={3,}|--)?$")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one format writes headings and listings, line by line."""

    heading: re.Pattern[str]
    """Its groups `mark` and `title`."""
    level: Callable[[str], int]
    """Takes the mark."""
    opens: re.Pattern[str] | None = None
    """A line that begins a listing."""
    closes: Callable[[str], re.Pattern[str]] | None = None
    """Takes the line that began it."""
    underlines: str = ""
    """Signs that underline titles, of the levels from 1 on."""


def read_markup(text: str, path: str, language: str) -> Reading:
    r"""Read one of these formats.

    Headings are blocks with a level and a title as a reader sees it; listings are code, and hold no headings. All else
    is without markup. Lines keep their numbers. Behind the head of an entry stands the mark of `openbook.entries`.

    Example:
        >>> reading = read_markup("\\section{The \\emph{best} knots}\n\nText.\n", "", "latex")
        >>> [(block.level, block.title) for block in reading.blocks]
        [(2, 'The best knots'), (0, '')]
        >>> reading.text.split("\n")[0]
        'The best knots'
    """
    if language in MARKED:
        text = text.replace("\f", " ")  # no mark of ours
    lines = text.split("\n")
    found = list(_stretches(lines, _DIALECTS[language]))
    plain = _plain(lines, found, language)
    is_program = path.lower().endswith(_PROGRAMS)
    if language in MARKED:
        for each in found:
            if each.level and plain[each.first].strip():
                plain[each.first] = plain[each.first].rstrip() + END_OF_HEADING
                # An underline says no more than the mark.
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
    """Lines of a heading or a listing, from 0, both inclusive."""

    first: int
    last: int
    level: int = 0
    """Of a heading."""


def _block(stretch: _Stretch, start: int, end: int, plain: Sequence[str], language: str) -> Block:
    """Return a listing, or a heading with the title that is left without markup; what has none is text."""
    if not stretch.level:
        return Block(start, end, "code")
    title = plain[stretch.first]
    if language == "latex":  # commands that stand for more than words are left in its text
        title = _LATEX_COMMAND.sub("", title)
    title = " ".join(title.split())
    return Block(start, end, "heading", stretch.level, title) if title else Block(start, end)


def _plain(lines: Sequence[str], found: Iterable[_Stretch], language: str) -> list[str]:
    """Take the markup out of all lines but those of listings, which have none, except in man pages."""
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
    literal = _literal_lines(lines) if language == "asciidoc" else frozenset()
    return (line if place in literal else _PLAIN[language](line) for place, line in enumerate(lines))


def _literal_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the indented lines of AsciiDoc that stand for themselves, as a paragraph of their own: they have no marks.

    What is indented below a head says what that is; an item of a list may be indented as well.
    """
    found: set[int] = set()
    above = ""  # the last line that is not blank
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
    """Take commands out of lines, which one of them may span; as they are if that changes how many there are."""
    shown = latex("\n".join(lines)).split("\n") if lines else []
    return shown if len(shown) == len(lines) else lines


def _stretches(lines: Sequence[str], dialect: _Dialect) -> Iterator[_Stretch]:
    closing: re.Pattern[str] | None = None
    opened = begun = 0
    is_between = True  # no paragraph is open, which an underlined title would belong to
    for place, line in enumerate(map(str.rstrip, lines)):
        if place < begun:
            continue
        was_between, is_between = is_between, closing is None and _is_between(line, is_between)
        if closing is not None:
            if closing.match(line):
                yield _Stretch(opened, place)
                closing, is_between = None, True
        elif was_between and dialect.underlines and (level := _level_of_underlined(lines, place, dialect.underlines)):
            begun, is_between = place + 2, True
            yield _Stretch(place, place + 1, level)
        elif dialect.opens and dialect.closes and (found := dialect.opens.match(line)):
            closing, opened = dialect.closes(found.group()), place
        elif len(line) <= _LONGEST_TITLE_CHARS and (found := dialect.heading.match(line)):
            is_between = True
            yield _Stretch(place, place, dialect.level(found["mark"]))


def _is_between(line: str, was_between: bool) -> bool:
    """Return whether a block can begin behind a line of AsciiDoc."""
    return bool(_ENDS_BLOCK.match(line) or (was_between and _ABOVE_BLOCK.match(line)))


def _level_of_underlined(lines: Sequence[str], place: int, signs: str) -> int:
    """Return the level of a title that the line below underlines; 0 if none does."""
    line, below = lines[place].rstrip(), lines[place + 1].rstrip() if place + 1 < len(lines) else ""
    is_underline = len(below) >= _SHORTEST_UNDERLINE and below[0] in signs and not below.strip(below[0])
    if not is_underline or abs(len(line) - len(below)) > _MOST_UNEVEN or not re.search(r"\w", line):
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
        re.compile(r"\s*\\begin\{(?:verbatim|lstlisting|minted)\*?\}"),
        lambda line: re.compile(r"\s*\\end\{" + re.escape(line.split("{")[1])),
    ),
    "asciidoc": _Dialect(
        re.compile(r"(?P<mark>={1,6}|#{1,6})[ \t]+(?P<title>\S.*)$"),
        len,
        re.compile(r"(?:-{4,}|\.{4,}|`{3,}|/{4,}|\+{4,})"),
        lambda line: re.compile(re.escape(line) + r"\s*$"),
        "=-~^+",
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
_PASSES = 3  # one command in another

_ASCIIDOC = (
    (re.compile(r"^//(?!/).*|^:[\w-]+!?:.*|^\[[^\]]{0,300}\]\s*$|^[*_=]{4,}$|^\+\s*$|^--\s*$"), ""),
    (re.compile(r"^(?:ifn?def|ifeval|endif|include)::.*"), ""),
    (re.compile(r"\s\+$"), ""),
    (re.compile(r"^={1,6}\s+(.*?)(?:(?<!\s)\s++=++)?$"), r"\1"),
    (re.compile(r"\[\[[^\]]{0,300}\]\]"), ""),
    (re.compile(r"(?:https?://|link:|xref:|mailto:)[^\s\[\]]{1,2000}\[([^\]^]{1,300})\^?\]"), r"\1"),
    (re.compile(r"<<[^,<>]*,\s*([^<>]*)>>"), r"\1"),
    (re.compile(r"^\s*(?:\*{1,5}|\.{1,5})\s+"), "- "),
)  # fmt: skip

# `ifdef::env-github[Only there.]`
_ASCIIDOC_CONDITION = re.compile(r"ifn?def::[^\s\[]*\[(?P<text>.+)\]\s*")

# `--quiet:: Says nothing.`; the lines below say more.
_ASCIIDOC_HEAD = re.compile(r"\s*(?P<term>[^\s:/][^\n]{0,200}?)(?::{2,4}|;;)(?:\s+(?P<said>\S.*))?")
# What is indented and is no paragraph: `  * one`, `  1. two`, `  --rope:: Ties.`, `  | cell`
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
_EMPHASIS = re.compile(r"(?<![\w/*_=~`+])([*_/=~`+]{1,2})(?=[^\s*_/=~`+])([^\n]{0,300}?)(?<=\S)\1(?![\w*_/=~`+])")

_POD_MARK = re.compile(r"\b[BCFILSX](?:<([^<>|]{0,300})(?:\|[^<>]{0,300})?>|<<+\s(.{0,300}?)\s>>+)")
_POD = (
    (re.compile(r"^=(?:over|back|cut|pod|encoding|for|begin|end)\b.*"), ""),
    (re.compile(r"^=(?:head[1-6]|item)\s+"), ""),
)
_POD_HEAD = re.compile(r"=item\s++(?!\W*+\d*+\W*+$)(?![*+-]\s|\d+[.)]\s)")


def latex(text: str) -> str:
    r"""Return a text without commands that only set it, citations and comments. Formulas and line ends stay.

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


def _without(pattern: re.Pattern[str], plain: str, text: str) -> str:
    """Replace a pattern, and keep the line ends that stand in it."""

    def replaced(found: re.Match[str]) -> str:
        shown = found.expand(plain)
        return shown + "\n" * (found[0].count("\n") - shown.count("\n"))

    return pattern.sub(replaced, text)


def asciidoc(line: str) -> str:
    """Return a line without marks, attributes and addresses that have words.

    Example:
        >>> asciidoc("The *kiln* of `1200` degrees: https://example.org[the manual].")
        'The kiln of 1200 degrees: the manual.'
    """
    if condition := _ASCIIDOC_CONDITION.fullmatch(line):
        line = condition["text"]
    head = _ASCIIDOC_HEAD.fullmatch(line.rstrip())
    if head is None:
        return _unmarked(line, _ASCIIDOC)
    said = f": {head['said']}" if head["said"] else ""
    return _unmarked(_QUOTED.sub(r"\1", head["term"]) + said, _ASCIIDOC) + END_OF_HEAD


def org(line: str) -> str:
    """Return a line without marks, tags and keywords.

    Example:
        >>> org("** DONE The /loom/, see [[https://example.org][the plan]] :tools:")
        'The loom, see the plan'
    """
    return _unmarked(line, _ORG)


def pod(line: str) -> str:
    """Return a line without commands and formatting codes.

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


def _unmarked(line: str, rules: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for pattern, plain in rules:
        line = pattern.sub(plain, line)
    for _ in range(2):  # one mark in another
        line = _EMPHASIS.sub(r"\2", line)
    return line


_PLAIN: Mapping[str, Callable[[str], str]] = {"asciidoc": asciidoc, "org": org, "pod": pod}
"""What takes the markup out of a line, by language."""
