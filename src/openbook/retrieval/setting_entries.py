"""Finds where a text describes a setting or a parameter, in any format.

The form of an entry is read from the line with the name: a key or a field, a row of a table, an item of a list, the
title of a section, or a call that registers a flag. The entry includes the comment above it and the block indented
below it, or the text below its title.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from string import ascii_letters, digits
from typing import Literal

from openbook.entries import END_OF_HEAD, entry_heads
from openbook.retrieval.setting_lines import MAX_COMMENT_LINES, MAX_VALUE_LINES, SettingLines
from openbook.retrieval.setting_patterns import (
    BESIDE,
    CHOICES,
    COLUMN,
    DIRECTIVE,
    FENCE,
    FIELD,
    FIXED,
    FLAG,
    ITEM,
    KEY,
    LINK,
    OPENS,
    OPTION_MARK,
    PARAMETER,
    PARAMETER_HEAD,
    ROW,
    SAYS_SO,
    STRING,
    TERM,
    TITLE,
    UNDERLINE,
)
from openbook.retrieval.setting_spelling import plain, spelled, written
from openbook.text import indentation
from openbook.types import Chunk, Kind

Form = Literal["key", "row", "item", "section"]


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """An entry for a setting. Offsets are characters of the text."""

    start: int
    """Start of its first line."""
    end: int
    """End of its last line, exclusive."""
    form: Form
    is_described: bool
    """It has a description; otherwise it is only set."""
    has_value: bool
    """A value follows its name."""
    has_default: bool
    """Its text mentions a default."""
    parents: tuple[str, ...]
    """Enclosing keys and sections, outermost first, as far as the text shows them."""
    within: str
    """The enclosing lines as written, with the dotted prefix of the name."""
    is_open: bool
    """More enclosing keys may precede the text."""
    is_exact: bool
    """It spells the name as the question does."""
    has_choices: bool
    """Its text or a schema lists the allowed values."""
    default_end: int = 0
    """End of the paragraph below it that mentions the default, exclusive; 0 if it has the default, or there is none."""


_MIN_WORDS = 3
_MAX_CALL_LINES = 16
# Of 465 options of a collection of Ansible, 9 have more lines, and 36 more than 16.
_MAX_TERM_LINES = 40
_MAX_LINES_OF_NAMES = 3  # of a call, above the name of its flag: its bracket and other names
_OWN = ("self.", "this.")  # prefixes of the own fields of a class
_MAX_PLACES = 50  # a text with more occurrences of the name does not describe it
# Of a longer section, the entry is the first paragraph.
_SECTION_WORDS = 80
# The default is told so many lines from the start of a section.
_MAX_DEFAULT_LINES = 24
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)
# Longer signatures and lists of facts are quoted without the description below.
_MAX_FACT_LINES = 16

_OF_PATH = f"{ascii_letters}{digits}_.-"


def setting_entries(
    text: str,
    name: str,
    owners: Sequence[str] = (),
    kind: Kind = "docs",
    part: tuple[int, int] | None = None,
    *,
    language: str = "",
) -> list[SettingEntry]:
    r"""Return the entries for a setting in a text, in order; mostly none.

    `name` is spelled as in the question; `idle-timeout`, `idle_timeout` and `IdleTimeout` are equal. `owners` are the
    enclosing names in the question, outermost first. `part` is the range to search. In plain text, whose language is
    `text`, a line with a name and indented lines directly below it is an entry as well.

    Example:
        >>> text = "gui:\n  # Lines for each scroll.\n  scrollHeight: 2\n  tabWidth: 4\n"
        >>> [(text[each.start:each.end], each.parents) for each in setting_entries(text, "scrollHeight")]
        [('  # Lines for each scroll.\n  scrollHeight: 2', ('gui',))]
    """
    # Code defines `--dry-run` as "dry-run" or by a field `dry_run`, and `:write` as "write".
    bare = name.lstrip("-:") if kind == "code" else name
    pattern = spelled(bare)
    if not pattern.search(text):
        return []
    lines = _Lines(text, kind, bare, language, option=name if bare != name else "")
    owning = {plain(each) for each in owners}
    entries: dict[int, SettingEntry] = {}
    for found in islice(pattern.finditer(text, *(part or (0, len(text)))), _MAX_PLACES):
        place = lines.place_of(found.start())
        if place not in entries and (entry := lines.entry(place, found.span(), owning)):
            entries[place] = entry
    return list({each.start: each for each in entries.values()}.values())


@lru_cache(maxsize=64)
def terms_of(text: str, language: str = "text") -> frozenset[int]:
    """Return the offsets of the lines that have an indented description below, in plain text or help of Vim."""
    return frozenset(start for start, _ in entry_heads(text, "rst" if language == "text" else language))


def is_of_other_term(text: str, start: int, end: int, names: Sequence[str]) -> bool:
    r"""Return whether a part of plain text belongs to terms other than these names, and has none of the names.

    Example:
        >>> text = "limit <n>\n  Default is 7.\nfolder <path>\n  Default is here.\n"
        >>> is_of_other_term(text, text.index("Default is 7"), len(text), ["limit"])
        False
        >>> is_of_other_term(text, text.index("Default is here"), len(text), ["limit"])
        True
    """
    begin = text.rfind("\n", 0, start) + 1
    around = [term for term in terms_of(text) if term <= begin and _encloses(text, term, begin)]
    heads = (text[term:].partition("\n")[0] for term in around)
    said = "\n".join((text[start:end], *heads))
    return bool(around) and not any(spelled(name).search(said) for name in names)


def _encloses(text: str, term: int, line: int) -> bool:
    """Return whether a line is a term itself, or below it in its indented description."""
    head, *below = (each for each in text[term : text.find("\n", line) + 1 or None].split("\n") if each.strip())
    return all(indentation(each) > indentation(head) for each in below)


def is_within(entry: SettingEntry, owners: Sequence[str], chunk: Chunk) -> bool:
    """Return whether an entry of a chunk belongs to its owners, or may, as far as the chunk shows its context."""
    if entry.form == "key" and chunk.kind != "code" and entry.is_open:
        return True
    # If a chunk has several types, its symbol is the first.
    symbol = chunk.symbol if entry.is_open else ""
    return are_named(owners, entry.within, *entry.parents, *chunk.context, symbol, chunk.span.path)


def are_named(owners: Sequence[str], *places: str) -> bool:
    """Return whether all owners occur in the given texts, in any spelling.

    Example:
        >>> are_named(("gui", "theme"), "[gui]"), are_named(("gui",), "[gui]"), are_named((), "[gui]")
        (False, True, True)
    """
    around = plain("\n".join(places))
    return all(plain(owner) in around for owner in owners)


class _Lines(SettingLines):
    """The lines of a text, and the entries that they open."""

    def __init__(self, text: str, kind: Kind, name: str, language: str, *, option: str = "") -> None:
        super().__init__(text, kind)
        self._name, self._option = name, option
        self._terms = terms_of(text, language) if self._is_prose and language in {"text", "vimhelp"} else frozenset()

    def entry(self, place: int, span: tuple[int, int], owners: Collection[str]) -> SettingEntry | None:
        """Return the entry that a line opens for a name in it, if any."""
        start, end = (offset - self._starts[place] for offset in span)
        line = self._lines[place]
        lead = line[:start].rstrip(_OF_PATH)
        before = line[len(lead) : start].lstrip("-")
        # `cargo_autoreload` equals `cargo.autoreload` where names cannot have dots.
        joined = before.rpartition(".")[2]
        if joined and plain(joined) not in owners:
            return None
        # One blank replaces the indentation, to avoid backtracking.
        shape = f"{' ' * line[:1].isspace()}{line[: start - len(before)].lstrip()}\0{line[end:]}"
        if self._option and not written(self._option).match(line, start - len(self._option) + len(self._name)):
            return self._of_option(place, before, shape)
        entry = self._of_text(place, before, shape) or self._of_key(place, before, shape)
        return replace(entry, is_exact=False) if entry and joined else entry

    def _of_text(self, place: int, before: str, shape: str) -> SettingEntry | None:
        """Return the section, row or item that a line opens."""
        if self._is_prose:
            opens = OPENS.match(shape)
            if TITLE.match(shape, opens.end() if opens else 0) and (opens or self._is_heading(place)):
                return self._section(place, before, is_directive=opens is not None and not opens["heading"])
        is_column = self._is_in_columns(shape)
        most = MAX_COMMENT_LINES if is_column else MAX_VALUE_LINES  # columns are narrow
        last = self._end_of_block(place, most) if is_column or shape.endswith(END_OF_HEAD) else place
        if is_column or _is_said(ROW.match("\n".join((shape, *self._lines[place + 1 : last + 1])))):
            return self._made(place, last, "row", before, has_value=True)
        # Below `/**`, a star opens a line of a comment, not an item, unless bold text follows.
        opening = shape.lstrip()[:4]
        is_list = self._is_prose or opening[:1] != "*" or opening == "* **"
        item = ITEM.match(shape) if is_list else None
        is_described = _is_said(item) or (self._is_code and _is_said(PARAMETER.match(shape)))
        if is_described or (item and self._is_prose):
            last = self._end_of_item(place) if self._is_prose else self._end_of_block(place, MAX_COMMENT_LINES)
            if not is_described:  # a name alone may be the label of the paragraphs and items in it
                last = max(last, self._end_of_block(place, MAX_COMMENT_LINES, with_paragraphs=True))
            return self._made(place, last, "item", before, is_described=is_described or self._is_told(place, last))
        is_term = self._starts[place] in self._terms and TERM.match(shape.rstrip(END_OF_HEAD)) is not None
        # `tide_level:` describes no `TideLevel`, which is a type.
        if is_term or (self._is_code and PARAMETER_HEAD.match(shape) and self._is_exact(place, place)):
            last = self._end_of_block(place, _MAX_TERM_LINES, with_paragraphs=True)
            told = self._is_told(place, last)
            return self._made(place, last, "item", before, is_described=told) if is_term or told else None
        return None

    def _is_told(self, place: int, last: int) -> bool:
        return sum(map(_words, self._lines[place + 1 : last + 1])) >= _MIN_WORDS

    def _is_in_columns(self, shape: str) -> bool:
        """Return whether a description follows a name with a sign in columns, and not its further uses."""
        is_signed = not (self._option or self._name)[0].isalnum()
        found = COLUMN.match(shape) if is_signed else None
        return found is not None and self._name not in found["said"] and _is_said(found)

    def _of_key(self, place: int, before: str, shape: str) -> SettingEntry | None:
        """Return the key, field or flag that a line defines."""
        key = KEY.match(shape)
        if key and not (self._is_code and self._is_computed(key["sign"], key["value"])):
            return self._key(place, before, key["value"], is_set=not self._is_code or "=" in key["sign"] + key["value"])
        directive = DIRECTIVE.fullmatch(shape) if self._has_sections else None
        if directive and not (directive["aside"] and self._is_in_sentence(place)):
            return self._key(place, before, directive["value"], is_set=True)
        if not self._is_code:
            return None
        if not before and (field := FIELD.match(shape)):
            return self._key(place, "", field["value"], said=field["value"])
        return self._flag(place, before, flag["value"]) if (flag := FLAG.match(shape)) else None

    def _is_computed(self, sign: str, value: str) -> bool:
        """Return whether a variable is set to what code computes, as from the setting that it is named after."""
        if sign == "=":
            return not FIXED.match(value)
        _, is_set, behind = value.partition(" = ")
        return bool(is_set) and not FIXED.match(behind) and spelled(self._name).search(behind) is not None

    def _of_option(self, place: int, before: str, shape: str) -> SettingEntry | None:
        """Return the call or the field that defines an option without writing its dashes."""
        if flag := FLAG.match(shape):
            return self._flag(place, before, flag["value"])
        if link := LINK.match(shape):
            is_whole = any(map(_is_said, STRING.finditer(link["value"])))
            return self._made(place, place, "key", before) if is_whole else self._chain(place, before)
        field = KEY.match(shape) or FIELD.match(shape)
        if field is None or not OPTION_MARK.search(
            "\n".join((*self._lines[self._start_of_attributes(place) : place], field["value"]))
        ):
            return None
        return self._key(place, before, field["value"], said=field["value"])

    def _chain(self, place: int, before: str) -> SettingEntry | None:
        """Return a chain of calls, one a line, with a description in one of them."""
        lines = self._lines
        first = place
        while first and lines[first].lstrip().startswith("."):
            first -= 1
        last, indent = place, max(indentation(lines[place]), indentation(lines[first]) + 1)
        while last + 1 < len(lines) and indentation(lines[last + 1]) >= indent:
            last += 1
        if not any(map(_is_said, STRING.finditer("\n".join(lines[first : last + 1])))):
            return None
        return self._made(first, last, "key", before, named=place)

    def _flag(self, place: int, before: str, value: str) -> SettingEntry | None:
        """Return a call that registers a flag with a description, which may be in the lines below."""
        first, last = self._call_of(place)
        is_short = last - first == 2  # the line of the flag is all between the brackets
        whole = "\n".join((value, *self._lines[place + 1 : last]))
        for begin, end, said in ((place, place, value), (first, last, whole))[is_short:]:
            if any(map(_is_said, STRING.finditer(said))):
                return self._made(begin, end, "key", before, named=place)
        return None

    def _call_of(self, place: int) -> tuple[int, int]:
        """Return the first and last line of the call of a flag; one that begins its line is an argument of a call."""
        lines, first = self._lines, place
        if lines[place].lstrip()[:1] in ('"', "'"):
            above, indent = range(place - 1, max(place - _MAX_LINES_OF_NAMES, 0) - 1, -1), indentation(lines[place])
            opening = next((at for at in above if indentation(lines[at]) < indent), place)
            first = opening if lines[opening].endswith("(") else place
        for at, line in enumerate(lines[place + 1 : place + 1 + _MAX_CALL_LINES], place + 1):
            if line.lstrip()[:1] in ("}", ")") and (first == place or indentation(line) <= indentation(lines[first])):
                return first, at
        return place, place

    def _key(self, place: int, before: str, value: str, *, said: str = "", is_set: bool = False) -> SettingEntry:
        """Return a key or field with its comment and the block of its value."""
        own = self._start_of_attributes(place)
        first, last = self._start_of_comment(own), self._end_of_block(place)
        beside = BESIDE.search(value)
        said = "\n".join((*self._lines[own:place], said))
        # A comment on `opt.quiet = True` says why it is set there, not what it is.
        of_other = self._is_code and before.endswith(".") and before not in _OWN
        is_described = not of_other and (
            any(map(_is_said, (beside, *STRING.finditer(said))))
            or _words("\n".join(self._lines[first:own])) >= _MIN_WORDS
        )
        is_described = is_described or SAYS_SO.search("\n".join(self._lines[place : last + 1])) is not None
        has_value = is_set and bool(value[: beside.start() if beside else None].strip(" \t,{[("))
        return self._made(first, last, "key", before, is_described=is_described, has_value=has_value, named=place)

    def _section(self, place: int, before: str, *, is_directive: bool) -> SettingEntry | None:
        """Return the text below a title if it is short, otherwise its first paragraph."""
        lines, below = self._lines, range(place + 1, len(self._lines))
        if is_directive:
            indent, first = indentation(lines[place]), place
            end = next((at for at in below if lines[at].strip() and indentation(lines[at]) <= indent), len(lines))
        else:
            first = place + 1 + (place + 1 < len(lines) and UNDERLINE.match(lines[place + 1]) is not None)
            end = next((at for at in range(first, len(lines)) if self._is_heading(at)), len(lines))
        said = [at for at in range(first, end) if lines[at].strip(" \t-")]
        if len(said) <= is_directive:  # `.. autofunction:: NAME` has no description
            return None
        first, last = said[0], said[-1]
        if sum(_words(lines[at]) for at in said) <= _SECTION_WORDS:
            return self._made(first, last, "section", before, named=place)
        opened = next((at for at in self._without_facts(said) if at - first < _MAX_FACT_LINES), first)
        ends = [at for at in range(opened, last) if not lines[at + 1].strip()] or [last]
        entry = self._made(first, ends[0], "section", before, named=place)
        telling = (at for at in range(ends[0], min(last, first + _MAX_DEFAULT_LINES)) if _DEFAULT.search(lines[at]))
        found = None if entry.has_default else next(telling, None)
        end = next((at for at in ends if found is not None and at >= found), 0)
        return replace(entry, default_end=self._starts[end + 1] - 1) if end else entry

    def _without_facts(self, said: Sequence[int]) -> Iterator[int]:
        """Yield the lines of a section that may open its description: no signature in a fence and no fact."""
        fence = ""
        for at in said:
            line = self._lines[at]
            if found := FENCE.match(line):  # one of another kind is shown within
                fence = "" if fence and found[1].startswith(fence) else fence or found[1]
            elif not fence and _words(line) > _MIN_WORDS and not _is_fact(line):
                yield at

    def _made(
        self,
        first: int,
        last: int,
        form: Form,
        before: str,
        *,
        is_described: bool = True,
        has_value: bool = False,
        named: int | None = None,
    ) -> SettingEntry:
        named = first if named is None else named
        parents, over, is_open = self._over(named, is_key=form == "key")
        text = "\n".join(self._lines[first : last + 1])
        return SettingEntry(
            self._starts[first],
            self._starts[last + 1] - 1,
            form,
            is_described,
            has_value,
            is_described and "default" in text.lower(),
            parents,
            "\n".join((before, *over)),
            is_open,
            self._is_exact(named, last),
            CHOICES.search(text) is not None,
        )

    def _is_exact(self, first: int, last: int) -> bool:
        text = "\n".join(self._lines[first : last + 1])
        names = (self._name, self._option, self._name.replace("-", "_")) if self._option else (self._name,)
        return any(written(name).search(text) for name in names)


def _is_fact(line: str) -> bool:
    """Return whether a line is a field such as `Type: number`, which stands above the description."""
    return line.lstrip(" \t-*+").split(maxsplit=1)[0].rstrip("*_`").endswith(":")


def _is_said(found: re.Match[str] | None) -> bool:
    """Return whether a match has enough words for a description."""
    return found is not None and _words(found[found.lastgroup or 0]) >= _MIN_WORDS


def _words(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())
