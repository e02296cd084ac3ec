"""Finds the entries of definition lists: options, settings and terms, each followed by its description."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from openbook.containers import leads_to_code, width_of_marker
from openbook.text import lines

END_OF_HEAD = "\f"
"""Marks that the readers of man pages, POD and AsciiDoc put after a head instead of its markup: the sign for a block
border without a line break, which also ends a sentence."""

END_OF_HEADING = "\f\f"
"""The mark after a heading of level 1; each deeper level adds a form feed."""

MARKED = frozenset({"man", "pod", "asciidoc", "vimhelp"})
"""Languages whose text has these marks."""

BAR_OF_ROW = r"\|(?![^\s|]+\|[\s.,;:!?)'\"-][^|\n]*(?:(?<=[\s(\"'`])\|[^\s|]+\|[^|\n]*)*(?:\n|\Z))"
"""The sign that opens a row of a table, but not a line of prose with references, as `|moor| and |tie|` of Vim."""

SECTION = re.compile(
    r"^[ \t]*(?:#[ \t]*)?\[{1,2} ?(?P<name>[\w\"'][\w.\"':/@ -]{0,80}?) ?\]{1,2}[ \t\r]*(?:[#;].*)?$", re.MULTILINE
)
"""Matches the line that opens a section in INI, TOML and the like: `[mirror]`, `[[bin]]`, `[remote "origin"]`. It may
be commented out."""

# Possessive quantifiers: with backtracking, a line without a mark takes quadratic time.
_MARKED_HEAD = re.compile(r"^[^\S\n\f]*+\S[^\n\f]*+(?=\f(?!\f))", re.MULTILINE)

# Lines of reStructuredText that are not terms: list items, fields, directives, table rows, line blocks, prompts.
_NO_TERM = re.compile(r"\s*(?:[-*+•](?:[-=\s]{2}|\s)|[|:=~^\"'#]|\.\.(?:\s|$)|\(?(?:\d+|#)[.)]\s|>>>)")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z0-9][\w-]*")
_NEGATABLE = re.compile(r"--\[no-\]([A-Za-z0-9][\w-]*)")
_NAME = re.compile(r"[\s`'\"*]*(?:[a-zA-Z]?:)?(?P<name>[\w.@/+-]*\w/?)[`'\"*]*(?P<rest>.*)")
# A single name, optionally with its value: `mouse (bool)`, `volume-id=string`, `cd path`.
_TAKES = re.compile(r"\s*(?:[(\[<{=:].*|\w+\s*)?")
_AS_CODE = re.compile(r".[A-Z]|[\d_./@+-]")

# Directives of Sphinx that describe an object or a setting: `.. data:: LIMIT`, `.. py:function:: moor(ship)`.
_OBJECTS = (
    "attribute class classmethod cmdoption confval data decorator decoratormethod describe directive enum enumerator"
    " envvar exception function macro member method module object option program property role setting staticmethod"
    " struct type var variable"
)
_OBJECT = re.compile(
    rf"^[^\S\n]*\.\.[^\S\n]+(?:[\w-]+:)?(?:{_OBJECTS.replace(' ', '|')})::[^\S\n]+(?P<name>\S[^\n]*)", re.MULTILINE
)

# A line with such an ending continues below, so it is not a term.
_LEADS_ON = re.compile(r"[:,.;!?{(\[\\]\s*$")


def entry_heads(text: str, language: str) -> list[tuple[int, int]]:
    r"""Return the ranges of the entry heads in a text, in order; usually there are none.

    Example:
        >>> text = "keys/\n    Where keys are kept.\nlocks/\n    Where locks are.\n"
        >>> [text[a:b] for a, b in entry_heads(text, "rst")]
        ['keys/', 'locks/']
        >>> entry_heads(text, "markdown")
        []
    """
    if language in MARKED:
        return [found.span() for found in _MARKED_HEAD.finditer(text)]
    return list(_terms(text)) if language == "rst" else []


def described_objects(text: str) -> list[int]:
    r"""Return the starts of the directives in a text of reStructuredText that describe an object, in order.

    Example:
        >>> described_objects("Limits:\n\n.. data:: LIMIT\n\n   The most ropes.\n")
        [9]
    """
    return [found.start() for found in _OBJECT.finditer(text)]


def object_name(line: str) -> str:
    """Return the name of the object that a line of reStructuredText describes; the line itself if there is none.

    Example:
        >>> object_name(".. py:function:: moor(ship)"), object_name(".. note:: Moor it.")
        ('moor(ship)', '.. note:: Moor it.')
    """
    found = _OBJECT.fullmatch(line)
    return found["name"] if found else line


def entry_starts(text: str, heads: Iterable[tuple[int, int]]) -> list[int]:
    r"""Return the starts of entries: a head, or the first of several heads with a shared description.

    Example:
        >>> text = "-k\f\n--keep\f\nKeeps all.\n-x\f\nCuts.\n"
        >>> entry_starts(text, entry_heads(text, "man"))
        [0, 23]
    """
    starts: list[int] = []
    behind = -1
    for start, end in heads:
        if behind < 0 or text[behind:start].strip():
            starts.append(start)
        behind = end
    return starts


def first_cell(line: str) -> str:
    """Return the first cell of a row of a table; the line itself if it is none.

    Example:
        >>> first_cell("| mouse | bool"), first_cell("mouse (bool)")
        ('mouse', 'mouse (bool)')
    """
    return line.split("|")[1].strip() if line.lstrip().startswith("|") else line


def names_of(head: str) -> tuple[str, ...]:
    """Return the names that a head defines, as a question may spell them; () if the head says more than names.

    Example:
        >>> names_of("-b size, --block-size size"), names_of("mouse (bool)"), names_of("Valid mixed values")
        (('-b', '--block-size'), ('mouse',), ())
        >>> names_of("| `mouse` | bool")
        ('mouse',)
        >>> names_of("-n, --[no-]verify")
        ('-n', '--verify', '--no-verify')
    """
    head = first_cell(head)
    if options := _OPTION.findall(_NEGATABLE.sub(r"--\1 --no-\1", head)):
        return tuple(dict.fromkeys(options))
    said = (found for each in head.split(",") if (found := _NAME.match(each)))
    told = (each["name"] for each in said if _TAKES.fullmatch(each["rest"]) or _AS_CODE.search(each["name"]))
    return tuple(dict.fromkeys(told))


def _terms(text: str) -> Iterator[tuple[int, int]]:
    """Yield lines with indented text directly below that are not items or code and do not end a sentence."""
    before: tuple[int, int, int] | None = None
    above: tuple[int, int, int] | None = None
    code: int | None = None  # indentation of the line that opened the current code block
    for start, end in lines(text):
        line = (start, end, indent_of(text[start:end]))
        if code is not None and line[2] > code:
            before = above = None
            continue
        code = line[2] + width_of_marker(text, start, end) if leads_to_code(text, start, end) else None
        if (
            above is not None
            and line[2] > above[2]
            and text.count("\n", above[1], start) == 1
            and (before is None or before[2] > above[2] or text.count("\n", before[1], above[0]) > 1)
            and not _NO_TERM.match(text, above[0], above[1])
            and not _LEADS_ON.search(text, above[0], above[1])
        ):
            yield above[0], above[1]
        before, above = above, line


def indent_of(line: str, tab: int = 4) -> int:
    """Return the column of the first visible character of a line, with tab stops as wide as in Markdown."""
    shown = line.expandtabs(tab)
    return len(shown) - len(shown.lstrip())
