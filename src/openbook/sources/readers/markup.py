"""Reads LaTeX, AsciiDoc, Org, man pages and POD: their headings, listings, and words without markup, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

# Packages of LaTeX are programs, whose comments explain them.
_PROGRAMS = (".sty", ".cls")

_LATEX_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s?|(?<=\S)[{}$]|[{}$](?=\S)")

# What is longer is no heading.
_LONGEST_TITLE_CHARS = 300


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


def read_markup(text: str, path: str, language: str) -> Reading:
    r"""Read one of these formats.

    Headings are blocks with a level and a title as a reader sees it; listings are code, and hold no headings. All else
    is without markup. Lines keep their numbers and their lengths: blanks stand at their ends instead.

    Example:
        >>> reading = read_markup("\\section{The \\emph{best} knots}\n\nText.\n", "", "latex")
        >>> [(block.level, block.title) for block in reading.blocks]
        [(2, 'The best knots'), (0, '')]
        >>> reading.text.split("\n")[0].rstrip()
        'The best knots'
    """
    blocks = fill_gaps(text, _blocks(text, _DIALECTS[language]))
    plain = _plain(text, blocks, language)
    titled = tuple(_titled(block, plain, language) for block in blocks)
    is_program = path.lower().endswith(_PROGRAMS)
    return Reading(text if is_program else plain, "docs", language, titled)


def _titled(block: Block, plain: str, language: str) -> Block:
    """Give a heading the title that is left without markup; what has none is text."""
    if not block.level:
        return block
    title = plain[block.start_char : block.end_char]
    if language == "latex":  # commands that stand for more than words are left in its text
        title = _LATEX_COMMAND.sub("", title)
    title = " ".join(title.split())
    return replace(block, title=title) if title else Block(block.start_char, block.end_char)


def _plain(text: str, blocks: Sequence[Block], language: str) -> str:
    """Take the markup out of all but listings."""
    pieces, start = [], 0
    for block in blocks:
        if block.kind == "code":
            pieces += [_padded(text[start : block.start_char], language), text[block.start_char : block.end_char]]
            start = block.end_char
    return "".join([*pieces, _padded(text[start:], language)])


def _padded(text: str, language: str) -> str:
    """Take the markup out, and put blanks at the ends of lines."""
    before = text.split("\n")
    behind = latex(text).split("\n") if language == "latex" else [_PLAIN[language](line) for line in before]
    if len(behind) != len(before):
        return text
    lines = (new.ljust(len(old)) if len(new) <= len(old) else old for old, new in zip(before, behind, strict=True))
    return "\n".join(lines)


def _blocks(text: str, dialect: _Dialect) -> Iterator[Block]:
    start = 0
    closing: re.Pattern[str] | None = None
    opened = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        if closing is not None:
            if closing.match(bare):
                yield Block(opened, start + len(bare), "code")
                closing = None
        elif dialect.opens and dialect.closes and (found := dialect.opens.match(bare)):
            closing, opened = dialect.closes(found.group()), start
        elif len(bare) <= _LONGEST_TITLE_CHARS and (found := dialect.heading.match(bare)):
            yield Block(start, start + len(bare), "heading", dialect.level(found["mark"]))
        start += len(line)


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
        re.compile(r"\.(?:nf|EX|Bd)\b"),
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
    (re.compile(r"^//(?!/).*|^:[\w-]+!?:.*|^\[[^\]]{0,300}\]\s*$|^={4,}$|^\*{4,}$|^_{4,}$"), ""),
    (re.compile(r"^={1,6}\s+(.*?)(?:\s+=+)?$"), r"\1"),
    (re.compile(r"\[\[[^\]]{0,300}\]\]"), ""),
    (re.compile(r"(?:https?://|link:|xref:|mailto:)[^\s\[\]]+\[([^\]^]{1,300})\^?\]"), r"\1"),
    (re.compile(r"<<[^,<>]*,\s*([^<>]*)>>"), r"\1"),
    (re.compile(r"^\s*(?:\*{1,5}|\.{1,5})\s+"), "- "),
)  # fmt: skip

_ORG = (
    (re.compile(r"^#(?:\s.*|$)"), ""),
    (re.compile(r"^#\+(?:title|subtitle|author|caption):\s*(.*)", re.IGNORECASE), r"\1"),
    (re.compile(r"^\s*#\+\w+.*"), ""),
    (re.compile(r"^\s*:[A-Za-z_-]+:(?:\s.*)?$"), ""),
    (re.compile(r"^\*+\s+(?:(?:TOD[O]|DONE|WAITING|NEXT)\s+)?(?:\[#[A-Z]\]\s*)?(.*?)(?:\s:[\w@:]{1,200}:)?$"), r"\1"),
    (re.compile(r"\[\[(?:[^\]]{0,500}\]\[)?([^\]]{0,500})\]\]"), r"\1"),
)
_EMPHASIS = re.compile(r"(?<![\w/*_=~`+])([*_/=~`+]{1,2})(?=[^\s*_/=~`+])([^\n]{0,300}?)(?<=\S)\1(?![\w*_/=~`+])")

_FONT = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\s[+-]?\d|\\[&|^%/,]|\\c$")
_ROFF_SIGNS: Mapping[str, str] = {
    r"\-": "-",
    r"\e": "\\",
    r"\(em": "—",
    r"\(en": "–",
    r"\(bu": "•",
    r"\(aq": "'",
    r"\(dq": '"',
    r"\(lq": "“",
    r"\(rq": "”",
    r"\(co": "©",
    r"\(ti": "~",
    r"\(ha": "^",
    r"\(rs": "\\",
    r"\ ": " ",
    r"\~": " ",
    r"\'": "'",
    r"\`": "`",
}
# `\[aq]` is another way to write `\(aq`.
_ROFF_SIGNS = {**_ROFF_SIGNS, **{f"\\[{sign[2:]}]": shown for sign, shown in _ROFF_SIGNS.items() if sign[1] == "("}}
_ROFF_SIGN = re.compile("|".join(map(re.escape, sorted(_ROFF_SIGNS, key=len, reverse=True))))
_MACRO = re.compile(r"^[.']\s*(?P<name>\\?[\w\"#]+)?\s*(?P<arguments>.*)$")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_ALTERNATING = frozenset({"BI", "BR", "IB", "IR", "RB", "RI"})
_SHOWN = frozenset({"B", "I", "R", "SM", "SB", "SH", "SS", "TH", "Sh", "Ss", "Dt", "IP", "UR", "MT"})
# Those of mdoc that take words, and other macros: `.Op Fl n Ar count`.
_MDOC = frozenset(
    "Ad An Aq Ar Bq Cm Dq Dv Em Er Ev Fl Fn Ft In It Li Nd Nm Op Pa Pq Ql Qq Sq Sy Tn Va Vt Xr No Ic Cd Ns Xo"
    " Xc".split()
)
_OF_MDOC = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(_MDOC))})(?=\s|$)\s*")

_POD_MARK = re.compile(r"\b[BCFILSX](?:<([^<>|]{0,300})(?:\|[^<>]{0,300})?>|<<+\s(.{0,300}?)\s>>+)")
_POD = (
    (re.compile(r"^=(?:over|back|cut|pod|encoding|for|begin|end)\b.*"), ""),
    (re.compile(r"^=(?:head[1-6]|item)\s+"), ""),
)


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
    return _unmarked(line, _ASCIIDOC)


def org(line: str) -> str:
    """Return a line without marks, tags and keywords.

    Example:
        >>> org("** DONE The /loom/, see [[https://example.org][the plan]] :tools:")
        'The loom, see the plan'
    """
    return _unmarked(line, _ORG)


def man(line: str) -> str:
    r"""Return what a line of a man page shows.

    Example:
        >>> man(r'.BI \-\-strands " N"'), man(".TP"), man(".Op Fl n Ar count"), man(r".It Xo Ic moor \[ti]/ship")
        ('--strands N', '', '-n count', 'moor ~/ship')
    """
    found = _MACRO.match(line)
    if found is None:
        return _roff(line)
    name, arguments = found["name"] or "", found["arguments"]
    if name in _MDOC:
        shown = re.sub(r"(?<!\S)Fl(?=\s|$)\s*", "-", f"{'Fl ' if name == 'Fl' else ''}{arguments}")
        return _roff(_OF_MDOC.sub("", shown))
    words = [(quoted.replace('""', '"') or bare) for quoted, bare in _ARGUMENT.findall(arguments)]
    if name == "IP":
        words = words[:1]
    return _roff(("" if name in _ALTERNATING else " ").join(words)) if name in _ALTERNATING | _SHOWN else ""


def pod(line: str) -> str:
    """Return a line without commands and formatting codes.

    Example:
        >>> pod("=head1 An B<anchor>"), pod("See L<this|that>, C<< a > b >>, E<gt>.")
        ('An anchor', 'See this, a > b, >.')
    """
    for pattern, plain in _POD:
        line = pattern.sub(plain, line)
    for _ in range(_PASSES):
        line = _POD_MARK.sub(lambda found: found[1] or found[2] or "", line)
    return line.replace("E<lt>", "<").replace("E<gt>", ">").replace("Z<>", "")


def _unmarked(line: str, rules: tuple[tuple[re.Pattern[str], str], ...]) -> str:
    for pattern, plain in rules:
        line = pattern.sub(plain, line)
    for _ in range(2):  # one mark in another
        line = _EMPHASIS.sub(r"\2", line)
    return line


def _roff(text: str) -> str:
    return _ROFF_SIGN.sub(lambda found: _ROFF_SIGNS[found[0]], _FONT.sub("", text))


_PLAIN: Mapping[str, Callable[[str], str]] = {
    "asciidoc": asciidoc,
    "org": org,
    "man": man,
    "pod": pod,
}
"""What takes the markup out of a line, by language."""
