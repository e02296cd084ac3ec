"""How a quote is written in Markdown: prose as a block quote, code in fences, its mark behind."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePosixPath

from openbook.answering.citations import UnitRange, symbol_at
from openbook.answering.displaying import Example
from openbook.answering.list_entries import entry_at
from openbook.answering.passages import INDENT, Passage, examples_in, is_markup, is_row
from openbook.entries import leads_to_code
from openbook.grounding.readable import closed_up
from openbook.text import indentation

# The end of a line of a manual page whose sentence goes on: no item, paragraph or indented line follows.
_GOES_ON = re.compile(r"(?<=\S)[ \t]*\n(?=[^\s•])(?![^\n\f]*\f)")


def quoted(passage: Passage) -> str:
    """Return a passage as Markdown that ends with its mark.

    Runs of spaces in prose become one, as in a page of HTML, where a reader leaves a space for each character of
    markup, and none before a comma. Code in prose keeps its lines, in a fence of its own.
    """
    mark, text = mark_of(passage), _text_of(passage)
    if not passage.shown.is_prose:
        return f"{_fenced(text, passage.shown.result.chunk.language)}\n{mark}"
    is_setting = passage.setting is not None and passage.setting.form in ("key", "flag")
    if passage.example is None and (is_setting or _is_indented_code(passage, text)):
        # Of an example that begins or ends in another chunk, or that nothing but its indentation shows.
        return f"{_fenced(textwrap.dedent(text), _language_after(_outer(passage)))}\n{mark}"
    blocks = [*_blocks(passage, text)] or [_prose([text])]
    written = "\n\n".join(blocks)
    return f"{written} {mark}" if blocks[-1].startswith(">") else f"{written}\n{mark}"


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


def _blocks(passage: Passage, text: str) -> Iterator[str]:
    """Yield the blocks of prose and code of a passage of prose, in order, as Markdown."""
    lines = list(enumerate(text.split("\n"), passage.first.span.start_line))  # a form feed ends no line
    units = (None, *passage.shown.units, None)
    examples = [(each, units[each.opening + 1], units[each.closing + 1]) for each in examples_in(passage.shown)]

    def example_at(line: tuple[int, str]) -> tuple[Example, bool] | None:
        for each, opening, closing in examples:
            first, last = opening.span.start_line if opening else 0, closing.span.start_line if closing else line[0] + 1
            if first <= line[0] <= last:
                return each, line[0] in (first, last)
        return None

    for place, members in groupby(lines, key=example_at):
        said = [line for _, line in members]
        if place is None:
            yield from _prose_and_code(said, sets_off=not (_is_entry(passage) or text[:1].isspace() or is_row(text)))
        elif not place[1]:
            yield _fenced(textwrap.dedent("\n".join(said)), place[0].language)


def _prose_and_code(lines: Sequence[str], *, sets_off: bool) -> Iterator[str]:
    """Yield blocks of what stands in no fence. Indentation `sets_off` code below a blank line, not below an item."""
    opened, before = False, "."

    def is_code(line: str) -> bool:
        nonlocal opened, before
        is_indented = sets_off and line.expandtabs(INDENT).startswith(" " * INDENT)
        opened = (opened and not line.strip()) or (is_indented and (opened or not before.strip()))
        before = line
        return opened

    language = ""
    for in_code, members in groupby(lines, key=is_code):
        every = list(members)
        block = [line for line in every if not is_markup(line)]
        if any(map(str.strip, block)):
            yield _fenced(textwrap.dedent("\n".join(block)).strip("\n"), language) if in_code else _prose(block)
        language = next((_language_after(line) for line in reversed(every) if line.strip()), "")


def _language_after(line: str) -> str:
    """Return the language that a line of reStructuredText gives to the code below it: `.. code-block:: python`."""
    return line.rpartition("::")[2].strip() if line.lstrip().startswith(".. ") else ""


def _prose(lines: Sequence[str]) -> str:
    said = "\n".join(" ".join(line.removeprefix("> ").split()) for line in lines).strip("\n")
    return "\n".join(f"> {line}" for line in said.split("\n"))


def _fenced(text: str, language: str = "") -> str:
    fence = _ticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def _outer(passage: Passage) -> str:
    """Return the line that a passage of reStructuredText is indented under; empty if there is none."""
    above, indent = passage.shown.units[: passage.first.number - 1], indentation(passage.first.text)
    is_rst = passage.shown.result.chunk.language == "rst"
    return next((unit.text for unit in reversed(above) if is_rst and indentation(unit.text) < indent), "")


def _is_entry(passage: Passage) -> bool:
    return entry_at(passage.shown, passage.first.number - 1) is not None


def _is_indented_code(passage: Passage, text: str) -> bool:
    """Return whether lines of prose are set off as code: by the line above them, or by their indentation alone."""
    line = _outer(passage)
    indents = [indentation(each) for each in text.expandtabs(INDENT).split("\n")]
    is_set_off = len(set(indents)) > 1 and min(indents) >= INDENT and not (_is_entry(passage) or is_row(text))
    return is_set_off or leads_to_code(line, 0, len(line))
