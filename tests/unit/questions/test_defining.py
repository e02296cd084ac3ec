"""Questions for what something is, and the lines that say it."""

from __future__ import annotations

import pytest

from openbook.questions.question import definition_of


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is quay?", "**quay** is a small harbour server."),
        ("what is quay", "Meet quay. Quay is the server of harbours."),
        ("And what's a tide table?", "A *tide table* (printed) is a list."),
        ("What is a tide table?", "So tide tables, which are printed, tell it."),
        ("What is a tide table?", "And this list is called a tide table."),
        ("What is TTD?", "The tide table data, or TTD, is a list."),
        ("What are moorings?", "Moorings are ropes and rings."),
        ("What are moorings?", "The moorings are ropes and rings."),
        ("What is a quay?", "Quays are walls for ships."),
        ("What is quay?", "`Quay <https://quay.example>`__ is\na server."),
        ("What is quay?", "quay \\- A server of harbours"),
        ("What is quay?", "Quay NG/Server is a server."),
        ("Was ist ein Gezeitenbuch?", "Ein Gezeitenbuch ist eine Liste."),
        ("Qu'est-ce qu'une balise ?", "Une balise est un signal."),
        ("¿Qué es un muelle?", "Un muelle es una obra."),
    ],
)
def test_a_line_that_says_what_something_is_defines_it(question: str, line: str) -> None:
    defining = definition_of(question)

    assert defining is not None
    assert defining.search(line)


@pytest.mark.parametrize(
    "line",
    [
        "Quay is used by many.",
        "The quays are listed in order.",
        "The best quay is a long one.",
        "Quays of old were a sight.",
        "QUAY - TABLE OF CONTENTS",
    ],
)
def test_a_line_that_says_something_else_of_it_does_not(line: str) -> None:
    defining = definition_of("What is quay?")

    assert defining is not None
    assert not defining.search(line)


@pytest.mark.parametrize("question", ["What happens at low tide?", "What is the default of the port option?", "quay"])
def test_questions_for_something_else_ask_for_no_definition(question: str) -> None:
    assert definition_of(question) is None
