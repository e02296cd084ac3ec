"""Lines of Markdown and reStructuredText that are headings or open an indented body, and whether that is prose or code.

Admonitions, tabs, list items, footnotes, definitions and most directives contain prose, which is indented without
being code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from openbook.types import Lesson

NOTES = frozenset(
    "note warning tip important caution danger hint attention error seealso admonition versionadded versionchanged"
    " versionremoved deprecated topic sidebar rubric todo".split()
)
"""Directives that show prose as an admonition."""

# MyST directives for page layout, and for reStructuredText in Markdown, which recommonmark names without braces.
# A fence with any other name, except admonitions, is not prose.
_LAYOUT = frozenset(
    "dropdown tab tab-set tab-item grid grid-item grid-item-card card details eval-rst eval_rst".split()
)
_PROSE_FENCE = re.compile(r"\{(?P<name>[\w-]+)\}|(?P<bare>eval_rst)\b")

# Admonitions, collapsible ones and tabs of MkDocs; a footnote; a definition.
OPENS_BODY = re.compile(
    r'^(?P<indent>[ \t]*)(?:(?P<box>!!!|\?\?\?\+?|===[!+]*) *[\w"]|\[\^[^]\n]+\]:|:[ \t]+\S).*', re.MULTILINE
)
"""Matches lines of Markdown that open a body indented by four columns, except list items. `box` is the sign of an
admonition or tab."""

HEADING = re.compile(
    r"^#{1,6}[ \t]+\S.*|^\S.*(?=\r?\n([=\-~^\"'`#*+.:_])\1{2,}[ \t]*\r?$)|(?:^|(?<=\f))[^\n\f]*\S(?=\f\f)", re.MULTILINE
)
"""Matches headings of Markdown; of reStructuredText, with an underline of at least three; and those marked by a reader.
"""

# The label of a question in a FAQ, perhaps behind an emoji, and the rest of its paragraph, up to the label of the
# answer. A box of MkDocs may be the label.
_LABEL = (
    r"(?:[^\w\n#]{0,6}(?:Q|Question)[ \t]?\d{0,3}[*_]{0,2}[:.][*_]{0,2}[ \t]+"
    r'|!!![ \t]*question[ \t]*(?:"|\n\s*+))'
)
_PARAGRAPH = r"(?:(?!\n[ \t]*\r?\n|\n[^\w\n]{0,6}A(?:nswer)?\b[^\w\n]{0,3}[:.])[^\f]){8,400}"
_ASKED = re.compile(
    rf"^[ \t]*(?:(?:[-*+•]|\d{{1,3}}[.)])[ \t]+)?(?:{_LABEL}(?P<labeled>\w{_PARAGRAPH})"
    r"|(?P<mark>\*\*|__)(?P<bold>\w(?:(?!(?P=mark)|\n[ \t]*\r?\n)[^\f]){8,300}\?)[ \t]*(?P=mark)"
    r"|(?:<details>\s*)?<summary>(?P<summary>[^\n]{8,300}\?(?:</\w+>|[^\w\n])*)</summary>)",
    re.MULTILINE,
)
_TAG = re.compile(r"<[^<>]*>")

# The opening of an admonition or tab in MkDocs, PyMdown, VitePress, Docusaurus, MyST, GitHub and reStructuredText.
_BOX = re.compile(
    r'(?:(?:!!!|\?\?\?\+?|===[!+]*)(?=[\s"\w])[\w -]*|(?:[:/]{3,}|`{3,}(?=\{|eval_rst))[ \t]*\{?[\w-]*\}?(?![\w/:])'
    r"[ \t]*[|[]?"
    r"|(?:>[ \t]*)?\[!\w+\][+-]?"
    r"|\.\. (?:note|warning|tip|important|caution|danger|hint|attention|error|admonition|seealso"
    r"|tab|tab-item|dropdown)::)"
    r'[ \t]*"?(?P<title>.*?)["\]]?'
)

# An icon in a title of MkDocs, as `:material-linux:`.
_ICON = re.compile(r"(?<!\w):[\w+-]+:(?!`)")

# A picture in Markdown, perhaps as a link, such as a badge behind the title of a README.
_TARGET = r"(?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"
_PICTURE = re.compile(rf"\[!\[[^\[\]\n]{{0,300}}\]{_TARGET}\s?\]{_TARGET}|!\[[^\[\]\n]{{0,300}}\]{_TARGET}")

ITEM = re.compile(r"\s*((?:[-*+•]|\(?(?:\w|\d+|#)[.)])[ \t]+)")
DIRECTIVE = re.compile(r"\s*(?:\.\. )*\.\.[ \t]+(?P<name>[\w:+.-]*\w)::(?:\s+(?P<said>.*)|$)")
_CODE_DIRECTIVES = frozenset(
    "code code-block sourcecode parsed-literal literalinclude highlight math productionlist prompt program-output"
    " doctest testcode testoutput testsetup testcleanup ipython jupyter-execute graphviz digraph graph mermaid uml raw"
    " csv-table".split()
)


def without_pictures(title: str) -> str:
    """Return a title in Markdown without its pictures, unless it has nothing else.

    Example:
        >>> without_pictures("Ring [![Build](build.svg)](https://ci.example)")
        'Ring'
        >>> without_pictures("![Rack](logo.webp)")
        '![Rack](logo.webp)'
    """
    rest = _PICTURE.sub("", title).strip(" \t|•·")
    return rest if any(map(str.isalnum, unescape(_TAG.sub("", rest)))) else title


# A heading in HTML, as GitHub shows it: `<h3 id="tide">\nWhen is the tide?\n</h3>`. In what the last pattern opens, it
# is shown in a cell, as it stands, or not at all.
_HTML_HEADING = re.compile(
    r"^[ \t]*<h([1-6])\b[^<>]*>(.{1,500}?)</h\1[ \t]*>", re.MULTILINE | re.DOTALL | re.IGNORECASE
)
_NOT_SHOWN_AS_HEADING = re.compile(r"[ \t]*<(?:!|\?|(?:table|pre|script|style|textarea)\b)", re.IGNORECASE)


def html_headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    r"""Yield the headings in a block of HTML: start, end, level, and title with its markup. Pictures alone are none.

    Example:
        >>> list(html_headings('<h3 id="tide">\nWhen is the tide?\n</h3>'))
        [(0, 38, 3, 'When is the tide?')]
    """
    for found in () if _NOT_SHOWN_AS_HEADING.match(text) else _HTML_HEADING.finditer(text):
        title = found[2].strip()
        if any(map(str.isalnum, _TAG.sub("", title))):
            yield *found.span(), int(found[1]), title


def is_title_of(heading: str, lesson: Lesson) -> bool:
    """Return whether a heading is no more than the title of a lesson or its course, perhaps behind a number.

    Example:
        >>> lesson = Lesson("Knots", 4, "Bends")
        >>> [is_title_of(each, lesson) for each in ("Knots", "04 Bends", "Lesson 4: Bends", "Bends of two ropes")]
        [True, True, True, False]
    """
    before = heading.removesuffix(lesson.title)
    is_numbered = before != heading and any(map(str.isdecimal, before))
    return heading in (lesson.course, lesson.title, str(lesson)) or is_numbered


def questions_in(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield the questions of a FAQ that are no headings, in order: start, end, and text without markup.

    They are in bold, in a box, follow a label, or are the summary of what is folded.

    Example:
        >>> list(questions_in("Q: Do ropes freeze?\nA: They do.\n\n**Do knots hold?** They do."))
        [(0, 19, 'Do ropes freeze?'), (33, 51, 'Do knots hold?')]
    """
    for found in _ASKED.finditer(text):
        said = _TAG.sub("", found["labeled"] or found["bold"] or found["summary"])
        yield found.start(), found.end(), " ".join(re.sub(_LABEL, "", said).strip('*_" ').split())


def holds_prose(info: str) -> bool:
    """Return whether the info string of a Markdown fence marks its body as prose.

    Example:
        >>> holds_prose("{note} Read this"), holds_prose("{code-cell} python"), holds_prose("python")
        (True, False, False)
    """
    found = _PROSE_FENCE.match(info)
    return found is not None and (found["bare"] or found["name"]) in NOTES | _LAYOUT


def box_title(line: str) -> str | None:
    """Return the title in the opening or closing line of an admonition or tab; None for any other line.

    Example:
        >>> box_title('!!! note "One thing"'), box_title("::: tip"), box_title("A tip")
        ('One thing', '', None)
    """
    found = _BOX.fullmatch(line.strip())
    return found["title"] if found else None


def section_title(line: str) -> str:
    """Return the title of the section that a line of MkDocs opens, a tab or a collapsible block; empty if it does not.

    Example:
        >>> section_title('=== "Linux"'), section_title('??? tip "By hand"'), section_title('!!! note "Linux"')
        ('Linux', 'By hand', '')
    """
    is_section = line.lstrip().startswith(("===", "???"))
    return _ICON.sub("", (is_section and box_title(line)) or "").strip()


def leads_to_code(text: str, start: int, end: int) -> bool:
    """Return whether a line of reStructuredText opens a code block: `::`, or a directive for code."""
    directive = DIRECTIVE.match(text, start, end)
    return directive["name"].lower() in _CODE_DIRECTIVES if directive else text.endswith("::", start, end)


def literal_opening(text: str, start: int) -> str:
    """Return the line of reStructuredText above an offset that opens a code block there; empty if it does not.

    Only blank lines and options of a directive may be between.
    """
    behind = start
    while behind > 0:
        first = text.rfind("\n", 0, behind - 1) + 1
        line = text[first:behind].rstrip()
        if line and not line.lstrip().startswith(":"):
            return line if leads_to_code(line, 0, len(line)) else ""
        behind = first
    return ""


def width_of_marker(text: str, start: int, end: int) -> int:
    """Return the indentation of an item's text relative to its marker; 0 if the line is not an item."""
    marker = ITEM.match(text, start, end)
    return len(marker[1]) if marker else 0
