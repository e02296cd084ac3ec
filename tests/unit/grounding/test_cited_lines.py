"""Where cited lines stand in their sources, and what is shown around them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbook.grounding.cited_lines import MARGIN_LINES, show_claims
from openbook.grounding.protocol import CitedClaim, SourceText


def numbered(count: int) -> str:
    return "\n".join(f"line {number}" for number in range(1, count + 1))


def test_a_margin_is_shown_and_what_is_further_away_is_left_out() -> None:
    page = SourceText(numbered(100), "page.md")

    (excerpt,), (shown,) = show_claims([CitedClaim("It is fifty.", "line 50", (page,))])

    first, last = 50 - MARGIN_LINES, 50 + MARGIN_LINES
    assert excerpt.lines == tuple((number, f"line {number}") for number in range(first, last + 1))
    assert shown.ranges == ((0, 50, 50),)
    assert shown.around.split("\n") == [f"line {number}" for number in range(first, last + 1) if number != 50]


def test_lines_that_stand_twice_are_those_of_the_longest_run() -> None:
    code = SourceText("try:\n    run()\nfinally:\n    stop()\ntry:\n    wait()", "a.py")

    _, (shown,) = show_claims([CitedClaim("It waits.", "try:\n    wait()", (code,))])

    assert shown.ranges == ((0, 5, 6),)


def test_line_behind_a_blank_one_is_the_next_of_the_source() -> None:
    page = SourceText("code:\nx = 1\nIt waits so,\nas here\ncode:\ny = 2", "page.md")

    _, (shown,) = show_claims([CitedClaim("It waits.", "It waits so,\nas here\n\ncode:\n\n", (page,))])

    assert shown.ranges == ((0, 3, 5),)


@pytest.mark.parametrize(
    ("places", "lines"),
    [
        pytest.param(((0, 4, 4),), (4, 4), id="known"),
        pytest.param((), (1, 1), id="unknown"),
        pytest.param(((1, 4, 4),), (1, 1), id="no-such-source"),
        pytest.param(((0, 4, 5),), (1, 1), id="no-such-line"),
        pytest.param(((0, 0, 1),), (1, 1), id="no-line"),
    ],
)
def test_a_line_that_stands_twice_is_the_one_that_is_said(
    places: tuple[tuple[int, int, int], ...], lines: tuple[int, int]
) -> None:
    code = SourceText("    return None\nx = 1\ny = 2\n    return None", "a.py")

    _, (shown,) = show_claims([CitedClaim("It is none.", "    return None", (code,), places)])

    assert shown.ranges == ((0, *lines),)


def test_places_of_two_sources_are_told_apart() -> None:
    one, two = SourceText("a = 1\nb = 2", "one.py"), SourceText("c = 3\nd = 4", "two.py")

    excerpts, (shown,) = show_claims([CitedClaim("d is 4 and a is 1.", "d = 4\na = 1", (one, two))])

    assert [excerpts[place].source.path for place, _, _ in shown.ranges] == ["two.py", "one.py"]
    assert [ends for _, *ends in shown.ranges] == [[2, 2], [1, 1]]


def test_sentences_of_a_long_line_are_found() -> None:
    talk = SourceText(
        "Welcome to this lesson.\nA knot holds a rope.\nIt is tied twice.\nGoodbye to you all.", "talk.txt"
    )

    _, (shown,) = show_claims([CitedClaim("It holds.", "A knot holds a rope. It is tied twice.", (talk,))])

    assert shown.ranges == ((0, 2, 3),)


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param(CitedClaim("It waits.", "sleep(1)"), id="no-sources"),
        pytest.param(CitedClaim("It waits.", "sleep(1)", (SourceText("stop()", "a.py"),)), id="not-in-its-source"),
        pytest.param(CitedClaim("It waits.", "x\n" * 9_000, (SourceText("x\n" * 9_000, "a.py"),)), id="too-long"),
    ],
)
def test_cited_text_that_is_not_found_is_shown_by_itself(claim: CitedClaim) -> None:
    (excerpt,), (shown,) = show_claims([claim])

    assert claim.cited_text.startswith(excerpt.source.text)
    assert len(excerpt.lines) == len(excerpt.source.text.split("\n"))
    assert shown.around == ""


def test_a_margin_ends_before_a_line_that_is_a_whole_lesson() -> None:
    talk = SourceText("word " * 2_000 + "\nThe ferry sails.\nIt returns.", "talk.txt")

    (excerpt,), _ = show_claims([CitedClaim("It sails.", "The ferry sails.", (talk,))])

    assert [number for number, _ in excerpt.lines] == [2, 3]


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["", "}", "a = 1", "b = 2", "wait()", "    wait()"]), min_size=1, max_size=12),
    st.data(),
)
def test_what_is_cited_is_always_shown(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    cited = "\n".join(lines[first : last + 1])

    excerpts, (shown,) = show_claims([CitedClaim("It is so.", cited, (SourceText("\n".join(lines), "a.py"),))])

    seen = {
        line.strip()
        for place, start, end in shown.ranges
        for number, line in excerpts[place].lines
        if start <= number <= end
    }
    assert {line.strip() for line in cited.split("\n") if line.strip()} <= seen
