"""The benchmark of relocation keeps count of where lines are, and its baseline does what it says."""

from __future__ import annotations

import random

import pytest

from benchmarks.drift import Cited, Line, Tree, choose, drift
from benchmarks.relocation import _hunks, _through, measure

CODE = "import os\n\n" + "".join(f"def f{n}(a):\n    first = a + {n}\n    return first * {n}\n\n\n" for n in range(20))


@pytest.mark.parametrize("seed", range(20))
def test_cited_lines_stay_together_however_their_file_drifts(seed: int) -> None:
    random_ = random.Random(seed)
    tree = Tree({name: [Line(line) for line in CODE.splitlines()] for name in ("a/one.py", "a/two.py")})
    cited = [one for _ in range(10) if (one := choose(tree, "a/one.py", random_)) is not None]

    for path in list(tree.files):
        drift(tree, path, random_)

    assert cited
    for one in cited:
        path, first, last = tree.place(one)
        assert [line.text for line in tree.files[path][first - 1 : last]] == [line.text for line in one.lines]


def test_the_place_of_lines_is_where_they_are_now() -> None:
    lines = [Line("a"), Line("b"), Line("c")]
    tree = Tree({"new.py": [Line("x"), *lines]})

    assert tree.place(Cited("old.py", 1, 2, (lines[0], lines[1]), "")) == ("new.py", 2, 3)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(1, 1, id="before-all"),
        pytest.param(5, 8, id="behind-an-insertion"),
        pytest.param(11, 14, id="replaced"),
        pytest.param(20, 22, id="behind-a-deletion"),
    ],
)
def test_lines_are_taken_through_a_diff(line: int, expected: int) -> None:
    diff = "diff --git a/o.py b/n.py\n@@ -2,0 +3,3 @@\n@@ -11,2 +14 @@\n"

    path, hunks = _hunks(diff)["o.py"]

    assert path == "n.py"
    assert _through(hunks, line) == expected


@pytest.mark.slow
def test_with_history_no_citation_of_drifted_files_goes_to_a_wrong_place() -> None:
    """Rules for real pages have broken this without any other test noticing."""
    rows = measure(250)

    assert {row.setting: row.wrong for row in rows if row.setting.endswith("with git")} == {
        "prose, with git": 0,
        "answers (`ask --json`), with git": 0,
    }
    assert rows[0].right >= 0.97 * rows[0].count
