"""Which passages of documentation describe an option or a setting that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from openbook.answering.headings import heading_over
from openbook.answering.passages import Passage, PassageKey
from openbook.questions.question import Question
from openbook.retrieval.roles import is_aside

_SETTING = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# `idle_timeout`, `Client.close`. Only headings count for these: entries of lists begin with names of all kinds.
_JOINED_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
# What stands before the name of an option in a list, a table, a heading or a manual page.
_BEFORE = r"[\W_]*(?:\\?f[BIRP]|\.[BI]R?\s|\.It\s(?:Fl\s|Ar\s)?)?[\W_]*"
_FEWEST_WORDS = 3


def describing(query: Question, passages: Sequence[Passage]) -> set[PassageKey]:
    """Return the keys of passages of prose that describe an option, `--like-this`, or a setting, `LIKE_THIS`.

    What opens the section under a heading that begins with the name describes it; without one, an entry of a list or a
    manual page that begins with it. Another name of several words, `like_this`, is described by such a section alone.
    Who asks where a name is, or what uses it, wants no description.
    """
    if not query.intents.isdisjoint(("where", "uses")):
        return set()
    options = _OPTION.findall(query.text)
    settings = filter(_SETTING.fullmatch, query.identifiers)
    names = dict.fromkeys((*settings, *options))
    titles = dict.fromkeys((*names, *filter(_JOINED_NAME.fullmatch, query.identifiers)))
    if not titles:
        return set()
    heading = re.compile(rf"{_BEFORE}(?:{_any_of(titles)})(?![\w-])")
    entry = re.compile(rf"{_BEFORE}(?:{_any_of(names)})(?![\w=-])")
    opening: dict[tuple[str, str, str], PassageKey] = {}
    entries: set[PassageKey] = set()
    for passage in sorted(passages, key=lambda each: each.start_char):
        chunk = passage.shown.result.chunk
        if not passage.shown.is_prose or passage.is_title or is_aside(chunk.span.path):
            continue
        title = heading_over(chunk, passage.start_char - chunk.span.start_char).rpartition(" / ")[2]
        if heading.match(title):
            opening.setdefault((chunk.source, chunk.span.path, title), passage.key)
        elif (begun := entry.match(passage.text)) and len(passage.text[begun.end() :].split()) >= _FEWEST_WORDS:
            entries.add(passage.key)
    return set(opening.values()) or entries


def _any_of(names: Iterable[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"
