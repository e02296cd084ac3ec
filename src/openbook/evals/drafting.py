"""Drafts question sets from a library: values, names, tasks, lessons, and some unanswerable questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice, zip_longest

from openbook.chunking.dispatch import chunk_document
from openbook.errors import SkippedFileError
from openbook.evals.metrics import ExpectedSpan
from openbook.evals.questions import EvalQuestion
from openbook.evals.running import document_key, indexed_files
from openbook.ingest.difference import folder_of
from openbook.library import Library
from openbook.retrieval.roles import is_aside
from openbook.sources.folder import Folder
from openbook.tokens import tokenize
from openbook.types import Chunk

MIN_CHARS = 120
"""A shorter section is a list of links, or a sentence that introduces the next one."""

# Verbs that start headings of guides, as they are or with "-ing". Any other first word may be a noun.
_TASKS = (
    "add build change check choose configure connect create customize debug define delete deploy disable enable"
    " export extend find fix generate get handle import install integrate limit list load make manage migrate monitor"
    " move open override pass print publish read register remove rename replace reset restore retry run save schedule"
    " send serve set start stop store switch test track turn update upgrade upload use verify view write"
).split()
_VOWELS = "aeiou"

_NAME = r"[A-Za-z_][\w.-]*"
_LITERAL = r"-?\d[\d_.]+\w{0,2}|\"[^\"\n]{2,60}\"|'[^'\n]{2,60}'"
_PARAMETER = re.compile(rf"\b(?P<name>[A-Za-z_]\w*)\s*(?::[^=,()\n]{{1,40}})?=\s*(?P<value>{_LITERAL})\s*(?=[,)\n]|$)")
_CONSTANT = re.compile(
    rf"^[ \t]*(?:[a-z#]+(?:\([a-z]+\))?[ \t]+){{0,4}}(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b[^=\n\"'(]{{0,30}}[=\s]\s*"
    rf"(?P<value>{_LITERAL})[;,]?[ \t]*(?:[#/].*)?$",
    re.MULTILINE,
)
_DEFAULT = re.compile(
    rf"(?P<tick>`+)(?P<name>-{{0,2}}{_NAME})[^`\n]{{0,20}}(?P=tick)[^\n]{{0,200}}?\b[Dd]efaults?(?:\s+(?:value|to|is|are|:))*[\s:=(]*"
    r"(?:(?P<quote>[`\"'])(?P<quoted>[^`\"'\n]{2,40})(?P=quote)|(?P<number>\d[\d.,_]+\w{0,2}))"
)
# An underscore is emphasis only around words: `forward_auth` and `__init__` are names.
_MARKUP = re.compile(
    r"`+(?P<code>[^`]+)`+|[`*\[]|\]\([^)]*\)|\s*\{#.*|\\(?=[_*])"
    r"|(?<!\w)(?:_(?P<slanted>[^\W_](?:[^_]*[^\W_])?)_|__(?P<bold>[^\W_][^_]*\s[^_]*[^\W_])__)(?!\w)"
)
_SUMMARY = re.compile(r"(?P<verb>[A-Z]?[a-z]{2,})\s+(?P<rest>[^.]{15,110}?)(?:\.(?:\s|$)|$)")
# A name that is a common word occurs in many wrong answers.
_TELLING_NAME = re.compile(r"(?!test)\w*?[a-z0-9](?:_\w|[A-Z])\w*")
# More verbs that start summaries of functions; any other word may be a noun.
_DOES = frozenset(
    (
        "acquire allocate append apply assign attach bind calculate call cancel cast clean clear clone close collect"
        " combine compare compile compute construct convert copy count decide decode decrypt detect determine discard"
        " dispatch download draw emit encode encrypt ensure escape estimate evaluate execute expand extract fetch"
        " filter flush format forward free initialize insert invoke iterate join log lookup map match measure merge"
        " normalize notify parse perform prepare process push queue raise receive record refresh release render report"
        " request resolve return scan search select setup show sort split strip submit trim try unregister validate"
        " wait walk wrap yield"
    ).split()
).union(_TASKS)


def questions_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    """Yield the questions that a chunk answers: values first, then names, then sections."""
    if chunk.lesson is not None:
        yield from _of_lesson(chunk, path)
    elif chunk.kind == "code":
        kinds = (_defaults_of(chunk, path), _constants_of(chunk, path), _functions_of(chunk, path))
        yield from filter(None, chain.from_iterable(zip_longest(*kinds)))
    else:
        yield from _documented_defaults_of(chunk, path)
        yield from _sections_of(chunk, path)


def _defaults_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for name in chunk.defines:
        header = re.search(rf"\b{re.escape(name)}\s*\((?:[^()]|\([^()]*\))*\)", chunk.text)
        if header is not None:
            whole = chunk.symbol if chunk.symbol.rpartition(".")[2] == name else name
            for found in _PARAMETER.finditer(chunk.text, header.start(), header.end()):
                yield _asked(chunk, path, f"What is the default of `{found['name']}` in `{whole}`?", found)


def _constants_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for found in _CONSTANT.finditer(chunk.text):
        if found["name"] in chunk.defines:
            yield _asked(chunk, path, f"What is `{found['name']}` set to?", found)


def _functions_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    """Ask for a documented function by its summary, or for what it does by its name."""
    name = chunk.symbol.rpartition(".")[2]
    if not chunk.docstring or name not in chunk.defines or name.startswith(("_", "test")):
        return
    place = ExpectedSpan(path, chunk.span.start_line, chunk.span.end_line)
    said = _SUMMARY.match(chunk.docstring.removeprefix(name).strip())
    verb, rest = (said["verb"].lower(), " ".join(said["rest"].split()).rstrip(" :,;")) if said else ("", "")
    is_telling = len(chunk.defines) == 1 and name[0].islower() and _TELLING_NAME.fullmatch(name) is not None
    if is_telling and verb in _VERBS and name.lower() not in rest.lower() and "--" not in rest:
        yield EvalQuestion(f"Which function {_does(verb)} {rest}?", lines=(place,), facts=(name,))
    else:
        yield EvalQuestion(f"What does `{chunk.symbol}` do?", lines=(place,))


def _documented_defaults_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for found in _DEFAULT.finditer(chunk.text):
        value = found["quoted"] or found["number"]
        if found["name"] != value:
            yield _asked(chunk, path, f"What is the default of `{found['name']}`?", found, value)


def _sections_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    heading = _without_markup(chunk.context[-1]) if chunk.context else ""
    if len(chunk.text) < MIN_CHARS or not heading:
        return
    text = heading if heading.endswith("?") else _how_to(heading)
    if text:
        yield EvalQuestion(text, lines=(ExpectedSpan(path, chunk.span.start_line, chunk.span.end_line),))


def _without_markup(heading: str) -> str:
    """Remove emphasis, marks of code, links and anchors from a heading; names keep their underscores.

    Example:
        >>> _without_markup("Using *the* [`forward_auth`](auth.md) in __init__ {#auth}")
        'Using the forward_auth in __init__'
    """
    return _MARKUP.sub(lambda found: found["code"] or found["slanted"] or found["bold"] or "", heading).strip()


def _of_lesson(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    lesson = chunk.lesson
    if lesson is not None and lesson.number is not None:
        title = f", {lesson.title}," if lesson.title else ""
        text = f"What is lesson {lesson.number}{title} of {lesson.course or 'the course'} about?"
        yield EvalQuestion(text, lines=(ExpectedSpan(path, chunk.span.start_line, chunk.span.end_line),))


def _asked(chunk: Chunk, path: str, text: str, found: re.Match[str], value: str = "") -> EvalQuestion:
    """Build a question whose answer is a value. Its lines span from the name to the value."""
    fact = value or found["value"].strip("\"'")
    first = chunk.span.start_line + chunk.text.count("\n", 0, found.start("name"))
    last = chunk.span.start_line + chunk.text.count("\n", 0, found.end())
    return EvalQuestion(text, lines=(ExpectedSpan(path, first, last),), facts=(fact,))


def _how_to(heading: str) -> str:
    """Turn the heading of a guide into a question; empty if it is not one.

    Example:
        >>> _how_to("Configuring the log level"), _how_to("How to retry jobs"), _how_to("Architecture")
        ('How do I configure the log level?', 'How do I retry jobs?', '')
        >>> _how_to("Test / Debugging")
        ''
    """
    heading = re.sub(r"^(?:\d+[.)]\s*)?(?:[Hh]ow to\s+)?", "", heading).rstrip(" .:!")
    first, _, rest = heading.partition(" ")
    verb = next((task for task in _TASKS if first.lower() in (task, _gerund(task))), "")
    is_list = re.match(r"\S*\w", rest) is None  # "Test / Debugging"
    return f"How do I {verb} {rest}?" if verb and not is_list else ""


def _gerund(verb: str) -> str:
    """Return the gerund: `configuring`, `running`, `adding`."""
    if verb.endswith("e"):
        return f"{verb[:-1]}ing"
    is_short = len(verb) <= 4 and verb[-1] not in "wxyd" and verb[-2] in _VOWELS and verb[-3] not in _VOWELS
    return f"{verb}{verb[-1] if is_short else ''}ing"


def _does(verb: str) -> str:
    """Return the third person: `returns`, `parses`, `tries`. A verb already in the third person stays.

    Example:
        >>> _does("match"), _does("try"), _does("returns"), _does("pass")
        ('matches', 'tries', 'returns', 'passes')
    """
    if verb.endswith("s") and not verb.endswith("ss"):
        return verb
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


_VERBS = _DOES.union(map(_does, _DOES))


# Per file: enough to fill a set from a single course, too few for one file to crowd out others.
_MAX_PER_FILE = 50

# One in five questions should be refused. Try up to four pairs of names to invent one for such a question.
_ONE_IN, _TRIES = 5, 4
_NAME_ASKED = re.compile(r"^What is (?:the default of )?`([^`]+)`")

# Software that few projects use all of. Those that the library mentions are not used.
_SOFTWARE = "Kafka RabbitMQ MongoDB Salesforce Kubernetes Bluetooth Fortran Elasticsearch Terraform Jira".split()
_FRAMES = (
    "How do I connect {source} to {software}?",
    "Where are the {software} credentials configured?",
    "Which function sends messages to {software}?",
    "What is the default timeout of the {software} client?",
)


def draft(assistant: Library, count: int) -> list[EvalQuestion]:
    """Propose at most `count` questions, each with the lines it was made from, one in five unanswerable.

    Files are taken at even intervals, with tests, changelogs and licences last. Each file gives one
    question before any gives two. The result is deterministic.
    """
    drafted = _answerable(assistant, count - count // _ONE_IN)
    refusable = min(count // _ONE_IN, len(drafted) // (_ONE_IN - 1))
    return [*drafted, *islice(_unanswerable(assistant, drafted, refusable), refusable)]


def _answerable(assistant: Library, count: int) -> list[EvalQuestion]:
    folders = {root.name: folder_of(root, assistant.settings) for root in assistant.sources()}
    several = len(folders) > 1
    waiting: list[Iterator[EvalQuestion]] = [
        _questions(folders[source], path, document_key(source, path) if several else path)
        for source, path in _round_robin(list(indexed_files(assistant)), count)
    ]
    drafted: dict[str, EvalQuestion] = {}
    while waiting:
        left = []
        for questions in waiting:
            fresh = next((question for question in questions if question.text not in drafted), None)
            if fresh is not None:
                drafted[fresh.text] = fresh
                left.append(questions)
            if len(drafted) == count:
                return list(drafted.values())
        waiting = left
    return list(drafted.values())


def _round_robin(files: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Order files: `count` of them at even intervals, then the rest."""
    aside = [file for file in files if is_aside(file[1])]
    main = [file for file in files if not is_aside(file[1])]
    step = max(1, len(main) // count)
    chosen = main[::step]
    between = [file for number, file in enumerate(main) if number % step]
    return [*chosen, *between, *aside]


def _questions(folder: Folder, path: str, shown_path: str) -> Iterator[EvalQuestion]:
    """Build questions from one file: one from each passage before any second one, longer passages first."""
    try:
        document = folder.read(path)
    except SkippedFileError:
        return  # the file changed since it was indexed
    chunks = sorted(chunk_document(document), key=lambda chunk: (-len(chunk.text), chunk.span))
    by_chunk = (questions_of(chunk, shown_path) for chunk in chunks)
    yield from islice(filter(None, chain.from_iterable(zip_longest(*by_chunk))), _MAX_PER_FILE)


def _unanswerable(assistant: Library, drafted: Sequence[EvalQuestion], count: int) -> Iterator[EvalQuestion]:
    """Build questions like the drafted ones, but for names that do not occur in the library.

    A name combines the halves of two drafted names; without names, the questions use well-known software.
    """
    names = [name for question in drafted if (name := _asked_name(question))]
    made = [_halves(one, other) for number, one in enumerate(names) for other in names[number + 1 :][:_TRIES]]
    wanted = [name for name in dict.fromkeys(made) if name and not _contains_name(assistant, name)]
    like = [question for question in drafted if _asked_name(question)]
    for question, name in zip(like[: (count + 1) // 2], wanted, strict=False):
        yield EvalQuestion(question.text.replace(f"`{_asked_name(question)}`", f"`{name}`", 1), unanswerable=True)
    source = next((root.name for root in assistant.sources()), "")
    unknown = (software for software in _SOFTWARE if not _contains_name(assistant, software))
    for software, frame in zip(unknown, cycle(_FRAMES)):
        yield EvalQuestion(frame.format(source=source, software=software), unanswerable=True)


def _asked_name(question: EvalQuestion) -> str:
    found = _NAME_ASKED.search(question.text)
    return found[1] if found else ""


def _halves(one: str, other: str) -> str:
    """Join the first half of one name and the last half of another: `max_age` from `max_clients` and `token_age`."""
    first, last = one.split("_"), other.split("_")
    return "_".join((*first[:-1], last[-1])) if len(first) > 1 and len(last) > 1 and first[-1] != last[-1] else ""


def _contains_name(assistant: Library, name: str) -> bool:
    return tokenize(name)[-1] in assistant.index.frequencies(tokenize(name))  # the last token is the whole name
