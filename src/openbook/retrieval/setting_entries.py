"""Where a text says what a setting is: its name, what is said of it, its value, wherever that is written.

Settings are keys of configuration and of examples of it, also commented out; fields of types with their comments; rows
of tables; items of lists; sections under their name; and flags that a line of code makes known with a description.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import Literal

from openbook.text import indentation
from openbook.types import Chunk, Kind

Form = Literal["key", "row", "item", "section", "flag"]


@dataclass(frozen=True, slots=True)
class SettingEntry:
    """A setting in a text. Offsets are characters of the text."""

    start: int
    """Of the first line of what is said of it."""
    end: int
    """Of its last line, exclusive."""
    form: Form
    is_described: bool
    """Words say what it is; else it is only set."""
    has_value: bool
    """A value stands beside its name."""
    has_default: bool
    """The words speak of a default."""
    parents: tuple[str, ...]
    """The keys and sections that it stands below, outermost first, as far as the text has them."""
    within: str
    """These, as they are written, with what stands before the name."""
    is_open: bool
    """More of what it stands below may stand before the text."""
    is_exact: bool
    """It has the name as the question spells it."""
    has_choices: bool
    """The words or a schema list what values it takes."""


_FEWEST_WORDS = 3
# A comment or a value of more lines is read where it stands. The longest that a question of
# `benchmarks/cases/dotted_questions.jsonl` is answered by has 16 lines.
_MOST_COMMENT_LINES, _MOST_VALUE_LINES = 16, 8
# A list of values that a section leads to.
_MOST_LIST_LINES = 20
# Where the keys are looked for that a line stands below.
_MOST_LINES_ABOVE = 10_000
# A text that has a name more often does not say what it is.
_MOST_PLACES = 50
# A longer line is data, and is read as a blank one.
_MOST_LINE_CHARS = 1_500
# A section of more words is opened by its first paragraph.
_SECTION_WORDS = 80

_LEAD = r"(?:(?:\#+|/{2,}|;+|\*)(?:[ \t]|(?=\w)))?[ \t]*"
# Not `export NAME=...`, which uses it in a shell.
_MODIFIER = (
    r"(?:pub(?:\([\w\s]+\))?|public|private|protected|readonly|static|final|const|let|var|val|override"
    r"|export(?=[ \t]+\w+[ \t]+\w))"
)
# Before the name of a parameter or a field in a comment: `:param int limit:`, `@param {int} limit`.
_PARAMETER = (
    r"[@\\:](?:param|arg|argument|property|prop|keyword|kwarg|attr|ivar)\b(?:\[[\w,]+\])?[ \t]+(?:\{[^}]*\}[ \t]*)?"
    r"(?:[\w.\[\]|]+[ \t]+)?\[?[`*]*"
)
# Behind a name without marks: "- name: ...", "- name is ...", and not "- NAME variable was added".
_SAYS_OF_ITEM = r"[ \t]*[:,(=–—]|[ \t]+-\s|[ \t]+(?:\w+s|can|may|must|will)\b"
_SPELLING = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_COMMENT = re.compile(r"[ \t]*(?:#(?!\[)|//|;|/\*|\*|--\s|<!--)")
_ATTRIBUTE = re.compile(r"[ \t]*(?:#\[|@\w)")
_ATTRIBUTES = re.compile(rf"^{_ATTRIBUTE.pattern}.*", re.MULTILINE)
# Another setting that is commented out: what stands above it is not said of the one below.
_OTHER_KEY = re.compile(
    r"[ \t]*(?:#+|;+|//+)[ \t]*"
    r"(?:[\w.-]+[ \t]*=(?!=)|[a-z]\w*[-_.][\w.-]*:(?:\s|$)|[a-z]\w*:\s+(?:[\"'\d]|true\b|false\b))"
)
_ASIDE = re.compile(r"(?<=\s)(?:#|//|;|--|<!--)\s*(?P<said>\S.*)")
_SECTION = re.compile(r"[ \t]*(?:#[ \t]*)?\[{1,2}(?P<name>[\w\"'][\w.\"' -]*)\]{1,2}[ \t]*(?:#.*)?$")
_PARENT = re.compile(r"[\s\"'`-]*(?P<name>[\w.-]+)[\"'`]?\??[ \t]*(?::|=|\{)[ \t]*[{\[|>]?[ \t]*(?:#.*)?$")
_TYPE_OVER = re.compile(r".*\b(?:struct|class|interface|type|record|enum|object|message)\b.*")
_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}[ \t]*$")
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`")
_SAID_WORD = re.compile(r"[^\W_][\w'-]*")
_LINK = re.compile(r"https?://\S+")
# A string that stands alone, or is named as a description: not a placeholder, a class, a message.
_SAID = re.compile(
    r"(?:^\s*|[(,]\s*"
    r"|\b(?:\w*help|usage|\w*desc\w*|text|label|\w*doc|summary|about|comment|hint)[ \t]*[:=]+[ \t]*_?\(?)"
    rf"(?P<said>{_STRING.pattern})",
    re.IGNORECASE | re.MULTILINE,
)
_SAYS_SO = re.compile(
    r"(?:\"(?:markdownDescription|description|title|enum|default)s?\"|^\s*[dD]escription)\s*:", re.MULTILINE
)
_CHOICES = re.compile(
    r"\benum|\bone of\b|\beither\b|\bvalues?:|\boptions (?:are|include)\b|[`\"'\w] \| [`\"'\w]"
    r"|\b(?:possible|valid|allowed|available|supported|accepted) (?:\w+ )?(?:values|options|types|modes|are)\b"
    r"|\b(?:can|may|must) be (?:set to )?[`\"'\u2018\u201c]",
    re.IGNORECASE,
)
_OF_SCHEMA = re.compile(r"[\"']?(?:description|docs|help|default|enum)[\"']?[ \t]*=")
# What opens no line of prose: fields as `:default: all`, notes.
_NO_SENTENCE = re.compile(r"\s*[:!.]")
# What a field of a class or a module is set to, unlike what a function computes.
_FIXED = re.compile(
    r"[ \t]*(?:$|[\"'`\d\[{]|-\d|[A-Z]|\w+\.[A-Z]|(?:true|false|none|nil|null|new|lambda|field|attr)\b)"
)
_LITERAL = re.compile(r"[ \t]*(?:[\"'`\d\[{]|-\d|(?:true|false|none|nil|null)\b)", re.IGNORECASE)
_DEFAULT = re.compile(r"default|fall\w* ?back|\bif (?:not set|unset|empty)\b", re.IGNORECASE)


def setting_entries(
    text: str, name: str, owners: Sequence[str] = (), kind: Kind = "docs", part: tuple[int, int] | None = None
) -> list[SettingEntry]:
    r"""Return where a text says what a setting is, in order; mostly nowhere.

    Args:
        text: Of a document, or a part of it.
        name: As the question spells it; `idle-timeout`, `idle_timeout` and `IdleTimeout` are one.
        owners: What the question says that it stands in, outermost first.
        kind: Of the document.
        part: Where entries are looked for, as offsets; everywhere unless given.

    Example:
        >>> text = "gui:\n  # Lines for each scroll.\n  scrollHeight: 2\n  tabWidth: 4\n"
        >>> [(text[each.start:each.end], each.parents) for each in setting_entries(text, "scrollHeight")]
        [('  # Lines for each scroll.\n  scrollHeight: 2', ('gui',))]
    """
    forms = _forms(name, tuple(owners))
    if not forms.name.search(text):
        return []
    lines = _Lines(text, kind, forms)
    start, end = part or (0, len(text))
    named = islice(forms.name.finditer(text, start, end), _MOST_PLACES)
    places = dict.fromkeys(lines.place_of(found.start()) for found in named)
    return [each for place in places if (each := lines.entry(place)) is not None]


def share_of_owners(entry: SettingEntry, owners: Sequence[str], chunk: Chunk) -> float:
    """Return which share of its owners an entry of a chunk stands in, from 0 to 1; 1 if there are none.

    What may be named before the text counts for the most part.
    """
    # Of several types in a chunk, the symbol names the first.
    symbol = chunk.symbol if entry.is_open else ""
    share = share_held(owners, entry.within, *entry.parents, *chunk.context, symbol, chunk.span.path)
    is_cut = entry.form == "key" and chunk.kind != "code" and entry.is_open
    return max(share, UNKNOWN_SHARE) if is_cut else share


def share_held(owners: Sequence[str], *places: str) -> float:
    """Return which share of owners is named in places, in any spelling, from 0 to 1; 1 if there are none.

    Example:
        >>> share_held(("gui", "theme"), "[gui]"), share_held((), "[gui]")
        (0.5, 1.0)
    """
    around = _plain("\n".join(places))
    held = [_plain(owner) in around for owner in owners]
    return sum(held) / len(held) if held else 1.0


# Below what holds all that is asked for, above what stands in something else. With 0, hermes, lazygit and tikv lose a
# citation each; 1 changes nothing (`benchmarks.answers` on `cases/dotted_questions*.jsonl`).
UNKNOWN_SHARE = 0.75


def _plain(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


@dataclass(frozen=True, slots=True)
class _Forms:
    """What finds a name, and what a line looks like that says what it is."""

    name: re.Pattern[str]
    key: re.Pattern[str]
    tag: re.Pattern[str]
    field: re.Pattern[str]
    row: re.Pattern[str]
    item: re.Pattern[str]
    parameter: re.Pattern[str]
    title: re.Pattern[str]
    directive: re.Pattern[str]
    table: re.Pattern[str]
    exact: re.Pattern[str]
    flag: re.Pattern[str]


@lru_cache(maxsize=64)
def _forms(name: str, owners: tuple[str, ...]) -> _Forms:
    spelled = f"(?i:{'[-_]?'.join(map(re.escape, _SPELLING.findall(name) or [name]))})"
    # `cargo_autoreload` is `cargo.autoreload` where names have no dots.
    outer = "".join(rf"(?:(?i:{re.escape(owner)})[._])?" for owner in owners)
    path = rf"(?P<path>(?:[\w-]+\.)*{outer})"
    return _Forms(
        re.compile(rf"(?:(?<![^\W_])|(?<=[a-z])(?=[A-Z])){spelled}(?![^\W_])"),
        re.compile(
            rf"[ \t]*{_LEAD}(?:\[[ \t]*)?(?:{_MODIFIER}[ \t]+)*[\"'`]?{path}{spelled}[\"'`]?\??[ \t]*"
            r"(?P<sign>:(?![:=])|=(?![=>]))(?P<value>.*)"
        ),
        re.compile(rf"[ \t]*\w+[ \t]+\S[^`]*`[^`]*\b\w+:\"{spelled}[\",](?P<value>.*)"),
        re.compile(
            rf"[ \t]+(?:(?:[\w<>\[\],.*&?:]+[ \t]+){{1,4}}{spelled}(?P<value>[ \t]*(?:;|=(?![=>])).*)"
            rf"|{spelled}(?P<go>[ \t]+[*\[\]\w.{{}}]+[ \t]*(?:[`/].*)?)$)"
        ),
        re.compile(rf"[ \t]*\|[ \t]*[`*\[]*{path}{spelled}[`*\]]*(?P<value>[ \t]*(?:[(<,/{{][^|]*)?\|.*)"),
        re.compile(
            rf"[ \t]*{_LEAD}[-*+][ \t]+[`*_\"\[]*{path}{spelled}"
            rf"(?P<value>(?:[`*_\"\]]+(?=[\s:,(=–—])|(?={_SAYS_OF_ITEM})).*)"
        ),
        re.compile(rf"[\s*/#!]*(?:{_PARAMETER}{spelled}\b|[`*]*{spelled}[`*]*[ \t]*\([^)]*\)[ \t]*:)(?P<value>.*)"),
        re.compile(rf"(?P<mark>#{{1,6}}[ \t]+)?[`*\"\[]*{path}{spelled}[`*\"\]]*[ \t]*(?:(?:[({{=:\\\[<—–]|-\s).*)?$"),
        re.compile(rf"[ \t]*(?:\.\. [\w:+-]+::|:::+\{{[\w-]+\}})[ \t]+{path}{spelled}[ \t]*(?:[(=:].*)?$"),
        re.compile(rf"[ \t]*\[{{1,2}}{path}{spelled}\]{{1,2}}[ \t]*$"),
        re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])"),
        re.compile(rf".*[\"'](?:--?)?{path}{spelled}[\"'](?P<value>[ \t]*,.*)"),
    )


class _Lines:
    """The lines of a text, and what belongs to one that names a setting."""

    def __init__(self, text: str, kind: Kind, forms: _Forms) -> None:
        self._forms = forms
        self._is_prose = kind == "docs"
        self._is_code = kind == "code"
        self._has_sections = kind == "config"
        every = text.split("\n")
        self._lines = [line if len(line) <= _MOST_LINE_CHARS else "" for line in every]
        self._starts = [0, *accumulate(len(line) + 1 for line in every)]

    def place_of(self, offset: int) -> int:
        """Return the number of the line that a character stands in, from 0."""
        return bisect_right(self._starts, offset) - 1

    def entry(self, place: int) -> SettingEntry | None:
        """Return the entry that a line makes; None if it says nothing."""
        return self._of_text(place) or self._of_key(place)

    def _of_text(self, place: int) -> SettingEntry | None:
        """Return the section, the row or the item that a line opens."""
        line, forms = _outdented(self._lines[place]), self._forms
        if self._is_prose and (title := forms.title.match(line)) and (title["mark"] or self._is_heading(place)):
            return self._section(place, title["path"])
        if self._is_prose and (directive := forms.directive.match(line)):
            return self._directive(place, directive["path"])
        if (row := forms.row.match(line)) and _words(row["value"]) >= _FEWEST_WORDS:
            return self._made((place, place), "row", row["path"], has_value=True)
        if self._is_code and (parameter := forms.parameter.match(line)) and _words(parameter["value"]) >= _FEWEST_WORDS:
            return self._made((place, self._end_of_item(place)), "item", "")
        # Below `/**` a star opens a line of a comment, and no item.
        is_list = self._is_prose or not line.lstrip().startswith("*")
        if is_list and (item := forms.item.match(line)) and _words(item["value"]) >= _FEWEST_WORDS:
            return self._made((place, self._end_of_item(place)), "item", item["path"])
        return None

    def _of_key(self, place: int) -> SettingEntry | None:
        """Return the key, the field or the flag that a line names."""
        line, forms = _outdented(self._lines[place]), self._forms
        if not self._is_code and (table := forms.table.match(line)):
            return self._table(place, table["path"])
        key = forms.key.match(line)
        if key and not (self._is_code and key["sign"] == "=" and not _FIXED.match(key["value"])):
            is_set = not self._is_code or (_LITERAL.match(key["value"]) is not None and not key["path"])
            return self._key(place, key["path"], key["value"], is_set=is_set)
        if tag := forms.tag.match(line):
            return self._key(place, "", tag["value"], *_STRING.findall(line))
        if field := forms.field.match(line):
            return self._key(place, "", field["value"] or field["go"] or "")
        if self._is_code and (flag := forms.flag.match(line)):
            return self._flag(place, flag["path"], flag["value"])
        return None

    def _flag(self, place: int, before: str, value: str) -> SettingEntry | None:
        """Return a call that makes a name known with a description, which may stand in the lines below."""
        last = place
        below = self._lines[place + 1 : place + 1 + _MOST_VALUE_LINES]
        if value.count(")") <= value.count("(") and not _is_said(value):
            closing = next((at for at, line in enumerate(below) if line.lstrip()[:1] in ("}", ")")), 0)
            last = place + closing
        if not _is_said("\n".join((value, *self._lines[place + 1 : last + 1]))):
            return None
        first = place - 1 if place and last > place and self._lines[place - 1].rstrip().endswith("(") else place
        return self._made((first, last + (last > place)), "flag", before)

    def _directive(self, place: int, before: str) -> SettingEntry | None:
        """Return a directive that names a setting, with what is indented below it."""
        indent, end = indentation(self._lines[place]), place + 1
        while end < len(self._lines) and (not self._lines[end].strip() or indentation(self._lines[end]) > indent):
            end += 1
        if not any(
            line.strip() for line in self._lines[place + 1 : end]
        ):  # `.. autofunction:: NAME` says nothing of it
            return None
        return self._opened(place, place, end, before)

    def _table(self, place: int, before: str) -> SettingEntry | None:
        """Return a table that says what a setting is: `[jobs]`, `description = "..."`."""
        end = place + 1
        while end < len(self._lines) and end - place <= _MOST_VALUE_LINES and self._lines[end].strip():
            end += 1
        if not any(_OF_SCHEMA.match(line) for line in self._lines[place + 1 : end]):
            return None
        found = self._made((place, end - 1), "key", before)
        return replace(found, parents=tuple(filter(None, before.split("."))), within=before, is_open=False)

    def _key(self, place: int, before: str, value: str, *strings: str, is_set: bool = False) -> SettingEntry:
        """Return a key or a field with the comment above it or beside it, and what its value has below."""
        first, last = self._start_of_comment(place), self._end_of_value(place)
        beside = _ASIDE.search(value)
        above = "\n".join(line for line in self._lines[first:place] if not _ATTRIBUTE.match(line))
        said = (above, beside["said"] if beside else "", *strings)
        is_described = any(_words(each) >= _FEWEST_WORDS for each in said)
        is_described = is_described or _SAYS_SO.search("\n".join(self._lines[place : last + 1])) is not None
        has_value = is_set and bool(value[: beside.start() if beside else None].strip(" \t,{[("))
        return self._made((first, last), "key", before, is_described=is_described, has_value=has_value, key=place)

    def _section(self, place: int, before: str) -> SettingEntry | None:
        """Return what stands under a heading, all of it if that is short, and else its first paragraph, without it."""
        first = place + 2 if place + 1 < len(self._lines) and _UNDERLINE.match(self._lines[place + 1]) else place + 1
        end = next((at for at in range(first, len(self._lines)) if self._is_heading(at)), len(self._lines))
        return self._opened(place, first, end, before)

    def _opened(self, place: int, first: int, end: int, before: str) -> SettingEntry | None:
        """Return the lines that another one opens, all of them if they are short, and else up to a first paragraph."""
        while end > first and not self._lines[end - 1].strip(" \t-"):
            end -= 1
        while first < end and not self._lines[first].strip():
            first += 1
        if end == first:
            return None
        if sum(map(_words, self._lines[first:end])) > _SECTION_WORDS:
            opened = next((at for at in range(first, end) if self._is_sentence(at)), first)
            end = self._end_of_paragraph(opened, end)
        return self._made((first, end - 1), "section", before, key=place)

    def _is_sentence(self, place: int) -> bool:
        line = self._lines[place]
        return not _NO_SENTENCE.match(line) and _words(line) > _FEWEST_WORDS

    def _end_of_paragraph(self, place: int, most: int) -> int:
        """Find the end of a paragraph, and of the list that it leads to: "The modes are:"."""
        end = next((at for at in range(place, most) if not self._lines[at].strip()), most)
        if not self._lines[end - 1].rstrip(" *_`").endswith(":"):
            return end
        first = next((at for at in range(end, most) if self._lines[at].strip()), most)
        if first == most:
            return end
        indent = indentation(self._lines[first])
        last = end
        for at in range(first, min(first + _MOST_LIST_LINES, most)):
            line = self._lines[at]
            if line.strip() and not (_ITEM.match(line) or indentation(line) > indent):
                break
            last = at + 1 if line.strip() else last
        return last

    def _made(
        self,
        lines: tuple[int, int],
        form: Form,
        before: str,
        *,
        is_described: bool = True,
        has_value: bool = False,
        key: int | None = None,
    ) -> SettingEntry:
        first, last = lines
        parents, over, is_open = self._over(first if key is None else key, form)
        text = "\n".join(self._lines[first : last + 1])
        return SettingEntry(
            self._starts[first],
            self._starts[last + 1] - 1,
            form,
            is_described,
            has_value,
            is_described and _DEFAULT.search(_ATTRIBUTES.sub("", text)) is not None,
            parents,
            "\n".join((before, *over)),
            is_open,
            self._forms.exact.search("\n".join(self._lines[first if key is None else key : last + 1])) is not None,
            _CHOICES.search(text) is not None,
        )

    def _over(self, place: int, form: Form) -> tuple[tuple[str, ...], list[str], bool]:
        """Return the keys that a line stands below, outermost first, all lines over it, and whether more may be."""
        parents: list[str] = []
        over: list[str] = []
        indent = indentation(self._lines[place])
        for at in range(place - 1, max(place - _MOST_LINES_ABOVE, 0) - 1, -1):
            line = self._lines[at]
            if form == "key" and (section := _SECTION.match(line)):
                return (section["name"].strip(), *parents), [*over, line], False
            if self._is_prose and _is_heading_line(line):
                over.append(line)
                break
            if line.strip() and indentation(line) < indent and not _COMMENT.match(line):
                over.append(line)
                indent = indentation(line)
                if (parent := _PARENT.match(line)) and not _TYPE_OVER.match(line):
                    parents.insert(0, parent["name"])
            if not (indent or self._has_sections):
                break
        # What begins at the margin stands below nothing, but in files that have sections.
        return tuple(parents), over, indent > 0 or self._has_sections

    def _start_of_comment(self, place: int) -> int:
        """Find the first line of the comment directly above a key."""
        first, indent = place, indentation(self._lines[place])
        while first and place - first < _MOST_COMMENT_LINES:
            above = self._lines[first - 1]
            is_comment = _COMMENT.match(above) is not None and not _OTHER_KEY.match(above)
            # The stars of a block stand one column deeper.
            if not (is_comment and abs(indentation(above) - indent) <= 1) and not _ATTRIBUTE.match(above):
                break
            first -= 1
        return first

    def _end_of_value(self, place: int) -> int:
        """Find the last line of a value that goes on below its key: a list, an object, a block."""
        line, indent, last = self._lines[place], indentation(self._lines[place]), place
        if _COMMENT.match(line):
            return place
        while last + 1 < len(self._lines) and last - place < _MOST_VALUE_LINES:
            below = self._lines[last + 1]
            if not below.strip() or indentation(below) <= indent:
                closes = below.strip()[:1] in ("}", "]", ")") and indentation(below) == indent and last > place
                return last + closes
            last += 1
        return place if last - place >= _MOST_VALUE_LINES else last

    def _end_of_item(self, place: int) -> int:
        """Find the last line of an item of a list, also inside of a comment."""
        last, column = place, _column(self._lines[place])
        while last + 1 < len(self._lines) and last - place < _MOST_VALUE_LINES:
            below = self._lines[last + 1]
            if _column(below) <= column or below[_column(below) :].startswith(("- ", "* ", "+ ")):
                break
            last += 1
        return last

    def _is_heading(self, place: int) -> bool:
        line = self._lines[place]
        below = self._lines[place + 1] if place + 1 < len(self._lines) else ""
        return _is_heading_line(line) or (
            bool(line.strip()) and not line[:1].isspace() and bool(_UNDERLINE.match(below))
        )


def _outdented(line: str) -> str:
    """Return a line with a blank for its indentation, which patterns would try in all ways."""
    said = line.lstrip()
    return f" {said}" if len(said) < len(line) else line


def _is_heading_line(line: str) -> bool:
    return line.startswith("##") and _HEADING.match(line) is not None


def _is_said(code: str) -> bool:
    """Return whether a string of code has words enough to say what something is."""
    return any(_words(found["said"]) >= _FEWEST_WORDS for found in _SAID.finditer(code))


def _column(line: str) -> int:
    """Return where a line begins behind its indentation and the sign of a comment; 0 if nothing stands there."""
    opening = re.match(r"[ \t]*(?:(?:#+|/{2,}|;+|\*(?!/)(?=\s{2}))[ \t]*)?", line)
    column = opening.end() if opening else 0
    return column if line[column:].strip() else 0


def _words(text: str) -> int:
    return len(_SAID_WORD.findall(_LINK.sub("", text)))
