"""How often the file that mends an issue is found by the text of the issue.

    python -m benchmarks.issue_texts --issues lite.json ... --repositories FOLDER

The issues are those of SWE-bench Lite (https://www.swebench.com), as the published JSON has them: the text is
`problem_statement` alone, the gold file is the one that `patch` changes, and the tree is that of `base_commit`.
Repositories are git repositories, bare or not, named `owner+name` or `owner+name/repo` in the folder; issues
of others are left out. Of trees, text files are read. "Question" takes the text for a question, as any other;
"issue" reads it as an issue; "left out" fits the weights anew to all other projects, for each project.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.issue_search import WEIGHTS, IssueFindings, IssueWeights, fuse, gather
from openbook.embedding.static import load_embedder
from openbook.library import Library
from openbook.questions.issues import read_issue
from openbook.questions.question import MAX_QUERY_CHARS, read_question
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings

_SUFFIXES = "py rst md txt cfg toml ini yml yaml js ipynb sh html css sql in".split()
_CHANGED = re.compile(r"^diff --git a/(\S+) b/", re.MULTILINE)

# Results that count, and passages that a question may have for so many files.
_FIVE = 5
_PASSAGES = 20

GRID = tuple(
    itertools.starmap(
        IssueWeights, itertools.product((0, 0.5, 1), (0.5, 1), (0, 0.5), (0.5, 1), (0.5, 1), (0.25, 0.5), (0.3, 0.5, 1))
    )
)
"""Weights that are tried. The first is that of the whole text; that of the title sets the scale."""


@dataclass(frozen=True, slots=True)
class Case:
    """An issue, and what was found for it."""

    project: str
    gold: frozenset[str]
    as_question: tuple[str, ...]
    """Paths, best first, each once."""
    found: IssueFindings | None
    """None if the text is too short for an issue."""

    def rank(self, weights: IssueWeights | None) -> int:
        """Return the place of the first gold file, from 1; 0 if it was not found."""
        paths: Sequence[str] = self.as_question
        if weights is not None and self.found is not None:
            scores = fuse(self.found, weights)
            paths = [path for _, path in sorted(scores, key=lambda file: (-scores[file], file))]
        return next((place for place, path in enumerate(paths, 1) if path in self.gold), 0)


def cases(issues: Sequence[dict[str, Any]], repositories: Path, work: Path) -> Iterator[Case]:
    """Yield the issues of repositories that are there, each searched in its tree."""
    for row in sorted(issues, key=lambda row: (row["repo"], row["created_at"])):
        git = next((each for each in _places(repositories, row["repo"]) if _has(each, row["base_commit"])), None)
        if git is None:
            continue
        folder = work / row["repo"].replace("/", "+")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _check_out(git, row["base_commit"], folder)
        with Library.open(folder.name, settings=Settings(home=work / "home")) as assistant:
            assistant.add(folder)
            yield _case(row, assistant)


def _case(row: dict[str, Any], assistant: Library) -> Case:
    text = row["problem_statement"]
    finder = EvidenceFinder(assistant.index, load_embedder(), assistant.retriever)
    question, issue = read_question(text[:MAX_QUERY_CHARS]), read_issue(text)
    paths = dict.fromkeys(each.chunk.span.path for each in finder.find(question, _PASSAGES, EVERYTHING))
    found = gather(issue, question, finder.search, assistant.index, EVERYTHING) if issue else None
    return Case(row["repo"], frozenset(_CHANGED.findall(row["patch"])), tuple(paths), found)


def _places(repositories: Path, name: str) -> list[Path]:
    folder = repositories / name.replace("/", "+")
    return [each for each in (folder / "repo", folder) if each.is_dir()]


def _has(git: Path, commit: str) -> bool:
    return (
        subprocess.run(["git", "-C", git, "cat-file", "-e", commit], capture_output=True, check=False).returncode == 0
    )


def _check_out(git: Path, commit: str, folder: Path) -> None:
    listed = subprocess.run(
        ["git", "-C", git, "ls-tree", "-r", "--name-only", commit], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    there = sorted({suffix for suffix in _SUFFIXES if any(path.endswith(f".{suffix}") for path in listed)})
    patterns = [f":(glob)**/*.{suffix}" for suffix in there]
    command = ["git", "-C", str(git), "archive", "--output", str(folder.with_suffix(".tar")), commit, "--", *patterns]
    subprocess.run(command, check=True)
    shutil.unpack_archive(folder.with_suffix(".tar"), folder, filter="data")


def _counts(ranks: Sequence[int]) -> tuple[int, int]:
    return sum(rank == 1 for rank in ranks), sum(0 < rank <= _FIVE for rank in ranks)


def left_out(found: Sequence[Case]) -> dict[str, list[int]]:
    """Return the ranks of each project, with the weights that are best for all others."""
    ranks = [[case.rank(weights) for case in found] for weights in GRID]
    chosen: dict[str, list[int]] = {}
    for project in sorted({case.project for case in found}):
        others = [place for place, case in enumerate(found) if case.project != project]
        best = max(range(len(GRID)), key=lambda number: (sum(_counts([ranks[number][n] for n in others])), -number))
        chosen[project] = [ranks[best][n] for n, case in enumerate(found) if case.project == project]
    return chosen


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issues", type=Path, required=True, nargs="+")
    parser.add_argument("--repositories", type=Path, required=True)
    arguments = parser.parse_args()
    issues = [row for path in arguments.issues for row in json.loads(path.read_text(encoding="utf-8"))]
    with tempfile.TemporaryDirectory() as work:
        found = list(cases(issues, arguments.repositories, Path(work)))
    projects: dict[str, list[Case]] = defaultdict(list)
    for case in found:
        projects[case.project].append(case)
    fitted = left_out(found)
    print("| project | issues | question: first | in five | issue: first | in five | left out: first | in five |")
    print("|---|---|---|---|---|---|---|---|")
    for project, held in [*projects.items(), ("all", found)]:
        ranks = fitted.get(project) or [rank for each in fitted.values() for rank in each]
        columns = ([case.rank(None) for case in held], [case.rank(WEIGHTS) for case in held], ranks)
        told = " | ".join(f"{first} | {five}" for first, five in map(_counts, columns))
        print(f"| {project} | {len(held)} | {told} |")


if __name__ == "__main__":
    main()
