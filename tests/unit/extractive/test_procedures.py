"""Steps are quoted in their order, and lists of steps as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.lists import steps_around
from openbook.extractive.paragraphs import is_row
from openbook.extractive.passages import Passage, passages_of
from openbook.extractive.procedures import joined
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

TIE = "Tie the rope to the pier:\n\n```sh\nquay tie --all\n```"
LEAVE = "Leave the boat:\n\n```sh\nquay leave now\n```"
PAGE = f"{TIE}\n\nSay so.\n\n{LEAVE}\n\nThe harbour is old."
OLD = (
    "The harbour is very old. It was built of stone by sailors who came from far away with all of their new ships. " * 2
)


def between(text: str, first: str, last: str, **fields: Any) -> str | None:
    """Return the text of two quotes as one, if they are joined."""
    (shown,) = build_context([result_of(chunk_of(text, **fields))], 10_000).shown
    before, after = (next(each for each in passages_of(shown) if each.text.startswith(one)) for one in (first, last))
    whole = joined(before, after)
    return whole.text if whole else None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param(PAGE, "```sh\nquay tie", "Leave", id="code-first"),
        pytest.param(PAGE, "Tie", "```sh\nquay leave", id="code-last"),
        pytest.param("Tie it now:\n\nThen leave the pier.", "Tie", "Then", id="what-introduces-the-other"),
        pytest.param("Tie the rope now.\n\n```sh\nquay tie --all\n```", "Tie", "```sh", id="example"),
        pytest.param("Tie the rope now.\n\n    quay tie --all", "Tie", "    quay", id="indented-code"),
        pytest.param("- tie the rope\n\nThen leave the pier.", "- tie", "Then", id="item"),
    ],
)
def test_steps_near_each_other_are_one_quote(text: str, first: str, last: str) -> None:
    whole = between(text, first, last, language="markdown")

    assert whole is not None
    assert whole.startswith(first)
    assert last in whole


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param(f"{TIE}\n\n## Storms\n\nLeave at once.", {}, id="heading-between"),
        pytest.param(f"{TIE}\n\n{OLD}\n\nLeave at once.", {}, id="far-apart"),
        pytest.param("Tie the rope.\n\nLeave at once.", {}, id="no-steps"),
        pytest.param("Tie the rope:\n\nLeave at once.", {"language": "html"}, id="page-of-html"),
        pytest.param("Tie the rope:\n\nLeave at once.", {"kind": "course"}, id="transcript"),
    ],
)
def test_others_are_not(text: str, fields: dict[str, Any]) -> None:
    assert between(text, "Tie", "Leave", **fields) is None


def passages(text: str, **fields: Any) -> list[Passage]:
    (shown,) = build_context([result_of(chunk_of(text, **fields))], 10_000).shown
    return passages_of(shown)


def test_a_quote_that_is_whole_is_not_joined() -> None:
    first, *_, last = passages(TIE)

    assert joined(first, last) is not None
    assert joined(replace(first, is_whole=True), last) is None
    assert joined(first, replace(last, is_whole=True)) is None
    assert joined(last, first) is None


def test_entries_of_a_list_are_not_joined() -> None:
    first, last = passages("``--tie``\n    Ties a rope:\n\n``--leave``\n    Leaves the pier.", language="rst")

    assert joined(first, last) is None


def test_quotes_of_different_results_are_not_joined() -> None:
    assert joined(passages(TIE)[0], passages(TIE)[1]) is None


def test_two_sentences_of_a_paragraph_are_one_quote_with_what_is_between() -> None:
    text = "Ropes may be old here.\nIf so, buy a new one.\nThose do not break soon."

    assert between(text, "Ropes", "Those", language="markdown") == text


@pytest.mark.parametrize(
    "text",
    [
        "Ropes may be old here.\n \nIf so, buy a new one.\nThose do not break soon.",
        f"Ropes may be old here.\n{OLD.strip()}\nThose do not break soon.",
    ],
)
def test_sentences_apart_are_not(text: str) -> None:
    assert between(text, "Ropes", "Those", language="markdown") is None


ITEMS = ["1. Look for a free ring.", "2. Tie the rope to the ring of the pier.", "3. Tell the master."]
LIST = "To moor:\n\n" + "\n".join(ITEMS)


HOW_TO = "How do I tie the rope of a new small boat?"


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        pytest.param(HOW_TO, LIST, LIST, id="how-to"),
        pytest.param(HOW_TO, LIST.replace("1.", "#.").replace("2.", "#.").replace("3.", "#."), "#.", id="no-numbers"),
        pytest.param("Can I tie the rope to the ring of the pier?", LIST, ITEMS[1], id="whether"),
        pytest.param("Which rope is tied to the ring of the pier?", LIST, ITEMS[1], id="other-question"),
    ],
)
def test_the_steps_of_a_numbered_list_are_quoted_from_the_first_one_on(question: str, text: str, found: str) -> None:
    said = quotes(picked(question, chunk_of(f"The harbour is old.\n\n{text}\n\nThe master sleeps at night.")))

    assert said[0] == (text if found == "#." else found)
    assert sum("Tie the rope" in each for each in said) == 1


def test_steps_are_quoted_once() -> None:
    text = "To moor:\n\n1. Tie the rope of the boat.\n2. Tie the small new boat.\n3. Tie the new rope again."

    assert quotes(picked(HOW_TO, chunk_of(text))) == [text]


def test_steps_that_are_too_long_beside_others_are_not_quoted_whole() -> None:
    best = "To moor:\n\n1. Tie the rope of a new small boat to this pier.\n2. Tell the master."
    long = "1. Tie the rope of a boat to a buoy.\n2. Wait" + " and wait" * 41
    found = picked(HOW_TO, chunk_of(best, "a.md"), chunk_of(long, "b.md"), scores=(1.0, 0.9))

    assert quotes([each for each in found if not each.is_pointer])[:2] == [best, "1. Tie the rope of a boat to a buoy."]


def steps(text: str, quote: str, **fields: Any) -> str | None:
    found = steps_around(next(each for each in passages(text, **fields) if quote in each.text))
    return found.text if found else None


def test_a_long_list_of_steps_is_cut_after_an_item() -> None:
    text = "\n".join(f"{number}. Tie rope {number} to the ring of the pier." for number in range(1, 21))

    cut = "\n".join(text.split("\n")[:10])
    assert steps(text, "rope 3 ") == cut
    assert steps(text, "rope 10 ") == cut
    assert steps(text, "rope 11 ") is None


def test_the_second_of_two_lists_has_its_own_steps() -> None:
    second = "1. Tie the rope.\n2. Tell the master."

    assert steps(f"1. Look for a ring.\n2. Wait for me.\n\nThen go on.\n\n{second}", "Tie the rope") == second


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param("- Look for a ring.\n- Tie the rope.\n", {}, id="bullets"),
        pytest.param("1. Look for a ring.\n2. Wait for me.\n\nTie the rope.", {}, id="below-the-list"),
        pytest.param("Tie the rope.\n\nIt is old.\n\n1. Look for a ring.\n2. Wait for me.", {}, id="above-the-list"),
        pytest.param("1. Tie the rope.\n2. Wait for me.", {"kind": "code", "language": "yaml"}, id="code"),
    ],
)
def test_no_steps_are_around(text: str, fields: dict[str, Any]) -> None:
    assert steps(text, "Tie the rope", **fields) is None


def test_a_joined_quote_says_where_its_last_part_goes_on() -> None:
    first, *_, last = passages(TIE)

    whole = joined(first, replace(last, goes_on="(goes on to line 9)"))

    assert whole is not None
    assert whole.goes_on == "(goes on to line 9)"


def test_an_item_without_a_number_is_one() -> None:
    assert is_row("#. Tie the rope.")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("| moor | ties |", True),
        ("|moor|ties|", True),
        ("|moor|", True),
        ("|moor| ties |", True),
        ("| moor", True),
        ("|moor| ties a ship, and\nso does |tie|.", False),
        ("  |tie()|, see also |moor|", False),
        ("|moor|. Then", False),
    ],
)
def test_a_line_of_prose_may_begin_with_a_reference_in_bars(line: str, is_one: bool) -> None:
    assert is_row(line) == is_one
