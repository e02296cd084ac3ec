"""Drafts question sets from a library: values, definitions, entries, tasks, lessons; some are unanswerable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
from openbook.text import paragraphs
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
_CONST = re.compile(
    r"^[ \t]*(?:[a-z]{1,12}[ \t]+){0,3}(?:const|val|final|static)[ \t]+(?:[A-Za-z]\w{0,30}[ \t]+)?"
    r"(?P<name>[A-Za-z]\w+)(?:[ \t]*:[ \t]*\w{1,30}|[ \t]+[a-z]\w{0,30})?[ \t]*=[ \t]*"
    rf"(?P<value>{_LITERAL});?[ \t]*(?:[#/].*)?$",
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
# Items and rows that begin with a name in code: "- `name`: what it is", "| `name` | what it is |".
_ENTRY = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+|\|[ \t]*)(?:\*\*)?`(?!(?:true|false|null|none)`)(?P<name>-{0,2}[A-Za-z_][\w.-]*)"
    r"[^`\n]{0,20}`(?:\*\*)?[ \t]*(?:[:|–—]|-[ \t])[ \t]*(?P<said>\S[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
# What ends a phrase: "extracts a | named header | from any response".
_END_OF_PHRASE = re.compile(
    r" (?:and|as|at|based|before|by|for|from|if|in|into|on|or|so|that|to|unless|using|when|which|with)\b"
)
_END_OF_CLAUSE = re.compile(r"[,;:(|]|\.(?!\w)")
_ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
_MARKED_UP = re.compile(r"[`*\[\]<>{}|\\\"]")
# A longer phrase is one that a right answer may say in other words, and a single word is in many wrong answers.
_MIN_WORDS, _MAX_WORDS = 2, 6
# A command or a name in the text of a task. In a block, the first line.
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n[ \t]*(?:\$[ \t]+)?(?!//|#|<!--)(?P<code>\S[^\n]{2,80})$", re.MULTILINE
)
_SPAN = re.compile(r"`(?P<code>[^`\n]+)`")
_MIN_CODE_CHARS = 3
_HEADING = re.compile(r"#{1,6}\s|[^\n]*\n[=~^-]{3,}\s*$")
# A name that is a common word occurs in many wrong answers.
_TELLING_NAME = re.compile(r"(?!test)\w*?[a-z0-9](?:_\w|[A-Z])\w*")
# More verbs that start summaries of functions; any other word may be a noun.
_DOES = frozenset(
    (
        "acquire allocate append apply assign attach bind calculate call cancel cast clean clear clone close collect"
        " combine compare compile compute construct contain convert copy count decide decode decrypt describe detect"
        " determine discard dispatch download draw emit encode encrypt ensure escape estimate evaluate execute expand"
        " extract fetch filter flush format forward free hold implement initialize insert invoke iterate join log"
        " lookup map match measure merge normalize notify parse perform prepare process provide push queue raise"
        " receive record refresh release render report represent request resolve return scan search select setup show"
        " sort split strip submit trim try unregister validate wait walk wrap yield"
    ).split()
).union(_TASKS)


def questions_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    """Yield the questions that a chunk answers: values first, then names and entries, then sections."""
    if chunk.lesson is not None:
        yield from _of_lesson(chunk, path)
    elif chunk.kind == "code":
        kinds = (_defaults_of(chunk, path), _constants_of(chunk, path), _definitions_of(chunk, path))
        yield from filter(None, chain.from_iterable(zip_longest(*kinds)))
    else:
        yield from _documented_defaults_of(chunk, path)
        yield from _entries_of(chunk, path)
        yield from _sections_of(chunk, path)


def _defaults_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for name in chunk.defines:
        header = re.search(rf"\b{re.escape(name)}\s*\((?:[^()]|\([^()]*\))*\)", chunk.text)
        if header is not None:
            whole = chunk.symbol if chunk.symbol.rpartition(".")[2] == name else name
            for found in _PARAMETER.finditer(chunk.text, header.start(), header.end()):
                yield _asked(chunk, path, f"What is the default of `{found['name']}` in `{whole}`?", found)


def _constants_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for found in chain(_CONSTANT.finditer(chunk.text), _CONST.finditer(chunk.text)):
        if found["name"] in chunk.defines:
            yield _asked(chunk, path, f"What is `{found['name']}` set to?", found)


def _definitions_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    """Ask for a documented function by its summary, or for what a definition does by its name."""
    name = chunk.symbol.rpartition(".")[2]
    if not chunk.docstring[:1].isalpha() or name not in chunk.defines or name.startswith(("_", "test")):
        return
    place = _documented(chunk, path, name)
    summary = chunk.docstring.removeprefix(name).strip()
    said = _SUMMARY.match(summary)
    verb, rest = (said["verb"].lower(), " ".join(said["rest"].split()).rstrip(" :,;")) if said else ("", "")
    is_function = name[0].islower() or f"func {name}(" in chunk.text
    is_telling = len(chunk.defines) == 1 and is_function and _TELLING_NAME.fullmatch(name) is not None
    if is_telling and verb in _VERBS and name.lower() not in rest.lower() and "--" not in rest:
        yield EvalQuestion(f"Which function {_does(verb)} {rest}?", lines=(place,), facts=(name,))
        return
    yield _told(f"`{chunk.symbol}`", summary.partition("\n")[0], place)


def _told(name: str, summary: str, place: ExpectedSpan) -> EvalQuestion:
    """Ask for what the first line of a comment says: `What does X fetch?`, `What is X?`, or else what it does."""
    verb, _, rest = summary.partition(" ")
    fact = _phrase(rest)
    if fact and verb.lower() in _VERBS:
        return EvalQuestion(f"What does {name} {_BASES[verb.lower()]}?", lines=(place,), facts=(fact,))
    if fact and verb == "is":
        return EvalQuestion(f"What is {name}?", lines=(place,), facts=(fact,))
    return EvalQuestion(f"What does {name} do?", lines=(place,))


def _documented(chunk: Chunk, path: str, name: str) -> ExpectedSpan:
    """Return the lines of a definition that say what it is: the first paragraph of its comment, and its header."""
    lines, told = chunk.text.split("\n"), chunk.docstring.split("\n\n")[0].split("\n")
    first = next((place for place, line in enumerate(lines) if told[0].strip() in line), None)
    if first is None:
        return ExpectedSpan(path, chunk.span.start_line, chunk.span.end_line)
    last = first
    for said, line in zip(told[1:], lines[first + 1 :], strict=False):
        if said.strip() not in line:
            break
        last += 1
    named = re.compile(rf"\b{re.escape(name)}\b")
    heads = [place for place, line in enumerate(lines) if not first <= place <= last and named.search(line)]
    head = min(heads, key=lambda place: max(first - place, place - last), default=first)
    begin = chunk.span.start_line
    return ExpectedSpan(path, begin + min(first, head), begin + max(last, head))


def _phrase(text: str) -> str:
    """Return the few words with which a description begins, without an article; empty if there are none.

    Example:
        >>> _phrase("a named header from any response"), _phrase("an issue in a repository"), _phrase("it, and more")
        ('named header', 'issue in a repository', '')
    """
    text = text.strip()
    opening = _ARTICLE.match(text)
    text = text[opening.end() :] if opening else text
    ends = (
        found.start() for found in _END_OF_PHRASE.finditer(text) if len(text[: found.start()].split()) >= _MIN_WORDS
    )
    phrase = text[: next(ends, len(text))]
    phrase = _END_OF_CLAUSE.split(phrase, maxsplit=1)[0].strip()
    is_usable = _MIN_WORDS <= len(phrase.split()) <= _MAX_WORDS and not _MARKED_UP.search(phrase)
    is_usable = is_usable and not (phrase.startswith("of ") or _END_OF_PHRASE.match(f" {phrase}"))
    return phrase if is_usable else ""


def _documented_defaults_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    for found in _DEFAULT.finditer(chunk.text):
        value = found["quoted"] or found["number"]
        if found["name"] != value:
            yield _asked(chunk, path, f"What is the default of `{found['name']}`?", found, value)


def _entries_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    """Ask what the entries of lists and tables say of their names."""
    for found in _ENTRY.finditer(chunk.text):
        phrase = _phrase(max(found["said"].split("|"), key=len))
        if phrase:
            asked = "What does `{}` do?" if found["name"].startswith("-") else "What is `{}` for?"
            yield _asked(chunk, path, asked.format(found["name"]), found, phrase)


def _sections_of(chunk: Chunk, path: str) -> Iterator[EvalQuestion]:
    heading = _without_markup(chunk.context[-1]) if chunk.context else ""
    if len(chunk.text) < MIN_CHARS or not heading:
        return
    text = heading if heading.endswith("?") else _how_to(heading)
    if not text:
        return
    start, end = _opening(chunk.text)
    code = (found["code"].strip() for form in (_FENCED, _SPAN) for found in form.finditer(chunk.text, start, end))
    fact = next((each for each in code if len(each) >= _MIN_CODE_CHARS and each not in heading), "")
    first = chunk.span.start_line + chunk.text.count("\n", 0, start)
    yield EvalQuestion(
        text,
        lines=(ExpectedSpan(path, first, first + chunk.text.count("\n", start, end)),),
        facts=(fact,) if fact else (),
    )


def _opening(text: str) -> tuple[int, int]:
    r"""Return the range of the first paragraph below a heading, with the list or block that it introduces.

    Example:
        >>> text = "# Run it\n\nType:\n\n    run\n\nIt runs.\n"
        >>> start, end = _opening(text)
        >>> text[start:end]
        'Type:\n\n    run'
    """
    blocks = [block for block in paragraphs(text) if not _HEADING.match(text, *block)] or [(0, len(text.rstrip()))]
    start, end = blocks[0]
    if len(blocks) > 1 and text[start:end].rstrip().endswith(":"):
        end = blocks[1][1]
    if text.count("```", start, end) % 2:  # blank lines within a block
        closed = text.find("```", end)
        end = closed + len("```") if closed >= 0 else end
    return start, end


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


_BASES = {form: verb for verb in sorted(_DOES) for form in (verb, _does(verb))}
_VERBS = frozenset(_BASES)


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
    question before any gives two: one with a fact, if there is one, of the form that is rarest so far. The result is
    deterministic.
    """
    drafted = _answerable(assistant, count - count // _ONE_IN)
    refusable = min(count // _ONE_IN, len(drafted) // (_ONE_IN - 1))
    return [*drafted, *islice(_unanswerable(assistant, drafted, refusable), refusable)]


def _answerable(assistant: Library, count: int) -> list[EvalQuestion]:
    folders = {root.name: folder_of(root, assistant.settings) for root in assistant.sources()}
    several = len(folders) > 1
    waiting: list[Iterable[EvalQuestion]] = [
        _questions(folders[source], path, document_key(source, path) if several else path)
        for source, path in _round_robin(list(indexed_files(assistant)), count)
    ]
    drafted: dict[str, EvalQuestion] = {}
    forms = Counter[str]()
    while waiting:
        left: list[Iterable[EvalQuestion]] = []
        for questions in waiting:
            fresh = [question for question in questions if question.text not in drafted]
            if fresh:
                question = min(fresh, key=lambda each: (not each.facts, forms[_form(each)]))
                drafted[question.text] = question
                forms[_form(question)] += 1
                left.append(fresh)
            if len(drafted) == count:
                return list(drafted.values())
        waiting = left
    return list(drafted.values())


def _form(question: EvalQuestion) -> str:
    """Return what questions of one form have in common: `What is the default`, `Which function`, `How do I`."""
    return " ".join(question.text.partition("`")[0].split()[:3])


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
