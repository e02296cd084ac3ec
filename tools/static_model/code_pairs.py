"""Finds pairs in source code: what people wrote about a piece of code, and the code."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from tools.static_model.archives import suffix
from tools.static_model.pairs import MAX_CHARS, MAX_QUERY_CHARS, Pair, dice, says_something, words_of

_MIN_BODY = 60
_MAX_LINES = 45
# Longer lines are data; the patterns below take time that grows with the square of a line.
_MAX_LINE_CHARS = 240
_LEGAL = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|warrant(y|ies)|generated (by|from)|do not edit", re.I
)
_DIRECTIVE = re.compile(
    r"^\s*(noqa|type:|pylint|eslint|ts-|nolint|go:|\+build|@ts|prettier|istanbul|region|coverage|clang)", re.I
)
_DECORATION = re.compile(r"^\s*(/\*+|\*+/|\*|///?!?|//|#+!?|--+|;+)\s?|\s*\*+/\s*$")
_MARKUP = re.compile(r"</?\w+[^>]{0,80}>|\{@\w+\s|[{}`]|^\s*[@\\](brief|param|return)s?\b")

_HASH = frozenset("py pyi rb sh bash zsh fish pl pm ex exs nim".split())
_DASH = frozenset("lua hs sql".split())
_SEMICOLON = frozenset("el clj".split())

_DEFINITION = re.compile(
    r"^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|virtual|inline|"
    r"open|sealed|data|unsafe|const|pub(?:\([^)]*\))?|extern(?:\s+\"C\")?|declare|local|readonly|suspend)\s+)*"
    r"(?:(?P<word>func|function|fun|fn|def|defp|defmodule|defun|defmacro|class|struct|trait|interface|enum|impl|module|"
    r"sub|type|object|namespace|proc|method|macro_rules!)\s+\*?\(?(?:\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w*)"
    r"|(?:[\w:<>,\[\]*&?.]+\s+)+[*&]*(?P<method>[A-Za-z_][\w:~]*)\s*\([^;=]*$"
    r"|(?:const|let|var)\s+(?P<bound>[A-Za-z_]\w*)\s*=\s*(?:async\s*)?(?:function|\([^)]*\)\s*=>))"
)
_GO_METHOD = re.compile(r"^func\s+\([^)]*\)\s*(?P<name>\w+)")
_NO_NAME = frozenset(
    "if for while switch return else catch elif match until unless main init test new get set run".split()
)


def code_pairs(path: str, text: str) -> Iterator[Pair]:
    """Yield what a source file offers, at most once per definition and comment, in the order of the file."""
    ending = suffix(path)
    if ending in {"py", "pyi"}:
        yield from _python_pairs(path, text)
    yield from _commented(path, text, ending)
    rng = dice(path, "window")
    start = rng.randrange(max(1, len(text) - MAX_CHARS))
    start = text.rfind("\n", 0, start) + 1
    query = words_of("/".join(path.rsplit("/", 2)[-2:]).rpartition(".")[0])
    if says_something(query, 1) and len(text) > 400:
        yield Pair("path", query, text[start : start + MAX_CHARS])


def _commented(path: str, text: str, ending: str) -> Iterator[Pair]:
    lines = [line[:_MAX_LINE_CHARS] for line in text.split("\n")]
    place = 0
    while place < len(lines):
        comment, after = _comment(lines, place, ending)
        if after == place:
            if ending not in {"py", "pyi"}:
                yield from _named(path, lines, place)
            place += 1
            continue
        body = _body(lines, after)
        words = _plain(comment)
        if len(body) >= _MIN_BODY and len(words) > 12 and says_something(words) and not _LEGAL.search(comment):
            kind = "doc comment" if _DEFINITION.match(lines[after]) else "comment"
            if not _DIRECTIVE.match(words):
                yield Pair(kind, words[:MAX_QUERY_CHARS], body)
        place = after


def _comment(lines: list[str], place: int, ending: str) -> tuple[str, int]:
    """Return the text of the comment block that starts on a line, and the line after it; the same line if none does."""
    first = lines[place].lstrip()
    if ending not in _HASH and ending not in _DASH and ending not in _SEMICOLON and first.startswith("/*"):
        after = place
        while after < len(lines) and "*/" not in lines[after] and after - place < 60:
            after += 1
        after += 1
    else:
        mark = "#" if ending in _HASH else "--" if ending in _DASH else ";" if ending in _SEMICOLON else "//"
        after = place
        while after < len(lines) and lines[after].lstrip().startswith(mark):
            after += 1
    text = "\n".join(_DECORATION.sub("", line) for line in lines[place:after])
    while place < after < len(lines) and lines[after].lstrip().startswith(("@", "#[")):
        after += 1  # annotations and attributes stand between a comment and its definition
    return text, min(after, len(lines) - 1) if after > place else place


def _plain(comment: str) -> str:
    """Return the first paragraph of a comment, without marks, on one line."""
    paragraph = re.split(r"\n\s*\n|\n\s*[@\\:]\w", comment.strip())[0]
    return " ".join(_MARKUP.sub(" ", paragraph).split())


def _body(lines: list[str], start: int) -> str:
    """Return the lines that belong to one: until the indentation is back, or a blank line when there is none."""
    if start >= len(lines) or not lines[start].strip():
        return ""
    indent = _indent(lines[start])
    end = start + 1
    deeper = False
    while end < len(lines) and end - start < _MAX_LINES:
        line = lines[end]
        if line.strip() and not line.lstrip().startswith(("{", "}", ")", "]", "end")):
            if _indent(line) > indent:
                deeper = True
            elif deeper or _indent(line) < indent:
                break
        elif not line.strip() and not deeper:
            break
        end += 1
    return "\n".join(lines[start:end]).rstrip()[:MAX_CHARS]


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _named(path: str, lines: list[str], place: int) -> Iterator[Pair]:
    match = _GO_METHOD.match(lines[place]) or _DEFINITION.match(lines[place])
    if not match:
        return
    groups = match.groupdict()
    name = groups["name"] or groups.get("method") or groups.get("bound") or ""
    body = _body(lines, place)
    if name.lower() not in _NO_NAME and len(body) >= 2 * _MIN_BODY:
        yield from _name_pairs(path, name, "", body)


# As people ask about code that they know by name.
_ASKED = (
    "how does {0} work",
    "what does {0} do",
    "what is the purpose of {0}",
    "what does the {0} function return",
    "how is {0} implemented",
    "where is {0} defined",
    "what parameters does {0} take",
    "how does {0} handle errors",
)


def _name_pairs(path: str, name: str, owner: str, body: str) -> Iterator[Pair]:
    rng = dice(path, name, body)
    words = words_of(name)
    if len(words.split()) >= 2 and says_something(words, 2):
        # The name taken out: its words have to be found in what the code does.
        hidden = re.sub(rf"\b{re.escape(name)}\b", "f", body) if rng.random() < 0.5 else body
        yield Pair("name", f"{words_of(owner)} {words}".strip() if rng.random() < 0.5 else words, hidden)
    if rng.random() < 0.25 and len(name) > 3:
        shown = f"{name} in {owner}" if owner and rng.random() < 0.5 else name
        yield Pair("asked", rng.choice(_ASKED).format(shown), body)


def _python_pairs(path: str, text: str) -> Iterator[Pair]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    module = ast.get_docstring(tree)
    if module and says_something(module) and not _LEGAL.search(module):
        rest = "\n".join(lines[tree.body[0].end_lineno :])
        yield Pair("module docstring", _plain(module)[:MAX_QUERY_CHARS], rest[:MAX_CHARS])
    for owner, found in _definitions(tree, ""):
        yield from _definition_pairs(path, lines, owner, found)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(tree: ast.AST, owner: str) -> Iterator[tuple[str, _Definition]]:
    for found in ast.iter_child_nodes(tree):
        if isinstance(found, _Definition):
            yield owner, found
            yield from _definitions(found, found.name if isinstance(found, ast.ClassDef) else owner)


def _definition_pairs(path: str, lines: list[str], owner: str, found: _Definition) -> Iterator[Pair]:
    start, end = found.lineno - 1, min(found.end_lineno or found.lineno, found.lineno + 2 * _MAX_LINES)
    docstring = ast.get_docstring(found)
    whole = "\n".join(lines[start:end])[:MAX_CHARS]
    if docstring and says_something(docstring):
        first = found.body[0]
        bare = "\n".join(lines[start : first.lineno - 1] + lines[first.end_lineno or first.lineno : end])[:MAX_CHARS]
        summary = _plain(docstring)[:MAX_QUERY_CHARS]
        if len(bare) >= _MIN_BODY and len(summary) > 12:
            yield Pair("docstring", summary, bare)
        rest = docstring.strip().partition("\n\n")[2].strip()
        if len(rest) > 150 and says_something(rest, 12):
            yield Pair("docstring rest", summary, rest[:MAX_CHARS])
    if len(whole) >= 2 * _MIN_BODY and not found.name.startswith("__") and found.name not in _NO_NAME:
        yield from _name_pairs(path, found.name, owner, whole)
