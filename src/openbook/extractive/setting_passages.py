"""Passages for the settings that a question asks for: name, comment and value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from openbook.answers import has_lines
from openbook.extractive.context import Context, ContextItem
from openbook.extractive.passages import Passage, overlap
from openbook.questions.languages import language_and_page
from openbook.questions.question import Question
from openbook.questions.settings_asked import AskedSetting, wants_choices, wants_default
from openbook.retrieval.callables import meant_settings
from openbook.retrieval.roles import is_aside
from openbook.retrieval.setting_entries import SettingEntry, is_of_other_term, is_within, setting_entries
from openbook.text import indentation

# Keys of schemas that contain settings, and are not settings themselves.
_OF_SCHEMA = frozenset("properties $defs defs definitions items contributes configuration allOf anyOf oneOf".split())


@dataclass(frozen=True, slots=True)
class _Found:
    shown: ContextItem
    entry: SettingEntry

    @property
    def path(self) -> str:
        return self.shown.result.chunk.span.path

    @property
    def text(self) -> str:
        return self.shown.result.chunk.text[self.entry.start : self.entry.end]

    def worth(self, query: Question, *, wants_value: bool) -> tuple[bool, bool, bool, float]:
        """Return a sort key for how well it answers. Without a description, only a list item answers."""
        entry = self.entry
        if wants_value:
            is_default = entry.has_default or self._stands_under_defaults
            told = is_default + 0.5 * entry.has_value + 0.25 * entry.is_described
            # An assignment shows the default in a configuration file, or in a place for defaults.
            is_shown = entry.has_value and (is_default or self.shown.result.chunk.kind in ("config", "data"))
            tells = entry.is_described and (is_default or entry.has_value)
            return tells or is_shown, False, entry.is_exact, told
        has_choices = wants_choices(query.text) and entry.has_choices
        is_listed = entry.form == "item" and not entry.is_described
        return entry.is_described, is_listed, entry.is_exact, float(has_choices)

    @property
    def _stands_under_defaults(self) -> bool:
        chunk = self.shown.result.chunk
        return self.entry.has_value and any("default" in each.lower() for each in (*chunk.context, chunk.symbol))


TextOf = Callable[[str, str], str | None]
"""Returns the indexed text of a document, by source and path."""


def with_settings(
    query: Question, passages: Sequence[Passage], context: Context, text_of: TextOf | None = None
) -> list[Passage]:
    """Return passages with the best entries of the settings of a question, in the place of passages that they overlap.

    Sentences of other entries in plain text are dropped: "The default is 5." does not say of what.
    `text_of` is for parent keys above a result.
    """
    asked = meant_settings(query, [shown.result.chunk for shown in context.shown])
    found = _to_read(query, [each for shown in context.shown for each in _entries_in(shown, asked, text_of)])
    found = [_with_default(each) for each in found] if wants_default(query.text) else found
    told = _without_copies(_best(query, found))
    if not told:
        return list(passages)
    described = [passage for each in told if (passage := _passage(each)) is not None]
    names = [each.name for each in asked]
    others = [
        each
        for each in passages
        if not any(overlap(each, other) for other in described) and not (described and _is_of_other(each, names))
    ]
    return [*others, *described]


def _best(query: Question, found: Sequence[_Found]) -> list[_Found]:
    """Return the entries that answer best; if none has the default of an option, those that describe it."""
    wants_it = wants_default(query.text)
    is_of_option = any(each.name.startswith("-") for each in query.settings)
    for wants_value in (True, False) if wants_it and is_of_option else (wants_it,):
        worth = [each.worth(query, wants_value=wants_value) for each in found]
        best = max(worth, default=None)
        if best is not None and any(best[:2]):
            return [each for each, one in zip(found, worth, strict=True) if one == best]
    return []


def _is_of_other(passage: Passage, names: Sequence[str]) -> bool:
    chunk = passage.shown.result.chunk
    if not passage.shown.is_prose or chunk.language != "text":
        return False
    base = chunk.span.start_char
    return is_of_other_term(chunk.text, passage.start_char - base, passage.end_char - base, names)


def _to_read(query: Question, found: list[_Found]) -> list[_Found]:
    """Drop entries in a third language if there are others."""
    read = {"", "en", *query.languages}
    return [each for each in found if language_and_page(each.path)[0] in read] or found


def _without_copies(found: Sequence[_Found]) -> list[_Found]:
    """Drop copies, keeping the file nearest to the root: configuration is often copied for tests."""
    first: dict[str, _Found] = {}
    for each in sorted(found, key=lambda one: (one.path.count("/"), one.shown.number, one.entry.start)):
        first.setdefault(each.text, each)
    return [each for each in found if first[each.text] is each]


def _entries_in(shown: ContextItem, asked: Sequence[AskedSetting], text_of: TextOf | None) -> Iterator[_Found]:
    chunk = shown.result.chunk
    if not asked or is_aside(chunk.span.path):
        return
    for name, owners in asked:
        entries = setting_entries(chunk.text, name, owners, chunk.kind, language=chunk.language)
        if text_of is not None and chunk.kind != "code" and any(each.is_open for each in entries):
            whole = text_of(chunk.source, chunk.span.path) or ""
            part = (chunk.span.start_char, chunk.span.end_char)
            known = {
                each.end: each
                for each in setting_entries(whole, name, owners, chunk.kind, part, language=chunk.language)
            }
            entries = [_placed(each, known.get(chunk.span.start_char + each.end)) for each in entries]
        for entry in entries:
            if is_within(entry, owners, chunk):  # `port` of another parent is another setting
                yield _Found(shown, entry)


def _with_default(found: _Found) -> _Found:
    """Return an entry up to the paragraph that mentions its default."""
    end = found.entry.default_end
    return replace(found, entry=replace(found.entry, end=end, has_default=True)) if end else found


def _placed(entry: SettingEntry, known: SettingEntry | None) -> SettingEntry:
    """Return an entry of a chunk with its parents in the whole text."""
    if known is None:
        return entry
    return replace(entry, parents=known.parents, within=known.within, is_open=False)


def _passage(found: _Found) -> Passage | None:
    """Return the passage of an entry; None if it is cut off."""
    base = found.shown.result.chunk.span.start_char
    start, end = base + found.entry.start, base + found.entry.end
    units = [each for each in found.shown.units if each.span.start_char < end and each.span.end_char > start]
    if not units or units[-1].span.end_char < base + len(found.shown.result.chunk.text[: found.entry.end].rstrip()):
        return None
    return Passage(found.shown, units[0], units[-1], setting=found.entry, goes_on=_goes_on(found))


def _goes_on(found: _Found) -> str:
    """Return what says that the block of an entry goes on behind what is read of it; empty if not, and for prose."""
    chunk = found.shown.result.chunk
    _, *below = chunk.text[found.entry.end :].split("\n")
    rest = list(takewhile(lambda line: not line.strip() or indentation(line) > indentation(found.text), below))
    if found.shown.is_prose or not any(map(str.strip, rest)):
        return ""
    lines = "\n".join(rest).rstrip().count("\n") + 1
    last = chunk.span.start_line + chunk.text.count("\n", 0, found.entry.end) + lines
    # The chunk may end within the block.
    return f"(goes on to line {last})" if has_lines(chunk.language) and len(rest) < len(below) else "(goes on)"


def parents_shown(entry: SettingEntry) -> tuple[str, ...]:
    """Return the parent keys of a setting, without those of schemas."""
    return tuple(each for each in entry.parents if each not in _OF_SCHEMA)
