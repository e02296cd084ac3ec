"""Headings that ask what a question asks, or have its message."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.questions.question import read_question
from openbook.retrieval.asked_headings import heading_strength, nearest_heading
from tests.unit.retrieval.material import Library, chunk_of


def strength(question: str, title: str) -> float:
    query = read_question(question)
    return heading_strength(query, title, dict.fromkeys(query.tokens, 1.0))


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("why is the tide table of the harbour wrong", "Why is the tide table wrong?"),
        ("can ships moor overnight", "Can ships moor overnight at the quay?"),
        ("how do I moor a barge", "Mooring a barge"),
        ("how do I moor a late ship at night", "How do I moor a ship at night"),
        ("where do ropes go at night", "Where do ropes go at night?"),
        ("which ropes are allowed on the quay", "Which ropes are allowed on the quay?"),
        ("what is the difference between splice and splice-all", "Difference between splice and splice-all in docks?"),
        ("splice or splice-all, what's the difference between splice-all and splice", "Splice vs. splice-all"),
        ("BoatProxy vs Boat", "Choosing between Boat and BoatProxy"),
    ],
)
def test_a_heading_is_near_that_has_nearly_all_words_of_a_question_and_few_others(question: str, title: str) -> None:
    assert strength(question, title) > 0.7


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("why is the tide table of the harbour wrong", "Why is the anchor lost?"),
        ("can ships moor overnight", "Ships that moor overnight at the quay"),  # a topic, with another word
        ("can ships moor", "Can ships that are late moor at any quay in May?"),
        ("how do ships work", "The ships"),
        ("how does TideTable work", "TideTable"),  # a name of several parts
        ("Error: setTideTable() may be used only in a harbour", "setTideTable"),  # its page does not tell
        ("can it tie only some ropes of a ship", "Why is my ship not tied with ropes?"),
        ("what is a tide table", "Tide table"),  # has rules of its own
        ("where is the tide table printed", "Printing the tide table"),
        ("which steel ropes are supported", "Steel ropes supported"),
        ("what is the difference between splice and splice-all", "Splice-all"),
        ("what is the difference between splice and splice-all", "Splice and tie"),
        ("splice vs tie", "Splice vs. cut"),
        ("splice vs tie", "Comparing: splice, tie and cut"),
    ],
)
def test_other_headings_are_not_near(question: str, title: str) -> None:
    assert strength(question, title) == 0.0


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ('why do I see "quay B7 is full"', "My harbour logs ERR quay B7 is full, what should I do about it?"),
        ("[WARN] [harbour.quays] error while reading tides at 10:30", "Error while reading tides"),
        ("mooring failed: the quay B7 is locked", 'The log says "Mooring failed quay" now and then'),
        ("QuayLockedError: the quay B7 is locked", "QuayLockedError"),
        ("QuayLockedException: the quay B7 is locked", "QuayLockedException"),
        ("QuayLockedWarning: the quay B7 is locked", "QuayLockedWarning"),
    ],
)
def test_a_heading_has_a_message_or_a_part_of_it(question: str, title: str) -> None:
    assert strength(question, title) == 1.0


def test_two_words_are_no_message() -> None:
    assert strength('why do I see "tide error" in the harbour when ships sink', "Tide error") == 0.0


def test_headings_above_and_in_a_chunk_of_documentation_count() -> None:
    query = read_question("can ships moor overnight")
    rarity = dict.fromkeys(query.tokens, 1.0)
    text = 'Text.\n\n## <a name="night"></a> Can ships moor overnight?\n\nNo.'

    assert nearest_heading(query, chunk_of(text), rarity) == 1.0
    assert nearest_heading(query, chunk_of("No.", context=("Can ships moor overnight?",)), rarity) == 1.0
    assert nearest_heading(query, chunk_of(text, kind="code"), rarity) == 0.0
    assert nearest_heading(query, chunk_of(text, "CHANGELOG.md"), rarity) == 0.0


def test_comments_of_examples_are_no_headings() -> None:
    query = read_question("moor ships overnight")
    rarity = dict.fromkeys(query.tokens, 1.0)
    code = "```sh\n# Moor ships overnight\nmoor --night\n```\n"
    cut = chunk_of(code.partition("\n")[2], code_opening="```sh", language="markdown")

    assert nearest_heading(query, chunk_of(code, language="markdown"), rarity) == 0.0
    assert nearest_heading(query, cut, rarity) == 0.0
    assert nearest_heading(query, chunk_of(f"{code}\n# Moor ships overnight\n", language="markdown"), rarity) == 1.0
    assert nearest_heading(query, chunk_of(code, language="rst"), rarity) == 1.0


def test_a_section_with_such_a_heading_is_ranked_first(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.sqlite")
    library.put("ships.md", "Ships moor overnight. Can ships moor? Ships can moor overnight, and ships moor by day.")
    library.put("faq.md", "## Can ships moor overnight?\n\nNever. Ask at the gate, where a guard knows about it all.")

    found = library.search("can ships moor overnight?")

    assert found[0].chunk.span.path == "faq.md"
    assert found[0].signals["headed"] > 0


def test_the_question_of_a_faq_in_bold_is_a_heading_but_not_in_an_example() -> None:
    query = read_question("can ships moor overnight")
    rarity = dict.fromkeys(query.tokens, 1.0)
    page = chunk_of("**Can ships moor overnight?**\n\nYes.", "faq.md", language="markdown")
    example = chunk_of("```\n**Can ships moor overnight?**\n```\n", "faq.md", language="markdown")

    assert nearest_heading(query, page, rarity) > 0.9
    assert nearest_heading(query, example, rarity) == 0.0
