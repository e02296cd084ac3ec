"""Questions for what a release changed, and the sections on it."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.questions.releases_asked import AskedRelease


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What changed in 4.0.0?", "4.0.0"),
        ("changes in v4.1", "4.1"),
        ("What's new in version 2.0?", "2.0"),
        ("release notes for 3.1.2", "3.1.2"),
        ("which bugs were fixed in release 3.1.2", "3.1.2"),
        ("Which options were removed since 2.4?", "2.4"),
        ("3.1.2 changelog", "3.1.2"),
        ("v4.0.0", "4.0.0"),
        ("How do I upgrade to 4.1?", "4.1"),
        ("anything to watch when updating the harbour for version 4.1", "4.1"),
        ("migrating from 3.9 to v4.1", "4.1"),
        ("breaking changes when moving to 4.1", "4.1"),
        ("harbour 4.1 upgrade what do I have to change", "4.1"),
        ("4.1 migration guide", "4.1"),
        ("What changed in harbour 4.0?", "4.0"),
        ("what's new in Quay Master 4.0.1", "4.0.1"),
        ("How do I upgrade to Harbour 4.1?", "4.1"),
    ],
)
def test_the_changes_of_a_release_are_asked_for(question: str, number: str) -> None:
    asked = read_question(question)

    assert asked.release is not None
    assert (asked.release.number, asked.view) == (number, "passages")


@pytest.mark.parametrize(
    "question",
    [
        "Does it run on Python 3.10?",
        "How do I upgrade from 4.1?",
        "How do I move a ship to pier 4.1b2?",
        "What changed in the harbour?",
        "What changed in 2024?",
        "Which ropes are new in a ship 3.5 metres long?",
        "Is there a new crane for Python 3.10?",
        "What changed in the old harbour 4.0?",
        "Why is a new rope 3.5 metres long?",
        "What is the difference between the changes in 2.0 and those in 3.0?",
        'When is "changes in 4.0.0" printed?',
        "What changed in 4.0.0a1.2b3?",
        "What changed in 4.0.0? " + "The harbour has ropes. " * 10,
    ],
)
def test_other_questions_ask_for_no_release(question: str) -> None:
    assert read_question(question).release is None


@pytest.mark.parametrize("title", ["4.0.0", "v4.0.0 (2024-05-01)", "Release 4.0.0", "[4.0.0] - May"])
def test_a_heading_names_the_release(title: str) -> None:
    release = AskedRelease("4.0.0")

    texts = (f"## {title}\n\nNew.", f"Old.\n\n{title}\n--------\n\nNew.", f"= {title}\n\nNew.")
    assert [release.is_heading_in(text) for text in texts] == [True, True, True]
    assert release.is_in(("Changes", title), "NEWS.md")
    assert release.is_in((), f"notes/{title}.md")


def test_zeros_at_the_end_of_a_number_do_not_count() -> None:
    assert [AskedRelease("4.0").is_in([title], "") for title in ("4.0.0", "4.0", "4.0.1", "4")] == [1, 1, 0, 0]
    assert [AskedRelease("4.0.0").is_in([title], "") for title in ("4.0.0", "4.0", "4.0.1", "4")] == [1, 1, 0, 0]
    assert [AskedRelease("4.10").is_in([title], "") for title in ("4.10.0", "4.1")] == [1, 0]


@pytest.mark.parametrize("title", ["14.0.0", "4.0.0.1", "4.0.01", "1.4.0.0", "4x0x0"])
def test_the_heading_of_another_release_does_not(title: str) -> None:
    release = AskedRelease("4.0.0")

    assert not release.is_heading_in(f"## {title}\n\nNew.")
    assert not release.is_in((title,), f"v4.0.0/{title}.md")


def test_a_sentence_is_no_heading() -> None:
    assert not AskedRelease("4.0.0").is_heading_in("As in 4.0.0.\n\n#4.0.0")


@pytest.mark.parametrize(
    ("text", "is_heading"),
    [
        ("Bugs\f\f\n\nVersion 4.0.0\f\f\f\n\nRopes hold.", True),
        ("Bugs in 4.0.0: none\n\nVersion 5\f\f", False),
        ("4.0.0\f\nRopes hold.", False),
    ],
)
def test_a_heading_that_a_reader_has_marked_may_name_the_release(text: str, is_heading: bool) -> None:
    assert AskedRelease("4.0.0").is_heading_in(text) is is_heading
