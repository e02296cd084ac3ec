"""Chunks code along its definitions."""

from __future__ import annotations

import re

from openbook.chunking.definitions import DefinitionFinder
from openbook.chunking.grammars import parse
from openbook.chunking.layout import Layout, build_chunks
from openbook.chunking.lines import chunk_lines, definition_lines
from openbook.chunking.outline import Definition, flatten
from openbook.chunking.rules import RULES
from openbook.chunking.smoothing import smoothed
from openbook.types import Chunk, Document

# C++ in a file that is named like one of C, whose grammar makes little of it. Names and the first lines have decided
# on the language; this looks for what only C++ can begin a line with, anywhere in the file.
_CPP_ONLY = re.compile(
    r"^[ \t]*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w+\s*=|(?:public|private)\s*:)", re.MULTILINE
)


def chunk_code(document: Document) -> list[Chunk]:
    """Cut code into chunks that keep a function, a method or a small class whole.

    Up to 1,500 characters a definition is one chunk, with the comments, decorators and attributes
    before it. A larger one gives its header and then its members; without members it is cut
    between its lines. Small neighbours of one scope share a chunk of up to 1,000 characters.

    Chunks are whole lines, in order, and hold every line that is not blank; only a line that is
    longer than a chunk is cut inside. Text without a grammar, or that its grammar can make nothing
    of, is cut by `chunk_lines`. Empty for a blank text.
    """
    layout = Layout(document.text)
    definitions = find_definitions(layout, document.language)
    if definitions is None:
        return chunk_lines(document)
    return build_chunks(document, layout.lines, layout.pieces(definitions), definitions)


def find_definitions(layout: Layout, language: str) -> list[Definition] | None:
    """Return the outermost definitions of a text, in order; None without a grammar that makes something of it."""
    text = layout.text
    if language == "c" and _CPP_ONLY.search(text):
        language = "cpp"
    rules = RULES.get(language)
    if rules is None or not text.strip():
        return None
    source = text.encode("utf-8")
    tree = parse(language, smoothed(language, source))
    if tree is None:
        return None
    finder = DefinitionFinder(text, source, layout.lines, rules)
    definitions = finder.find(tree)
    # One unknown token can make an error of a whole file, and all its functions be found still.
    if finder.is_broken and sum(1 for _ in flatten(definitions)) < len(definition_lines(layout, language)):
        return None
    return definitions
