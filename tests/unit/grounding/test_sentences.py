"""Cited lines are read as the sentences that they hold."""

from __future__ import annotations

import pytest

from openbook.grounding.sentences import sentences_of


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
