from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.opposites import opposite_disagrees

DOUBLES = ["Send it again after a failure.", "Waits .5 s before the first retry and doubles the pause each time."]


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        pytest.param("The pause halves each time.", DOUBLES, id="verb"),
        pytest.param("The flag disables the cache.", ["The flag enables the cache."], id="enable"),
        pytest.param("Items are listed in ascending order.", ["Items are listed in descending order."], id="order"),
        pytest.param("The client may send a token.", ["The client must send a token."], id="must"),
        pytest.param("Some requests are logged.", ["All requests are logged."], id="all"),
        pytest.param("The parser sometimes fails.", ["The parser always fails."], id="always"),
        pytest.param("The hook runs after the request.", ["The hook runs before the request."], id="before"),
    ],
)
def test_a_word_turned_round_is_told(claim: str, sentences: list[str]) -> None:
    assert "where the cited lines say" in opposite_disagrees(claim, sentences)


@pytest.mark.parametrize(
    ("claim", "sentences"),
    [
        pytest.param("The pause doubles each time.", DOUBLES, id="the-same-word"),
        pytest.param("It waits before and after.", ["It waits before.", "It waits after."], id="both-are-said"),
        pytest.param("The flag does not disable it.", ["The flag enables it."], id="denied-in-the-claim"),
        pytest.param("The flag disables it.", ["The flag never enables it."], id="denied-in-the-text"),
        pytest.param("The tool removes old files.", ["New users can add a card."], id="of-something-else"),
        pytest.param("The pause halves.", [], id="nothing-cited"),
    ],
)
def test_what_is_not_turned_round_is_left_alone(claim: str, sentences: list[str]) -> None:
    assert opposite_disagrees(claim, sentences) == ""


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_a_text_never_turns_itself_round(claim: str, others: list[str]) -> None:
    assert opposite_disagrees(claim, [claim, *others]) == ""
