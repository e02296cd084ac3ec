from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.chunking.fixed import ChunkOptions, cut, pack_windows, word_windows
from openbook.text import lines, paragraphs


def windows_of(text: str, **options: Any) -> list[str]:
    return [text[start:end] for start, end in word_windows(text, 0, len(text), ChunkOptions(**options))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param(" \n\t", [], id="blank"),
        pytest.param("one", ["one"], id="one-word"),
        pytest.param("one two three", ["one two three"], id="exactly-full"),
        pytest.param("one two three four", ["one two three", "three four"], id="one-more"),
        pytest.param(
            "one\n\n  two\tthree\r\nfour five", ["one\n\n  two\tthree", "three\r\nfour five"], id="as-written"
        ),
        pytest.param("你好，世界", ["你好，", "，世界"], id="han-without-spaces"),
        pytest.param("カナ 한국어 ab", ["カナ 한국어", "한국어 ab"], id="hangul-has-spaces"),
    ],
)
def test_a_window_holds_three_words_and_repeats_one(text: str, expected: list[str]) -> None:
    found = windows_of(text, max_words=3, overlap_words=1)

    assert found == expected


def test_windows_without_overlap_share_nothing() -> None:
    found = windows_of("a b c d e", max_words=2, overlap_words=0)

    assert found == ["a b", "c d", "e"]


def test_a_text_without_any_space_still_gives_bounded_windows() -> None:
    found = windows_of("x" * 10_000, max_words=50, overlap_words=5)

    assert max(map(len, found)) <= 50 * 8
    assert sum(map(len, found)) < 10_000 * 1.2


def test_white_space_between_words_counts_towards_the_bound() -> None:
    found = windows_of("a" + " " * 5000 + "b", max_words=50, overlap_words=5)

    assert found == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"strategy": "clever"}, "must be one of semantic, fixed-size, hybrid", id="strategy"),
        pytest.param(
            {"max_words": 10, "overlap_words": 10}, "overlap_words is 10, and must be from 0 to 9", id="words"
        ),
        pytest.param({"overlap_words": -1}, "overlap_words is -1", id="negative"),
        pytest.param({"max_chars": 600}, "merge_chars is 700, and must be from 0 to 600", id="merge"),
        pytest.param({"course_overlap_chars": 800}, "course_overlap_chars is 800", id="course"),
        pytest.param({"max_chars": 0, "merge_chars": 0}, "max_chars is 0, and must be positive", id="zero"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ChunkOptions(**options)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({"max_chars": 9}, [(0, 2), (2, 3), (3, 4)], id="by-characters"),
        pytest.param({"max_chars": 99, "max_pieces": 3}, [(0, 3), (3, 4)], id="by-pieces"),
        pytest.param({"max_chars": 9, "overlap_chars": 4}, [(0, 2), (1, 3), (3, 4)], id="overlap-where-the-next-fits"),
        pytest.param({"max_chars": 14, "overlap_chars": 9}, [(0, 3), (3, 4)], id="no-overlap-before-a-long-piece"),
        pytest.param({"max_chars": 3}, [(0, 1), (1, 2), (2, 3), (3, 4)], id="all-too-long"),
    ],
)
def test_pieces_are_packed_as_far_as_the_limits_allow(limits: dict[str, int], expected: list[tuple[int, int]]) -> None:
    pieces = [(0, 4), (5, 9), (10, 14), (15, 27)]

    found = list(pack_windows(pieces, **limits))

    assert found == expected


def test_nothing_packs_into_nothing() -> None:
    assert list(pack_windows([], max_chars=10)) == []


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 20))),
    st.integers(1, 40),
    st.integers(1, 6),
    st.integers(0, 30),
)
def test_packing_moves_on_and_leaves_no_piece_out(
    steps: list[tuple[int, int]], max_chars: int, max_pieces: int, overlap_chars: int
) -> None:
    pieces: list[tuple[int, int]] = []
    for gap, length in steps:
        start = (pieces[-1][1] if pieces else 0) + gap
        pieces.append((start, start + length))

    found = list(pack_windows(pieces, max_chars=max_chars, max_pieces=max_pieces, overlap_chars=overlap_chars))

    assert {index for first, behind in found for index in range(first, behind)} == set(range(len(pieces)))
    assert all(a[0] < b[0] <= a[1] < b[1] for a, b in pairwise(found))
    assert all(pieces[a[1] - 1][1] - pieces[b[0]][0] <= overlap_chars for a, b in pairwise(found) if b[0] < a[1])
    assert all(behind - first <= max_pieces for first, behind in found)
    assert all(pieces[b - 1][1] - pieces[a][0] <= max_chars for a, b in found if b - a > 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("a\r\n\r\n  b  \r\n", ["a", "  b"], id="windows-line-ends"),
        pytest.param("\n\n a", [" a"], id="blank-lines-first"),
    ],
)
def test_lines_keep_their_indentation_alone(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in lines(text, 0, len(text))] == expected


def test_a_line_of_white_space_ends_a_paragraph() -> None:
    text = "a\nb\n \t\r\n  c\nd"

    assert [text[start:end] for start, end in paragraphs(text, 0, len(text))] == ["a\nb", "  c\nd"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("all of it", ["all of it"], id="fits"),
        pytest.param("one two\nthree\n\nfour five", ["one two\nthree", "four five"], id="blank-line"),
        pytest.param("one two three\nfour five six\n\nx", ["one two three", "four five six", "x"], id="line"),
        pytest.param("One two. Three four. Five.", ["One two.", "Three four.", "Five."], id="sentence"),
        pytest.param("one two three four five", ["one two three", "four five"], id="white-space"),
        pytest.param("x" * 30, ["x" * 14, "x" * 14, "xx"], id="anywhere"),
    ],
)
def test_text_is_cut_as_coarsely_as_fourteen_characters_allow(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in cut(text, 0, len(text), 14)] == expected
