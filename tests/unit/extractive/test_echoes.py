"""Passages that repeat the question, or an answer to it, and say nothing."""

from __future__ import annotations

import pytest

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of


def test_a_passage_that_only_repeats_the_question_gives_way_to_one_that_says_more() -> None:
    echo = chunk_of("How are chunks cut here?", "contents.md")
    answer = chunk_of("Chunks are cut at headings, then between sentences of the text.", "guide.md")

    best = picked("How are chunks cut here?", echo, answer)[0]

    assert best.passage.text == answer.text


BREAD = "The dough of a brioche is kept for days in a cold cellar, does not rise much, and wants butter."
TEA = "茶馆的老板说绿茶好喝要看水的温度和产地。"
ASKED_ABOVE = "## What is the default port?\n\n8080"


@pytest.mark.parametrize(
    ("question", "exact", "other"),
    [
        ("How long does the dough rest?", "The dough rests two hours.", BREAD),
        ("How much does a tapir weigh?", "A tapir weighs 300 kilos.", "A long name tapir sleeps."),
        ("When was the tower built?", "“The tower was built in 1874.”", "The tower stands where three roads meet."),
        (
            "Who was the first warden?",
            "The first warden was Ottilie.",
            "Every warden writes, and the first one is lost.",
        ),
        ("Are dogs allowed?", "Dogs are **not allowed.**", "Dogs and their owners wait at the gate."),
        ("Is the honey safe?", "The honey is safe.", "The honey stands in the kitchen with many others."),
        ("Which port is used by the gate?", "| gate port | 7070 |", "The gate has an owner who looks after it well."),
        ("Who is the owner of the gate?", "- Owner of the gate: Rosa", "The gate listens on what the team has chosen."),
        ("What is the default port?", ASKED_ABOVE, "The port is opened by the team that looks after the network."),
        ("How far is the farm?", "How far is the farm? Nine miles.", "The farm is sold by those who look for another."),
        ("Wie lang ist die Brücke?", "Die Brücke ist 412 Meter lang.", "Die Stadt hat für eine Brücke viel bezahlt."),
        ("绿茶要泡多久？", "绿茶要泡三分。", TEA),
    ],
)
def test_an_exact_answer_adds_hardly_a_word_to_the_question_and_is_quoted_first(
    question: str, exact: str, other: str
) -> None:
    assert quotes(picked(question, chunk_of(other, "b.md"), chunk_of(exact)))[0] == exact


@pytest.mark.parametrize(
    "echo",
    [
        pytest.param("How long does the dough rest?", id="question"),
        pytest.param("- How long the dough rests", id="contents"),
        pytest.param("- Chapter 3: the dough rests", id="contents-with-a-number"),
        pytest.param('    ask "how long does the dough rest?" --library school --lesson 2', id="command"),
        pytest.param("| rest | dough |", id="columns"),
        pytest.param("The dough rests as long as old books say. [2:5-6]", id="answer"),
        pytest.param(
            "$ ask how long the dough of rye rests\nQuoted from the sources; no model wrote this.",
            id="note-of-an-answer",
        ),
    ],
)
def test_what_repeats_the_question_and_gives_nothing_does_not_come_first(echo: str) -> None:
    answer = "A dough of wheat has to rest for two hours before anybody bakes it."

    assert quotes(picked("How long does the dough rest?", chunk_of(echo, "b.md"), chunk_of(answer)))[0] == answer


def test_a_mark_that_is_asked_for_is_none_of_another_answer() -> None:
    marked, other = "The dough rests as [2:5] says.", "The dough of wheat rests as all of the old books say."

    found = picked("Which dough rests as [2:5] says?", chunk_of(other, "b.md"), chunk_of(marked))

    assert quotes(found)[0] == marked


def test_a_short_sentence_that_holds_little_of_the_question_is_no_exact_answer() -> None:
    fragment = "The items in the invoice."
    answer = "Generate an object that stands for all of the content of this invoice."

    found = picked(
        "What do I tell the model so that it reads the data off an invoice",
        chunk_of(f"{fragment}\n\n## Then\n\n{answer}"),
    )

    assert quotes(found)[0] == answer


@pytest.mark.parametrize(
    "links",
    [
        "* [The source of the ropes](https://ropes.example/source)",
        "- [Ropes](ropes.md)\n- [A source of hemp](hemp.md)",
        "* `The source of the ropes <https://ropes.example/source>`_",
        "See also [the source of the ropes](source.md).",
    ],
)
def test_a_menu_of_links_gives_way_to_what_is_said_and_answers_who_asks_for_it(links: str) -> None:
    menu = chunk_of(links, "index.md")
    said = chunk_of("A source that is tied up twice is moored for one night.", "guide.md")

    assert quotes(picked("How do I moor a single source for one night?", menu, said, scores=(1.0, 1.0))) == [said.text]
    assert links.endswith(quotes(picked("Where is the source of the ropes?", menu))[0])


def test_the_same_sentence_in_another_format_is_not_quoted_again() -> None:
    said = "A ship is moored at night with {} and a knot."
    guide = chunk_of(said.format("[two ropes](hemp.md)"), "guide.md", language="markdown")
    twin = chunk_of(said.format(":doc:`two ropes <wire>`"), "guide.rst", language="rst")

    assert quotes(picked("How is a ship moored at night?", guide, twin)) == [guide.text]
    assert quotes(picked("How is a ship moored at night?", twin, guide)) == [twin.text]
