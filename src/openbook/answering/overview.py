"""Answers questions about a project as a whole from the pages that introduce it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice, pairwise
from pathlib import PurePosixPath

from openbook.answering.context import Context, ContextItem
from openbook.answering.definition_heads import is_comment
from openbook.answering.named_documents import nearest_paths
from openbook.answering.passages import HEADING, Passage, heading_over, is_row, passages_of
from openbook.answering.surroundings import completed, leads_in
from openbook.index.protocol import DocumentSummary, Index
from openbook.questions.kinds import kind_of
from openbook.questions.names import identifiers
from openbook.questions.question import Question
from openbook.questions.words import content_words_of_question
from openbook.retrieval.roles import role_of
from openbook.text import units
from openbook.types import Chunk, Filter, Kind, ResultRole, RetrievalResult

# Limits of pages, and of chunks of the first and each other page: the first chunks of a README introduce the project.
_MAX_PAGES, _MAX_FIRST_CHUNKS, _MAX_OTHER_CHUNKS = 5, 3, 1
# With a filter that leaves so few documents, these are to be summarized.
_FEW_DOCUMENTS = 3
_DEEPEST = 3
_AS_ASKED = -1  # before all other pages

# Names of introductory pages without their suffix, best first.
_FRONT = (
    ("readme",),
    ("architecture", "design", "internals", "codebase", "overview", "introduction", "about", "whatis"),
    ("index", "home", "start", "gettingstarted", "quickstart"),
    ("agents", "claude"),
)
_TOLD = 1  # names that others begin with: `architecture-overview`
_TELLS_STRUCTURE = ("architecture", "design", "internals", "codebase")
_ARCHITECTURE = (
    "architec",
    "architek",
    "struct",
    "organi",
    "aufbau",
    "laid out",
    "component",
    "codebase",
    "hang together",
)
_START = ("start", "begin", "first", "anfang", "loslegen", "einstieg", "commenc", "début", "empez", "empiez", "primero")
_STARTS = ("gettingstarted", "quickstart", "start", "firststeps", "tutorial")
_MODULES = frozenset({"__init__.py", "lib.rs", "doc.go", "main.go", "main.py", "index.js", "index.ts", "mod.ts"})

# Headings of sections that are not about the project itself; those of the second pattern tell how to start.
_BESIDE = re.compile(
    r"\b(?:licen[cs]\w*|sponsor\w*|donat\w*|backers?|funding|enterprise|contribut\w*|credits?|thanks|acknowledg\w*"
    r"|copyright|authors?|maintainers?|translations?|table of contents|contents|community|star history|badges?"
    r"|open collective|bugs|security|stand with|ukraine|lizenz|mitwirken|licence|contribuer|licencia)\b",
    re.IGNORECASE,
)
_IS_START = re.compile(
    r"\b(?:get(?:ting)?[ -]started|quick ?-?start|first steps|install(?:ation|ing)?|tutorials?|start here|usage"
    r"|erste schritte|how to use|premiers pas|primeros pasos)\b",
    re.IGNORECASE,
)
_TO_START = re.compile(
    r"\b(?:install\w*|download\w*|requirements|dependencies|building|what do i need)\b", re.IGNORECASE
)

# What reStructuredText replaces, such as a badge beside a title.
_SUBSTITUTION = re.compile(r"\|[^|\n]+\|")

# Pages with fewer words have only links, tags and images.
_MIN_WORDS = 8

# The path or the name of a file in a question, with its suffix: "the page `docs/tides.md`".
_FILE = re.compile(
    r"(?:\bthe\s+)?(?:\b(?:chapter|document|file|lesson|module|page|script)\s+)?(?P<quote>[`'\"]?)"
    r"(?<![\w./-])(?P<path>[\w./@+-]{0,200}\w\.[a-zA-Z]\w{0,7})(?![\w/]|\.\w)(?P=quote)",
    re.IGNORECASE,
)

_SAYS = re.compile(r"\b(?:say|tell)(?=\W*$)")  # "What does it say?" asks for all, "What does it say on ropes?" does not

# A file of code is introduced by what it says of itself and its documented definitions, if there are so many, or else
# by all definitions; by constants and fields only if it has nothing else.
_MIN_DOCUMENTED, _MAX_DEFINITIONS = 2, 8
_SETS = re.compile(
    r"[ \t]*(?:(?:pub(?:\([^)\n]*\))?|export|public|private|protected|static|final|const|let|var|val|readonly|mut)\s+)*"
    r"\w+[ \t]*(?::[^=(){}\n]*$|(?::[^=\n]+|[ \t]\w+)?=(?![=>])(?!.*(?:=>|\bfunction\b)))"
)
# A docstring or comment that says what a file is for, unlike a notice of its license or to tools.
_OPENS_FILE = re.compile(r"\s*(?:[rRuU]?(?:\"\"\"|''')|//!|/\*|//|--|;;|#(?!!))")
_IS_NOTICE = re.compile(
    r"copyright|licen[sc]e|spdx|all rights reserved|generated|-\*-|\b(?:eslint|flake8|mypy|pylint|ruff|vim)\b",
    re.IGNORECASE,
)


def introduction(text: str, index: Index, where: Filter) -> list[RetrievalResult]:
    """Return the chunks that introduce the documents behind a filter, best first; may be empty."""
    documents = index.documents(where)
    pages = list(_front_pages(documents, text))
    if not pages and len(documents) <= _FEW_DOCUMENTS:
        pages = documents
    results: list[RetrievalResult] = []
    for number, chunks in enumerate(islice(_telling(pages, index, text), _MAX_PAGES)):
        for chunk in chunks[: _MAX_FIRST_CHUNKS if number == 0 else _MAX_OTHER_CHUNKS]:
            results.append(RetrievalResult(chunk, 1 / (1 + len(results)), roles=frozenset([ResultRole.OVERVIEW])))
    return results


def page_asked_for(text: str, index: Index, where: Filter) -> DocumentSummary | None:
    """Return the page or the file of code that a question names, if it asks about that as a whole."""
    path = _file_asked_for(text)
    if not path:
        return None
    found = [each for each in _documents_of(path, index, where) if each.kind in ("docs", "code")]
    found = [each for each in found if each.path.casefold() == path.casefold()] or found
    return found[0] if len(found) == 1 else None


def unknown_file_note(text: str, index: Index, where: Filter) -> str:
    """Return a note if a question asks about a file as a whole, by its path, that no document has; else nothing.

    `robots.txt` and `Node.js` without a folder may be a subject.
    """
    path = _file_asked_for(text)
    if "/" not in path or _documents_of(path, index, where):
        return ""
    meant = nearest_paths(path, [each.path for each in index.documents(where)])
    return f"There is no file {path} in the sources." + (f" Did you mean {' or '.join(meant)}?" if meant else "")


def _file_asked_for(text: str) -> str:
    named = list(_FILE.finditer(text))
    asked = _SAYS.sub("contain", _FILE.sub("this page", text))
    if len(named) != 1 or kind_of(asked) != "whole" or identifiers(asked):
        return ""
    return named[0]["path"].removeprefix("./")


def _documents_of(path: str, index: Index, where: Filter) -> list[DocumentSummary]:
    return [each for each in index.documents(where) if f"/{each.path}".casefold().endswith(f"/{path}".casefold())]


def introduction_of(page: DocumentSummary, index: Index) -> list[RetrievalResult]:
    """Return the chunks that introduce one page: its first ones, or those of the definitions of a file of code."""
    chunks = index.chunks(page.source, page.path)
    if page.kind == "code":
        outer = [each for number, each in enumerate(chunks) if not (number and each.context)]
        outer.sort(key=lambda each: each.symbol.startswith("_"))  # what is private comes last
        chunks = (outer if len(outer) > _MIN_DOCUMENTED else chunks)[:_MAX_DEFINITIONS]
    else:
        chunks = [each for each in chunks if _tells(each, own=True, to_start=True)][:_MAX_FIRST_CHUNKS] or chunks[:1]
    return [
        RetrievalResult(chunk, 1 / (1 + number), roles=frozenset([ResultRole.OVERVIEW]))
        for number, chunk in enumerate(chunks)
    ]


def _telling(pages: list[DocumentSummary], index: Index, text: str) -> Iterator[list[Chunk]]:
    """Yield the introductory chunks of pages, best first, of only one page per kind and folder."""
    seen: set[tuple[int, str]] = set()
    to_start = asks_to_start(text)
    for page in sorted(pages, key=lambda page: (_worth(page.path, page.kind, text), _place_of(page))):
        key = (_worth(page.path, page.kind, text)[0], str(PurePosixPath(page.path).parent))
        if key in seen:
            continue
        chunks = index.chunks(page.source, page.path)
        # All of `security-scanner` is on security.
        for own in (True, False):
            if telling := [chunk for chunk in chunks if _tells(chunk, own=own, to_start=to_start)]:
                seen.add(key)
                # The description of a project comes first, then how to start.
                rest = sorted(telling[1:], key=lambda chunk: to_start and not is_start(" / ".join(chunk.context)))
                yield telling[:1] + rest
                break


def is_front_page(chunk: Chunk) -> bool:
    """Return whether a chunk is of a page whose name marks it as an introduction."""
    return _worth(chunk.span.path, chunk.kind, "")[0] < len(_FRONT) + 1


def asks_to_start(text: str) -> bool:
    """Return whether a question asks how to start, so that installation instructions are an answer."""
    return any(word in text.lower() for word in _START)


def _asks_for_structure(text: str) -> bool:
    return any(word in text.lower() for word in _ARCHITECTURE)


def is_start(heading: str) -> bool:
    """Return whether the heading of a section says that it tells how to start."""
    return _IS_START.search(heading) is not None


def is_beside(heading: str, *, to_start: bool) -> bool:
    """Return whether a section is not about the project itself, but about sponsors, the license and the like.

    Example:
        >>> is_beside("Sponsors", to_start=False), is_beside("Design", to_start=False)
        (True, False)
        >>> is_beside("Installation", to_start=False), is_beside("Installation", to_start=True)
        (True, False)
        >>> is_beside("Harbour |downloads|", to_start=False)
        False
    """
    heading = _SUBSTITUTION.sub("", heading)
    return _BESIDE.search(heading) is not None or (not to_start and _TO_START.search(heading) is not None)


def _front_pages(documents: list[DocumentSummary], text: str) -> Iterator[DocumentSummary]:
    # If there are only posts, the library is about these.
    for page in [each for each in documents if role_of(each.path, each.kind) != "changelog"] or documents:
        if page.kind not in ("docs", "code"):
            continue
        depth = page.path.count("/")
        is_hidden = any(part.startswith(".") for part in page.path.split("/"))
        is_aside = is_hidden or role_of(page.path, page.kind) in {"test", "example", "legal", "generated"}
        if depth <= _DEEPEST and not is_aside and _worth(page.path, page.kind, text)[0] < len(_FRONT) + 1:
            yield page


def _worth(place: str, kind: Kind, text: str) -> tuple[int, int]:
    """Return a sort key for pages: named ones first, then by name and depth."""
    path = PurePosixPath(place)
    depth = place.count("/")
    if kind == "code":
        return (len(_FRONT) if path.name in _MODULES else len(_FRONT) + 1, depth)
    name = path.stem.lower().replace("-", "").replace("_", "")
    known = (n for n, names in enumerate(_FRONT) if name in names or (n == _TOLD and name.startswith(names)))
    rank = next(known, len(_FRONT) + 1)
    if rank == _TOLD and name.startswith(_TELLS_STRUCTURE) and _asks_for_structure(text):
        rank = _AS_ASKED
    elif name in _STARTS and asks_to_start(text):
        rank = 0
    return (rank + (depth if rank == 0 else 0), depth)


def _place_of(page: DocumentSummary) -> tuple[int, str, str]:
    return (page.path.count("/"), page.source, page.path)


def _tells(chunk: Chunk, *, own: bool, to_start: bool) -> bool:
    """Check whether a chunk has a sentence, about the project if `own`; for code, in the docstring of the module."""
    if chunk.kind == "code":
        opens = chunk.span.start_line == 1
        return opens and any(map(_is_of_file, passages_of(ContextItem(1, RetrievalResult(chunk, 1.0), units(chunk)))))
    bounds = [0, *(found.start() for found in HEADING.finditer(chunk.text)), len(chunk.text)]
    told = (
        chunk.text[start:end]
        for start, end in pairwise(bounds)
        if not (own and is_beside(heading_over(chunk, end), to_start=to_start))
    )
    return len(_plain_words("\n".join(told))) >= _MIN_WORDS


# The opening sentence of a page; shorter ones are badges and slogans.
_MIN_OPENING_WORDS = 6
_MAX_SENTENCES = 4
_MAX_LIST_LINES = 12
_TELLS_LITTLE = 2
# "A server that moors ships.", but not "A timestamp can be added" or "A slow quay implies higher costs".
_BEGINS_AS_DESCRIPTION = re.compile(
    r"^[^a-z\n]*An? (?!(?:\S+ ){1,3}(?:can|could|has|is|may|must|should|was|will|implies|means|needs|requires|makes"
    r"|takes|gives|allows|uses|contains|does)\b)\w",
    re.MULTILINE,
)
_ENDS_SENTENCE = re.compile(r"[.!:。](?:[\s\"'*)\]]|$)")
# Images, URLs and tags; directives and fields of reStructuredText, as in badges.
_SAYS_NOTHING = re.compile(
    r"!\[[^]\n]{0,300}\]\([^)\n]{0,500}\)|\]\([^)\n]{0,500}\)|<[^<>]{0,500}>|\bhttps?://\S+"
    r"|^\s*\.\. .*|^\s*:[\w -]+:(?=\s).*",
    re.MULTILINE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?][*_]*\s+)[^\w.!?]*")
_IS_A = r"(?P<is>\W{0,4}(?:\([^)\n]{0,80}\)\W{0,4})?(?:is|are)\s+(?:an?|the|one)\b)?"
_LAST_SLOGAN = 60  # line
_DASHES = ("- ", "– ", "— ", ": ", ", ")


def openings(query: Question, context: Context) -> Iterator[tuple[Passage, float]]:
    """Yield the sentences that describe the project, or else open its pages, with their scores.

    The best sentence of a page comes first, then one of each other section among the results. After the first quote,
    sentences that say little about the project are dropped, unless they tell how to start and the question asks for
    that, or are in a page that the filter or the question names. Pages that define the project come first.
    """
    to_start = asks_to_start(query.text)
    seen: set[str] = set()
    shown = [each for each in context.shown if ResultRole.OVERVIEW in each.result.roles]
    pages = [
        sorted(_best_of_sections(items, query), key=lambda best: best[0])
        for _, items in groupby(shown, key=lambda each: (each.result.chunk.source, each.result.chunk.span.path))
    ]
    for ranked in sorted(filter(None, pages), key=lambda best: _page_rank(best[0], query)):
        as_asked = _page_rank(ranked[0], query) == _AS_ASKED
        # The best sentence of a page comes first, the others in document order.
        for (rank, _), passage in ranked[:1] + sorted(ranked[1:], key=lambda best: best[1].start_char):
            tells = rank < _TELLS_LITTLE or not seen or as_asked or (to_start and is_start(_heading(passage)))
            tells = tells or not is_front_page(passage.shown.result.chunk)
            most = _MAX_DEFINITIONS if passage.is_head else _MAX_SENTENCES
            if tells and len(seen) < most and passage.text not in seen:
                seen.add(passage.text)
                whole = _rest_of_list(passage) if is_row(passage.text) else passage
                yield completed(whole) if leads_in(whole) else whole, passage.shown.result.score
    if not seen:  # a page of links
        said = (each for item in shown for each in passages_of(item) if item.is_prose and not each.is_title)
        yield from ((_rest_of_list(each), each.shown.result.score) for each in islice(said, 1))


def _rest_of_list(item: Passage) -> Passage:
    """Return a list item with the following ones, up to the limit of a quote."""
    units, last = item.shown.units, item.last
    for unit in units[item.last.number :]:
        if not is_row(unit.text) or unit.span.end_line - item.first.span.start_line >= _MAX_LIST_LINES:
            break
        last = unit
    return Passage(item.shown, item.first, last)


def _page_rank(best: tuple[tuple[int, int], Passage], query: Question) -> int:
    """Return a sort key for pages: named ones, those that define the project, others."""
    (rank, _), passage = best
    return _AS_ASKED if _is_named(passage.shown.result.chunk, query) else min(rank, 1)


def _is_named(chunk: Chunk, query: Question) -> bool:
    return _worth(chunk.span.path, chunk.kind, query.text)[0] == _AS_ASKED


def _best_of_sections(items: Iterable[ContextItem], query: Question) -> list[tuple[tuple[int, int], Passage]]:
    """Return the best sentence of each section with its sort key."""
    every = [each for shown in items for each in passages_of(shown)]
    said = [each for each in every if _is_said(each, query)]
    if sum(each.is_head for each in said) < _MIN_DOCUMENTED:  # prose has no heads
        heads = [each for each in every if each.is_head]
        said = [each for each in every if each in said or (each.is_head and not _sets(each))] or heads
    said = [each for each in said if not is_beside(_heading(each), to_start=asks_to_start(query.text))] or said
    asked = set(map(_plain, content_words_of_question(query.text)))
    found: dict[tuple[int, str], tuple[tuple[int, int], Passage]] = {}
    for each in said:
        chunk = each.shown.result.chunk
        rank = _rank(each, query, _subject(asked | {_plain(PurePosixPath(chunk.source).name)}))
        place = (each.start_char if each.is_head else chunk.span.start_char, _heading(each))
        best = found.setdefault(place, ((rank, each.start_char), each))
        found[place] = min(best, ((rank, each.start_char), each), key=lambda one: one[0])
    return list(found.values())


def _rank(passage: Passage, query: Question, subject: re.Pattern[str]) -> int:
    """Return a sort key for sentences: "Harbour is a server"; "Harbour moors" or "A server that"; others."""
    text = passage.text
    if query.definition is not None and query.definition.search(text):
        return 0
    said = _SAYS_NOTHING.sub(" ", text)
    found = list(filter(None, (subject.match(said, start.end()) for start in _SENTENCE_START.finditer(said))))
    if any(each["is"] for each in found):
        return 0
    return 1 if found or _BEGINS_AS_DESCRIPTION.search(text) else _TELLS_LITTLE


def _subject(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for names as the subject of a sentence: `good_job` is GoodJob, and `borg` BorgBackup."""
    either = "|".join(r"[\W_]*".join(map(re.escape, name)) for name in sorted(names) if name) or r"(?!)"
    return re.compile(rf"(?i:{either})(?:(?<=[a-z])[A-Z]\w{{0,12}})?\b{_IS_A}")


def _is_slogan(passage: Passage) -> bool:
    """Check whether a line without a full stop describes a project: "A server that moors ships".

    Other such lines below the title of a README are slogans, credits or links.
    """
    chunk = passage.shown.result.chunk
    is_high = "/" not in chunk.span.path and passage.first.span.start_line <= _LAST_SLOGAN
    named = _subject([_plain(PurePosixPath(chunk.source).name)]).match(passage.text.lstrip("*_`> "))
    says_what_it_is = named is not None and named.string[named.end() :].lstrip("*_` ")[:2] in _DASHES
    return (
        is_high and passage.lines == 1 and (says_what_it_is or _BEGINS_AS_DESCRIPTION.match(passage.text) is not None)
    )


def _plain(word: str) -> str:
    """Normalize a name for comparisons: `good_job` is GoodJob."""
    return re.sub(r"[\W_]+", "", word).lower()


def _heading(passage: Passage) -> str:
    chunk = passage.shown.result.chunk
    if chunk.kind == "code":  # whose comments may begin like headings
        return ""
    return heading_over(chunk, passage.start_char - chunk.span.start_char)


def _is_said(passage: Passage, query: Question) -> bool:
    """Check whether a passage is a sentence, not a title, badge or example; in a named page, also a list item.

    In code, it is the docstring of the file, or the head of a definition with its docstring.
    """
    chunk = passage.shown.result.chunk
    if chunk.kind == "code":
        if not passage.is_head:
            return chunk.span.start_line == 1 and _is_of_file(passage)
        is_documented = bool(chunk.docstring) and chunk.docstring.partition("\n")[0] in passage.text
        return passage.defines == chunk.symbol and is_documented and _SETS.match(chunk.signature) is None
    # Sponsors and images; directives of reStructuredText, and commands, which may begin with the name like a sentence.
    is_markup = passage.text.count("</") > 1 or passage.text.lstrip().startswith((".. ", "$ "))
    is_sentence = _ENDS_SENTENCE.search(passage.text) is not None or _is_slogan(passage)
    is_item = is_row(passage.text) and not _is_named(chunk, query)
    is_sentence = is_sentence and not (passage.is_title or is_markup or is_item)
    return is_sentence and not passage.is_code and len(_plain_words(passage.text)) >= _MIN_OPENING_WORDS


def _is_of_file(passage: Passage) -> bool:
    """Check whether a passage opens the docstring or comment that says what a file is for."""
    chunk = passage.shown.result.chunk
    before = chunk.text[: passage.start_char - chunk.span.start_char]
    *lines, opening = before.rstrip().split("\n")
    is_first = all(map(_is_remark, lines)) and (_is_remark(opening) or _OPENS_FILE.fullmatch(opening) is not None)
    says = _OPENS_FILE.match(opening + passage.text) is not None and _IS_NOTICE.search(passage.text) is None
    return is_first and says and _ENDS_SENTENCE.search(passage.text) is not None


def _is_remark(line: str) -> bool:
    return not line.strip() or line.startswith("#") or is_comment(line)


def _sets(passage: Passage) -> bool:
    """Check whether the head of a definition is a comment alone, a field, or a name with its value."""
    code = next((line for line in passage.text.splitlines() if not _is_remark(line.lstrip())), "")
    return not code or _SETS.match(code) is not None


def _plain_words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{2,}", _SAYS_NOTHING.sub(" ", text))
