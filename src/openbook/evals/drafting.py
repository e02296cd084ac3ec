"""Proposes questions from what a library says: values, names, tasks, lessons; and some that it does not answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice, zip_longest

from openbook.chunking.dispatch import chunk_document
from openbook.errors import SkippedFileError
from openbook.evals.extracting import questions_of
from openbook.evals.questions import EvalQuestion
from openbook.evals.running import document_key, indexed_files
from openbook.ingest.difference import folder_of
from openbook.library import Library
from openbook.retrieval.roles import is_aside
from openbook.sources.folder import Folder
from openbook.tokens import tokenize

# Of one file: enough to fill a set from a single course, too few for one file to crowd out others later.
_MOST_OF_A_FILE = 50

# One question in so many should be refused; of the names made for them, pairs of names that are tried with each.
_ONE_IN, _TRIES = 5, 4
_NAME_ASKED = re.compile(r"^What is (?:the default of )?`([^`]+)`")

# Software that few projects have all of. What a library mentions is not asked for.
_SOFTWARE = "Kafka RabbitMQ MongoDB Salesforce Kubernetes Bluetooth Fortran Elasticsearch Terraform Jira".split()
_FRAMES = (
    "How do I connect {source} to {software}?",
    "Where are the {software} credentials configured?",
    "Which function sends messages to {software}?",
    "What is the default timeout of the {software} client?",
)


def draft(assistant: Library, count: int) -> list[EvalQuestion]:
    """Propose at most `count` questions, each with the lines that it was made from, one in five unanswerable.

    Files are taken at even distances, those of tests, changes and licences last, and each gives one
    question before any gives two. The same library gives the same questions.
    """
    drafted = _answerable(assistant, count - count // _ONE_IN)
    refusable = min(count // _ONE_IN, len(drafted) // (_ONE_IN - 1))
    return [*drafted, *islice(_unanswerable(assistant, drafted, refusable), refusable)]


def _answerable(assistant: Library, count: int) -> list[EvalQuestion]:
    folders = {root.name: folder_of(root, assistant.settings) for root in assistant.sources()}
    several = len(folders) > 1
    waiting: list[Iterator[EvalQuestion]] = [
        _questions(folders[source], path, document_key(source, path) if several else path)
        for source, path in _in_turn(list(indexed_files(assistant)), count)
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


def _in_turn(files: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Order files: `count` of them at even distances, then those between."""
    aside = [file for file in files if is_aside(file[1])]
    main = [file for file in files if not is_aside(file[1])]
    step = max(1, len(main) // count)
    chosen = main[::step]
    between = [file for number, file in enumerate(main) if number % step]
    return [*chosen, *between, *aside]


def _questions(folder: Folder, path: str, shown_path: str) -> Iterator[EvalQuestion]:
    """Make questions of one file, of each of its passages one before any second, longer passages first."""
    try:
        document = folder.read(path)
    except SkippedFileError:
        return  # changed since it was indexed
    chunks = sorted(chunk_document(document), key=lambda chunk: (-len(chunk.text), chunk.span))
    by_chunk = (questions_of(chunk, shown_path) for chunk in chunks)
    yield from islice(filter(None, chain.from_iterable(zip_longest(*by_chunk))), _MOST_OF_A_FILE)


def _unanswerable(assistant: Library, drafted: Sequence[EvalQuestion], count: int) -> Iterator[EvalQuestion]:
    """Make questions like those that were drafted, for names that the library has nowhere.

    A name is made of the halves of two that are asked for; where there are none, well-known software is asked for.
    """
    names = [name for question in drafted if (name := _asked_name(question))]
    made = [_halves(one, other) for number, one in enumerate(names) for other in names[number + 1 :][:_TRIES]]
    wanted = [name for name in dict.fromkeys(made) if name and not _knows(assistant, name)]
    like = [question for question in drafted if _asked_name(question)]
    for question, name in zip(like[: (count + 1) // 2], wanted, strict=False):
        yield EvalQuestion(question.text.replace(f"`{_asked_name(question)}`", f"`{name}`", 1), unanswerable=True)
    source = next((root.name for root in assistant.sources()), "")
    unknown = (software for software in _SOFTWARE if not _knows(assistant, software))
    for software, frame in zip(unknown, cycle(_FRAMES)):
        yield EvalQuestion(frame.format(source=source, software=software), unanswerable=True)


def _asked_name(question: EvalQuestion) -> str:
    found = _NAME_ASKED.search(question.text)
    return found[1] if found else ""


def _halves(one: str, other: str) -> str:
    """Join the first half of a name with the last of another: `max_age` of `max_clients` and `token_age`."""
    first, last = one.split("_"), other.split("_")
    return "_".join((*first[:-1], last[-1])) if len(first) > 1 and len(last) > 1 and first[-1] != last[-1] else ""


def _knows(assistant: Library, name: str) -> bool:
    return tokenize(name)[-1] in assistant.index.frequencies(tokenize(name))  # the last is the whole name
