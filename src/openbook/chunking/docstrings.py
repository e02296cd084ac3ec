"""Reads what a definition says about itself: the first paragraph of its docstring or comment."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

MAX_DOCSTRING_CHARS = 500  # a long first paragraph; what follows says how, not what

# What stands around the words of a comment, in all the languages that have rules.
_OPENING = re.compile(r"^[ \t]*(?:/\*+!?|//[/!]?|\*(?!/)|#+(?![\[!])|--+(?:\[\[)?|\{-)?[ \t]*[|^]?[ \t]?")
# Sought from the first asterisk of a run only: a line of them would take the square of its length.
_CLOSING = re.compile(r"(?:(?<!\*)\*++/|-\}|\]\])$")
_ATTRIBUTE = re.compile(r"^[ \t]*(?:#!?\[|#!|@|\[)")

_TAG = re.compile(r"</?(?:summary|remarks|para|p)>")  # of C# and Java comments

_ELIXIR_DOC = re.compile(r'@doc\s+(?:~[sS])?(?:"""(.*?)"""|"((?:[^"\\]|\\.)*)")', re.DOTALL)
_ELIXIR_MODULE = re.compile(r'\A\s*do\s+@moduledoc\s+(?:~[sS])?(?:"""(.*?)"""|"((?:[^"\\]|\\.)*)")', re.DOTALL)

_MAX_LITERAL_CHARS = 4000  # of which the first paragraph is looked for


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


def leading_docstring(text: str) -> str:
    """Read the comment in the lines before a definition, its marks removed.

    Attributes and decorators are skipped. Empty if there is no comment.

    Example:
        >>> leading_docstring("/// Opens the door.")
        'Opens the door.'
    """
    if not text.strip():
        return ""
    elixir = _ELIXIR_DOC.search(text) if "@doc" in text else None
    if elixir is not None:
        return first_paragraph(elixir[1] or elixir[2] or "")
    lines: list[str] = []
    for line in text.split("\n"):
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
    """Read the string that opens a body: a Python docstring or an Elixir `@moduledoc`."""
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
