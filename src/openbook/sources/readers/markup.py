"""Reads LaTeX, AsciiDoc, Org, man pages and POD: their headings, listings, and words without markup, line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from openbook.sources.readers.plain_markup import PLAIN, latex
from openbook.sources.readers.reading import Reading, fill_gaps
from openbook.types import Block

# Packages of LaTeX are programs, whose comments explain them.
_PROGRAMS = (".sty", ".cls")

# What is longer is no heading.
_LONGEST_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How one format writes headings and listings, line by line."""

    heading: re.Pattern[str]
    """Its groups `mark` and `title`."""
    level: Callable[[str], int]
    """Takes the mark."""
    plain: Callable[[str], str]
    """Takes markup out of a title."""
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
    is_program = path.lower().endswith(_PROGRAMS)
    return Reading(text if is_program else _plain(text, blocks, language), "docs", language, blocks)


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
    behind = latex(text).split("\n") if language == "latex" else [PLAIN[language](line) for line in before]
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
            title = " ".join(dialect.plain(found["title"]).split())
            if title:
                yield Block(start, start + len(bare), "heading", dialect.level(found["mark"]), title)
        start += len(line)


_LATEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_LATEX_COMMAND = re.compile(r"\\(?:label|index|footnote|cite\w*|thanks)\{[^{}]*\}|\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s?")
_LATEX_ESCAPED = re.compile(r"\\([#$%&_{}])")


def _latex(title: str) -> str:
    plain = _LATEX_COMMAND.sub("", _LATEX_ESCAPED.sub(lambda found: chr(0xE000 + ord(found[1])), title))
    plain = re.sub(r"[{}$]|~|``|''", lambda found: {"~": " ", "``": "“", "''": "”"}.get(found[0], ""), plain)
    return re.sub("[\ue000-\ue0ff]", lambda found: chr(ord(found[0]) - 0xE000), plain)


_INLINE = re.compile(r"(?<!\w)([*_`+/=~#]{1,2})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ASCIIDOC_LINK = re.compile(r"(?:https?://\S+?|link:\S+?|xref:\S+?|<<[^,>]*,?)(?:\[([^\]]*)\]|([^>]*)>>)")
_ORG_LINK = re.compile(r"\[\[(?:[^\]]*\]\[)?([^\]]*)\]\]")
_ORG_ASIDE = re.compile(r"^(?:(?:TOD[O]|DONE|WAITING|NEXT)\s+)?(?:\[#[A-Z]\]\s*)?|\s+:[\w@:]+:$")
_ROFF = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\(?:[&|^]|s[+-]?\d)|(?:^|(?<=\s))\"|\"(?=\s|$)")
_POD = re.compile(r"[A-Z]<(?:<+\s)?((?:[^<>|]*\|)?([^<>]*?))(?:\s>+)?>")


def _asciidoc(title: str) -> str:
    linked = _ASCIIDOC_LINK.sub(lambda found: found[1] or found[2] or "", title)
    return _unmarked(re.sub(r"\s+=+$|\[\[[^\]]*\]\]", "", linked))


def _org(title: str) -> str:
    return _unmarked(_ORG_LINK.sub(r"\1", _ORG_ASIDE.sub("", title)))


def _unmarked(title: str) -> str:
    for _ in range(2):  # one in another
        title = _INLINE.sub(r"\2", title)
    return title


def _roff(title: str) -> str:
    return _ROFF.sub("", title.replace(r"\-", "-").replace(r"\(em", "—"))


def _pod(title: str) -> str:
    title = title.replace("E<lt>", "\ue000").replace("E<gt>", "\ue001")
    for _ in range(3):
        title = _POD.sub(lambda found: found[1].split("|")[0], title)
    return title.replace("\ue000", "<").replace("\ue001", ">")


_DIALECTS: Mapping[str, _Dialect] = {
    "latex": _Dialect(
        re.compile(
            r"\s*\\(?P<mark>part|chapter|(?:sub){0,2}section|paragraph)\*?(?:\[[^\]]*\])?\{(?P<title>.*)\}"
            r"(?:\s*\\label\{[^{}]*\})?\s*(?:%.*)?$"
        ),
        _LATEX_LEVELS.__getitem__,
        _latex,
        re.compile(r"\s*\\begin\{(?:verbatim|lstlisting|minted)\*?\}"),
        lambda line: re.compile(r"\s*\\end\{" + re.escape(line.split("{")[1])),
    ),
    "asciidoc": _Dialect(
        re.compile(r"(?P<mark>={1,6}|#{1,6})[ \t]+(?P<title>\S.*)$"),
        len,
        _asciidoc,
        re.compile(r"(?:-{4,}|\.{4,}|`{3,}|/{4,}|\+{4,})"),
        lambda line: re.compile(re.escape(line) + r"\s*$"),
    ),
    "org": _Dialect(
        re.compile(r"(?P<mark>\*+)[ \t]+(?P<title>\S.*)$"),
        lambda mark: min(len(mark), 6),
        _org,
        re.compile(r"\s*#\+begin_(?:src|example|export)", re.IGNORECASE),
        lambda line: re.compile(r"\s*#\+end_" + re.escape(line.split("_")[1]), re.IGNORECASE),
    ),
    "man": _Dialect(
        re.compile(r"[.']\s*(?P<mark>TH|SH|SS|Sh|Ss|Dt)\s+(?P<title>\S.*)$"),
        lambda mark: {"TH": 1, "Dt": 1, "SH": 2, "Sh": 2}.get(mark, 3),
        _roff,
        re.compile(r"\.(?:nf|EX|Bd)\b"),
        lambda line: re.compile({".nf": r"\.fi\b", ".EX": r"\.EE\b"}.get(line, r"\.Ed\b")),
    ),
    "pod": _Dialect(
        re.compile(r"=head(?P<mark>[1-6])\s+(?P<title>\S.*)$"),
        int,
        _pod,
    ),
}
