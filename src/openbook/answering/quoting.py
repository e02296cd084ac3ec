"""How a quote is written in Markdown: prose as a block quote, code in fences, its mark behind."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from openbook.answering.citations import UnitRange, symbol_at
from openbook.answering.displaying import Example, closes, fence_of
from openbook.answering.list_entries import entry_at
from openbook.answering.passages import INDENT, Passage, is_markup, is_row
from openbook.grounding.readable import closed_up
from openbook.text import indentation

# The end of a line of a manual page whose sentence goes on: no item, paragraph or indented line follows.
_GOES_ON = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s•])(?![^\n\f]*\f)")
_OPENS_LITERAL = re.compile(
    r"\s*\.\. (?:code|code-block|sourcecode|prompt)::[ \t]*(?P<language>[\w+#-]*)\s*|(?!\s*\.\. ).*::\s*"
)


def quoted(passage: Passage) -> str:
    """Return a passage as Markdown that ends with its mark.

    Runs of spaces in prose become one, as in a page of HTML, where a reader leaves a space for each character of
    markup, and none before a comma. Code in prose keeps its lines, in a fence of its own.
    """
    mark, text = mark_of(passage), _text_of(passage)
    is_entry = entry_at(passage.shown, passage.first.number - 1) is not None
    if not passage.shown.is_prose:
        return f"{_fenced(text, passage.shown.result.chunk.language)}\n{mark}"
    example = passage.example
    if example is None and passage.setting is not None and passage.setting.form in ("key", "flag"):
        return f"{_fenced(textwrap.dedent(text))}\n{mark}"  # of an example that begins or ends in another chunk
    if example is None and (found := _literal_over(passage)):
        return f"{_fenced(textwrap.dedent(text), found['language'] or '')}\n{mark}"
    if example is None and not is_entry and _is_indented_code(text):
        return f"{_fenced(text)}\n{mark}"
    found_blocks = _blocks(text, example, passage.shown.result.chunk.language, is_entry=is_entry)
    blocks = [block for block in found_blocks if any(block.lines)] or [_Block(lines=[text])]
    written = "\n\n".join(map(str, blocks))
    return f"{written}\n{mark}" if blocks[-1].is_code else f"{written} {mark}"


def pointed(passage: Passage) -> str:
    """Return a passage as an item of a list in Markdown, on one line, that ends with its mark.

    In front is what it stands in, since a single line says little alone.
    """
    text = " ".join(_text_of(passage).split())
    written = in_code(text) if passage.is_code else text
    where = _stands_in(passage)
    return f"- {where}: {written} {mark_of(passage)}" if where else f"- {written} {mark_of(passage)}"


def _stands_in(passage: Passage) -> str:
    """Return the definition or the section that a passage stands in, or the file; empty if it says so itself."""
    chunk = passage.shown.result.chunk
    section = chunk.context[-1] if chunk.context else ""
    place = UnitRange(passage.shown, passage.first, passage.last)
    where = (section if passage.shown.is_prose else symbol_at(place)) or PurePosixPath(chunk.span.path).name
    return "" if where.removesuffix("()") in passage.text else where


def _text_of(passage: Passage) -> str:
    language = passage.shown.result.chunk.language
    if language == "man":  # a line is one macro of its source, and prose goes on over many
        return _GOES_ON.sub(" ", passage.text)
    return closed_up(passage.text) if language == "html" else passage.text


def in_code(text: str) -> str:
    """Return a text as inline code in Markdown, whatever backticks it holds."""
    ticks = _ticks(text)
    room = " " if "`" in (text[:1], text[-1:]) else ""
    return f"{ticks}{room}{text}{room}{ticks}"


def _ticks(text: str, fewest: int = 1) -> str:
    """Return more backticks than a text has in a row."""
    return "`" * max(fewest, max(map(len, re.findall("`+", text)), default=0) + 1)


def mark_of(passage: Passage) -> str:
    """Return the mark that cites a passage, such as `[2:14-18]`."""
    return UnitRange(passage.shown, passage.first, passage.last).mark


@dataclass(slots=True)
class _Block:
    """Lines of prose, or of code with what its fence says of it."""

    is_code: bool = False
    info: str = ""
    fence: str = ""
    """What opened it, until it is closed."""
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        text = "\n".join(self.lines).strip("\n")
        if not self.is_code:
            return "\n".join(f"> {line}" for line in text.split("\n"))
        return _fenced(textwrap.dedent(text), self.info)


def _blocks(text: str, example: Example | None, language: str, *, is_entry: bool) -> Iterator[_Block]:
    """Yield the blocks of prose and code of a passage, in order.

    Args:
        text: The passage.
        example: What it begins inside of, if that is so. It may also end inside of an example.
        language: Of the page.
        is_entry: Whether it stands in an entry of a definition list.
    """
    # Below an item of a list, indentation continues it.
    sets_off = not (is_entry or text[:1].isspace() or is_row(text))
    block, before, of_code = _Block(), ".", ""
    if example is not None:
        block = _Block(is_code=True, info=example.language, fence=example.fence)
    for line in text.split("\n"):  # and not `splitlines`: a form feed ends no line
        found = fence_of(line, language)
        is_indented = sets_off and line.expandtabs(INDENT).startswith(" " * INDENT)
        if block.fence:
            if found and closes(found, block.fence, language):
                block.fence = ""
                yield block
                block = _Block()
            else:
                block.lines.append(line)
        elif found:
            yield block
            block = _Block(is_code=True, info=found["info"], fence=found["fence"])
        elif block.is_code and (is_indented or not line.strip()):
            block.lines.append(line)
        elif is_indented and not before.strip():
            yield block
            block = _Block(is_code=True, info=of_code, lines=[line])
        elif is_markup(line):
            opened = _OPENS_LITERAL.fullmatch(line)
            of_code = (opened["language"] or "") if opened else ""
        else:
            if block.is_code:
                yield block
                block = _Block()
            block.lines.append(" ".join(line.removeprefix("> ").split()))
        before = line
    yield block


def _fenced(text: str, language: str = "") -> str:
    fence = _ticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def _literal_over(passage: Passage) -> re.Match[str] | None:
    """Return the line of reStructuredText that makes what is indented under it code, and a passage with it."""
    if passage.shown.result.chunk.language != "rst":
        return None
    *above, first = passage.shown.units[: passage.first.number]
    outer = next((unit.text for unit in reversed(above) if indentation(unit.text) < indentation(first.text)), "")
    return _OPENS_LITERAL.fullmatch(outer)


def _is_indented_code(text: str) -> bool:
    """Return whether lines of prose are set off as code, so that their indentation says something."""
    indents = [len(line) - len(line.lstrip()) for line in text.expandtabs(INDENT).split("\n")]
    return len(set(indents)) > 1 and min(indents) >= INDENT and not is_row(text)
