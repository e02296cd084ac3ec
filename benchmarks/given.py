"""What is measured on texts as they are given: which texts, which questions, and what should be found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.dense import Task, read_codebase, read_docs, read_json, read_xquad
from benchmarks.metrics import reciprocal_rank
from benchmarks.ours import Piece
from openbook.evals.metrics import mean, recall

# The data does not tell the names of files, which an index of files would have.
_SUFFIX_SIGNS = {
    suffix: re.compile(sign, re.MULTILINE)
    for suffix, sign in {
        "rs": r"^\s*(pub )?(fn|impl|use|mod)\b.*[;{]$",
        "go": r"^package \w+$",
        "java": r"^(import|package) (static )?[a-z][\w.]+(\.\*)?;$",
        "cpp": r"^(namespace|template|class|using)\b|\bstd::|^#include <\w+>$",
        "c": r"^#include ",
        "py": r"^(def|class|import|from) ",
        "js": r"^(const|let|var|export|import|function)\b",
    }.items()
}

LANGUAGES = ("en", "de", "zh")
NAMES = ("codebase-qa", "docs-qa", *(f"xquad-{language}" for language in LANGUAGES))

Asked = Sequence[tuple[Sequence[int], set[int]]]
"""For each question, positions of the texts that were found, best first, and of those that were wanted."""


@dataclass(frozen=True, slots=True)
class GivenWork:
    """Texts, the questions on them, and what counts."""

    name: str
    pieces: tuple[Piece, ...]
    questions: tuple[str, ...]
    wanted: tuple[set[int], ...]
    depth: int
    """Results that are asked for."""
    score: Callable[[Asked], dict[str, float]]


def codebase_qa(data: Path) -> GivenWork:
    """Read 737 chunks of 90 source files, with file names that say nothing but the language."""
    folder = data / "codebase-qa"
    paths = []
    for number, document in enumerate(read_json(folder / "codebase_chunks.json")):
        signs = (suffix for suffix, sign in _SUFFIX_SIGNS.items() if sign.search(document["content"]))
        paths += [f"file-{number:02}.{next(signs, 'txt')}"] * len(document["chunks"])
    return _work(read_codebase(folder), paths, [()] * len(paths), 20, _passes)


def docs_qa(data: Path) -> GivenWork:
    """Read 232 sections of documentation, one document a page, under their headings."""
    folder = data / "docs-qa"
    sections = read_json(folder / "docs.json")
    paths = [f"{urlsplit(section['chunk_link']).path.strip('/')}.md" for section in sections]
    contexts = [(section["chunk_heading"],) for section in sections]
    return _work(read_docs(folder), paths, contexts, 10, _ranks)


def span_qa(data: Path, language: str) -> GivenWork:
    """Read the paragraphs of XQuAD, one document an article."""
    file = data / "span-qa" / f"xquad-{language}.json"
    counts = [len(article["paragraphs"]) for article in read_json(file)["data"]]
    paths = [f"article-{number:02}.txt" for number, count in enumerate(counts) for _ in range(count)]
    return _work(read_xquad(file), paths, [()] * len(paths), 1, _first)


def _work(
    task: Task,
    paths: Sequence[str],
    contexts: Sequence[tuple[str, ...]],
    depth: int,
    score: Callable[[Asked], dict[str, float]],
) -> GivenWork:
    pieces = tuple(Piece(*parts) for parts in zip(paths, task.texts, contexts, strict=True))
    return GivenWork(task.name, pieces, tuple(task.questions), tuple(task.gold), depth, score)


def _passes(asked: Asked) -> dict[str, float]:
    return {f"Pass@{k}": mean([recall(found, wanted, k) for found, wanted in asked]) for k in (5, 10, 20)}


def _ranks(asked: Asked) -> dict[str, float]:
    return {
        "R@3": mean([recall(found, wanted, 3) for found, wanted in asked]),
        "MRR": mean([reciprocal_rank(found, wanted) for found, wanted in asked]),
    }


def _first(asked: Asked) -> dict[str, float]:
    return {"P@1": mean([recall(found, wanted, 1) for found, wanted in asked])}
