"""What a context says of the settings that a question asks for, as passages: name, comment, value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from openbook.answering.context import Context, ContextItem
from openbook.answering.passages import Passage, overlap
from openbook.questions.languages import language_and_page
from openbook.questions.question import Question
from openbook.questions.settings_asked import AskedSetting, wants_choices, wants_default
from openbook.retrieval.callables import meant_settings
from openbook.retrieval.roles import is_aside
from openbook.retrieval.setting_entries import SettingEntry, is_within, setting_entries

# Keys of schemas, which hold settings and are none.
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

    def worth(self, query: Question) -> tuple[bool, bool, bool, float]:
        """Return what tells how well it answers, most telling first. Of what is not described, only a list answers."""
        entry = self.entry
        if wants_default(query.text):
            is_default = entry.has_default or self._stands_under_defaults
            told = is_default + 0.5 * entry.has_value + 0.25 * entry.is_described
            # What only sets it shows its default in a file of configuration, or where defaults are kept.
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
"""Returns the text of a document of a source, by its path, as it was indexed."""


def with_settings(
    query: Question, passages: Sequence[Passage], context: Context, text_of: TextOf | None = None
) -> list[Passage]:
    """Return passages with what says most of the settings that are asked for, in the place of what it overlaps.

    Args:
        query: What was asked.
        passages: What else may be quoted.
        context: What they are of.
        text_of: Tells what stands before a result, which may begin below the keys that its settings belong to.
    """
    asked = meant_settings(query, [shown.result.chunk for shown in context.shown])
    found = _to_read(query, [each for shown in context.shown for each in _entries_in(shown, asked, text_of)])
    best = max((each.worth(query) for each in found), default=None)
    if best is None or not any(best[:2]):
        return list(passages)
    told = _without_copies([each for each in found if each.worth(query) == best])
    described = [passage for each in told if (passage := _passage(each)) is not None]
    others = [each for each in passages if not any(overlap(each, other) for other in described)]
    return [*others, *described]


def _to_read(query: Question, found: list[_Found]) -> list[_Found]:
    """Leave out what pages in a third language say, if there is another one."""
    read = {"", "en", *query.languages}
    return [each for each in found if language_and_page(each.path)[0] in read] or found


def _without_copies(found: Sequence[_Found]) -> list[_Found]:
    """Return what is said, once each, from the file nearest to the top: configuration is copied for tests."""
    first: dict[str, _Found] = {}
    for each in sorted(found, key=lambda one: (one.path.count("/"), one.shown.number, one.entry.start)):
        first.setdefault(each.text, each)
    return [each for each in found if first[each.text] is each]


def _entries_in(shown: ContextItem, asked: Sequence[AskedSetting], text_of: TextOf | None) -> Iterator[_Found]:
    chunk = shown.result.chunk
    if not asked or is_aside(chunk.span.path):
        return
    for name, owners in asked:
        entries = setting_entries(chunk.text, name, owners, chunk.kind)
        if text_of is not None and chunk.kind != "code" and any(each.is_open for each in entries):
            whole = text_of(chunk.source, chunk.span.path) or ""
            part = (chunk.span.start_char, chunk.span.end_char)
            known = {each.end: each for each in setting_entries(whole, name, owners, chunk.kind, part)}
            entries = [_placed(each, known.get(chunk.span.start_char + each.end)) for each in entries]
        for entry in entries:
            if is_within(entry, owners, chunk):  # `port` of something else is another setting
                yield _Found(shown, entry)


def _placed(entry: SettingEntry, known: SettingEntry | None) -> SettingEntry:
    """Return an entry of a part of a text with what the whole text says of its place."""
    if known is None:
        return entry
    return replace(entry, parents=known.parents, within=known.within, is_open=False)


def _passage(found: _Found) -> Passage | None:
    """Return the units of an entry; None if not all are shown."""
    base = found.shown.result.chunk.span.start_char
    start, end = base + found.entry.start, base + found.entry.end
    units = [each for each in found.shown.units if each.span.start_char < end and each.span.end_char > start]
    if not units or units[-1].span.end_char < base + len(found.shown.result.chunk.text[: found.entry.end].rstrip()):
        return None
    return Passage(found.shown, units[0], units[-1], setting=found.entry)


def parents_shown(entry: SettingEntry) -> tuple[str, ...]:
    """Return the keys that a setting stands below, as people name them."""
    return tuple(each for each in entry.parents if each not in _OF_SCHEMA)
