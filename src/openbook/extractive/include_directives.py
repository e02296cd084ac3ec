"""Reads directives by which pages include code from other files, such as `literalinclude` of Sphinx."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from openbook.entries import indent_of
from openbook.extractive.context import units_of
from openbook.extractive.displaying import examples_of, indented_code
from openbook.types import Chunk, Unit


@dataclass(frozen=True, slots=True)
class Form:
    """A form of directive: its line with the path and the part of the file, and what encloses a named part there."""

    line: re.Pattern[str]
    opens: str = ""
    closes: str = ""
    is_for_code: bool = False
    """It includes nothing but code, and within an example it is the example. Others are replaced before a page is read
    for examples, and may include prose."""
    is_open: bool = False
    """A single number is the first line of a part that goes to the end, rather than its only line."""


# Stands for the name of a part.
_NAME = "NAME"
_FORMS = (
    # Snippets of PyMdown Extensions.
    Form(
        re.compile(r"(?!.*:-)-+8<-+[ \t]+([\"'])(?P<path>[^\"':]+)(?::(?P<part>[^\"']*))?\1"),
        rf"8<-+[ \t]*\[[ \t]*start[ \t]*:[ \t]*{_NAME}[ \t]*\]",
        rf"8<-+[ \t]*\[[ \t]*end[ \t]*:[ \t]*{_NAME}[ \t]*\]",
        is_open=True,
    ),
    # mdBook.
    Form(
        re.compile(
            r"\{\{\s*#(?:include|rustdoc_include|playground)\s+(?P<path>[^\s:}]+)(?::(?P<part>[^\s}]*))?[^}]*\}\}"
        ),
        rf"ANCHOR:\s*{_NAME}(?![\w-])",
        rf"ANCHOR_END:\s*{_NAME}(?![\w-])",
    ),
    # AsciiDoc.
    Form(
        re.compile(r"include::(?P<path>[^\[\s]+)\[(?:[^\]]*?\b(?:lines|tags?)=(?P<part>\"[^\"]*\"|[^,\]]*))?[^\]]*\]"),
        rf"\btag::{_NAME}\[\]",
        rf"\bend::{_NAME}\[\]",
    ),
    # Sphinx. The options on the lines below say which part.
    Form(re.compile(r"\.\. literalinclude::\s+(?P<path>\S+)(?P<part>)"), is_for_code=True),
    # VitePress: `path#region{highlighted lines} [title]`.
    Form(
        re.compile(r"<<<\s*(?P<path>[^\s#{\[]+)(?:#(?P<part>[\w.-]+))?\s*(?:\{[^}]*\})?\s*(?:\[[^\]]*\])?"),
        rf"\bregion\s+{_NAME}(?![\w-])",
        rf"\bendregion(?:\s+{_NAME}(?![\w-])|\W*$)",
        is_for_code=True,
    ),
    # Extensions of Python-Markdown: markdown-include and mdx_include, markdown-include-variants.
    Form(re.compile(r"\{!>?\s*(?P<path>[^\s!\[]+)\s*(?:\[ln:(?P<part>[\d,-]+)\]\s*)?!\}")),
    Form(re.compile(r"\{!\s*(?P<path>[^\s!]+)\s*!lines=(?P<part>[\d -]+)\}")),
    Form(re.compile(r"\{\*\s*(?P<path>\S+)(?:\s+(?:ln\[(?P<part>[\d:,]+)\]|\w+\[[^\]]*\]))*\s*\*\}"), is_for_code=True),
)
# Longer lines are prose, and patterns would take long.
_MAX_CHARS = 300
_SIGN = re.compile(r"8<-|\{\{\s*#|include::|<<<|\{[!*]")
_OPTION = re.compile(r"\s*:([\w-]+):[ \t]*(.*)")
_RANGE = re.compile(r"(?P<first>\d*)(?P<to>:|-|\.\.)(?P<last>\d*|-1)|(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive on lines of its own in a page, for a file or a part of it."""

    first: Unit
    last: Unit
    form: Form
    path: str
    part: str
    """Line numbers or a name; empty for the whole file, or if options say it."""
    options: Mapping[str, str]
    in_example: bool

    @property
    def includes_code(self) -> bool:
        """Whether it includes code, whatever the file is."""
        return self.form.is_for_code or self.in_example

    def lines_in(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Return the first and the last line that it includes, 1-based; None if the file lacks the part.

        Lines between two ranges are included, since a quote has no gaps.
        """
        part = self.options.get("lines", self.part)
        if part and not part.strip("0123456789:.,;- \t"):
            return _numbered(f"{part}:" if part.isdecimal() and self.form.is_open else part, len(lines))
        if name := self.options.get("pyobject", "").rpartition(".")[2]:
            return _block(lines, rf"\s*(?:async\s+)?(?:class|def)\s+{re.escape(name)}\b")
        if part:
            parts = [self._named(each.strip(), lines) for each in re.split("[,;]", part)]
            found = [each for each in parts if each is not None]
            return (min(found)[0], max(last for _, last in found)) if found and len(found) == len(parts) else None
        texts = {name: re.escape(text) for name, text in self.options.items()}
        return _between(
            lines,
            texts.get("start-after") or texts.get("start-at", ""),
            texts.get("end-before") or texts.get("end-at", ""),
            with_first="start-at" in texts,
            with_last="end-at" in texts,
        )

    def _named(self, name: str, lines: Sequence[str]) -> tuple[int, int] | None:
        opens, closes = (each.replace(_NAME, re.escape(name)) for each in (self.form.opens, self.form.closes))
        return _between(lines, opens, closes)


def directives_in(chunk: Chunk) -> Iterator[Directive]:
    """Yield the directives of a page, in order."""
    if chunk.kind != "docs" or not _SIGN.search(chunk.text):
        return
    units, set_off = units_of(chunk), indented_code(chunk)
    examples = examples_of(chunk, units)
    for place, unit in enumerate(units):
        text = unit.text.strip() if len(unit.text) <= _MAX_CHARS else ""
        form, line = next(((form, line) for form in _FORMS if (line := form.line.fullmatch(text))), (None, None))
        in_example = unit.span.start_line in set_off or any(each.is_inside(place) for each in examples)
        if form is None or line is None or (in_example and form.is_for_code):
            continue
        below = takewhile(lambda each: indent_of(each.text) > indent_of(unit.text), units[place + 1 :])  # noqa: B023
        options = [(each, option) for each in below if (option := _OPTION.fullmatch(each.text))]
        last = options[-1][0] if options else unit
        named = {option[1]: option[2].strip() for _, option in options}
        yield Directive(unit, last, form, line["path"], (line["part"] or "").strip('"'), named, in_example)


def _numbered(part: str, count: int) -> tuple[int, int] | None:
    ranges = [each for piece in re.split(r"[,;\s]+", part) if (each := _RANGE.fullmatch(piece))]
    firsts = [int(each["line"] or each["first"] or 1) for each in ranges]
    lasts = [int(each["line"] or each["last"] or count) for each in ranges]
    if not ranges or min(firsts) > count:
        return None
    return max(1, min(firsts)), count if -1 in lasts else min(max(lasts), count)


def _between(
    lines: Sequence[str], opens: str, closes: str, *, with_first: bool = False, with_last: bool = False
) -> tuple[int, int] | None:
    """Return the lines between the first one with a pattern and the next one with another; an empty one is the end."""
    first = next((at for at, line in enumerate(lines) if re.search(opens, line)), None) if opens else -1
    if first is None:
        return None
    after = range(first + 1, len(lines))
    last = next((at for at in after if re.search(closes, lines[at])), None) if closes else len(lines)
    if last is None:
        return None
    found = first + 1 + (not with_first), last + with_last
    return found if found[0] <= found[1] else None


def _block(lines: Sequence[str], opens: str) -> tuple[int, int] | None:
    """Return the lines of a definition in Python."""
    first = next((at for at, line in enumerate(lines) if re.match(opens, line)), None)
    if first is None:
        return None
    indent = indent_of(lines[first])
    rest = range(first + 1, len(lines))
    last = next((at for at in rest if lines[at].strip(" \t\r):") and indent_of(lines[at]) <= indent), len(lines))
    return first + 1, last
