"""How a second stage is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import second_stage
from benchmarks.second_stage import Asked, _added, _left_out, _orders, _rank
from openbook.types import Chunk, RetrievalResult, Span


def result(path: str, start_line: int, end_line: int) -> RetrievalResult:
    return RetrievalResult(Chunk("s", Span(path, 0, 1, start_line, end_line), "x", "docs"), 1.0)


def test_three_orders_are_compared_and_ties_keep_the_first() -> None:
    orders = _orders([0.0, 0.0, 9.0, 1.0])

    assert orders["first stage"] == [0, 1, 2, 3]
    assert orders["second stage"] == [2, 3, 0, 1]
    assert orders["both ranks"] == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("lines", "rank"),
    [
        pytest.param([5, 9], 2, id="first-that-overlaps"),
        pytest.param([4, 5], 2, id="one-line-is-enough"),
        pytest.param([21, 30], 0, id="none"),
    ],
)
def test_a_result_is_right_where_it_overlaps_the_answer(lines: list[int], rank: int) -> None:
    results = [result("b.md", 5, 9), result("a.md", 5, 8), result("a.md", 9, 20)]

    assert _rank(results, [{"path": "a.md", "lines": lines}]) == rank


def test_what_stands_behind_the_tenth_counts_for_nothing() -> None:
    results = [*[result("b.md", 1, 2)] * 10, result("a.md", 1, 2)]

    assert _rank(results, [{"path": "a.md", "lines": [1, 1]}]) == 0


def asked(repository: str, right: list[bool]) -> Asked:
    return Asked("set", repository, [1.0, 1.0, 1.0], [0.0, 0.5, 1.0], right)


def test_what_is_added_is_weighed_by_what_is_right_in_other_repositories() -> None:
    near, far = [False, False, True], [True, False, False]

    first = [asked("a", far), *[asked("b", near)] * 3, *[asked("c", near)] * 3]
    other = [asked("a", near), *[asked("b", far)] * 3]

    assert _added(first, _left_out(first))[0] == [2, 1, 0]
    assert _added(other, _left_out(other))[0] == [0, 1, 2]


def test_nothing_is_added_where_no_other_repository_has_a_question_that_tells() -> None:
    sure = Asked("set", "b", [2.0, 1.0], [0.0, 1.0], [False, True])
    near = asked("a", [False, False, True])

    assert _added([near, sure], _left_out([near, sure])) == [[0, 1, 2], [0, 1]]


def test_nothing_is_added_where_the_first_result_is_far_ahead_or_behind_the_tenth() -> None:
    sure = Asked("set", "a", [2.0, 1.0], [0.0, 1.0], [False, True])
    long = Asked("set", "a", [1.0] * 12, [float(place) for place in range(12)], [False] * 11 + [True])

    orders = _added([sure, long], {"a": {"score": 1.0, "said": 1.0}})

    assert orders == [[0, 1], [*reversed(range(10)), 10, 11]]


def test_questions_on_one_repository_are_an_error_that_says_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"answerable": true, "repo": "harbour/ferry", "question": "When?", "gold": []}', encoding="utf-8"
    )
    (tmp_path / "ferry").mkdir()
    given = ["--questions", str(questions), "--checkouts", str(tmp_path), "--home", str(tmp_path), "--reranker", "off"]
    monkeypatch.setattr("sys.argv", ["second_stage", *given])

    with pytest.raises(SystemExit):
        second_stage.main()

    assert "checkouts of two or more" in capsys.readouterr().err
