"""A regression gate on packages that every development environment has: seconds, and no network.

python -m benchmarks.gate
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import works
from benchmarks.ours import search_folder
from benchmarks.works import Question
from openbook.evals.metrics import ExpectedSpan, ndcg

GATE = Path(__file__).with_name("gate.json")

# About one answer of 16 that is lost from the second place, or one that falls from first to second
# (.023): less than that is no sign of anything.
TOLERANCE = 0.03


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one package."""

    package: str
    ndcg: float
    floor: float
    """Measured when it was written down. Less than this minus the tolerance is a loss."""
    worst: tuple[tuple[float, Question, str], ...]
    """NDCG@10, question and best file, of all questions that were not answered in full, worst first."""

    @property
    def passed(self) -> bool:
        """Whether nothing was lost beyond the tolerance."""
        return self.ndcg >= self.floor - TOLERANCE

    def __str__(self) -> str:
        lines = [f"{self.package}: NDCG@10 {self.ndcg:.3f}, floor {self.floor:.3f} - {TOLERANCE}"]
        for worth, question, best in self.worst:
            wanted = ", ".join(place.path for place in question.wanted)
            lines.append(f"  {worth:.2f} {question.text!r}: wanted {wanted}; first is {best or 'nothing'}")
        return "\n".join(lines)


def check(item: dict[str, Any]) -> Outcome:
    """Index the installed package, and ask its questions.

    Raises:
        LookupError: It is not installed.
        BrokenCaseError: It has no such file any more.
    """
    spec = find_spec(item["package"])
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"{item['package']} is not installed; requirements/dev.txt has it")
    folder = Path(spec.submodule_search_locations[0])
    questions = [_question(entry, folder) for entry in item["questions"]]
    with tempfile.TemporaryDirectory() as scratch:
        answers = search_folder(folder, [question.text for question in questions], Path(scratch))
    scored = []
    for question, ranked in zip(questions, answers.ranked, strict=True):
        paths = [place.path for place in ranked.places]
        worth = ndcg(paths, {place.path for place in question.wanted})
        scored.append((worth, question, paths[0] if paths else ""))
    total = sum(worth for worth, _, _ in scored) / len(scored)
    worst = sorted((entry for entry in scored if entry[0] < 1), key=lambda entry: (entry[0], entry[1].text))
    return Outcome(item["package"], total, item["floor"], tuple(worst))


def _question(entry: dict[str, Any], folder: Path) -> Question:
    for path in entry["relevant"]:
        if not (folder / path).is_file():
            raise works.BrokenCaseError(f"{path!r} is not in {folder.name}; a new version moved it: mend {GATE.name}")
    return Question(entry["query"], tuple(ExpectedSpan(path) for path in entry["relevant"]))


def main() -> int:
    """Print what each package is worth, and fail if one is below its floor."""
    outcomes = [check(item) for item in works.read_json(GATE)]
    print(*outcomes, sep="\n")
    return 0 if all(outcome.passed for outcome in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
