"""Shows the code that pages include from other files, in the place of the directive that includes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from posixpath import dirname, join, normpath

from openbook.extractive.answerer import ScoredPassage
from openbook.extractive.context import Context, ContextItem, Included, units_of
from openbook.extractive.displaying import fence_of
from openbook.extractive.include_directives import Directive, directives_in
from openbook.extractive.passages import Passage
from openbook.extractive.unshown import is_markup
from openbook.index.protocol import Index
from openbook.types import Chunk, Filter, RetrievalResult, Span

# Longer files and parts, blank lines aside, are not shown: they are to be read in the file.
_MAX_LINES = 40

# The results to which the code that they include is added for a model, which gets twenty.
_FOLLOWED_RESULTS = 3

# Stands for a folder that only the build knows: the root, an attribute of AsciiDoc, a family of Antora.
_ROOT = re.compile(r"/|@/?|\{[\w-]+\}/?|[\w.@:-]*\$")


class IncludedCode:
    """Finds the code that pages include, behind the filter of a question."""

    def __init__(self, index: Index, where: Filter) -> None:
        self._index = index
        self._where = where

    def of(self, chunk: Chunk) -> Iterator[tuple[Directive, Chunk | None]]:
        """Yield the directives of a page with what they include; None if that is unknown, prose or too long."""
        for directive in directives_in(chunk):
            yield directive, self._included(chunk, directive)

    def _included(self, page: Chunk, directive: Directive) -> Chunk | None:
        key = self._resolved(page, directive.path)
        document = self._index.document(*key) if key else None
        if document is None or (document.kind in ("docs", "course") and not directive.includes_code):
            return None
        lines = document.text.split("\n")
        found = directive.lines_in(lines)
        if found is None:
            return None
        first, last = found
        while first < last and not lines[first - 1].strip():
            first += 1
        while first < last and not lines[last - 1].strip():
            last -= 1
        text = "\n".join(lines[first - 1 : last]).rstrip()
        if not text or sum(map(bool, map(str.strip, lines[first - 1 : last]))) > _MAX_LINES:
            return None
        start = sum(len(line) + 1 for line in lines[: first - 1])
        span = Span(document.path, start, start + len(text), first, last)
        if document.kind in ("docs", "course"):  # the page shows it as it is written
            return Chunk(document.source, span, text, "code")
        return Chunk(document.source, span, text, document.kind, document.language)

    def _resolved(self, page: Chunk, path: str) -> tuple[str, str] | None:
        """Return the only document that a path may mean: from the folder of the page, or from one above; by its end."""
        folder = dirname(page.span.path)
        if attribute := re.match(r"\{([\w-]+)\}", path):
            path = self._attribute(page, attribute[1], attribute[0]) + path[attribute.end() :]
        near = (page.source, normpath(join(folder, path)))
        if near in self._visible:
            return near
        path = path[root.end() :] if (root := _ROOT.match(path)) else path
        above = [folder]
        while above[-1]:
            above.append(dirname(above[-1]))
        found = {(page.source, normpath(join(each, path))) for each in above} & self._visible
        if not found:
            end = f"/{re.sub(r'^(?:[.]{1,2}/)+', '', path)}"
            found = {(source, name) for source, name in self._visible if f"/{name}".endswith(end)}
        return found.pop() if len(found) == 1 else None

    def _attribute(self, page: Chunk, name: str, unknown: str) -> str:
        """Return the value that a page of AsciiDoc gives an attribute."""
        document = self._index.document(page.source, page.span.path)
        value = re.search(rf"^:{re.escape(name)}:[ \t]+(\S+)[ \t]*$", document.text if document else "", re.MULTILINE)
        return value[1] if value else unknown

    @cached_property
    def _visible(self) -> set[tuple[str, str]]:
        return {(document.source, document.path) for document in self._index.documents(self._where)}


def with_included(context: Context, code: IncludedCode) -> Context:
    """Return a context whose items have what their pages include."""
    return Context(tuple(_with_included(item, code) for item in context.shown))


def _with_included(item: ContextItem, code: IncludedCode) -> ContextItem:
    found = [
        Included(directive.first.number, directive.last.number, None if chunk is None else _item_of(item, chunk))
        for directive, chunk in code.of(item.result.chunk)
        if directive.last.number <= len(item.units)
    ]
    return replace(item, included=tuple(found)) if found else item


def _item_of(page: ContextItem, chunk: Chunk) -> ContextItem:
    return ContextItem(0, RetrievalResult(chunk, page.result.score), units_of(chunk))


def unfolded(picked: Sequence[ScoredPassage], context: Context) -> tuple[list[ScoredPassage], Context]:
    """Replace directives in quotes by the code that they include, which follows the other items of the context."""
    shown = list(context.shown)
    found: list[ScoredPassage] = []
    for quote in picked:
        if quote.is_pointer or not quote.passage.includes_code:
            found.append(quote)
            continue
        for part in _parts(quote.passage):
            if isinstance(part, Passage):
                found.append(replace(quote, passage=part))
                continue
            key = part.result.chunk.key
            item = next((each for each in shown if each.result.chunk.key == key), None)
            if item is None:
                item = replace(part, number=shown[-1].number + 1)
                shown.append(item)
            if all(each.passage.shown is not item for each in found):
                found.append(replace(quote, passage=Passage(item, item.units[0], item.units[-1])))
    return found, Context(tuple(shown))


def _parts(quote: Passage) -> Iterator[Passage | ContextItem]:
    """Yield what a quote says itself, and the code that it includes, in order."""
    start = quote.first.number
    for each in quote.included:
        if each.item is not None:
            yield from _said(quote, start, each.first - 1)
            yield each.item
            start = each.last + 1
    yield from _said(quote, start, quote.last.number)


def _said(quote: Passage, first: int, last: int) -> Iterator[Passage]:
    """Yield the units of a quote in a range without the markup around them, if any are left."""
    language = quote.shown.result.chunk.language
    units = quote.shown.units[first - 1 : last]
    said = [unit for unit in units if not (fence_of(unit.text, language) or is_markup(unit.text))]
    if said:
        start = quote.start_char if said[0] is quote.first else said[0].span.start_char
        end = quote.end_char if said[-1] is quote.last else said[-1].span.end_char
        yield Passage(quote.shown, said[0], said[-1], (start, end) if quote.part else None)


def with_included_code(results: Sequence[RetrievalResult], code: IncludedCode) -> list[RetrievalResult]:
    """Add the code that the pages of the best results include, each behind its page, unless it is a result itself."""
    found = list(results)
    for result in results[:_FOLLOWED_RESULTS]:
        place = found.index(result) + 1
        for _, chunk in code.of(result.chunk):
            if chunk is not None and not any(_overlap(chunk, each.chunk) for each in found):
                found.insert(place, replace(result, chunk=chunk, signals={}, excerpt=None))
                place += 1
    return found


def _overlap(a: Chunk, b: Chunk) -> bool:
    if (a.source, a.span.path) != (b.source, b.span.path):
        return False
    return a.span.start_char < b.span.end_char and b.span.start_char < a.span.end_char
