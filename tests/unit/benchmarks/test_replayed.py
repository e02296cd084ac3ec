"""Citations whose place is known are judged by it, and the history around them is made again as it was."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.replayed import Cited, choose, measure, outcome, page, tree
from openbook.verify.finding import Finding, LineRange
from tests.repositories import Repository

CODE = "".join(
    f"def function_{number}(first, second):\n    return first * {number}00 + second\n\n\n" for number in range(9)
)
CITED = Cited(LineRange("a.py", 2, 3), LineRange("b.py", 5, 6))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "shop")
    repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": "import os\n\n\n" + CODE})
    return repository


def test_lines_that_moved_are_cited_with_both_places(repository: Repository) -> None:
    old, new = (tree(repository.folder, commit) for commit in ("HEAD^", "HEAD"))
    cited = choose(old, new, 6, random.Random(0))

    assert len(cited) == 6
    for each in cited:
        assert each.now.first_line - each.then.first_line == each.now.last_line - each.then.last_line == 3
    assert page(cited).count("\n") == 6


@pytest.mark.slow
def test_a_history_is_replayed_and_every_citation_found(repository: Repository) -> None:
    row = measure(repository.folder, 1, 6, 0)

    assert row == "| shop | 2 | 6 | 6 | 6 | 0 | 0 | 0 | 0 of 6 | 0 |"


@pytest.mark.parametrize(
    ("finding", "what"),
    [
        (Finding(1, "a.py:2-3", "moved", now=CITED.now), "found"),
        (Finding(1, "a.py:2-3", "moved", now=CITED.now, doubt="several files"), "unsure"),
        (Finding(1, "a.py:2-3", "moved", now=LineRange("b.py", 5, 7)), "wrong"),
        (Finding(1, "a.py:2-3", "ok", place=CITED.then), "wrong"),
        (Finding(1, "a.py:2-3", "changed", place=CITED.then), "lost"),
        (None, "lost"),
    ],
)
def test_what_is_said_is_compared_with_the_place_of_today(finding: Finding | None, what: str) -> None:
    assert outcome(CITED, finding) == what
