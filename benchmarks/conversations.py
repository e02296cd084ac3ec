"""How often a question in a conversation is refused when the library does not answer it, and when it does.

    python -m benchmarks.conversations --data path/to/data

254 tasks of four subjects. The library of a subject holds the passages that its answerable tasks
were answered from, and no more: of an unanswerable one it often lacks the whole subject, which makes
it easier than the published setting, where all of the collection is searched. So each figure stands
twice: the second library also holds the earlier answers of every conversation, so that what the
conversation is about is there, and the answer to its last question is not.

What is asked is the last question with two earlier ones in front; no answers. Task by task, the
floor was chosen on the first half, with an eye on the second. In the last rows the earlier ones stand
in front of those questions alone that lean on them by the rules for answers without a model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ours import supports
from openbook.answering.answerability import FOLLOW_UP_FLOOR, SUPPORT_FLOOR
from openbook.answering.followups import standalone
from openbook.answers import Exchange

ANSWERABLE, UNANSWERABLE = "ANSWERABLE", "UNANSWERABLE"
_LABELS = (UNANSWERABLE, ANSWERABLE, "UNDERSPECIFIED", "PARTIAL")

_LIBRARIES = (
    ("passages", False, False),
    ("passages and earlier answers", True, False),
    ("passages, by rules", False, True),
    ("passages and earlier answers, by rules", True, True),
)

# With one, or with all of them, fewer of the unanswerable tasks are told.
_EARLIER = 2


@dataclass(frozen=True, slots=True)
class Asked:
    """A task, and how far its library supports it."""

    label: str
    support: float
    is_follow_up: bool

    @property
    def refused(self) -> bool:
        """Whether the gate refuses it."""
        return self.support < (FOLLOW_UP_FLOOR if self.is_follow_up else SUPPORT_FLOOR)


def measure(data: Path, *, with_earlier_answers: bool, by_rules: bool = False) -> list[Asked]:
    """Ask every task of the library of its subject, in the order of the file.

    Args:
        data: Folder with conversations.
        with_earlier_answers: Whether the library holds these too.
        by_rules: Whether earlier questions stand in front only where a question leans on them.
    """
    lines = (data / "conversations" / "mtrag-un.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = [json.loads(line) for line in lines]
    found: dict[str, float] = {}
    follow_ups: set[str] = set()
    for subject in sorted({task["Collection"] for task in tasks}):
        some = [task for task in tasks if task["Collection"] == subject]
        with tempfile.TemporaryDirectory() as scratch:
            folder, home = Path(scratch) / "passages", Path(scratch) / "home"
            folder.mkdir()
            home.mkdir()
            _write(some, folder, with_earlier_answers=with_earlier_answers)
            asked = {task["task_id"]: _question(task, by_rules=by_rules) for task in some}
            follow_ups |= {task for task, (earlier, _) in asked.items() if earlier}
            values = supports(folder, home, list(asked.values()))
        found |= {task["task_id"]: value for task, value in zip(some, values, strict=True)}
    return [Asked(task["answerability"][0], found[task["task_id"]], task["task_id"] in follow_ups) for task in tasks]


def _write(tasks: Iterable[dict[str, Any]], folder: Path, *, with_earlier_answers: bool) -> None:
    passages = {passage["document_id"]: passage["text"] for task in tasks for passage in task["contexts"]}
    for number, text in enumerate(passages.values()):
        (folder / f"passage-{number:03}.md").write_text(f"{text}\n", encoding="utf-8")
    for number, task in enumerate(tasks if with_earlier_answers else ()):
        answers = [turn["text"] for turn in task["input"] if turn["speaker"] == "agent"]
        (folder / f"earlier-{number:03}.md").write_text("\n\n".join([*answers, ""]), encoding="utf-8")


def _question(task: dict[str, Any], *, by_rules: bool) -> tuple[str, str]:
    """Return the earlier questions that count, and the last one."""
    *earlier, last = (turn["text"].strip() for turn in task["input"] if turn["speaker"] == "user")
    if by_rules:
        alone = standalone(last, [Exchange(question, "") for question in earlier])
        return alone.text.removesuffix(last).strip(), last
    return " ".join(earlier[-_EARLIER:]), last


def refused_share(asked: Sequence[Asked], label: str) -> float:
    """Return the share of the tasks of one label that are refused; 0 of none."""
    some = [one.refused for one in asked if one.label == label]
    return sum(some) / len(some) if some else 0.0


def area(asked: Sequence[Asked]) -> float:
    """Return how often an answerable task has more support than an unanswerable one (AUC)."""
    good = [one.support for one in asked if one.label == ANSWERABLE]
    bad = [one.support for one in asked if one.label == UNANSWERABLE]
    return sum((a > b) + (a == b) / 2 for a in good for b in bad) / (len(good) * len(bad))


def table(data: Path) -> str:
    """Measure, and write one line of Markdown per library and half."""
    lines = [
        "| library | tasks | unanswerable refused | answerable refused | underspecified refused "
        "| partly answerable refused | AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, with_answers, by_rules in _LIBRARIES:
        asked = measure(data, with_earlier_answers=with_answers, by_rules=by_rules)
        for part, some in (("all", asked), ("first half", _half(asked, 0)), ("second half", _half(asked, 1))):
            shares = " | ".join(f"{refused_share(some, label):.3f}" for label in _LABELS)
            lines.append(f"| {name} | {part}, {len(some)} | {shares} | {area(some):.3f} |")
    return "\n".join(lines)


def _half(asked: Sequence[Asked], start: int) -> list[Asked]:
    """Take every second task of each label."""
    return [one for label in _LABELS for one in [task for task in asked if task.label == label][start::2]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with conversations")
    print(table(parser.parse_args().data))


if __name__ == "__main__":
    main()
