"""Chunks code along its definitions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tree_sitter import Tree

from openbook.chunking.definitions import DefinitionFinder
from openbook.chunking.grammars import parse
from openbook.chunking.layout import Layout, build_chunks
from openbook.chunking.lines import chunk_lines, definition_lines
from openbook.chunking.outline import Definition, flatten
from openbook.chunking.rules import RULES
from openbook.types import Chunk, Document

# `class MY_API Widget : public Base {`: the grammar reads the macro after `class` as the name.
_CPP_EXPORT = re.compile(
    rb"(\b(?:class|struct|union)\s+)((?:[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?\s+)+)"
    rb"(?=(?!final\b)[A-Za-z_]\w*(?:::\w+|<[^<>{};\n]*>)*\s*(?:final\s*)?(?::(?!:)|\{))"
)

# `Q_OBJECT` at the end of an indented line, after the end of something: read as the type of what follows.
_CPP_LONE = re.compile(
    rb"((?:\{|(?:[{};)]|\b(?:public|protected|private|slots|signals)[ \t]*:)[ \t]*(?://[^\n]*)?\r?\n)\s*(?<=[ \t]))"
    rb"((?:[A-Z][A-Z0-9_]{2,}[ \t]*\r?\n\s*)+)"
)

# `QT_BEGIN_NAMESPACE`, `G_END_DECLS`, `MY_EXPORT` alone on a line, the last before a keyword: read as the type of what
# follows. `BOOL` before the name of a function is a type.
_C_AT_MARGIN = re.compile(
    rb"^()((?=\w*(?:\b|_)(?:BEGIN|END|NAMESPACE)(?:_|\b))[A-Z_][A-Z0-9_]{3,}(?:\([^()\n]*\))?|[A-Z_][A-Z0-9_]{2,}"
    rb"(?=[ \t]*\r?\n(?:namespace|class|struct|template|enum|union|using|typedef|extern|inline|static|constexpr)\b))"
    rb"(?=[ \t]*\r?$)",
    re.MULTILINE,
)

# `void Lock() EXCLUSIVE_LOCK_FUNCTION();`: the last word before the parentheses is read as the name.
_CPP_TRAILING = re.compile(
    rb"(\)(?:[ \t]*(?:const|noexcept|override|final)\b)*(?:[ \t]*\r?\n)?[ \t]+)"
    rb"([A-Z][A-Z0-9_]{3,}\([^()\n]*\))(?=\s*[;{])"
)

# `companion object { fun utc() = Clock() }` on one line: the grammar requires a line feed or a semicolon after each
# member. The bounds limit the search; real code has less on a line.
_KOTLIN_ONE_LINE = re.compile(
    rb"^(?=[^\n]{0,200}\{ *(?:\w+ +){0,4}(?:fun|val|var)\b)[^\n]{1,400}\}[ \t\r]*$", re.MULTILINE
)
_KOTLIN_CLOSING = re.compile(rb"(?<=[^;{\s]) (?=\})")

# `class Ship<T>` and below it `@Inject internal constructor(`: the grammar knows one modifier there, not two.
_KOTLIN_CONSTRUCTOR = re.compile(
    rb"(\bclass[ \t]+\w+[ \t]*(?:<[^{}()\n]{0,200}>)?[ \t]*\r?\n\s*)"
    rb"((?:(?:@[\w.]+(?:\([^()\n]*\))?|public|private|protected|internal)\s+)+)(?=[@\w.]+\s+constructor\b)"
)

# `context(log: Log)` above a declaration, which is newer than the grammar.
_KOTLIN_CONTEXT = re.compile(
    rb"^([ \t]*)(context\([^()\n]*\))(?=[ \t]*\r?\n[ \t]*(?:@|(?:[a-z]+[ \t]+){0,5}(?:fun|va[lr])\b))", re.MULTILINE
)

# Characters such as `?\(` and `?;`, functions such as `##f` and labels such as `#1=`, which Scheme has not. A quotation
# mark is always `?\"`.
_LISP_READER = re.compile(rb"(?<=[\s('\[,`])\?(?:\\(?:[CMSHsA]-\\?)*[^\n]|[^\s\\\"])|#(?:#|\d+[=#])(?=\S)")

# `cfg_rt! {` on a line of its own, followed by more indented lines, of which the first begins an item.
_RUST_MACRO = re.compile(
    rb"^([ \t]*)(\w+! ?\{)[ \t]*\r?\n"
    rb"(?=(?:[ \t]*(?://[^\n]*|#\[[^\n]*)?\r?\n)*\1[ \t]+"
    rb"(?:pub|fn|impl|struct|enum|trait|mod|use|const|static|type|async|unsafe|extern)\b)",
    re.MULTILINE,
)


# Limit for all parses of one file, as a multiple of its size: macros nest, and some are never closed.
_MAX_PARSED = 4

# The same for the searches of their ends, which are a thousand times as fast.
_MAX_SEARCHED = 100


def _blank(found: re.Match[bytes]) -> bytes:
    return found[1] + re.sub(rb"\S", b" ", found[2])


def _c(source: bytes) -> bytes:
    return _C_AT_MARGIN.sub(_blank, source)


def _cpp(source: bytes) -> bytes:
    for pattern in (_CPP_EXPORT, _CPP_LONE, _CPP_TRAILING, _C_AT_MARGIN):
        source = pattern.sub(_blank, source)
    return source


def _kotlin(source: bytes) -> bytes:
    for pattern in (_KOTLIN_CONSTRUCTOR, _KOTLIN_CONTEXT):
        source = pattern.sub(_blank, source)
    return _KOTLIN_ONE_LINE.sub(lambda found: _KOTLIN_CLOSING.sub(b";", found[0]), source)


def _lisp(source: bytes) -> bytes:
    return _LISP_READER.sub(lambda found: b"0" * len(found[0]), source)


def _rust(source: bytes) -> bytes:
    """Blank out the names of macros that contain only items, which the grammar would read as tokens."""
    opened = bytearray(source)
    left, unsearched = _MAX_PARSED * len(source), _MAX_SEARCHED * len(source)
    at = 0
    while unsearched > 0 and (found := _RUST_MACRO.search(opened, at)):
        at = found.end()
        indent = found[1]
        end = opened.find(b"\n" + indent + b"}", at)
        unsearched -= (end if end >= 0 else len(opened)) - at
        if end < 0 or opened[end + len(indent) + 2 : end + len(indent) + 3].strip():
            continue
        if end - at > left:
            continue
        left -= end - at
        tree = parse("rust", bytes(opened[at:end]))
        if tree is not None and not tree.root_node.has_error:
            opened[found.start(2) : found.end(2)] = b" " * len(found[2])
            opened[end + len(indent) + 1] = ord(" ")
    return bytes(opened)


_BY_LANGUAGE: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {"c": _c, "cpp": _cpp, "elisp": _lisp, "kotlin": _kotlin, "lisp": _lisp, "rust": _rust}
)


def smoothed(language: str, source: bytes) -> bytes:
    r"""Return a source that the grammar can parse, with the same length in bytes and the same line feeds.

    Example:
        >>> smoothed("cpp", b"class MY_API Widget {\n    Q_OBJECT\n};")
        b'class        Widget {\n            \n};'
    """
    smooth = _BY_LANGUAGE.get(language)
    return smooth(source) if smooth is not None else source


# C++ in a file with a C suffix, which the C grammar parses badly. The name and the first lines have decided on the
# language; this matches lines anywhere in the file that only C++ can begin so.
_CPP_ONLY = re.compile(
    r"^[ \t]*(?:class\s+\w+|namespace\b|template\s*<|using\s+\w+\s*=|(?:public|private)\s*:)", re.MULTILINE
)


def chunk_code(document: Document) -> list[Chunk]:
    """Split code into chunks that keep a function, a method or a small class whole.

    A definition of up to 1,500 characters is one chunk, with the comments, decorators and attributes before it. A
    larger one is split into its header and its members; without members, between lines. Small neighbours in one scope
    share a chunk of up to 1,000 characters.

    Chunks are whole lines, in order, and contain every non-blank line; only a line longer than a chunk is split. Text
    without a grammar, or that its grammar cannot parse, is split by `chunk_lines`. Blank text has no chunks.
    """
    layout = Layout(document.text)
    definitions = find_definitions(layout, document.language)
    if definitions is None:
        return chunk_lines(document)
    return build_chunks(document, layout.lines, layout.pieces(definitions), definitions)


def parse_code(text: str, language: str) -> tuple[Tree, str] | None:
    """Return the syntax tree of code and the grammar used; None without rules, or if parsing fails.

    A header with a C suffix may be parsed as C++.
    """
    if language == "c" and _CPP_ONLY.search(text):
        language = "cpp"
    if language not in RULES or not text.strip():
        return None
    tree = parse(language, smoothed(language, text.encode("utf-8")))
    return None if tree is None else (tree, language)


def find_definitions(layout: Layout, language: str) -> list[Definition] | None:
    """Return the outermost definitions of a text, in order; None without a grammar that can parse it."""
    parsed = parse_code(layout.text, language)
    if parsed is None:
        return None
    tree, language = parsed
    finder = DefinitionFinder(layout.text, layout.text.encode("utf-8"), layout.lines, RULES[language])
    definitions = finder.find(tree)
    # One unknown token can make a whole file an error, although all its functions are found.
    if finder.is_broken and sum(1 for _ in flatten(definitions)) < len(definition_lines(layout, language)):
        return None
    return definitions
