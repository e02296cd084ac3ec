from __future__ import annotations

import pytest

from openbook.answering.refusals import reply_to_small_talk


def test_small_talk_is_answered_at_once_unless_it_may_be_a_name() -> None:
    reply = reply_to_small_talk(" Hello! ")

    assert reply is not None
    assert (reply.query, reply.refused, reply.reason, reply.results) == ("Hello!", True, "nothing was asked", ())
    assert reply_to_small_talk("super") is None
    assert reply_to_small_talk("Hello, when do sessions end?") is None


@pytest.mark.parametrize("text", ["2+2", "2 + 2 = ?", "What is 3 * (4 - 1)?", "Was ist 12/4?"])
def test_arithmetic_is_no_question_to_the_sources(text: str) -> None:
    reply = reply_to_small_talk(text)

    assert reply is not None
    assert (reply.refused, reply.reason) == (True, "arithmetic")
    assert reply.answer.startswith("This is arithmetic")


@pytest.mark.parametrize("text", ["combien font 2 + 3 ?", "What is 17 percent of 230?"])
def test_a_sum_in_words_is_looked_for_first(text: str) -> None:
    assert reply_to_small_talk(text) is None

    reply = reply_to_small_talk(text, nothing_found=True)

    assert reply is not None
    assert reply.reason == "arithmetic"
