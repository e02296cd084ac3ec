from __future__ import annotations

import pytest

from openbook.answering.followups import is_rewritable, standalone
from openbook.answers import Exchange
from openbook.errors import QueryError

WHERE = Exchange("Where is Retry defined?", "In retry.py [1:1].")
HOW = Exchange("How does it wait?", "It sleeps.")


def test_a_question_that_leans_gets_the_one_before_it_in_front() -> None:
    made = standalone("and where is it tested?", [WHERE])

    assert made.text == "Where is Retry defined? and where is it tested?"
    assert made.asked.text == "and where is it tested?"
    assert made.leans


def test_a_chain_is_followed_back_to_the_question_that_it_began_with() -> None:
    assert standalone("Why?", [WHERE, HOW]).text == "Where is Retry defined? How does it wait? Why?"
    assert standalone("Why?", [HOW, WHERE]).text == "Where is Retry defined? Why?"
    chain = [WHERE, HOW, Exchange("And how long?", "30 s.")]
    assert standalone("Why?", chain).text == "Where is Retry defined? And how long? Why?"
    assert standalone("Why?", [HOW, HOW, HOW]).text == "How does it wait? How does it wait? Why?"


def test_a_question_without_words_of_its_own_is_weighed_by_all_of_them() -> None:
    made = standalone("Why is that so?", [WHERE])

    assert made.asked.text == made.text


def test_without_history_or_need_a_question_stays_as_it_is() -> None:
    for history in ([], [WHERE]):
        made = standalone(" How do sessions end in the harbour? ", history)

        assert (made.text, made.leans) == ("How do sessions end in the harbour?", False)


def test_a_general_word_is_none_of_its_own_and_not_what_sources_must_speak_of() -> None:
    made = standalone("Show me that in code.", [WHERE])

    assert made.text == "Where is Retry defined? Show me that in code."
    assert (made.leans, made.asked.text) == (True, made.text)


def test_thanks_are_not_what_the_next_question_leans_on() -> None:
    assert standalone("Why?", [WHERE, Exchange("Thanks!", "")]).text == f"{WHERE.question} Why?"


def test_a_model_rewrites_every_question_but_the_first_thanks_and_whole_pages() -> None:
    assert is_rewritable("and where is it tested?", [WHERE])
    assert is_rewritable("How do sessions end in the harbour?", [WHERE])
    assert not is_rewritable("and where is it tested?", [])
    assert not is_rewritable("Thanks, that helped!", [WHERE])
    assert not is_rewritable(" ", [WHERE])
    assert not is_rewritable("word " * 200, [WHERE])


def test_what_a_model_made_of_a_question_is_searched_for() -> None:
    leaning = standalone("and where is it tested?", [WHERE], "Where is\nRetry tested?")
    unseen = standalone("Which lines set the limit?", [WHERE], "Which lines set the limit of Retry?")

    assert (leaning.text, leaning.leans, leaning.rewritten) == ("Where is Retry tested?", False, True)
    assert (unseen.text, unseen.leans, unseen.rewritten) == ("Which lines set the limit of Retry?", False, True)


def test_a_question_that_a_model_leaves_as_it_is_stands_alone() -> None:
    made = standalone(" How does it dock? ", [WHERE], "How does it dock?")

    assert (made.text, made.leans, made.rewritten) == ("How does it dock?", False, False)


@pytest.mark.parametrize(
    ("asked", "written", "read"),
    [
        ("Is it tested?", '"Is Retry tested?"', "Is Retry tested?"),
        ("Is it tested?", "Standalone question: Is `Retry` tested?", "Is `Retry` tested?"),
        ("Is it tested?", "**Question:** Is Retry tested?", "Is Retry tested?"),
        ("show me that in code", "Show me Retry in code.", "Show me Retry in code."),
        ("Please elaborate.", "Elaborate on how Retry waits.", "Elaborate on how Retry waits."),
        ("and the tests", "Where are the tests of Retry?", "Where are the tests of Retry?"),
        ("I use Windows. Does it work?", "I use Windows. Does Retry work?", "I use Windows. Does Retry work?"),
    ],
)
def test_what_models_put_around_a_question_is_left_out(asked: str, written: str, read: str) -> None:
    assert standalone(asked, [WHERE], written).text == read


@pytest.mark.parametrize(
    "written",
    [
        *("", "?!", "word " * 200),
        "Yes, in test_retry.py.",
        "Retry is tested in test_retry.py [1:2]?",
        "Retry is tested in test_retry.py. Shall I show it?",
    ],
    ids=["nothing", "wordless", "an-essay", "an-answer", "a-mark", "an-answer-that-asks"],
)
def test_what_is_no_question_is_not_taken_from_a_model(written: str) -> None:
    assert standalone("and where is it tested?", [WHERE], written).text.startswith("Where is Retry defined?")


@pytest.mark.parametrize("wish", ["Show me that.", "Show me the class of that."])
def test_an_answer_in_place_of_a_wish_is_not_taken_from_a_model(wish: str) -> None:
    assert standalone(wish, [WHERE], "The class Retry sleeps.").leans


@pytest.mark.parametrize("question", ["", "  ", "x" * 20_001])
def test_what_cannot_be_asked_raises_whatever_was_asked_before(question: str) -> None:
    with pytest.raises(QueryError):
        standalone(question, [WHERE])


def test_a_question_without_a_telling_word_raises_if_none_before_it_has_one() -> None:
    with pytest.raises(QueryError):
        standalone("Why?", [Exchange("How is that?", "")])
