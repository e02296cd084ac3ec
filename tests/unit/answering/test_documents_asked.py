"""Questions for the documents that mention a topic."""

from __future__ import annotations

import pytest

from tests.unit.answering.asking import ask
from tests.unit.retrieval.material import Library


def test_documents_that_mention_the_topic_and_are_not_quoted_are_named(library: Library) -> None:
    for number in range(19):
        library.put(f"{number:02}.md", f"Pier {number} waits as the retry policy says.", f"Tug {number} waits.")
    library.put("other.md", "The retry policymaker waits.")

    answer = ask(library, "Which files mention the retry policy?").answer.split("\n\n")[-1]

    assert answer.startswith("11 other documents mention it: `")
    assert answer.endswith("` and 3 more")
    assert answer.count(".md:1`") == 8
    assert "other.md" not in answer


def test_documents_that_mention_the_topic_most_are_named_first(library: Library) -> None:
    for number in range(12):
        library.put(f"{number:02}.md", f"Pier {number} waits.", *["No retry policy."] * (1 + (number == 7)))

    answer = ask(library, "Which files mention no retry policy?").answer.split("\n\n")[-1]

    assert answer.startswith("11 other documents mention it: `07.md:3`, `00.md:3`")


def test_a_question_for_documents_that_are_all_quoted_names_no_others(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.md", "Here, the retry policy waits.")

    assert ask(library, "Which files mention the retry policy?").answer.endswith(" [2:1]")


def test_one_other_document_mentions_the_topic(library: Library) -> None:
    for number in range(9):
        library.put(f"{number}.md", f"Pier {number} has a retry policy.")

    assert "\n1 other document mentions it: `" in ask(library, "Which files mention a retry policy?").answer


def test_documents_that_mention_the_topic_are_counted_as_far_as_they_are_read(library: Library) -> None:
    for number in range(10):
        library.put(f"{number}.md", f"Pier {number} has no retry policy.")
    library.put("many.md", "\n".join(["No retry policy."] * 2_001))

    answer = ask(library, "Which files mention no retry policy?").answer

    assert answer.split("\n\n")[-1].startswith("At least 10 other documents mention it: `0.md:1`")


def test_a_quote_for_a_place_does_not_go_on_with_its_list(library: Library) -> None:
    items = "\n".join(f"- Rope number {number} is of hemp." for number in range(40))
    library.put("a.md", f"What the retry policy has:\n\n- Tugs.\n{items}")

    assert "goes on to" in ask(library, "What does the retry policy have?").answer
    assert "goes on to" not in ask(library, "Which files mention the retry policy?").answer


@pytest.mark.parametrize("topic", ["retry\npolicy", "retry policy " * 60], ids=["of-two-lines", "long"])
def test_any_topic_can_be_asked_for(library: Library, topic: str) -> None:
    library.put("a.md", "The retry policy waits.")

    assert "The retry policy waits." in ask(library, f"Which files mention the {topic}?").answer
