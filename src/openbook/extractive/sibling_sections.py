"""Lists what stands as the headings of a section, or as the pages of a folder: there each thing has its own text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.context import Context, ContextItem, units_of
from openbook.extractive.headings import ChunkHeading, headings_in
from openbook.extractive.lists import LeftOut
from openbook.extractive.outlines import first_line
from openbook.extractive.passages import Passage, overlap, passages_of
from openbook.index.protocol import DocumentSummary, Index
from openbook.questions.lists_asked import AskedList
from openbook.questions.question import Question
from openbook.retrieval.roles import is_aside
from openbook.sources.front_matter import stated_title
from openbook.text import sentences
from openbook.tokens import tokenize, words_to_read
from openbook.types import Chunk, Filter, RetrievalResult

_MIN_ITEMS, _MAX_ITEMS = 3, 24
# Most of the headings of a list name things; the others are on all of them.
_MIN_SHARE = 0.6
# The first sentences are quoted with the headings if these have no more words together.
_MAX_WORDS = 100
# Chunks with the words of the question, and pages among them that are read.
_CANDIDATES, _MAX_PAGES = 80, 16
# Sections of that name are in so many pages: each is on the things of its page.
_MAX_NAMESAKES = 2
# Words that the title of a list may add to what is asked for.
_MAX_ADDED = 1

# Words of a question for a list that say nothing on the things.
_ASKING = frozenset(
    tokenize(
        "list lists all kinds types sorts possible available supported supports valid allowed accepted existing exist"
        " built-in there show name give different various main standard use used can does have"
    )
)
# Sections that any page may have.
_GENERIC = frozenset(
    "about api architecture arguments attributes authors background best caveats changelog changes conclusion config"
    " configuration contributing contributors debugging defaults definition definitions demo dependencies description"
    " details development documentation example examples faq features fields hints install installation introduction"
    " license limitations links miscellaneous motivation name notes note options other overview parameters practices"
    " prerequisites properties purpose quickstart reading reference references requirements resources scope security"
    " setup specification start started steps structure summary support syntax testing tests troubleshooting tutorial"
    " tutorials usage".split()
)
# "Example ropes" and "Custom ropes" are none of those that there are.
_OTHER = frozenset("custom deprecated example other sample third".split())
# "How to moor", "Limits of ropes", "Where is it?" and "Step 3" tell something, and name nothing.
_TELLS = re.compile(
    r"[?!]$|^\W*(?:\d+[.)]|step\b)|\b(?:how|why|what|when|where|who|which|your|is|are|of|the|an?|it)\s"
    r"|\w\s+(?:to|with|without|from|in)\s"
    r"|^(?:\w+ing|add|create|write|use|run|set|install|configure|build|define|enable|make|see|get|more)\s",
    re.IGNORECASE,
)
_MAX_NAME_WORDS = 5
# A sentence, rather than a directive, a box or what introduces something.
_SAYS = re.compile(r"\s*[\w`\"'(\[*<].*[^\s:]\s*", re.DOTALL)
_PAGES_ASIDE = frozenset({"index", "_index", "readme"})


class _Section(NamedTuple):
    """A heading of a page."""

    chunk: Chunk
    heading: ChunkHeading
    above: tuple[str, ...]
    """The headings above, outermost first; the title of the page is the first one."""


class _Listed(NamedTuple):
    """What is listed, and where."""

    rank: int
    quotes: Sequence[tuple[Chunk, int]]
    """The chunks of the items, and the places of their titles in these."""
    titles: Sequence[str]
    path: str
    note: str
    """Where it goes on, beyond the items that are shown."""


def with_sections(
    query: Question, picked: Sequence[ScoredPassage], context: Context, index: Index, where: Filter
) -> tuple[list[ScoredPassage], Context]:
    """Return quotes after the titles of the sections or pages that a question asks for the list of, and the context.

    Nothing is added if the first quote names them all.
    """
    if query.listed is None or not picked:
        return list(picked), context
    with index.snapshot():
        found = _listed(query, query.listed, context, index, where)
    if found is None or all(title in picked[0].passage.text for title in found.titles):
        return list(picked), context
    return _with_items(picked, context, found)


def _listed(query: Question, asked: AskedList, context: Context, index: Index, where: Filter) -> _Listed | None:
    wanted = frozenset(query.tokens) - _ASKING
    ranks = {each.result.chunk.span.path: -each.number for each in reversed(context.shown)}
    found = [each for page in _pages(asked, context, index, where) for each in _of_page(asked, wanted, page)]
    found += _of_folders(asked, wanted, index, where)
    least = min((each.rank for each in found), default=0)
    best = [each for each in found if each.rank == least]
    if len({each.path for each in best}) > _MAX_NAMESAKES:
        return None
    return max(
        best,
        key=lambda each: (
            asked.has_word(PurePosixPath(each.path).stem),
            ranks.get(each.path, -len(ranks) - 1),
            each.path,
        ),
        default=None,
    )


def _pages(asked: AskedList, context: Context, index: Index, where: Filter) -> Iterator[list[Chunk]]:
    """Yield the chunks of pages of prose: those of results, and those whose headings or names have the things."""
    evidence = index.match(tokenize(asked.things), None, _CANDIDATES, where).evidence
    outlines = index.outlines([each.id for each in evidence])
    named = [each for each in outlines if any(map(asked.has_word, (*each.context, PurePosixPath(each.span.path).stem)))]
    places = [(each.kind, each.source, each.span.path) for each in (shown.result.chunk for shown in context.shown)]
    places += [(each.kind, each.source, each.span.path) for each in named]
    keys = [(source, path) for kind, source, path in places if kind == "docs" and not is_aside(path)]
    for key in list(dict.fromkeys(keys))[:_MAX_PAGES]:
        yield index.chunks(*key)


def _of_page(asked: AskedList, wanted: frozenset[str], page: Sequence[Chunk]) -> Iterator[_Listed]:
    """Yield the lists of a page: sections whose common heading, or the page if it has none, is on the things."""
    sections, path = list(_sections(page)), PurePosixPath(page[0].span.path)
    place = f"{page[0].source} {path}"
    for (above, _), members in groupby(sorted(sections, key=_siblings), key=_siblings):
        every = list(members)
        named = [each for each in every if is_name(each.heading.title)]
        titles = above[-1:] if len(above) > 1 else (*above, path.stem)
        added = [len(words) for title in titles if (words := asked.words_added_by(title)) is not None]
        least = max(_MIN_ITEMS + (len(named) < len(every)), _MIN_SHARE * len(every))
        is_titled = min(added, default=_MAX_ADDED + 1) <= _MAX_ADDED and wanted <= _tokens_of(place, *above)
        if is_titled and len(named) >= least:
            yield _of_sections(min(added), named)


def _tokens_of(*said: str) -> frozenset[str]:
    return frozenset(tokenize(" ".join(said)))


def _siblings(section: _Section) -> tuple[tuple[str, ...], str]:
    return section.above, section.heading.mark


def _sections(page: Sequence[Chunk]) -> Iterator[_Section]:
    title = next((each.context[0] for each in page if each.context), "")
    inner: list[ChunkHeading] = []
    for chunk in page:
        for heading in headings_in(chunk):
            inner = list(takewhile(heading.is_below, inner))
            titles = dict.fromkeys((title, *(each.title for each in inner)))
            yield _Section(chunk, heading, tuple(titles))
            inner.append(heading)


def _of_sections(rank: int, sections: Sequence[_Section]) -> _Listed:
    shown, last = sections[:_MAX_ITEMS], sections[-1]
    line = last.chunk.span.start_line + last.chunk.text.count("\n", 0, last.heading.start)
    return _Listed(
        rank,
        [(each.chunk, each.heading.start) for each in shown],
        [each.heading.title for each in shown],
        last.chunk.span.path,
        f"(goes on to line {line})" if len(shown) < len(sections) else "",
    )


def is_name(title: str) -> bool:
    """Return whether a heading names a thing, rather than telling something or opening a part of any page.

    Example:
        >>> [is_name(title) for title in ("HempRope", "Steel rope", "Usage", "How to moor", "Mooring a ship")]
        [True, True, False, False, False]
    """
    words = title.split()
    is_generic = not words or words[-1].strip(":.").lower() in _GENERIC or words[0].lower() in _OTHER
    return not is_generic and _TELLS.search(title) is None and len(words) <= _MAX_NAME_WORDS


def _of_folders(asked: AskedList, wanted: frozenset[str], index: Index, where: Filter) -> Iterator[_Listed]:
    """Yield the pages of the folders that are called as the things."""
    pages = [each for each in index.documents(where) if each.kind == "docs" and not is_aside(each.path)]
    for (source, folder), members in groupby(sorted(pages, key=_folder_of), key=_folder_of):
        inside = [each for each in members if PurePosixPath(each.path).stem.lower() not in _PAGES_ASIDE]
        is_called = asked.words_added_by(PurePosixPath(folder).name) == frozenset()
        if len(inside) >= _MIN_ITEMS and is_called and wanted <= _tokens_of(source, folder):
            listed = _of_pages(inside, folder, index)
            if len(listed.titles) >= _MIN_ITEMS:  # data has no titles
                yield listed


def _folder_of(page: DocumentSummary) -> tuple[str, str]:
    return page.source, str(PurePosixPath(page.path).parent)


def _of_pages(pages: Sequence[DocumentSummary], folder: str, index: Index) -> _Listed:
    quotes, titles = [], []
    for page in pages[:_MAX_ITEMS]:
        chunk, *_ = index.chunks(page.source, page.path)
        line, headings = first_line(chunk), headings_in(chunk)
        if headings and not stated_title(line.text):
            quotes.append((chunk, headings[0].start))
            titles.append(headings[0].title)
        elif stated_title(line.text):
            quotes.append((chunk, line.span.start_char - chunk.span.start_char))
            titles.append(stated_title(line.text))
    note = f"(goes on in {folder}/)" if len(pages) > _MAX_ITEMS else ""
    return _Listed(0, quotes, titles, folder, note)


def _with_items(
    picked: Sequence[ScoredPassage], context: Context, found: _Listed
) -> tuple[list[ScoredPassage], Context]:
    """Return quotes after the items of a list, and the context with the chunks of these."""
    shown = list(context.shown)
    items: list[Passage] = []
    for chunk, start in found.quotes:
        item = next((each for each in shown if each.result.chunk.key == chunk.key and each.is_whole), None)
        if item is None:
            item = ContextItem(shown[-1].number + 1, RetrievalResult(chunk, 0.0), units_of(chunk))
            shown.append(item)
        items.append(_item(item, chunk.span.start_char + start))
    whole = [_with_sentence(each) for each in items]
    items = whole if sum(words_to_read(each.text) for each in whole) <= _MAX_WORDS else items
    added = [ScoredPassage(each, picked[0].score, is_item=True) for each in items]
    added[-1] = replace(added[-1], left_out=LeftOut(note=found.note))
    rest = [each for each in picked if not any(overlap(each.passage, one) for one in items)]
    return [*added, *rest], replace(context, shown=tuple(shown))


def _item(shown: ContextItem, start: int) -> Passage:
    unit = next(each for each in shown.units if start < each.span.end_char)
    return Passage(shown, unit, unit, is_whole=True)


def _with_sentence(item: Passage) -> Passage:
    """Return a heading with the first sentence directly below it, if any says something itself."""
    below = (each for each in passages_of(item.shown) if each.start_char > item.end_char)
    said = next(below, None)
    if said is None or said.is_code or said.has_example or _SAYS.fullmatch(said.text) is None:
        return item
    chunk = item.shown.result.chunk
    base = chunk.span.start_char
    start, end = item.start_char - base, said.start_char - base
    if sum(start <= each.start < end for each in headings_in(chunk)) > 1:
        return item
    _, end = next(sentences(chunk.text, end, said.end_char - base))
    last = next(each for each in said.units if each.span.end_char >= base + end)
    return replace(item, last=last, part=(item.start_char, base + end))
