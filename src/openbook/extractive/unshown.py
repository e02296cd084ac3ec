"""Tells what a page does not show: markup without content, comments, and the lists of pages that become its menu."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from openbook.containers import box_title
from openbook.entries import indent_of
from openbook.tokens import WORD
from openbook.types import Unit

# A frame with fewer words around what a template fills in says nothing.
_MIN_WORDS = 3

# Statements, comments and values of templates (Liquid, Jinja, Hugo, Handlebars), and attributes that Kramdown reads.
# In backticks, they are what the text is about.
_TEMPLATE = (
    r"(?<!`)\{%-?[ \t]*comment\b[^\n]{0,500}?\bendcomment[ \t]*-?%\}|(?<!`)\{#-?[ \t][^\n]{0,500}?#\}|"
    r"(?<!`)\{%(?:(?!%\})[^\n])*%\}(?!`)|(?<!`)\{\{(?:[-<%]?[ \t][^{}\n]*|[#/>^][^{}\n]*|[\w.]+)\}\}(?!`)|"
    r"(?<![`{])\{/\*[^\n]{0,500}?\*/\}|"  # of MDX
    r"^[ \t]*\{:(?!\w+,)[^{}\n]*\}[ \t]*$"  # but not `{:ok, socket}`
)
_FILLED = re.compile(_TEMPLATE, re.MULTILINE)
# Markup without content: link targets, tags, invisible characters, images, lines that open a directive, imports of page
# components, and what a template replaces.
MARKUP = re.compile(
    rf"{_TEMPLATE}|&(?:nbsp|ensp|emsp|shy|zwnj|zwj|lrm|rlm);|"
    r"^\([\w.:-]+\)=[ \t]*$"  # of MyST
    r"|^\s*\.\. _(?:`[^`\n]*`|[^:`\n]|:(?=\S))*:(?:[ \t]+\S+)?\s*$|^\s*__\s+\S.*$|^\s*\[[^]\n]+\]:\s\S+$|<[^>\n]*>"
    r"|^\s*\.\. (?:[\w-]+::\s*$|\|[^|\n]+\| image::.*$"
    r"|(?:code|code-block|sourcecode|prompt|highlight|literalinclude|image|figure)::.*$"
    # What an extension of Sphinx writes there: `.. autoclass:: Ship`, `.. pip-command-usage:: check`.
    r"|(?:auto\w+|include|currentmodule|program|program-output|command-output|click|argparse|typer|raw|only|index"
    r"|[\w-]+-(?:usage|options|description))::.*$)"
    r"|^\s+:(?:local|depth|caption|linenos|lines|language|emphasize-lines|scale|align|alt|width|height|target):.*$"
    r"|^\s*\+(?:[-=]+\+)+$|^\s*=+(?:[ \t]+=+)+\s*$|^import\s.+\sfrom\s[\"'].+$"
    r"|\[?!\[[^]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?",
    re.MULTILINE,
)
# Lines that open and close a comment of a page, which is not shown: of Liquid and Django, Jinja, HTML, Hugo and MDX.
# Indented further, they are an example.
_COMMENTS = (
    (re.compile(r" {0,3}\{%-?\s*comment\b(?!.*\bendcomment\b)"), re.compile(r"\s*\{%-?\s*endcomment\s*-?%\}")),
    (re.compile(r" {0,3}\{#-?(?:\s|$)(?!.*#\})"), re.compile(r".*#\}\s*$")),
    (re.compile(r" {0,3}<!--(?!.*-->)"), re.compile(r".*-->\s*$")),
    (re.compile(r" {0,3}\{(?:\{-?[ \t]*)?/\*(?!.*\*/)"), re.compile(r".*\*/(?:[ \t]*-?\})?\}\s*$")),
)
# A comment of reStructuredText, and a list of pages: what is indented below is not shown either.
_HIDDEN = re.compile(r"\s*\.\.(?:\s+(?:toctree::\s*|(?![\[_|]|__|[\w:+.-]+::)\S.*))?")


def is_markup(text: str) -> bool:
    """Return whether a text is nothing but markup, or the frame of what a template fills in: `{{ title }} [soon]`."""
    if box_title(text) == "":
        return True
    if MARKUP.search(text) is None:
        return False
    words = len(WORD.findall(MARKUP.sub("", text)))
    return words < (_MIN_WORDS if _FILLED.search(text) else 1)


def unshown(units: Sequence[Unit], language: str) -> set[int]:
    """Return the numbers of the units that a page does not show. A comment without an end goes on below the chunk."""
    found = set(_hidden(units)) if language == "rst" else set[int]()
    ends: re.Pattern[str] | None = None
    for unit in units:
        ends = ends or next((end for opens, end in _COMMENTS if opens.match(unit.text)), None)
        if ends is not None:
            found.add(unit.number)
            ends = None if ends.match(unit.text) else ends
    return found


def _hidden(units: Sequence[Unit]) -> Iterator[int]:
    indent: int | None = None
    for above, unit in zip([None, *units], units, strict=False):
        # An empty comment ends at a blank line.
        is_apart = above is not None and above.text.strip() == ".." and unit.span.start_line > above.span.end_line + 1
        if indent is None or indent_of(unit.text) <= indent or is_apart:
            indent = indent_of(unit.text) if _HIDDEN.fullmatch(unit.text) else None
        if indent is not None:
            yield unit.number
