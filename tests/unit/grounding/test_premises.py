from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.facts import likeliest
from openbook.grounding.nli import windows_of


def test_text_that_fits_is_one_window() -> None:
    assert windows_of([10, 10, 10], room=30) == [(0, 3)]


def test_no_units_make_no_windows() -> None:
    assert windows_of([], room=30) == []


def test_neighbours_at_a_border_stand_together_in_one_window() -> None:
    assert windows_of([5] * 10, room=20) == [(0, 4), (3, 7), (6, 10)]


def test_a_unit_that_is_too_large_is_a_window_of_its_own() -> None:
    assert windows_of([5, 100, 5], room=20) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.slow
@given(st.lists(st.integers(0, 60), max_size=40), st.integers(1, 50))
def test_windows_cover_all_units_go_on_and_fit(sizes: list[int], room: int) -> None:
    windows = windows_of(sizes, room)

    assert {unit for start, end in windows for unit in range(start, end)} == set(range(len(sizes)))
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(windows))
    assert all(sum(sizes[start:end]) <= room or end - start == 1 for start, end in windows)


def test_the_texts_that_share_most_words_are_chosen_in_their_order() -> None:
    texts = ["nothing here", "the parcel", "a parcel waits at the gate", "no", "it waits for parcels"]

    assert likeliest("The parcel waits.", texts, 2) == [2, 4]


def test_of_equals_the_first_are_chosen() -> None:
    assert likeliest("parcel", ["x"] * 5, 2) == [0, 1]
