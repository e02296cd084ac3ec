"""Lines that open something with a body below, of Markdown and reStructuredText, and whether that is prose or code.

Bodies of prose are boxes, tabs, items of lists, footnotes, definitions and most directives. They are indented, and no
code for that.
"""

from __future__ import annotations

import re

NOTES = frozenset(
    "note warning tip important caution danger hint attention error seealso admonition versionadded versionchanged"
    " versionremoved deprecated topic sidebar rubric todo".split()
)
"""Directives that show their prose in a box."""

# Others of MyST that structure a page: with them, and in no other, a fence holds prose.
_LAYOUT = frozenset("dropdown tab-set tab-item grid grid-item grid-item-card card details".split())
_PROSE_FENCE = re.compile(r"\{(?P<name>[\w-]+)\}")

# Boxes, collapsible ones and tabs of MkDocs; a footnote; a definition.
OPENS_BODY = re.compile(
    r'^(?P<indent>[ \t]*)(?:(?:!!!|\?\?\?\+?|===[!+]*) *[\w"]|\[\^[^]\n]+\]:|:[ \t]+\S).*', re.MULTILINE
)
"""What opens a body four columns deeper in Markdown, and is no item of a list."""

# How a box or a tab begins: of MkDocs, PyMdown, VitePress, Docusaurus, MyST, GitHub and reStructuredText.
_BOX = re.compile(
    r'(?:(?:!!!|\?\?\?\+?|===[!+]*)(?=[\s"])[\w -]*|(?:[:/]{3,}|`{3,}(?=\{))[ \t]*\{?[\w-]*\}?(?![\w/:])[ \t]*[|[]?'
    r"|(?:>[ \t]*)?\[!\w+\][+-]?"
    r"|\.\. (?:note|warning|tip|important|caution|danger|hint|attention|error|admonition|seealso)::)"
    r'[ \t]*"?(?P<title>.*?)["\]]?'
)

ITEM = re.compile(r"\s*((?:[-*+•]|\(?(?:\w|\d+|#)[.)])[ \t]+)")
DIRECTIVE = re.compile(r"\s*(?:\.\. )*\.\.[ \t]+(?P<name>[\w:+.-]*\w)::(?:\s+(?P<said>.*)|$)")
_CODE_DIRECTIVES = frozenset(
    "code code-block sourcecode parsed-literal literalinclude highlight math productionlist prompt program-output"
    " doctest testcode testoutput testsetup testcleanup ipython jupyter-execute graphviz digraph graph mermaid uml raw"
    " csv-table".split()
)


def holds_prose(info: str) -> bool:
    """Return whether what a fence is called, in Markdown, makes its body prose.

    Example:
        >>> holds_prose("{note} Read this"), holds_prose("{code-cell} python"), holds_prose("python")
        (True, False, False)
    """
    found = _PROSE_FENCE.match(info)
    return found is not None and found["name"] in NOTES | _LAYOUT


def box_title(line: str) -> str | None:
    """Return what a line that opens or closes a box or a tab says of it; None for any other line.

    Example:
        >>> box_title('!!! note "One thing"'), box_title("::: tip"), box_title("A tip")
        ('One thing', '', None)
    """
    found = _BOX.fullmatch(line.strip())
    return found["title"] if found else None


def leads_to_code(text: str, start: int, end: int) -> bool:
    """Return whether a line of reStructuredText makes what is deeper below it code: `::`, or a directive for code."""
    directive = DIRECTIVE.match(text, start, end)
    return directive["name"].lower() in _CODE_DIRECTIVES if directive else text.endswith("::", start, end)


def width_of_marker(text: str, start: int, end: int) -> int:
    """Return how much deeper the text of an item stands than its marker; 0 if it is no item."""
    marker = ITEM.match(text, start, end)
    return len(marker[1]) if marker else 0
