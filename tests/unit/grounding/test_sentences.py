"""Cited lines are read as the sentences that they hold."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.sentences import sentence_ranges, sentences_of, words_of_signs


@pytest.mark.parametrize(
    ("units", "sentences"),
    [
        pytest.param(["It runs. It stops."], ["It runs.", "It stops."], id="two-in-a-line"),
        pytest.param(
            ["The server listens on a port that is free, unless", "PORT is set."],
            ["The server listens on a port that is free, unless PORT is set."],
            id="wrapped",
        ),
        pytest.param(
            ["    # The server listens on a port that is free, unless", "    # PORT is set."],
            ["The server listens on a port that is free, unless PORT is set."],
            id="wrapped-comment",
        ),
        pytest.param(
            ["        The client does, as far as it can be told here,", "        not retry."],
            ["The client does, as far as it can be told here, not retry."],
            id="indented",
        ),
        pytest.param(
            ["- The first item of a list that is long enough to be", "- The second item"],
            ["- The first item of a list that is long enough to be", "- The second item"],
            id="items",
        ),
        pytest.param(["Port", "8000"], ["Port", "8000"], id="short-lines-were-not-wrapped"),
        pytest.param(["x = 1", "y = f(x)"], ["x = 1\ny = f(x)"], id="code-in-groups"),
        pytest.param(["", "  ", "#"], [], id="blank"),
        pytest.param([], [], id="none"),
    ],
)
def test_units_are_joined_and_cut_at_the_ends_of_sentences(units: list[str], sentences: list[str]) -> None:
    assert sentences_of(units) == sentences


@pytest.mark.parametrize(
    ("line", "word"),
    [
        pytest.param("def get(url):", "take", id="parameters"),
        pytest.param("def get(url) -> str:", "return", id="result"),
        pytest.param("TIMEOUT_S = 30", "set", id="assignment"),
        pytest.param("raise TimeoutError(url)", "error", id="error"),
    ],
)
def test_signs_of_code_stand_for_the_words_that_people_use(line: str, word: str) -> None:
    assert word in words_of_signs(line).split()


def test_prose_that_mentions_code_has_no_signs() -> None:
    assert words_of_signs("It is known that get() returns what was read before x = 1 was set.") == ""


@given(st.lists(st.text(), max_size=8))
def test_no_sentence_is_blank(units: list[str]) -> None:
    assert all(sentence.strip() for sentence in sentences_of(units))


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        pytest.param("One. Two!\nThree is here.", ["One.", "Two!", "Three is here."], id="prose"),
        pytest.param(
            "A sentence that was wrapped where the line was full goes on\nhere. Then comes the next.",
            ["A sentence that was wrapped where the line was full goes on\nhere.", "Then comes the next."],
            id="wrapped",
        ),
        pytest.param("- one\n- two", ["- one", "- two"], id="list"),
        pytest.param("    x = f(1)\n    return x;", ["x = f(1)", "return x;"], id="code"),
        pytest.param('"""\nIt waits.\n"""', ["It waits."], id="marks-alone"),
        pytest.param(
            "A paragraph of words that is long enough and has no mark\n\nand another one",
            ["A paragraph of words that is long enough and has no mark", "and another one"],
            id="paragraphs",
        ),
        pytest.param(" \n\n", [], id="blank"),
    ],
)
def test_ranges_are_exact_slices(text: str, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_ranges(text)] == pieces


@given(st.text(st.sampled_from('ab .#-|=(\n\t\f"*')))
def test_ranges_go_on_and_are_trimmed(text: str) -> None:
    ranges = sentence_ranges(text)

    assert all(start < end for start, end in ranges)
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))
    assert all(text[start:end] == text[start:end].strip() for start, end in ranges)
