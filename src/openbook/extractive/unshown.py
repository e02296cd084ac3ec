"""Tells what a page does not show: markup without content, comments, and the lists of pages that become its menu."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from openbook.containers import box_title
from openbook.entries import indent_of
from openbook.extractive.context import units_of
from openbook.extractive.displaying import examples_of, indented_code
from openbook.tokens import WORD
from openbook.types import Chunk, Unit

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
# components, links to the next page, and what a template replaces.
MARKUP = re.compile(
    rf"{_TEMPLATE}|&(?:nbsp|ensp|emsp|shy|zwnj|zwj|lrm|rlm);|"
    r"^\([\w.:-]+\)=[ \t]*$"  # of MyST
    r"|^\s*\.\. _(?:`[^`\n]*`|[^:`\n]|:(?=\S))*:(?:[ \t]+\S+)?\s*$|^\s*__\s+\S.*$|^\s*\[[^]\n]+\]:\s\S+$|<[^>\n]*>"
    r"|^\s*\.\. (?:[\w-]+::\s*$|\|[^|\n]+\| image::.*$"
    r"|(?:code|code-block|sourcecode|prompt|highlight|literalinclude|image|figure)::.*$"
    # What an extension of Sphinx writes there: `.. autoclass:: Ship`, `.. pip-command-usage:: check`.
    r"|(?:auto\w+|include|currentmodule|program|program-output|command-output|click|argparse|typer|raw|only|index"
    r"|[\w-]+-(?:usage|options|description))::.*$)"
    r"|^\s+:(?:local|depth|caption|linenos|lines|language|emphasize-lines|scale|align|alt|width|height|target"
    r"|(?:\w+-)?members|member-order|show-inheritance|no-?index):.*$"
    r"|^\s*\+(?:[-=]+\+)+$|^\s*=+(?:[ \t]+=+)+\s*$|^import\s.+\sfrom\s[\"'].+$"
    r"|^[ \t]*(?:Next|Previous)\b[^\w\[\n]{1,4}\[[^]\n]*\]\([^)\n]*\)[^\w\n]*$"
    r"|\[?!\[[^]\n]*\]\([^)\n]*\)(?:\]\([^)\n]*\))?",
    re.MULTILINE,
)
# Lines that open and close a comment of a page, which is not shown, or a style sheet or program in it: of Liquid and
# Django, Jinja, HTML, Hugo and MDX.
# Indented further, they are an example.
_COMMENTS = (
    (re.compile(r" {0,3}\{%-?\s*comment\b(?!.*\bendcomment\b)"), re.compile(r"\s*\{%-?\s*endcomment\s*-?%\}")),
    (re.compile(r" {0,3}\{#-?(?:\s|$)(?!.*#\})"), re.compile(r".*#\}\s*$")),
    (re.compile(r" {0,3}<!--(?!.*-->)"), re.compile(r".*-->\s*$")),
    (re.compile(r" {0,3}<(?:style|script)\b"), re.compile(r".*</(?:style|script)>")),
    (re.compile(r" {0,3}\{(?:\{-?[ \t]*)?/\*(?!.*\*/)"), re.compile(r".*\*/(?:[ \t]*-?\})?\}\s*$")),
)
# A comment of reStructuredText, and a list of pages: what is indented below is not shown either.
_HIDDEN = re.compile(r"\s*\.\.(?:\s+(?:toctree::\s*|(?![\[_|]|__|[\w:+.-]+::)\S.*))?")

# A tag whose attributes go on below, and its end, but not the arrow of a function.
_OPENS_TAG = re.compile(r"\s*<[A-Za-z][\w.-]*(?:\s[^<>]*)?")
_ENDS_TAG = re.compile(r"(?:[^>]|(?<==)>)*(?<!=)>")
_MERE_VERSION = re.compile(r"\s*\.\. version(?:added|changed)::\s*\S+\s*")

# Cached chunks: a search reads each of ten results once per passage.
_CACHED_CHUNKS = 64


def is_markup(text: str) -> bool:
    """Return whether a text is nothing but markup, or the frame of what a template fills in: `{{ title }} [soon]`."""
    if box_title(text) == "":
        return True
    if MARKUP.search(text) is None:
        return False
    words = len(WORD.findall(MARKUP.sub("", text)))
    return words < (_MIN_WORDS if _FILLED.search(text) else 1)


@lru_cache(maxsize=_CACHED_CHUNKS)
def unshown(chunk: Chunk) -> frozenset[int]:
    """Return the numbers of the units outside of examples that a page does not show.

    A comment without an end goes on below the chunk.
    """
    every = units_of(chunk)
    examples = [range(each.opening, each.closing + 1) for each in examples_of(chunk, every)]
    units = [unit for place, unit in enumerate(every) if not any(place in each for each in examples)]
    found = set[int]()
    if chunk.language == "rst":
        found = {*_hidden(units), *_mere_versions(units)}
    elif chunk.language == "markdown":
        code = indented_code(chunk)
        found = set(_tags([unit for unit in units if unit.span.start_line not in code]))
    ends: re.Pattern[str] | None = None
    for unit in units:
        ends = ends or next((end for opens, end in _COMMENTS if opens.match(unit.text)), None)
        if ends is not None:
            found.add(unit.number)
            ends = None if ends.match(unit.text) else ends
    return frozenset(found)


def _tags(units: Sequence[Unit]) -> Iterator[int]:
    """Yield the numbers of the lines of tags that go on below their first one, as those of components in MDX."""
    opened: list[int] = []
    for above, unit in zip([None, *units], units, strict=False):
        is_next = above is not None and unit.span.start_line == above.span.end_line + 1
        opened = opened if is_next else []
        end = _ENDS_TAG.match(unit.text) if opened else None
        if opened or _OPENS_TAG.fullmatch(unit.text):
            opened.append(unit.number)
        if end is not None:
            yield from opened if WORD.search(unit.text, end.end()) is None else opened[:-1]
            opened = []


def _mere_versions(units: Sequence[Unit]) -> Iterator[int]:
    """Yield the numbers of the lines that say since when what is around them is there, and nothing else."""
    for unit, below in zip(units, [*units[1:], None], strict=True):
        is_alone = below is None or indent_of(below.text) <= indent_of(unit.text)
        if is_alone and _MERE_VERSION.fullmatch(unit.text):
            yield unit.number


def _hidden(units: Sequence[Unit]) -> Iterator[int]:
    indent: int | None = None
    for above, unit in zip([None, *units], units, strict=False):
        # An empty comment ends at a blank line.
        is_apart = above is not None and above.text.strip() == ".." and unit.span.start_line > above.span.end_line + 1
        if indent is None or indent_of(unit.text) <= indent or is_apart:
            indent = indent_of(unit.text) if _HIDDEN.fullmatch(unit.text) else None
        if indent is not None:
            yield unit.number
