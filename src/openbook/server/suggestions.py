"""Suggested questions that the sources answer, for new conversations and as follow-ups. Made without a model.

Each is made from a heading, a name or a lesson of the index, and answered once before it is shown.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from openbook.answering.options import AnswerOptions
from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.extractive.headings import headings_in
from openbook.extractive.outlines import piece_of
from openbook.extractive.overview import introduction, is_front_page
from openbook.index.protocol import DocumentSummary
from openbook.library import Library
from openbook.retrieval.roles import is_aside, role_of
from openbook.retrieval.search import EVERYTHING
from openbook.server.schemas import CitationResponse
from openbook.server.served_library import ServedLibrary
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter

Form = Literal["overview", "how", "lesson", "setting", "topic", "type", "function"]
"""The type of a suggested question: how to do something, what a setting or a name does, or a topic."""

# A heading of one letter is meaningless, a paragraph does not fit on a button.
_HEADING_CHARS = range(4, 61)

# Including markup and number. The patterns below are quadratic, and some headings are whole pages.
_MAX_RAW_CHARS = 200

# Documents for maintainers, and translations of the front page.
_FOR_MAINTAINERS = re.compile(
    r"\b(?:licen[cs](?:e|ing)|copyright|change ?log|releases?|releasing|tests?|testing|contribut(?:ing|ors?|ions?)"
    r"|development|developing|maintain(?:ers?|ing)|syncing|governance|code of conduct|sponsors?|backers|credits|thanks?"
    r"|acknowledgements?|acknowledgments?|roadmap|templates?|agents|claude|checklist|404|news|archived?|deprecated"
    r"|guidelines|homework|see also|readme [a-z]{2}(?: [a-z]{2})?)\b",
    re.IGNORECASE,
)

# "Building from source" and "Build from source" become "How do I build from source?", "Build status" does not.
_VERBS = (
    "add avoid build call change choose combine compare compile configure connect convert create customize debug"
    " define delete deploy detect disable edit embed enable exclude export extend filter find format generate get"
    " group handle implement import improve include install integrate join list load make manage measure merge"
    " migrate monitor open organize override parse process protect publish query read reduce register remove"
    " rename render replace restore retry run save schedule search secure select send serve set share skip sort"
    " split start stop store submit subscribe switch test track transform understand uninstall update upgrade use"
    " validate visualize work wrap write"
).split()
_ACTIONS = {
    "installation": "install",
    "usage": "use",
    **{stem + "ing": verb for verb in _VERBS for stem in (verb, verb.removesuffix("e"), verb + verb[-1])},
}
_OBJECT = re.compile(r"(?:an?|the|your|my|our|its|from|to|with|in|into|on|for|up|multiple|new|own)\b", re.IGNORECASE)

_MARKUP = re.compile(r"\[([^]\n]*)\]\([^)\n]*\)|\s*\{[^}\n]*\}$|[`*~]")
_NUMBER = re.compile(r"(?:(?:chapter|part|step|section|q)\b[ .:]*)?(?:\d+(?:\.\d+)*)?[.:)]*\s*", re.IGNORECASE)
_SETTING = re.compile(r"(--[a-z][\w-]+|[A-Za-z]\w*_\w+)(?:=\S*|\(.*\))?|([A-Za-z]\w+)\(.*\)")
_QUESTION = re.compile(r"(?:how|what|why|when|where|which|who|can|do|does|is|are|should)(?: \S+){2,}\?", re.IGNORECASE)

# References to the page itself, and signs of a whole sentence.
_POINTS = re.compile(
    r"\b(?:it|its|this|that|these|those|they|them|he|she|here|there|else|happen\w*|above|below|same|other)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"[:!;]|\b(?:is|are|was|not|does|do|can|cannot|must|should|fails|contains|i|we|you|your|our|my)\b|^(?:and|or)\b",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(r"\b[A-Z][a-z]+\b")


def is_for_maintainers(title: str) -> bool:
    """Return whether a heading or path is about how a project is maintained, tested, licensed or funded.

    Example:
        >>> is_for_maintainers("docs/release-checklist.md"), is_for_maintainers("How to use")
        (True, False)
    """
    return _FOR_MAINTAINERS.search(re.sub(r"[\W_]+", " ", title)) is not None


def question_on_heading(heading: str, text: str, project: str = "") -> tuple[str, Form, str] | None:
    """Return a question that a section may answer, its form and its subject; None if no pattern applies.

    Args:
        heading: Heading of the section.
        text: Text of the section, which shows which words of the heading are names.
        project: Subject of a page whose heading is only "Installation"; empty if unknown.

    Example:
        >>> question_on_heading("Installation", "", "fd")
        ('How do I install fd?', 'how', 'fd')
        >>> question_on_heading("3.1 Writing a Serializer", "A serializer writes JSON.")
        ('How do I write a serializer?', 'how', 'a serializer')
        >>> question_on_heading("`pool_mode` {#pool}", "")
        ('What does pool_mode do?', 'setting', 'pool_mode')
        >>> question_on_heading("STATUS LINE", "Each line of the status line has a format.")
        ('What can you tell me about the status line?', 'topic', 'status line')
    """
    if len(heading) > _MAX_RAW_CHARS:
        return None
    heading = " ".join(_MARKUP.sub(r"\1", heading).strip(":# ").split())
    heading = heading[match.end() if (match := _NUMBER.match(heading)) else 0 :]
    if setting := _SETTING.fullmatch(heading):
        name = setting[1] or setting[2]
        return f"What does {name} do?", "setting", name
    if len(heading) not in _HEADING_CHARS or not heading[0].isalpha():
        return None
    if heading.endswith("?"):
        return (heading, "how", heading) if _QUESTION.fullmatch(heading) and not _POINTS.search(heading) else None
    if heading.isupper():
        heading = heading.lower() if heading.lower() in text.lower() else heading.title()
    words = Counter(re.findall(r"\w+", text))
    heading = _CAPITALIZED.sub(lambda found: _as_written(found[0], words), heading)
    action, wanted = _action_of(heading)
    said = wanted if action else heading
    if _SENTENCE.search(said) or _POINTS.search(said):
        return None
    if action:
        subject = wanted or project
        return (f"How do I {action} {subject}?", "how", subject) if subject else None
    if heading.partition(" ")[0].lower() in _VERBS:
        return None
    told = f" {' '.join(text.split())}".lower()
    half = max(1, told.count(heading.lower()) / 2)
    article = next((each for each in ("the ", "a ", "an ") if told.count(f" {each}{heading.lower()}") >= half), "")
    return f"What can you tell me about {article}{heading}?", "topic", heading


def _action_of(heading: str) -> tuple[str, str]:
    """Return the verb and the object of a how-to heading; two empty strings for any other."""
    first, _, rest = heading.removeprefix("How to ").removeprefix("how to ").partition(" ")
    if rest and heading.lower().startswith("how to "):
        return first.lower(), rest
    if action := _ACTIONS.get(first.lower()):
        return action, rest
    return (first.lower(), rest) if first.lower() in _VERBS and (not rest or _OBJECT.match(rest)) else ("", "")


def _as_written(word: str, words: Counter[str]) -> str:
    """Write a word of a heading as in most of its section, where only names have capitals.

    A name that occurs only in the heading loses its capital, since many headings capitalize every word.
    """
    return word.lower() if words[word] <= max(1, words[word.lower()]) else word


# As many as readers scan.
_MAX_SUGGESTED = 6

# Candidates of each form to try, best first: a page must not wait for a whole library.
_MAX_ASKED = 8

# Chunks to consider, which takes 0.6 s; the deepest documents of larger libraries are skipped.
_MAX_CHUNKS = 20_000

# The number of results of an answer.
_RESULTS = 10

# A name of one letter is meaningless, a line does not fit on a button.
_SUBJECT_CHARS = range(4, 61)

# Forms alternate in this order. Functions fill the rest: developers ask for them, but rarely first.
_FORMS: tuple[Form, ...] = ("overview", "how", "lesson", "setting", "topic", "type")

# A single name in a page is rarely an option.
_MIN_SETTINGS = 3

# Names used by fewer documents are internal, unless there are few documents. Then: how many names are looked up, and
# chunks of each.
_MIN_USERS, _FEW_DOCUMENTS = 4, 20
_MAX_LOOKED_UP, _MAX_USES = 40, 300

# A heading of more pages, such as "Related projects", is not a subject.
_MAX_TIMES = 2

# Names that nobody asks about: private ones, and tests next to the code.
_PRIVATE = re.compile(r"_|(?:Test|Fuzz|Benchmark|Example)[A-Z_]|(?:test|fuzz|bench)_")

# Callables and types. Constants and CSS rules do nothing.
_NAME = re.compile(r"(?:[^\W\d]\w*(?:\.|::|#))*(?![A-Z\d_]+$)[^\W\d]\w*[?!]?")
_STYLES = frozenset(("css", "scss", "sass", "less"))
# A name of two words, such as `JsonWriter`, is specific; `Item` is a common word.
_COMPOUND = re.compile(r"\w*[a-z0-9](?:[A-Z]|_[a-z])\w*")
_TYPE = re.compile(r"\b(?:class|struct|interface|trait|enum|type|protocol|record|object)\s+(\w+)\b(?!\s*\*)")

# In other formats, headings are sheet names or mail subjects.
_PROSE = frozenset(("markdown", "rst", "man", "html", "notebook", "asciidoc", "org", "docx", "odt"))


class SuggestionCache:
    """Caches the suggested questions of a library until one of its sources changes. Thread-safe."""

    def __init__(self, library: ServedLibrary) -> None:
        """Questions are made on demand."""
        self._library = library
        self._lock = threading.Lock()
        self._made: tuple[object, list[str]] = (None, [])

    def get(self) -> list[str]:
        """Return some questions, alternating between forms; [] for an empty library."""
        with self._lock, self._library.in_use() as assistant:
            state = (assistant, tuple(assistant.sources()))
            if self._made[0] != state:
                self._made = (state, [each.question for each in suggest(assistant)])
            return self._made[1]


class Suggestion(NamedTuple):
    """A question and the chunk that should answer it."""

    question: str
    form: Form
    subject: str
    """Subject of the question; empty for a lesson."""
    source: str
    path: str
    start_char: int
    end_char: int
    depth: int = 1
    """Level of the heading, 1 at the top."""
    course: str = ""
    """The course, if the question is about a lesson."""


def suggest(assistant: Library) -> list[Suggestion]:
    """Return some questions, alternating between forms; [] for an empty library.

    The extractive answer to each cites first the place that the question was made from.
    """
    found: defaultdict[Form, list[Suggestion]] = defaultdict(list)
    for each in (*_overviews(assistant), *_in_documents(assistant)):
        found[each.form].append(each)
    frequency = _frequencies(assistant, chain(*found.values()))
    of_page = Counter((each.source, each.path) for each in found["setting"])
    found["setting"] = [each for each in found["setting"] if of_page[each.source, each.path] >= _MIN_SETTINGS]
    times = Counter(each.subject for each in found["topic"])
    found["topic"] = [each for each in found["topic"] if _is_topic(each) and times[each.subject] <= _MAX_TIMES]
    ranked = {form: _ranked(found[form], frequency) for form in _FORMS}
    ranked["type"] = _widely_used(assistant, found["type"], frequency)
    ranked["function"] = _widely_used(assistant, found["function"], frequency)
    answered = {form: _answered(assistant, ranked[form]) for form in ranked}
    by_turns = chain.from_iterable(zip_longest(*(answered[form] for form in _FORMS)))
    # Copies of a page for several years suggest the same question.
    suggested = _first_of_each(filter(None, chain(by_turns, answered["function"])), lambda each: each.question)
    return list(islice(suggested, _MAX_SUGGESTED))


def _answered(assistant: Library, ranked: Iterable[Suggestion]) -> Iterator[Suggestion]:
    return _each_course_once(each for each in islice(ranked, _MAX_ASKED) if is_answered(assistant, each))


# Any project may have a folder with such a name: "What is docs?" is not a question.
_COMMON_FOLDERS = frozenset(
    "content doc docs documentation guide guides lib manual notes site source sources src website wiki".split()
)


def _overviews(assistant: Library) -> Iterator[Suggestion]:
    """Yield a newcomer's first question for each source whose front page has its name, or that is a common folder."""
    for source in assistant.sources():
        is_common = source.name.lower() in _COMMON_FOLDERS
        question = "What does this project do?" if is_common else f"What is {source.name}?"
        where = Filter(sources=frozenset((source.name,)))
        chunks = [result.chunk for result in introduction(question, assistant.index, where)]
        page = [chunk for chunk in chunks if chunk.span.path == chunks[0].span.path and is_front_page(chunk)]
        if any(is_common or source.name.lower() in chunk.text.lower() for chunk in page):
            start, end = min(chunk.span.start_char for chunk in page), max(chunk.span.end_char for chunk in page)
            yield Suggestion(question, "overview", "", source.name, page[0].span.path, start, end)


def _in_documents(assistant: Library) -> Iterator[Suggestion]:
    left = _MAX_CHUNKS
    documents = sorted(assistant.index.documents(EVERYTHING), key=lambda each: (each.path.count("/"), each))
    only_posts = all(role_of(each.path, each.kind) == "changelog" for each in documents)
    # "history" is a lesson in a course, but a changelog in a project.
    for document in documents:
        if left > 0 and (document.kind == "course" or only_posts or _is_subject(document)):
            chunks = assistant.index.chunks(document.source, document.path)
            left -= len(chunks)
            yield from suggestions_of(chunks)


def _is_subject(document: DocumentSummary) -> bool:
    """Return whether a document is about what the project does, not how it is tested, built, discussed or licensed."""
    path = document.path
    if path.startswith(".") or is_aside(path) or is_for_maintainers(path.removesuffix(PurePosixPath(path).suffix)):
        return False
    return document.kind != "code" or role_of(path, "code") == "source"


def suggestions_of(chunks: Sequence[Chunk]) -> Iterator[Suggestion]:
    """Yield a question for each lesson, name or section of a document that suggests one, in order."""
    parts: dict[tuple[str, ...], list[Chunk]] = {}
    for chunk in chunks:
        for key, part in _parts_of(chunk):
            parts.setdefault(key, []).append(part)
    for key, held in parts.items():
        if asked := _asked_of(key, held):
            lesson, span = held[0].lesson, held[0].span
            course = lesson.course_path or span.path if lesson else ""
            end_char = held[-1].span.end_char
            yield Suggestion(*asked, held[0].source, span.path, span.start_char, end_char, len(key), course)


def _parts_of(chunk: Chunk) -> Iterator[tuple[tuple[str, ...], Chunk]]:
    """Yield the lesson, the name and the sections of a chunk, outermost first."""
    if chunk.lesson is not None:
        yield (chunk.lesson.course, chunk.lesson.label), chunk
    elif chunk.kind == "code":
        yield (chunk.symbol,), chunk
    elif chunk.kind == "docs" and chunk.language in _PROSE:
        for depth in range(len(chunk.context)):
            yield chunk.context[: depth + 1], chunk
        found = headings_in(chunk)  # short sections share a chunk
        starts = [chunk.span.start_char + each.start for each in found]
        for heading, start, end in zip(found, starts, [*starts[1:], chunk.span.end_char], strict=False):
            if heading.title not in chunk.context:
                yield (*chunk.context, heading.title), piece_of(chunk, start, end)


def _asked_of(key: tuple[str, ...], held: Sequence[Chunk]) -> tuple[str, Form, str] | None:
    """Return a question, its form and its subject; None if no pattern applies."""
    if held[0].lesson is not None:
        course, label = key
        is_told = label and len(course) in _SUBJECT_CHARS
        return (f"What does lesson {label} of the course “{course}” teach?", "lesson", "") if is_told else None
    if held[0].kind == "code":
        return _asked_of_name(held[0])
    if any(map(is_for_maintainers, key)):
        return None
    project = "" if "/" in held[0].span.path else held[0].source
    return question_on_heading(key[-1], "\n".join(chunk.text for chunk in held), project)


def _asked_of_name(chunk: Chunk) -> tuple[str, Form, str] | None:
    name = chunk.symbol
    # Without a description, the answer would be bare code.
    is_name = (
        chunk.docstring and _NAME.fullmatch(name) and chunk.language not in _STYLES and len(name) in _SUBJECT_CHARS
    )
    if not is_name or _PRIVATE.match(name.rpartition(".")[2]):
        return None
    is_type = name.rpartition(".")[2] in _TYPE.findall(chunk.signature)
    return f"What does {name} do?", "type" if is_type else "function", name


def _frequencies(assistant: Library, found: Iterable[Suggestion]) -> Callable[[Suggestion], int]:
    """Return a function that counts the chunks with the rarest word of a subject. Central ones have no rare word."""
    tokens = {each.subject: tokenize(each.subject) for each in found}
    counted = assistant.index.frequencies(sorted(set(chain(*tokens.values()))))
    return lambda each: min((counted.get(token, 0) for token in tokens[each.subject]), default=0)


def _is_topic(suggestion: Suggestion) -> bool:
    """Return whether a heading is a subject by itself, other than the name of its source."""
    words = set(tokenize(suggestion.subject))
    return (suggestion.depth == 1 or " " in suggestion.subject) and not words >= set(tokenize(suggestion.source))


def _ranked(found: Iterable[Suggestion], frequency: Callable[[Suggestion], int]) -> list[Suggestion]:
    """Sort by depth of the page and centrality, alternating between pages, courses and sources."""
    turns: Counter[tuple[object, ...]] = Counter()
    ranked: list[tuple[int, int, int, int, Suggestion]] = []
    for each in sorted(found, key=lambda each: (-frequency(each), each)):
        # Data in a documentation folder counts as documentation, and such a folder adds no depth.
        depth = 0 if role_of(each.path, "data") == "documentation" else each.path.count("/")
        page = (each.source, each.course or each.path)
        source = (each.source, depth, turns[page])
        ranked.append((depth, turns[page], turns[source], -frequency(each), each))
        turns.update((page, source))
    return [each for *_, each in sorted(ranked)]


def _widely_used(
    assistant: Library, names: Iterable[Suggestion], frequency: Callable[[Suggestion], int]
) -> list[Suggestion]:
    """Sort code names by how many documents use them, and drop rare ones."""
    is_small = assistant.stats().documents < _FEW_DOCUMENTS
    telling = [each for each in names if is_small or _COMPOUND.fullmatch(each.subject)]
    used: list[tuple[int, Suggestion]] = []
    for each in sorted(telling, key=lambda each: (-frequency(each), each))[:_MAX_LOOKED_UP]:
        whole = tokenize(each.subject)[-1]
        matches = assistant.index.match([whole], None, _MAX_USES, EVERYTHING)
        places = assistant.index.outlines([evidence.id for evidence in matches.evidence])
        used.append((len({(place.source, place.span.path) for place in places}), each))
    used.sort(key=lambda counted: (-counted[0], counted[1]))
    return [each for users, each in used if is_small or users >= _MIN_USERS]


def is_answered(assistant: Library, suggestion: Suggestion, history: Sequence[Exchange] = ()) -> bool:
    """Return whether the answer to a question cites first the place that the question was made from."""
    try:
        options = AnswerOptions(history=tuple(history))
        answer = assistant.query(suggestion.question, limit=_RESULTS, options=options)
    except QueryError:  # for example because a name is too common
        return False
    if answer.refused or not answer.citations:
        return False
    first = answer.citations[0]
    is_there = (first.source, first.span.path) == (suggestion.source, suggestion.path)
    return is_there and suggestion.start_char <= first.span.start_char < suggestion.end_char


def _each_course_once(suggestions: Iterable[Suggestion]) -> Iterator[Suggestion]:
    """Keep one question on lessons per course: others differ only in the number."""
    return _first_of_each(suggestions, lambda each: (each.source, each.course) if each.course else each)


def _first_of_each(suggestions: Iterable[Suggestion], key_of: Callable[[Suggestion], object]) -> Iterator[Suggestion]:
    seen = set[object]()
    for each in suggestions:
        if (key := key_of(each)) not in seen:
            seen.add(key)
            yield each


# Follow-ups shown below an answer.
_MAX_FOLLOW_UPS = 3

# Each is answered once before it is shown, which takes as long as an extractive answer.
_FOLLOW_UPS_TRIED = 8


def follow_ups(
    assistant: Library, citations: Sequence[CitationResponse], asked: Sequence[str], history: Sequence[Exchange]
) -> list[str]:
    """Return follow-up questions, nearest to the cited places first; [] if there are none.

    The extractive answer to each, given the history, cites first a place in a document that the answer cites. None is
    about tests, changelogs or licences, and none has been asked before.
    """
    known = {_folded(each) for each in asked}
    places: dict[tuple[str, str], CitationResponse] = {}
    for citation in citations:
        if citation.path and not is_aside(citation.path):
            places.setdefault((citation.source, citation.path), citation)
    by_turns = zip_longest(*(_around(assistant, citation) for citation in places.values()))
    candidates = dict.fromkeys(each for group in by_turns for each in group if each)
    new = (each for each in candidates if _folded(each.question) not in known)
    answered = (each for each in islice(new, _FOLLOW_UPS_TRIED) if is_answered(assistant, each, history))
    return [each.question for each in islice(_each_course_once(answered), _MAX_FOLLOW_UPS)]


def _around(assistant: Library, citation: CitationResponse) -> list[Suggestion]:
    """Return the questions of a document, from the cited place outwards; at equal distance, later places first."""
    made = list(suggestions_of(assistant.index.chunks(citation.source, citation.path)))
    here = max((at for at, each in enumerate(made) if each.start_char <= citation.start_char), default=0)
    order = sorted(range(len(made)), key=lambda at: (abs(at - here), at < here))
    return [made[at] for at in order]


def _folded(question: str) -> str:
    return " ".join(re.findall(r"\w+", question.casefold()))
