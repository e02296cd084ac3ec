"""Formats quotes in Markdown: prose as block quotes, code in fences, each followed by its citation mark."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath

from openbook.containers import box_title
from openbook.entries import SECTION, indent_of, object_name
from openbook.extractive.citations import UnitRange, headings_at, symbol_at
from openbook.extractive.comments import is_comment_prose, plain_comment, told
from openbook.extractive.context import headed, units_of
from openbook.extractive.definition_heads import in_comment
from openbook.extractive.displaying import Example, fence_of, indented_code, without_tags
from openbook.extractive.headings import headings_in, headings_over
from openbook.extractive.inline_markup import plain_markup
from openbook.extractive.passages import UNDERLINE, Passage, examples_in
from openbook.extractive.unshown import is_markup, unshown
from openbook.sources.front_matter import stated_title
from openbook.types import BEGIN_OF_CODE, END_OF_CODE, Chunk

# A line break within a sentence of a manual page: no item, paragraph or indented line follows.
_GOES_ON = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s•])(?![^\n\f]*\f)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
# The mark of reStructuredText before a literal block, which is shown as a colon.
_OPENS_LITERAL = re.compile(r"(?<=\S)::(?=\s*$)")
# The signs of a quotation, which may be nested or indented.
_QUOTATION = re.compile(r"^(\s*)(?:> )+")
# Between lines of a paragraph or table, where Markdown needs two blanks to break a line.
_BREAK = re.compile(r"(?<=[^\n])\n(?=[^\n])")
_EMPTY_LINES = re.compile(r"\n{3,}")
_FEEDS = re.compile("\f+")
_CODE_MARK = re.compile(f"([{BEGIN_OF_CODE}{END_OF_CODE}])")

# Their readers write a paragraph in one line, so other lines are those of the original: rows, verses, addresses.
_UNWRAPPED = frozenset("docx epub odp ods odt pdf pptx rtf xls xlsx".split())

# Tables in text, whose chunks have the header as their context.
_TABLES = frozenset({"csv", "tsv"})

# Those above a quote.
_SHOWN_HEADINGS = 2

_JOINT = "\v"  # a space that keeps the count of lines


def quoted(passage: Passage) -> str:
    """Return a passage as Markdown that ends with its mark.

    Runs of spaces in prose are collapsed; only nested list items stay indented. Code in prose keeps its lines, in
    fences.
    """
    mark, text = mark_of(passage), _text_of(passage)
    if not passage.shown.is_prose:
        return f"{_fenced(text, passage.shown.result.chunk.language)}\n{mark}"
    if passage.example is None and passage.setting is not None and passage.setting.form == "key":
        return f"{_fenced(textwrap.dedent(text))}\n{mark}"  # an example of a format without fences
    blocks = [*_blocks(passage, text)] or [_prose([text])]
    written = "\n\n".join(blocks)
    return f"{written} {mark}" if blocks[-1].startswith(">") else f"{written}\n{mark}"


def pointed(passage: Passage) -> str:
    """Return a passage as a list item of one line that ends with its mark.

    It begins with the definition, section or file of the passage, since a single line says little.
    """
    language = passage.shown.result.chunk.language
    whole = told(passage) if passage.is_code else _text_of(passage)
    lines = [line for line in whole.split("\n") if not fence_of(line, language)]
    is_led = not passage.is_code and replace(passage, first=passage.last, part=None).is_code
    led = in_code(lines.pop().strip()) if is_led else ""
    said = "\n".join(lines)
    is_comment = passage.is_code and is_comment_prose(passage)
    said = plain_comment(said) if is_comment else said if passage.is_code else _shown(said, language)
    text = " ".join(said.split())
    written = in_code(text) if passage.is_code and not is_comment else f"{text} {led}".rstrip()
    where = _stands_in(passage)
    return f"- {where}: {written} {mark_of(passage)}" if where else f"- {written} {mark_of(passage)}"


def itemized(passage: Passage) -> str:
    """Return a heading, perhaps with the sentence below, as a list item of one line that ends with its mark."""
    chunk = passage.shown.result.chunk
    offset = passage.start_char - chunk.span.start_char
    title = next((each.title for each in headings_in(chunk) if each.start == offset), "")
    title = _shown(title or stated_title(passage.first.text) or passage.first.text, chunk.language).strip()
    below = _text_of(passage)[len(passage.first.text) :].split("\n")
    said = " ".join(_shown("\n".join(line for line in below if not _says_nothing(line)), chunk.language).split())
    return f"- {title}: {said} {mark_of(passage)}" if said else f"- {title} {mark_of(passage)}"


def place_of(passage: Passage) -> str:
    """Return where a passage stands: its section with the one above, or its file with the enclosing definition.

    In a course, the lesson precedes the section.

    What the passage begins with, a heading or the head of a definition, is left out. The comment above a definition
    does not name it. Rows of a table in text have its header, and settings their section.
    """
    place, chunk = _range_of(passage), passage.shown.result.chunk
    name = PurePosixPath(chunk.span.path).name
    if passage.shown.is_prose:
        headings = headings_at(place)
        begins = headings != headings_over(chunk, passage.start_char - chunk.span.start_char)
        return headed(chunk, headings[: len(headings) - begins], _SHOWN_HEADINGS) or name
    is_named = passage.is_head and _shows(passage, passage.defines)
    symbol = header_of_rows(passage) or section_of(passage) or ("" if is_named else symbol_at(place))
    return f"{name} › {symbol}" if symbol else name


def _shows(passage: Passage, name: str) -> bool:
    """Return whether a passage of code has a name outside of comments."""
    code = (unit.text for unit in passage.units if not in_comment(passage.shown, unit.number - 1))
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", "\n".join(code)) is not None


def header_of_rows(passage: Passage) -> str:
    """Return the header of the table in text that a passage has rows of, without the header itself; else nothing."""
    chunk = passage.shown.result.chunk
    is_below = chunk.language in _TABLES and passage.first.span.start_line > 1
    return chunk.context[0].replace("\t", ", ") if is_below and chunk.context else ""


def section_of(passage: Passage) -> str:
    """Return the section of a configuration file that a passage is in, if it does not begin with its header.

    Without sections, return the keys that it stands below.
    """
    chunk = passage.shown.result.chunk
    if chunk.kind != "config" or SECTION.match(passage.first.text):
        return ""
    above = chunk.text[: passage.start_char - chunk.span.start_char]
    if names := [each["name"] for each in SECTION.finditer(above)]:
        return names[-1]
    return " › ".join(chunk.context if SECTION.search(chunk.text) is None else chunk.context[:1])


def _stands_in(passage: Passage) -> str:
    """Return the enclosing definition or section of a passage, or its file; empty if the passage contains it.

    A comment contains the name of what it is on only if it begins with that: "scope" is a word as well.
    """
    where = place_of(passage).rpartition(" › ")[2]
    name, text = where.removesuffix("()"), passage.text
    is_comment = passage.is_code and is_comment_prose(passage)
    return "" if (text.startswith((name, f"`{name}`")) if is_comment else name in text) else where


def _range_of(passage: Passage) -> UnitRange:
    return UnitRange(passage.shown, passage.first, passage.last)


def _text_of(passage: Passage) -> str:
    language = passage.shown.result.chunk.language
    if language == "man":  # each macro begins a line, so sentences have many
        return _GOES_ON.sub(_JOINT, passage.text)
    return _FEEDS.sub("\n", passage.text) if language == "html" else passage.text


def in_code(text: str) -> str:
    """Return a text as inline code in Markdown, which may contain backticks."""
    ticks = _ticks(text)
    room = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def _ticks(text: str, fewest: int = 1) -> str:
    """Return a longer run of backticks than a text contains."""
    return "`" * max(fewest, max(map(len, re.findall("`+", text)), default=0) + 1)


def mark_of(passage: Passage) -> str:
    """Return the mark that cites a passage, such as `[2:14-18]`."""
    return _range_of(passage).mark


def _blocks(passage: Passage, text: str) -> Iterator[str]:
    """Yield the blocks of prose and code of a passage of prose, in order, as Markdown."""
    if passage.shown.result.chunk.language == "html":
        yield from _blocks_of_page(text, in_code=passage.example is not None)
        return
    lines = list(_numbered(text, passage.first.span.start_line))
    units = (None, *passage.shown.units, None)
    examples = [(each, units[each.opening + 1], units[each.closing + 1]) for each in examples_in(passage.shown)]

    def example_at(line: tuple[int, str]) -> tuple[Example, bool] | None:
        for each, opening, closing in examples:
            first, last = opening.span.start_line if opening else 0, closing.span.start_line if closing else line[0] + 1
            if first <= line[0] <= last:
                return each, line[0] in (first, last)
        return None

    for place, members in groupby(lines, key=example_at):
        if place is None:
            yield from _prose_and_code(list(members), passage.shown.result.chunk)
        elif not place[1]:
            yield _fenced(textwrap.dedent("\n".join(line for _, line in members)), place[0].language)


def _blocks_of_page(text: str, *, in_code: bool) -> Iterator[str]:
    """Yield the blocks of a passage of HTML, where prose and code may share a line of the file."""
    for part in _CODE_MARK.split(text):
        if _CODE_MARK.fullmatch(part):
            in_code = part == BEGIN_OF_CODE
        elif part.strip():
            yield _fenced(textwrap.dedent(part.strip("\n")).rstrip()) if in_code else _prose(part.split("\n"))


def _numbered(text: str, number: int) -> Iterator[tuple[int, str]]:
    for line in text.split("\n"):  # not `splitlines`: form feeds do not end lines
        yield number, line.replace(_JOINT, " ")
        number += 1 + line.count(_JOINT)


def _prose_and_code(lines: Sequence[tuple[int, str]], chunk: Chunk) -> Iterator[str]:
    """Yield the blocks of text outside of fenced examples."""
    set_off, language = indented_code(chunk), None
    numbers = unshown(chunk)
    hidden = {unit.span.start_line for unit in units_of(chunk) if unit.number in numbers}

    def language_of(line: tuple[int, str]) -> str | None:
        nonlocal language
        language = set_off.get(line[0]) if line[1].strip() else language
        return language

    for of_code, members in groupby(lines, key=language_of):
        said = [(number, line) for number, line in members if number not in hidden]
        said = [(number, line) for number, line in said if not fence_of(line, chunk.language)]
        if of_code is None:  # in code, what looks like markup is code: `{:ok, socket}` of Elixir
            said = [(number, line) for number, line in said if not _says_nothing(line)]
        block = [line for _, line in said]
        if any(map(str.strip, block)):
            yield (
                _prose(block, chunk.language)
                if of_code is None
                else _fenced(textwrap.dedent("\n".join(block)).strip("\n"), of_code)
            )


def _says_nothing(line: str) -> bool:
    return is_markup(line) or line.strip() == "::" or UNDERLINE.fullmatch(line.strip()) is not None


def _prose(lines: Sequence[str], language: str = "") -> str:
    plain = [_QUOTATION.sub(r"\1", f"{box_title(line) or object_name(line)} ") for line in lines]
    # In reStructuredText, links and roles go over line ends.
    plain = (
        _shown("\n".join(plain), language).split("\n")
        if language == "rst"
        else [_shown(one, language) for one in plain]
    )
    said = "\n".join(" " * indent + " ".join(line.split()) for indent, line in _nested(plain)).strip("\n")
    said = _EMPTY_LINES.sub("\n\n", said)  # of the tags of a page
    said = _BREAK.sub("  \n", said) if language in _UNWRAPPED else said
    return "\n".join(f"> {line}" for line in said.split("\n"))


def _shown(text: str, language: str) -> str:
    """Return prose without the marks of its language that a page does not show either."""
    said = plain_markup(_OPENS_LITERAL.sub(":", text) if language == "rst" else text, language)
    return (without_tags(said) if language == "markdown" else said) or text


def _nested(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each line with the indentation to write: that of nested list items and their lines, else none."""
    parents: list[tuple[int, int]] = []  # the indentation of an item in the source, and here
    for line in lines:
        indent, is_item = indent_of(line), _ITEM.match(line) is not None
        while line.strip() and parents and parents[-1][0] >= indent + is_item:
            parents.pop()
        above, written = parents[-1] if parents else (indent, 0)
        if not is_item:
            yield written + len("- ") if written and line.strip() else 0, line
            continue
        if not parents or above < indent:
            parents.append((indent, written + indent - above))
        yield parents[-1][1], line


def _fenced(text: str, language: str = "") -> str:
    fence = _ticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"
