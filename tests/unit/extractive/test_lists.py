"""Lists and tables are quoted whole if a question asks for them."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.lists import lists_asked_for
from openbook.questions.lists_asked import list_of
from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

QUESTION = "Which rope types are supported?"
OTHER = "Long ago, the harbour had supported a few of the rope types that sailors bring along from far away."


def page(text: str, *context: str, path: str = "ropes.md", language: str = "markdown") -> Chunk:
    return chunk_of(text, path, context=context, language=language)


ITEMS = "- hemp\n- steel, which\n  does not rot\n\n- nylon"
TABLE = "| Type | Tears at |\n|---|---|\n| hemp | 2 t |\n| steel | 9 t |\n| nylon | 3 t |"
GRID = """\
+------+-----+
| Type | At  |
+======+=====+
| hemp | 2 t |
+------+-----+
| wire | 9 t |
+------+-----+
| silk | 1 t |
+------+-----+"""

SIMPLE = """\
====== =====
Type   At
====== =====
hemp   2 t
wire   9 t
====== ====="""


@pytest.mark.parametrize(
    "listed",
    [
        f"## Rope types\n\n{ITEMS}",
        f"Ropes are strong. These rope types hold:\n\n{ITEMS}",
        f"## Rope types\n\n{TABLE}",
        "Rope types:\n\n1. hemp\n2. steel",
        "Rope types:\n\n- of plants\n  - hemp\n- of metal\n  - steel",
        "| Rope types | Tears at |\n|---|---|\n| hemp | 2 t |",
    ],
    ids=["below a heading", "introduced", "table", "numbered", "nested", "with such a header"],
)
def test_the_list_is_quoted_whole_before_a_sentence(listed: str) -> None:
    text = f"{listed}\n\n## Piers\n\nThere are many."
    whole = listed.removeprefix("Ropes are strong. ")

    assert quotes(picked(QUESTION, page(OTHER, path="other.md"), page(text)))[0] == whole


@pytest.mark.parametrize("table", [GRID, SIMPLE], ids=["grid", "simple"])
def test_a_table_below_a_heading_of_another_chunk_is_asked_for_by_it(table: str) -> None:
    found = picked(
        QUESTION,
        page("Ropes of many types hold.", path="other.md"),
        page(table, "Rope types", language="rst", path="ropes.rst"),
    )

    assert quotes(found)[0] == table


def test_a_simple_table_is_asked_for_by_its_header() -> None:
    table = SIMPLE.replace("Type  ", "Rope types")

    found = picked(QUESTION, page(OTHER, path="other.md"), page(table, language="rst", path="ropes.rst"))

    assert quotes(found)[0] == table


@pytest.mark.parametrize(
    "text",
    [
        f"## Piers\n\n{ITEMS}",
        f"Rope types are many.\n\nThere is more:\n\n{ITEMS}",
    ],
    ids=["of other things", "introduced by the paragraph below"],
)
def test_other_lists_do_not_come_first(text: str) -> None:
    assert quotes(picked(QUESTION, page(OTHER, path="other.md"), page(text)))[0] == OTHER


def wholes(things: str, text: str) -> list[str]:
    """Return the lists in a text with what introduces them."""
    (shown,) = build_context([result_of(page(text))], 10_000).shown
    asked = list_of(f"Which {things} are there?")
    assert asked is not None
    return [passage.text for passage, _ in lists_asked_for(asked, shown)]


def test_a_list_ends_before_a_heading_or_a_paragraph() -> None:
    text = "# Moor\n\n## Rope types\n- hemp\n- steel\n## Piers\n- one\n- two\n\nThey are old."

    assert wholes("types", text) == ["## Rope types\n- hemp\n- steel"]
    assert wholes("piers", text) == ["## Piers\n- one\n- two"]


def test_a_simple_table_ends_with_a_blank_line() -> None:
    text = f"## Rope types\n\n{SIMPLE}\n\nMany more hold.\n\n====\n"

    assert wholes("types", text) == [f"## Rope types\n\n{SIMPLE}"]


def test_a_list_is_introduced_by_the_last_sentence_above_it() -> None:
    text = f"Ropes are many. Piers are few.\n\nThere is more. The types:\n\n{ITEMS}"

    assert wholes("ropes", text) == wholes("piers", text) == []
    assert wholes("types", text) == [f"The types:\n\n{ITEMS}"]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("## Rope types\n\nThere are many.\n\n- hemp\n- steel", "- hemp\n- steel"),
        ("Rope types\n==========\n\nThere are many.\n\n- hemp\n- steel", "- hemp\n- steel"),
        ("## Rope types\n\n----\n\n- hemp\n- steel", "- hemp\n- steel"),
        ("**Rope types:**\n\n- hemp\n- steel", "**Rope types:**\n\n- hemp\n- steel"),
        (
            "Rope types:\n\n- hemp\nthat is old\n\n  It rots.\n- steel",
            "Rope types:\n\n- hemp\nthat is old\n\n  It rots.\n- steel",
        ),
    ],
    ids=["heading", "underlined heading", "rule", "bold", "items of several lines"],
)
def test_what_opens_a_list_and_what_belongs_to_it(text: str, whole: str) -> None:
    assert wholes("types", text) == [whole]


def test_a_single_item_is_no_list() -> None:
    assert wholes("rope types", "Rope types:\n\n- hemp") == []


def test_a_list_of_a_changelog_does_not_come_first() -> None:
    news = page(f"## Rope types\n\n{ITEMS}", path="CHANGELOG.md")

    assert quotes(picked(QUESTION, page(OTHER, path="other.md"), news))[0] == OTHER


def test_a_list_for_contributors_comes_first() -> None:
    text = f"## Rope types\n\n{ITEMS}"

    found = picked(QUESTION, page(OTHER, path="other.md"), page(text, path="CONTRIBUTING.md"))
    assert quotes(found)[0] == text


def test_a_long_list_is_cut_after_an_item() -> None:
    items = [f"- rope {number}\n  which is strong\n" for number in range(40)]
    text = "\n".join(("## Rope types\n", *items))

    assert quotes(picked(QUESTION, page(text)))[0] == "\n".join(("## Rope types\n", *items[:8])).rstrip()
