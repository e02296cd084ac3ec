"""What replies show an agent, and when it has seen enough."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.agent_tasks import Seen, Task, seen_in, with_grep

FILES = {"a.py": [f"line {n}" for n in range(1, 201)], "b.py": ["hit", "other"], "c.md": ["hit"]}


def case(*lines: int, asks_for: str = "lines", **fields: Any) -> dict[str, Any]:
    gold = [{"path": "a.py", "lines": [line, line + 1]} for line in lines]
    return {"gold": gold, "asks_for": asks_for, "needs_all": False, **fields}


@pytest.mark.parametrize(
    ("reply", "seen"),
    [
        ("a.py:3-4 (goes on to line 9)  f\n3| def f():", [("a.py", 3, 4, False), ("a.py", 3, 3, True)]),
        ("b.py:7-9  g  8| f()", [("b.py", 7, 9, False), ("b.py", 8, 8, True)]),
        ("a.py\n3| x\n(1 line matched)", [("a.py", 3, 3, True)]),
        ("src/\n a.py,b.py f 12-13", [("src/a.py", 12, 13, False), ("src/b.py", 12, 13, False)]),
        ("a.py def 3 .get 4\nimport: b.py 1; c.py 2", [("a.py", 3, 3, False), ("a.py", 4, 4, False)]),
    ],
)
def test_what_is_named_is_told_from_what_is_shown(reply: str, seen: list[tuple[str, int, int, bool]]) -> None:
    assert seen_in(reply)[: len(seen)] == [Seen(path, first, last, is_shown=shown) for path, first, last, shown in seen]


def test_lines_are_seen_when_all_of_them_were_shown() -> None:
    task = Task(case(10), FILES)

    task.see([Seen("a.py", 10, 11, is_shown=False), Seen("a.py", 10, 10, is_shown=True)])
    assert not task.is_done
    task.see([Seen("a.py", 11, 11, is_shown=True)])
    assert task.is_done


def test_places_are_seen_when_they_are_named() -> None:
    task = Task(case(10, 50, asks_for="places", needs_all=True), FILES)

    task.see([Seen("a.py", 11, 11, is_shown=False)])
    assert not task.is_done
    task.see([Seen("a.py", 40, 60, is_shown=False)])
    assert task.is_done


def test_an_agent_with_grep_reads_around_the_hit_that_is_near() -> None:
    grep = {"pattern": "line 1[05]0|hit", "path": "*.py"}

    work = with_grep(FILES, case(120, greps=[grep]), in_order=False)

    hits = "a.py:100:line 100\na.py:150:line 150\nb.py:1:hit\n"
    read = "".join(f"{n}\tline {n}\n" for n in range(60, 191))
    assert (work.named, work.calls, work.is_done) == (False, 2, True)
    assert work.characters == len(hits) + len(read)
