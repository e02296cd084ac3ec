"""The marks of `docs/predecessors.md` add up, and name existing tests."""

from __future__ import annotations

import re

from tests.docs.snippets import ROOT

PAGE = (ROOT / "docs" / "predecessors.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("| ").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
NUMBERS = {"two": 2, "three": 3, "five": 5, "six": 6}


def features_of(section: str) -> int:
    """Count the features of a section: one per row, unless it gives a number."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    told = [re.search(r"\((\w+) features\)", row) for row in rows]
    return sum(NUMBERS[found[1]] if found else 1 for found in told)


def test_the_marks_of_all_systems_add_up() -> None:
    counted = {row[0]: [int(cell) for cell in row[1:]] for row in ROWS if len(row) == 7 and row[-1].isdecimal()}
    *systems, total = counted.values()

    assert [sum(column) for column in zip(*systems, strict=True)] == total
    assert all(sum(marks) == features for features, *marks in counted.values())
    assert (total[0], total[4], total[5]) == (247, 1, 0)


def test_every_feature_that_did_not_work_at_first_is_on_the_page() -> None:
    assert features_of("Was missing") == 14
    assert features_of("Was broken") == 18
    # Two more worked then, and differ now: those of the sample.
    assert features_of("Differed, and works now") + features_of("Differs, and why") == 51


def test_every_test_that_is_named_is_one() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`", PAGE)

    assert len(named) > 30
    assert [path for path, name in named if f"def {name}" not in (ROOT / path).read_text(encoding="utf-8")] == []
