"""How often the file that mends an issue is found by the text of the issue.

    python -m benchmarks.issue_texts --issues lite.jsonl ... --repositories FOLDER [--kept FOLDER] [--processes N]

The issues are those of SWE-bench Lite (https://www.swebench.com), as the published JSON has them: the text is
`problem_statement` alone, the gold file is the one that `patch` changes, and the tree is that of `base_commit`.
Repositories are git repositories, bare or not, named `owner+name` or `owner+name/repo` in the folder; issues
of others are left out. Of trees, text files are read. "Question" takes the text for a question, as any other;
"issue" reads it as an issue; "left out" fits the weights anew to all other projects, for each project.
What was found for each issue is kept in a folder, so that a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from openbook.answering.evidence import EvidenceFinder
from openbook.embedding.static import load_embedder
from openbook.library import Library
from openbook.lookup.issue_search import WEIGHTS, IssueFindings, IssueWeights, fuse, gather, read_issue
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
        IssueWeights, itertools.product((0, 0.5, 1), (0.5, 1), (0, 0.5), (0.5, 1), (0.25, 0.5), (0.3, 0.5, 1))
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


def find_all(issues: Sequence[dict[str, Any]], repositories: Path, kept: Path) -> None:
    """Search for the issues of one project, each in its tree, and write down what is found."""
    rows = [row for row in sorted(issues, key=lambda row: row["created_at"]) if not _place(kept, row).exists()]
    blobs: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as work:
        for row in rows:
            git = next((each for each in _places(repositories, row["repo"]) if _has(each, row["base_commit"])), None)
            if git is None:
                continue
            folder = Path(work) / row["repo"].replace("/", "+")
            blobs = _check_out(git, row["base_commit"], folder, blobs)
            with Library.open(folder.name, settings=Settings(home=Path(work) / "home")) as assistant:
                assistant.add(folder)
                _keep(_case(row, assistant), _place(kept, row))


def _place(kept: Path, row: dict[str, Any]) -> Path:
    return kept / f"{row['instance_id']}.json"


def _keep(case: Case, place: Path) -> None:
    found = case.found
    told: dict[str, Any] = {
        "project": case.project,
        "gold": sorted(case.gold),
        "as_question": case.as_question,
        "found": None,
    }
    if found is not None:
        kinds = [(*file, found.kinds[file]) for file in dict.fromkeys(itertools.chain(*found.files.values()))]
        told["found"] = {"files": {way: list(files) for way, files in found.files.items()}, "kinds": kinds}
    place.with_suffix(".part").write_text(json.dumps(told), encoding="utf-8")
    place.with_suffix(".part").replace(place)


def _kept_case(place: Path) -> Case:
    told = json.loads(place.read_text(encoding="utf-8"))
    found = told["found"] and IssueFindings(
        {way: [(source, path) for source, path in files] for way, files in told["found"]["files"].items()},
        {},
        {(source, path): kind for source, path, kind in told["found"]["kinds"]},
    )
    return Case(told["project"], frozenset(told["gold"]), tuple(told["as_question"]), found)


def _case(row: dict[str, Any], assistant: Library) -> Case:
    text = row["problem_statement"]
    finder = EvidenceFinder(assistant.index, load_embedder(), assistant.text_now, assistant.retriever)
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


def _check_out(git: Path, commit: str, folder: Path, before: Mapping[str, str]) -> dict[str, str]:
    """Write the text files of a tree, and return the blob of each path. What is as before is left untouched."""
    listed = subprocess.run(
        ["git", "-C", str(git), "ls-tree", "-r", "-z", commit], capture_output=True, check=True
    ).stdout
    entries = (entry.split("\t", 1) for entry in listed.decode("utf-8", "replace").split("\0") if entry)
    blobs = {path: meta.split()[2] for meta, path in entries if meta.startswith("100") and _is_text(path)}
    for path in before.keys() - blobs.keys():
        (folder / path).unlink()
    changed = {path: blob for path, blob in blobs.items() if before.get(path) != blob}
    asked = "".join(f"{blob}\n" for blob in changed.values()).encode()
    batch = ["git", "-C", str(git), "cat-file", "--batch"]
    told = BytesIO(subprocess.run(batch, input=asked, capture_output=True, check=True).stdout)
    for path in changed:
        size = int(told.readline().split()[2])
        place = folder / path
        if place.parent.is_file():
            place.parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(told.read(size))
        told.read(1)
    return blobs


def _is_text(path: str) -> bool:
    return path.rpartition(".")[2] in _SUFFIXES


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


def _rows(text: str) -> list[dict[str, Any]]:
    if text.startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line]


def _by_project(issues: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the issues of each project, those of the largest first."""
    projects: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in issues:
        projects[row["repo"]].append(row)
    return sorted(projects.values(), key=lambda rows: (-len(rows), rows[0]["repo"]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--issues", type=Path, required=True, nargs="+", help="JSON, or JSON Lines")
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--kept", type=Path, help="where findings are kept; by default nowhere")
    parser.add_argument("--processes", type=int, default=1)
    arguments = parser.parse_args()
    issues = [row for path in arguments.issues for row in _rows(path.read_text(encoding="utf-8"))]
    with tempfile.TemporaryDirectory() as temporary:
        kept = arguments.kept or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        search = partial(find_all, repositories=arguments.repositories, kept=kept)
        with ProcessPoolExecutor(arguments.processes) as pool:
            list(pool.map(search, _by_project(issues)))
        places = sorted(_place(kept, row) for row in issues)
        found = [_kept_case(place) for place in places if place.exists()]
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
