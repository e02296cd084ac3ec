"""Entries of changelogs and notes that say in which release something was changed."""

from __future__ import annotations

import pytest

from openbook.questions.changes_asked import AskedChange, Change
from openbook.retrieval.changes import change_entries
from openbook.types import Chunk
from tests.unit.retrieval.material import Library, chunk_of

OTHER = " ".join(f"Crane {number} lifts stones." for number in range(40))


def said(chunk: Chunk, *words: str, done: Change = "added", topic: str = "") -> dict[str, float]:
    """Return how well each place says it, to two digits."""
    found: dict[str, float] = {}
    for each in change_entries(AskedChange(done, topic), chunk, dict.fromkeys(words, 1.0)):
        text = chunk.text[each.start : each.end]
        found[text] = max(found.get(text, 0.0), round(each.strength, 2))
    return found


def changes(text: str, *context: str) -> Chunk:
    return chunk_of(text, "CHANGES.md", language="markdown", context=context)


def test_an_entry_that_says_so_counts_more_than_one_that_only_names_it() -> None:
    chunk = changes("- Add tides.\n- Tides of May.\n- Piers are new.")

    assert said(chunk, "tide") == {"- Add tides.": 1.0, "- Tides of May.": 0.8}


@pytest.mark.parametrize(
    ("done", "entry"),
    [
        ("removed", "- Drops the tides."),
        ("deprecated", "- Deprecates the tides."),
        ("renamed", "- The tides are renamed."),
    ],
)
def test_other_changes_have_other_verbs(done: Change, entry: str) -> None:
    assert said(changes(f"- Add tides.\n{entry}"), "tide", done=done) == {"- Add tides.": 0.8, entry: 1.0}


def test_words_in_another_sentence_count_less() -> None:
    text = "- Drops the piers. Tides stay."

    assert said(changes(text), "tide", done="removed") == {text: 0.9}


@pytest.mark.parametrize("title", ["### Removed", "Removed\n-------", "**Removed**", "Removed:"])
def test_a_heading_says_what_was_done(title: str) -> None:
    text = f"- Tides of May.\n\n{title}\n\n- Tides of June."

    assert said(changes(text), "tide", done="removed") == {"- Tides of May.": 0.8, "- Tides of June.": 1.0}


def test_the_heading_above_a_chunk_says_what_was_done() -> None:
    assert said(changes("- Tides.", "2.0", "New charts"), "tide", "chart") == {"- Tides.": 1.0}


def test_a_short_item_is_a_heading_of_those_below_it() -> None:
    text = "- New charts\n  - tides\n- Long ropes are new in all of the harbours of the world\n  - tides of May"

    assert said(changes(text), "tide", "chart")["  - tides"] == 1.0
    assert said(changes(text), "tide", "rope")["  - tides of May"] == 0.4


def test_further_paragraphs_of_an_item_do_not_inherit_its_verb() -> None:
    assert said(changes("- Add ropes.\n\n  Tides help."), "tide")["  Tides help."] == 0.8


@pytest.mark.parametrize("path", ["tests/ropes.md", "LICENSE.md"])
def test_tests_and_licences_say_nothing(path: str) -> None:
    assert said(chunk_of("Tides.\nNew in 2.1.", path), "tide") == {}


@pytest.mark.parametrize(
    "note",
    [
        ".. versionadded:: 2.1",
        "@since 2.1",
        "Since harbour v2.1",
        '#[stable(since = "2.1")]',
        "(added in 2.1)",
        "New in version 2.1",
        "Introduced with 2.1",
    ],
)
def test_a_note_names_the_release_of_what_is_above_it(note: str) -> None:
    assert said(chunk_of(f"Tides rise.\n{note}\n"), "tide") == {note: 1.0}


@pytest.mark.parametrize("text", ["Tides rise since May.", "Tides are new in harbour.", ".. versionadded:: next tides"])
def test_a_note_has_a_number(text: str) -> None:
    assert said(chunk_of(text), "tide") == {}


def test_a_note_on_another_change_counts_less() -> None:
    text = "Tides.\n.. deprecated:: 2.1"

    assert said(chunk_of(text), "tide") == {".. deprecated:: 2.1": 0.7}
    assert said(chunk_of(text), "tide", done="deprecated") == {".. deprecated:: 2.1": 1.0}
    assert said(chunk_of("Tides.\n@since 2.1"), "tide", done="removed") == {"@since 2.1": 0.7}
    assert said(chunk_of("Tides.\n.. versionadded:: 2.1"), "tide", done="removed") == {".. versionadded:: 2.1": 0.7}


@pytest.mark.parametrize(
    "below", ["Tides.", "\n   Tides.", "   Ropes.\n" * 4 + "   Tides."], ids=["beside", "apart", "far"]
)
def test_a_note_ends_where_its_body_does(below: str) -> None:
    assert said(chunk_of(f".. versionadded:: 2.1\n{below}"), "tide") == {}


def test_a_note_in_a_sentence_has_no_body() -> None:
    assert said(chunk_of("New in 2.1\n   Tides."), "tide") == {}


def test_a_note_of_a_change_may_say_that_something_was_added() -> None:
    note = ".. versionchanged:: 2.1\n   Added the tides."

    assert said(chunk_of(f"Ropes.\n\n{note}\n\nPiers."), "tide") == {note: 1.0}


def test_a_note_is_on_what_is_just_above_it_or_around_it() -> None:
    far = "Tides.\n" + "Ropes.\n" * 6 + ".. versionadded:: 2.1"
    inside = ".. class:: Tides\n" + "   Ropes.\n" * 6 + "   .. versionadded:: 2.1"

    assert said(chunk_of(far), "tide") == {}
    assert said(chunk_of(inside), "tide") == {"   .. versionadded:: 2.1": 1.0}


def test_a_note_is_quoted_with_the_parameter_that_it_is_on() -> None:
    note = ":param tides: Which.\n\n    .. versionadded:: 2.1"

    assert said(chunk_of(f"Ropes.\n{note}"), "tide") == {note: 1.0}


def test_a_note_is_on_the_definition_or_the_section_that_it_stands_in() -> None:
    note = "   .. versionadded:: 2.1"
    one = chunk_of(note, "a.py", kind="code", symbol="tides", defines=("tides",))
    several = chunk_of(note, "a.py", kind="code", symbol="tides", defines=("tides", "ropes"))

    assert said(one, "tide") == said(chunk_of(note, context=("Tides",)), "tide") == {note: 1.0}
    assert said(several, "tide") == {}


def test_what_has_no_word_of_the_question_says_nothing() -> None:
    assert said(changes("- Add tides.")) == {}


def test_an_entry_of_a_changelog_is_found_behind_everything_that_names_the_thing(library: Library) -> None:
    for number in range(200):
        library.put(f"use{number}.py", f"tide_table()\nrope{number}()", kind="code")
        library.put(f"page{number}.md", f"A tide_table is read.\n\nRope{number} is long.")
    library.put("CHANGES.md", "- Adds long ropes.\n- Adds the function tide_table, which has all that is known.")
    library.put("guide.md", "A tide_table is read by ships.\n\n(New in 2.1)")
    library.put("changelog/2.1/issue-7", f"Adds the other tide_table.\n{OTHER}", kind="config")

    found = library.search("Which version added tide_table?", limit=80)

    assert {each.chunk.span.path for each in found[:3]} == {"CHANGES.md", "guide.md", "changelog/2.1/issue-7"}
    assert ["change" in each.signals for each in found[:4]] == [True, True, True, False]
    assert sum(each.chunk.span.path.startswith("page") for each in found) < 80


def test_a_changelog_is_no_file_aside(library: Library) -> None:
    library.put("CHANGES.md", "- Adds long ropes.")
    library.put("guide.md", "Long ropes.")

    (changelog,) = (each for each in library.search("since when are there ropes?") if "CHANGES" in each.chunk.span.path)
    (other,) = (each for each in library.search("how are there ropes?") if "CHANGES" in each.chunk.span.path)

    assert changelog.signals["role"] > other.signals["role"]


def test_of_entries_with_the_same_words_the_nearest_in_meaning_comes_first(library: Library) -> None:
    words = "the crane of the harbour master and his mate carry stones over long piers where ships with"
    library.put("CHANGES.md", f"- Adds {words} tides.")
    library.put("NEWS.md", "- Adds tides.")

    found = library.search("since when are there tides?")

    changed = {each.chunk.span.path: each.signals["change"] for each in found}
    assert changed["NEWS.md"] > changed["CHANGES.md"]


def test_an_entry_on_other_versions_has_only_the_digits() -> None:
    chunk = changes("- Drops tides 2.6 and 3.3.\n- Drops tides 3.6, 3.7, and 3.8.\n- Drops tides 13.7.", "Version 3.7")

    assert said(chunk, "tide", done="removed", topic="tides 3.7") == {
        "- Drops tides 2.6 and 3.3.": 0.5,
        "- Drops tides 3.6, 3.7, and 3.8.": 1.0,
        "- Drops tides 13.7.": 0.5,
    }
