"""Which kind of question something is, told by a model over its words."""

from __future__ import annotations

import pytest

from openbook.answering.followups import standalone
from openbook.answers import Exchange
from openbook.errors import QueryError
from openbook.questions.kinds import kind_of
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    "question",
    [
        "What is the architecture of this project?",
        "architecture",
        "Give me a high-level overview of the codebase.",
        "overview",
        "How is this project structured?",
        "What does this library do?",
        "What is this repository about?",
        "What is the purpose of this tool?",
        "Summarize this page",
        "Please summarise this project",
        "Where do I start?",
        "Where should I start reading the code?",
        "Was macht dieses Projekt?",
        "Worum geht es hier?",
        "Que fait ce projet ?",
        "¿De qué trata este repositorio?",
    ],
)
def test_a_question_for_the_project_at_hand_is_one_for_the_whole(question: str) -> None:
    assert kind_of(question) == "whole"


@pytest.mark.parametrize(
    "question",
    [
        "What is the architecture of the retry module?",
        "What does the scheduler do?",
        "What is a job?",
        "Where does the worker start?",
        "How is the cache structured?",
        "overview of retries",
        "Summarize the differences between queues and locks",
        "Is this tested?",
        "what are bastion pods and what do they do",
        "What are the supertypes and what do they do?",
        "who is on call and what do they do at night?",
        "Und wie lange?",
    ],
)
def test_a_question_for_one_thing_in_it_is_specific(question: str) -> None:
    assert kind_of(question) == "specific"


@pytest.mark.parametrize(
    "text",
    [
        *("thanks", "Thank you very much!", "Thanks, that helped a lot!", "Vielen Dank", "Danke schön."),
        *("hi there", "Good morning!", "hello openbook, how are you?", "Guten Tag", "bye"),
        *("What can you do?", "What can I ask you?", "Who are you?", "How can you help me?", "help", "Was kannst du?"),
    ],
)
def test_greetings_thanks_and_questions_about_the_answerer_are_small_talk(text: str) -> None:
    assert kind_of(text) == "small talk"


@pytest.mark.parametrize(
    "text",
    [
        *("", "?", "Hi, what is a parcel?", "hello world example", "Help me install it", "thank you notes"),
        *("What can you do with a parcel?", "Who are you calling from the crane?", "thanks " * 80),
    ],
)
def test_what_asks_something_of_the_sources_is_no_small_talk(text: str) -> None:
    assert kind_of(text) == "specific"


@pytest.mark.parametrize("text", ["2+2", "2 + 2 =", "What is 3 * 4?", "12 / 4", "What is 17 percent of 230?"])
def test_a_calculation_is_arithmetic(text: str) -> None:
    assert kind_of(text) == "arithmetic"


@pytest.mark.parametrize(
    "text", ["42", "2024-11-23", "10-20", "HTTP 404/405", "3.11.2", "What is 42?", "1 + x", "Why is 2+2 in the test?"]
)
def test_numbers_that_sources_may_speak_of_are_no_arithmetic(text: str) -> None:
    assert kind_of(text) == "specific"


@pytest.mark.parametrize(
    "question",
    ["how does it work", "What is it?", "What does it do?", "how can I use this?", "Who is it for?", "can it do this"],
)
def test_a_question_about_it_alone_asks_for_the_whole(question: str) -> None:
    asked = read_question(question)

    assert asked.asks_for_whole()
    assert asked.tokens


@pytest.mark.parametrize("question", ["how to", "where are the", "where is it"])
def test_other_questions_without_words_of_their_own_are_errors(question: str) -> None:
    with pytest.raises(QueryError, match="contains no word to search for"):
        read_question(question)


def test_in_a_conversation_it_is_what_was_asked_for_before() -> None:
    asked = standalone("how does it work", [Exchange("Where is Retry defined?", "In retry.py.")])

    assert asked.text == "Where is Retry defined? how does it work"
    assert not asked.question.asks_for_whole()


@pytest.mark.parametrize(
    ("question", "is_for_whole"),
    [
        ("How do I manage Kubernetes pods with this collection?", False),
        ("How can I run just one test with Harbour?", False),
        ("How can I wait longer between each attempt with this tool?", False),
        ("What can I build with this library?", True),
        ("What can I do with this project?", True),
        ("Where do I begin with Harbour?", True),
    ],
)
def test_what_can_be_done_with_a_project_is_no_question_for_the_whole(question: str, *, is_for_whole: bool) -> None:
    assert read_question(question).asks_for_whole(["harbour"]) is is_for_whole
