"""What is measured on folders: which folders, which questions, and what should be found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.archives import Archive, ChangedArchiveError, MissingArchiveError, unpacked
from benchmarks.metrics import span_figures
from openbook.evals.metrics import ExpectedSpan, mean, ndcg

CASES = Path(__file__).parent / "cases"
PINS = Path(__file__).parent / "archives.json"

# Of the 13 packages, those whose source distribution holds tests and documentation beside the code.
MIXED_PACKAGES = ("click", "fastapi", "flask", "httpx", "model2vec", "requests", "starlette")


class BrokenCaseError(Exception):
    """A question wants a file that is not there, or that could be several."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the places that answer it, relative to the indexed folder."""

    text: str
    wanted: tuple[ExpectedSpan, ...]
    needs_all: bool = False
    """All places are needed together."""

    @property
    def paths(self) -> set[str]:
        """The files of these places."""
        return {place.path for place in self.wanted}

    def is_answered_by(self, place: ExpectedSpan) -> bool:
        """Return whether a place has a line in common with one that is wanted."""
        return any(wanted.overlaps(place) for wanted in self.wanted)

    def share_of(self, places: Sequence[ExpectedSpan]) -> float:
        """Return 1 when any wanted place is among `places`; where all are needed, the share of them that is."""
        found = [any(wanted.overlaps(place) for place in places) for wanted in self.wanted]
        return sum(found) / len(found) if self.needs_all else float(any(found))


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder that is indexed as a whole, and its questions."""

    name: str
    folder: Path
    questions: tuple[Question, ...]
    content: Literal["code", "all"]
    """What the folder is about. Openbook indexes all it can read in any case."""
    language: str = ""


Answered = Sequence[tuple[Question, Sequence[ExpectedSpan]]]
"""The questions of one collection, with what was found, best first."""


@dataclass(frozen=True, slots=True)
class Work:
    """Collections that are measured in the same way."""

    name: str
    collections: tuple[Collection, ...]
    score: Callable[[Sequence[Answered]], dict[str, float]]


def file_figures(answered: Sequence[Answered]) -> dict[str, float]:
    """Return the mean over collections of their mean NDCG@10 by file."""
    means = [
        mean(
            [
                ndcg([place.path for place in found], {place.path for place in question.wanted})
                for question, found in part
            ]
        )
        for part in answered
        if part
    ]
    return {"NDCG@10": mean(means)}


def place_figures(answered: Sequence[Answered]) -> dict[str, float]:
    """Return recall of files and spans over the questions of all collections together."""
    return span_figures((found, question.wanted) for part in answered for question, found in part)


def code_search(data: Path, cache: Path, *, mixed: bool) -> Work:
    """Read the published packages: their code alone, or code, tests and documentation together."""
    folder = data / "code-search"
    pins = read_json(PINS)
    collections = []
    for item in read_json(folder / "packages.json"):
        if mixed and item["name"] not in MIXED_PACKAGES:
            continue
        registry = "pypi-source" if mixed else item["registry"]
        archive = Archive(registry, item["package"], item["version"], pins.get(f"{registry}/{item['name']}", ""))
        top = _fetched([archive], cache)
        if top is None:
            continue
        anchor = _only_folder(top) if registry in {"npm", "pypi-source"} else top
        questions = read_json(folder / "annotations" / f"{item['name']}.json")
        indexed, content = (anchor, "all") if mixed else (anchor / item["root"], "code")
        collections.append(_collection(item["name"], indexed, anchor, questions, content, item["language"]))
    return Work("code-search, mixed" if mixed else "code-search", tuple(collections), file_figures)


def own_cases(cache: Path, *, mixed: bool, cases: Path = CASES) -> Work:
    """Read our own cases: the folder of code, or all that the package brings."""
    collections = []
    for file in sorted(cases.glob("*.json")):
        case = read_json(file)
        # A source distribution if there is one: it has the tests and the documentation.
        registries = ("pypi-source", "pypi") if case["registry"] == "pypi" else (case["registry"],)
        archives = [Archive(registry, case["package"], case["version"], case["sha256"]) for registry in registries]
        top = _fetched(archives, cache)
        if top is None:
            continue
        above = _above(top, case)
        anchor = above / case["mixed"]
        indexed, content = (anchor, "all") if mixed else (above / case["root"], "code")
        collections.append(_collection(case["name"], indexed, anchor, case["questions"], content, case["language"]))
    return Work("cases, mixed" if mixed else "cases", tuple(collections), file_figures)


def swe_qa(data: Path, checkouts: Path) -> Work:
    """Read the questions on whole checkouts of two projects."""
    asked: dict[str, list[Question]] = {}
    for item in read_json(data / "swe-qa" / "gold.json"):
        wanted = [ExpectedSpan(gold["path"], *span) for gold in item["gold"] for span in gold["spans"] or [()]]
        asked.setdefault(item["repo"], []).append(Question(item["question"], tuple(wanted)))
    collections = [
        Collection(name, checkouts / name, tuple(questions), "all", "python")
        for name, questions in asked.items()
        if (checkouts / name).is_dir()
    ]
    return Work("swe-qa", tuple(collections), place_figures)


def real_questions(data: Path, checkouts: Path) -> Work:
    """Read the answerable questions that people ask of whole repositories, those whose checkout is there."""
    return repository_questions("real-questions", data / "real-questions" / "questions.jsonl", checkouts)


def repository_questions(name: str, file: Path, checkouts: Path) -> Work:
    """Read the answerable questions of a file that is written like real-questions."""
    asked: dict[str, list[Question]] = {}
    for item in (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()):
        if item["answerable"]:
            wanted = tuple(ExpectedSpan(gold["path"], *gold["lines"]) for gold in item["gold"])
            asked.setdefault(item["repo"].partition("/")[2], []).append(
                Question(item["question"], wanted, item.get("needs_all", False))
            )
    collections = [
        Collection(project, checkouts / project, tuple(questions), "all")
        for project, questions in asked.items()
        if (checkouts / project).is_dir()
    ]
    return Work(name, tuple(collections), place_figures)


def code_search_wide(data: Path, checkouts: Path, *, mixed: bool) -> Work:
    """Read the topics of repositories in 15 languages: the folder of code, or the whole checkout."""
    folder = data / "code-search-wide"
    collections = []
    for item in read_json(folder / "repositories.json"):
        checkout = checkouts / item["repository"].partition("/")[2]
        if not checkout.is_dir():
            continue
        questions = []
        root = checkout if mixed else checkout / item["root"]
        asked = [
            (
                each["query"],
                [one["path"] if isinstance(one, dict) else one for one in each["relevant"] + each.get("secondary", [])],
            )
            for each in read_json(folder / "annotations" / f"{item['name']}.json")
        ]
        anchor = _anchor([checkout, checkout / item["root"]], [path for _, named in asked for path in named])
        for query, named in asked:
            files = [anchor / path for path in named if (anchor / path).is_file()]
            inside = tuple(
                ExpectedSpan(path.relative_to(root).as_posix()) for path in files if path.is_relative_to(root)
            )
            if inside:
                questions.append(Question(query, inside))
        collections.append(
            Collection(item["name"], root, tuple(questions), "all" if mixed else "code", item["language"])
        )
    return Work("code-search-wide, mixed" if mixed else "code-search-wide", tuple(collections), file_figures)


def _anchor(folders: Sequence[Path], paths: Sequence[str]) -> Path:
    """Return what paths are relative to: the folder that has most of them, the first of equals."""
    return max(folders, key=lambda folder: sum((folder / path).is_file() for path in paths))


def _collection(name: str, folder: Path, anchor: Path, items: Iterable[Any], content: str, language: str) -> Collection:
    """Place the questions of a package; one that wants nothing within `folder` is left out."""
    questions = []
    for item in items:
        paths = [_located(anchor, path) for path in item["relevant"]]
        wanted = tuple(
            ExpectedSpan(path.relative_to(folder).as_posix()) for path in paths if path.is_relative_to(folder)
        )
        if wanted:
            questions.append(Question(item["query"], wanted))
    return Collection(name, folder, tuple(questions), "all" if content == "all" else "code", language)


def _located(anchor: Path, path: str) -> Path:
    """Find a file by its path from `anchor`, or from some folder below it, such as `src`."""
    if (anchor / path).is_file():
        return anchor / path
    found = [file for file in anchor.rglob(Path(path).name) if file.as_posix().endswith(f"/{path}")]
    if len(found) != 1:
        raise BrokenCaseError(f"{path!r} is there {len(found)} times in {str(anchor)!r}")
    return found[0]


def _above(top: Path, case: dict[str, Any]) -> Path:
    """Find what the folders of a case are relative to: the archive, or the only folder in it."""
    wanted = case["questions"][0]["relevant"][0]
    for candidate in (top, _only_folder(top)):
        if (candidate / case["mixed"] / wanted).is_file():
            return candidate
    raise BrokenCaseError(f"{case['name']}: {wanted!r} is not in {str(top)!r}")


def _only_folder(top: Path) -> Path:
    folders = [path for path in top.iterdir() if path.is_dir()]
    return folders[0] if len(folders) == 1 else top


def _fetched(archives: Iterable[Archive], cache: Path) -> Path | None:
    """Return the first that can be had; report those that come before it only if none can."""
    reasons = []
    for archive in archives:
        try:
            return unpacked(archive, cache)
        except (MissingArchiveError, ChangedArchiveError) as exc:
            reasons.append(f"missing: {exc}")
    print("\n".join(reasons), file=sys.stderr, flush=True)
    return None


def halves(answered: Sequence[Answered]) -> Iterator[tuple[str, Sequence[Answered]]]:
    """Yield all questions, those at even positions, which constants were chosen on, and the others."""
    yield "all", answered
    yield "tuning", [part[0::2] for part in answered]
    yield "held", [part[1::2] for part in answered]


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
