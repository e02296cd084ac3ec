from __future__ import annotations

import pytest

from openbook.answering.followups import leans, needs_history, standalone
from openbook.errors import QueryError
from openbook.generation import Exchange

WHERE = Exchange("Where is Retry defined?", "In retry.py [1:1].")
HOW = Exchange("How does it wait?", "It sleeps.")


@pytest.mark.parametrize(
    "question",
    [
        "and where is it tested?",
        "And in the scanner?",
        "What about ferries?",
        "How does it wait?",
        "Who calls them?",
        "Is this tested?",
        "What does that do",
        "Why?",
        "Which tests?",
        "How long?",
        "What happens there?",
        "Und wie lange?",
        "Wer hat ihn geschrieben?",
    ],
)
def test_a_question_leans_on_those_before_it(question: str) -> None:
    assert leans(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where is the retry policy tested?",
        "Which function sends cookies that have expired?",
        "this_is_a_name",
        "cookie handling",
        "cookies",
        "What is a parcel?",
        "Which courses talk about storms?",
        "`Client.get`",
        "Wie lange wartet die Fähre im Sturm?",
        "向量索引是什么",
    ],
)
def test_a_question_stands_alone(question: str) -> None:
    assert not leans(question)


def test_a_question_that_leans_gets_the_one_before_it_in_front() -> None:
    made = standalone("and where is it tested?", [WHERE])

    assert made.text == "Where is Retry defined? and where is it tested?"
    assert made.asked.text == "and where is it tested?"
    assert made.leans


def test_a_chain_is_followed_one_more_question_back() -> None:
    assert standalone("Why?", [WHERE, HOW]).text == "Where is Retry defined? How does it wait? Why?"
    assert standalone("Why?", [HOW, WHERE]).text == "Where is Retry defined? Why?"
    assert standalone("Why?", [WHERE, HOW, HOW]).text == "How does it wait? How does it wait? Why?"


def test_a_question_without_words_of_its_own_is_weighed_by_all_of_them() -> None:
    made = standalone("Why is that so?", [WHERE])

    assert made.asked.text == made.text


def test_without_history_or_need_a_question_stays_as_it_is() -> None:
    for history in ([], [WHERE]):
        made = standalone(" How do sessions end in the harbour? ", history)

        assert (made.text, made.leans) == ("How do sessions end in the harbour?", False)


def test_only_a_question_that_leans_needs_those_before_it() -> None:
    assert needs_history("and where is it tested?", [WHERE])
    assert not needs_history("How do sessions end in the harbour?", [WHERE])
    assert not needs_history("and where is it tested?", [])
    assert not needs_history(" ", [WHERE])


def test_what_a_model_made_of_a_question_is_searched_for() -> None:
    leaning = standalone("and where is it tested?", [WHERE], "Where is\nRetry tested?")
    alone = standalone("How do sessions end in the harbour?", [WHERE], "Where is Retry tested?")

    assert (leaning.text, leaning.leans) == ("Where is Retry tested?", False)
    assert alone.text == "How do sessions end in the harbour?"


@pytest.mark.parametrize("written", ["", "?!", "word " * 200], ids=["nothing", "wordless", "an-essay"])
def test_what_is_no_question_is_not_taken_from_a_model(written: str) -> None:
    assert standalone("and where is it tested?", [WHERE], written).text.startswith("Where is Retry defined?")


@pytest.mark.parametrize("question", ["", "  ", "x" * 20_001])
def test_what_cannot_be_asked_raises_whatever_was_asked_before(question: str) -> None:
    with pytest.raises(QueryError):
        standalone(question, [WHERE])


def test_a_question_without_a_telling_word_raises_if_none_before_it_has_one() -> None:
    with pytest.raises(QueryError):
        standalone("Why?", [Exchange("How is that?", "")])
