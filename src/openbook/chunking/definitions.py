"""Finds the definitions in a syntax tree: their ranges and names.

The walk visits only nodes that can contain definitions, and does not recurse: a tree may be 20,000 levels deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import dropwhile
from textwrap import dedent

from tree_sitter import Node, Tree

from openbook.chunking.naming import DefinitionName
from openbook.chunking.outline import MAX_CHUNK_CHARS, MAX_SIGNATURE_CHARS, Definition
from openbook.chunking.rules import LanguageRules
from openbook.text import LineIndex

MAX_DOCSTRING_CHARS = 500  # a long first paragraph; the rest explains how, not what

# Comment markers, in all languages with rules.
_OPENING = re.compile(
    r"^[ \t]*(?:/\*+!?|//[/!]?|\*(?!/)|#+(?![\[!])|--+(?:\[\[)?|\{-|(?:;+|%+)(?=[ \t]|$)|\(\*+)?[ \t]*[|^]?[ \t]?"
)
# Starts only at the first asterisk of a run: otherwise a line of them would take quadratic time.
_CLOSING = re.compile(r"(?:(?<!\*)\*++[/)]|-\}|\]\])$")
_ATTRIBUTE = re.compile(r"^[ \t]*(?:#!?\[|#!|@|\[|;;;###)")

# In comments of C# and Java; and of Doxygen and Solidity, at their beginning.
_TAG = re.compile(r"</?(?:summary|remarks|para|p)>|^[@\\](?:brief|dev|notice|title)\b")

_ERLANG_SPEC = re.compile(r"^-spec\s", re.MULTILINE)  # the types of a function, behind its comment
_ELIXIR_DOC = re.compile(r'@(?:type)?doc\s+(?:~[sS])?(?:"""(.*?)"""|"((?:[^"\\]|\\.)*)")', re.DOTALL)
_ELIXIR_MODULE = re.compile(r'\A\s*do\s+@moduledoc\s+(?:~[sS])?(?:"""(.*?)"""|"((?:[^"\\]|\\.)*)")', re.DOTALL)

_MAX_LITERAL_CHARS = 4000  # the first paragraph is searched within these


def first_paragraph(text: str) -> str:
    """Return the lines up to the first blank one, stripped, at most 500 characters.

    Example:
        >>> first_paragraph("Opens the door. ")
        'Opens the door.'
    """
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip():
            break
        lines.append(line.strip())
    return "\n".join(lines)[:MAX_DOCSTRING_CHARS].rstrip()


def without_signature(text: str) -> str:
    r"""Return a docstring without the indented signature that it begins with, as in Julia.

    Example:
        >>> without_signature("\n    moor(ship)\n\nTies it up.\n").strip()
        'Ties it up.'
    """
    lines = dedent(text).strip("\n").split("\n")
    return "\n".join(dropwhile(lambda line: line.startswith(("    ", "\t")), lines)) or text


def leading_docstring(text: str) -> str:
    """Return the comment in the lines before a definition, without its markers.

    Attributes and decorators are skipped. Empty without a comment.

    Example:
        >>> leading_docstring("/// Opens the door.")
        'Opens the door.'
    """
    if not text.strip():
        return ""
    elixir = _ELIXIR_DOC.search(text) if "doc" in text else None
    if elixir is not None:
        return first_paragraph(elixir[1] or elixir[2] or "")
    lines: list[str] = []
    for line in _ERLANG_SPEC.split(text, maxsplit=1)[0].split("\n"):
        if _ATTRIBUTE.match(line):
            continue
        words = _CLOSING.sub("", _OPENING.sub("", line, count=1).rstrip(), count=1)
        words = _TAG.sub("", words).strip()
        if lines and (not words or words.startswith("@")):
            break
        if words:
            lines.append(words)
    return first_paragraph("\n".join(lines))


def literal_docstring(body: Node | None, text: Callable[[Node | None], str]) -> str:
    """Return the string that opens a body: a Python docstring or an Elixir `@moduledoc`."""
    if body is None or not body.named_children:
        return ""
    if body.type == "do_block":
        module = _ELIXIR_MODULE.match(text(body)[:_MAX_LITERAL_CHARS])
        return first_paragraph(module[1] or module[2] or "") if module else ""
    first = body.named_children[0]
    if body.type != "block" or first.type not in {"expression_statement", "string"}:
        return ""
    literal = first if first.type == "string" else next(iter(first.named_children), None)
    if literal is None or literal.type != "string":
        return ""
    quoted = re.match(r"[A-Za-z]*(\"\"\"|'''|\"|')", text(literal)[:8])
    if quoted is None:
        return ""
    return first_paragraph(text(literal)[quoted.end() : -len(quoted[1])][:_MAX_LITERAL_CHARS])


# People nest classes and functions three deep. Deeper ones remain part of the enclosing definition.
_MAX_DEPTH = 30

# Real code has one step per 130 characters. Text with more steps is generated or malicious: the definitions found so
# far count, and the rest is split between lines.
_MAX_STEPS = 25_000

# A comment of more lines is a chapter, not the comment of one definition.
_MAX_LEADING_LINES = 100

# Nodes at the beginning of a definition that may be on lines of their own. Comments may be between them.
_ATTRIBUTES = ("annotation", "attribute", "comment", "decorator", "line_comment", "block_comment", "modifiers")

_BLOCK_COMMENTS = {"*/": "/*", "-}": "{-", "-->": "<!--"}


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of the walk."""

    into: list[Definition]
    path: tuple[str, ...] = ()
    depth: int = 0
    is_local: bool = False
    """Whether this is within a function, where variables are not constants."""


@dataclass(frozen=True, slots=True)
class _Extent:
    """The full range of a definition: its outermost wrapper and what precedes it."""

    node: Node
    leading: tuple[Node, ...]
    previous: Node | None


_Step = tuple[Node, str, _Place, _Extent]


class DefinitionFinder:
    """Collects the definitions of one syntax tree."""

    def __init__(
        self, text: str, source: bytes, lines: LineIndex, rules: LanguageRules, *, only_places: bool = False
    ) -> None:
        """Take a text. With `only_places`, definitions have neither a signature nor a docstring."""
        self._text = text
        self._only_places = only_places
        self._source = source
        self._lines = lines
        self._rules = rules
        self._wanted = rules.defining.keys() | rules.containers | rules.wrappers | rules.fillers
        self._broken_bytes = 0
        self.is_broken = False
        """Whether the grammar failed on most of the text."""

    def find(self, tree: Tree) -> list[Definition]:
        """Return the outermost definitions in order. Sets `is_broken`."""
        root = tree.root_node
        found: list[Definition] = []
        stack: list[_Step] = list(self._steps(root, _Place(found)))
        steps = 0
        while stack and steps < _MAX_STEPS:
            steps += 1
            stack.extend(self._visit(*stack.pop()))
        self.is_broken = root.type == "ERROR" or 2 * self._broken_bytes > len(self._source)
        return found

    def _visit(self, node: Node, kind: str, place: _Place, extent: _Extent) -> Iterable[_Step]:
        rules = self._rules
        rule = rules.defining.get(kind)
        named = rule(node, self._text_of) if rule is not None else None
        if named is not None:
            return self._define(node, named, place, extent)
        if kind in rules.wrappers:
            return self._unwrap(node, place, extent)
        if kind in rules.containers:
            if kind == "ERROR":
                self._broken_bytes += node.end_byte - node.start_byte
            return self._steps(node, place)
        if kind in rules.fillers and node.end_byte - node.start_byte > MAX_CHUNK_CHARS:
            return self._steps(node, _Place(place.into, place.path, place.depth, is_local=True))
        return ()

    def _steps(self, parent: Node, place: _Place) -> Iterable[_Step]:
        """Return the relevant children, last first, each with its leading nodes."""
        leading_types, wanted = self._rules.leading, self._wanted
        steps: list[_Step] = []
        leading: list[Node] = []
        previous: Node | None = None
        for node in parent.named_children:
            kind = node.type
            if kind in leading_types and not self._defines(node, kind):
                leading.append(node)
                continue
            if kind in wanted:
                steps.append((node, kind, place, _Extent(node, tuple(leading), previous)))
            previous = node
            leading.clear()
        return reversed(steps)

    def _defines(self, node: Node, kind: str) -> bool:
        rule = self._rules.defining.get(kind)
        return rule is not None and rule(node, self._text_of) is not None

    def _unwrap(self, node: Node, place: _Place, extent: _Extent) -> Iterable[_Step]:
        steps = list(self._steps(node, place))
        if len(steps) == 1:
            # Nodes before the wrapper also lead its content.
            return [(steps[0][0], steps[0][1], place, extent)]
        return steps

    def _define(self, node: Node, named: DefinitionName, place: _Place, extent: _Extent) -> Iterable[_Step]:
        is_large = node.end_byte - node.start_byte > MAX_CHUNK_CHARS
        definition = self._definition(node, named, place, extent)
        if definition is None:
            return self._steps(node, place) if is_large else ()
        before = place.into[-1] if place.into else None
        if before is not None and self._continues(before, definition):
            before.last_line = max(before.last_line, definition.last_line)
            return ()
        place.into.append(definition)
        if place.depth >= _MAX_DEPTH or not (is_large or named.role in {"type", "scope", "element"}):
            return ()
        is_local = place.is_local or named.role == "function"
        inside = _Place(definition.inner, definition.path, place.depth + 1, is_local=is_local)
        return self._steps(named.body if named.body is not None else node, inside)

    def _definition(self, node: Node, named: DefinitionName, place: _Place, extent: _Extent) -> Definition | None:
        line, last_line = node.start_point.row + 1, _last_row(extent.node) + 1
        if named.role == "constant" and place.is_local:
            return None
        if line == last_line and self._lines.end_of(line) - self._lines.start_of(line) > MAX_CHUNK_CHARS:
            return None  # minified: the line will be split regardless of its content
        if named.role == "element" and line == last_line:
            return None
        line = _head_row(extent.node) + 1 if extent.node.type != "decorated_definition" else line
        first_line = self._first_line(extent)
        is_told = not self._only_places
        return Definition(
            path=(*place.path, *named.path) if named.role != "element" else place.path,
            names=(named.path[-1], *named.also) if named.role not in {"scope", "element"} else (),
            role=named.role,
            first_line=first_line,
            line=line,
            last_line=last_line,
            signature=self._signature(node, named, extent) if is_told and named.role != "element" else "",
            docstring=self._docstring(named, extent, first_line, line) if is_told else "",
        )

    def _docstring(self, named: DefinitionName, extent: _Extent, first_line: int, line: int) -> str:
        above = extent.leading[-1] if extent.leading and extent.leading[-1].type == "string_literal" else None
        docstring = first_paragraph(self._text_of(named.docstring)[1:-1][:_MAX_LITERAL_CHARS])
        if above is not None and above.start_point.row + 1 >= first_line:
            docstring = first_paragraph(without_signature(self._text_of(above).strip('"')[:_MAX_LITERAL_CHARS]))
        if not docstring and named.role != "constant":
            docstring = literal_docstring(named.body, self._text_of)
        return docstring or leading_docstring(self._lines_between(first_line, line))

    def _continues(self, before: Definition, definition: Definition) -> bool:
        return (
            self._rules.grouped
            and before.path == definition.path
            and before.role == definition.role == "function"
            and not before.inner
        )

    def _first_line(self, extent: _Extent) -> int:
        """Go up over attributes and comments directly above."""
        floor = _last_row(extent.previous) + 1 if extent.previous is not None else 0
        row = extent.node.start_point.row
        for node in reversed(extent.leading):
            if not floor <= node.start_point.row or _last_row(node) < row - 1:
                break
            row = node.start_point.row
        top = max(floor, row - _MAX_LEADING_LINES)
        while row > top and (height := self._comment_above(row, top)):
            row -= height
        return row + 1

    def _comment_above(self, row: int, top: int) -> int:
        """Count the rows of the comment that ends directly above a 0-based row."""
        line = self._lines_between(row, row + 1).strip()
        if line.startswith(self._rules.comments):
            return 1
        opening = next((_BLOCK_COMMENTS[end] for end in _BLOCK_COMMENTS if line.endswith(end)), "")
        if opening:
            for height in range(1, row - top + 1):
                if self._lines_between(row - height + 1, row - height + 2).lstrip().startswith(opening):
                    return height
        return 0

    def _signature(self, node: Node, named: DefinitionName, extent: _Extent) -> str:
        outer = extent.node if extent.node.type != "decorated_definition" else node
        start = min(outer.start_byte, node.start_byte)
        ends = [each.start_byte for each in (named.docstring, named.body) if each is not None]
        end = min(ends, default=node.end_byte)
        # A character has at most four bytes, so this is enough text without decoding a whole class.
        head = self._source[start : min(end, start + 4 * MAX_SIGNATURE_CHARS)].decode("utf-8", "ignore")
        if not ends and named.role != "function":
            head = head.partition("\n")[0]
        written = head[:MAX_SIGNATURE_CHARS].rstrip().split("\n")
        # In some grammars, a body begins after the comment of its first member.
        while len(written) > 1 and written[-1].lstrip().startswith((*self._rules.comments, "/*")):
            written.pop()
        return "\n".join(written).rstrip()

    def _lines_between(self, first_line: int, line: int) -> str:
        """Return the lines from one up to another, exclusive; both 1-based."""
        return self._text[self._lines.start_of(first_line) : self._lines.start_of(line)]

    def _text_of(self, node: Node | None) -> str:
        if node is None:
            return ""
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _head_row(node: Node) -> int:
    """Return the 0-based row below the attributes that a node begins with."""
    head = next((each for each in node.children if not each.type.startswith(_ATTRIBUTES)), node)
    return head.start_point.row


def _last_row(node: Node) -> int:
    """Return the 0-based row of the last character. Some nodes include their line feed."""
    end = node.end_point
    return end.row - 1 if end.column == 0 and end.row > node.start_point.row else end.row
