"""What different kinds of questions are answered with, without a model."""

from __future__ import annotations

import pytest

from openbook.extractive.answerer import pick
from openbook.extractive.context import build_context
from openbook.extractive.passages import passages_of
from openbook.extractive.scoring import read_passage, signals_of
from openbook.questions.question import read_question
from openbook.testing import HashEmbedder
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of, result_of


def quotes(question: str, *chunks: Chunk) -> list[str]:
    query, context = read_question(question), build_context([result_of(chunk) for chunk in chunks], 10_000)
    picked = pick(query, context, HashEmbedder(), dict.fromkeys(query.tokens, 1.0))
    return [item.passage.text for item in picked]


def test_what_defines_a_thing_is_quoted_first() -> None:
    guide = chunk_of("Quay quay, our quay!\n\nQuay is a server of harbours.")
    code = chunk_of("def quay(quay):\n    return quay", "a.py", kind="code", defines=("quay",))

    found = quotes("What is quay?", code, guide)

    assert found[0] == "Quay is a server of harbours."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Can I moor ships with ropes?", {"code": 0.0, "prose": 1.0}, id="yes-or-no"),
        pytest.param("Does it moor ships with ropes?", {"code": 0.0, "prose": 1.0}, id="about-what-it-does"),
        pytest.param("How do I moor ships with ropes?", {"code": 1.0, "prose": 1.0}, id="how-to"),
        pytest.param("Which ropes moor ships?", {"code": 0.0, "prose": 0.0}, id="neither"),
    ],
)
def test_yes_or_no_is_said_by_a_sentence_and_not_by_a_statement_of_a_long_example(
    question: str, expected: dict[str, float]
) -> None:
    example = "\n\n".join(f"moor --ships {number} --ropes" for number in range(9))
    page = chunk_of(f"```sh\n{example}\n```\n\nSome ships moor with ropes.\n", language="markdown")
    (shown,) = build_context([result_of(page)], 10_000).shown
    read = [read_passage(passage) for passage in passages_of(shown)]
    query = read_question(question)

    measured = signals_of(query, read, {1: 1.0}, HashEmbedder(), dict.fromkeys(query.tokens, 1.0))

    kinds = ["code" if each.passage.is_code else "prose" for each in read]
    assert {kind: each.prose_where_it_answers for kind, each in zip(kinds, measured, strict=True)} == expected


@pytest.mark.parametrize(
    "empty",
    [
        "Mooring of ships\n================",
        "How are the ships moored here?",
        "How are the ships moored here?  2.4.",
        "- [Mooring of all ships](#mooring)",
        "# Mooring of ships\n\n[SHIPS: moored, not moored]",
        "[![Ships moored: 7](https://quay.example/moored.svg)](https://quay.example)",
        ".. _mooring of ships:",
        ".. _ships moored here: https://quay.example/ships\n.. _`moored: all`: https://quay.example/all",
        "[moored ships here]: https://quay.example/ships",
    ],
)
def test_headings_questions_and_links_answer_nothing(empty: str) -> None:
    listed = chunk_of(empty, context=("Mooring of ships",))

    found = quotes("How are ships moored?", listed, chunk_of("By two ropes each, ships are held.", "b.md"))

    assert found[0] == "By two ropes each, ships are held."


def test_a_question_for_uses_is_answered_by_uses() -> None:
    definition = chunk_of("def moor(ship):\n    tie(ship)", "a.py", kind="code", defines=("moor",))
    use = chunk_of("dock = Dock(quay)\ndock.moor(ship, 2)", "b.py", kind="code")

    assert quotes("What is `moor`?", definition, use)[0].startswith("def moor")
    assert quotes("Who calls `moor`?", definition, use)[0].endswith("dock.moor(ship, 2)")


@pytest.mark.parametrize(
    ("question", "is_quoted"),
    [
        ("Where is moor_ship defined and where is it used?", True),
        ("Who calls moor_ship? What does moor_ship return?", True),
        ("Who calls moor_ship?", False),
        ("Please, who calls `moor_ship(ship, rope)` in the client and the server?", False),
    ],
)
def test_a_question_with_two_halves_keeps_the_definition(question: str, *, is_quoted: bool) -> None:
    definition = chunk_of("def moor_ship(ship):\n    return tie(ship)", "a.py", kind="code", defines=("moor_ship",))
    use = chunk_of("dock = Dock(quay)\ndock.moor_ship(ship)", "b.py", kind="code")

    assert any("def moor_ship" in quote for quote in quotes(question, definition, use)) is is_quoted


def test_callers_in_tests_come_last_unless_they_are_asked_for() -> None:
    test = chunk_of("dock.moor_ship(ship)\nassert ship.is_moored", "tests/test_dock.py", kind="code")
    use = chunk_of("dock = Dock(quay)\ndock.moor_ship(ship)", "dock.py", kind="code")

    assert "Dock(quay)" in quotes("Who calls moor_ship?", test, use)[0]
    assert "assert" in quotes("Which tests call moor_ship?", test, use)[0]


def test_a_comment_of_python_is_no_use() -> None:
    definition = chunk_of("def moor_ship(ship):\n    return tie(ship)", "a.py", kind="code", defines=("moor_ship",))
    comment = chunk_of("# see moor_ship, which moor_ship calls\nLIMIT = 3", "b.py", kind="code", language="python")

    assert any("def moor_ship" in quote for quote in quotes("Who calls moor_ship?", definition, comment))


def test_neither_the_definition_nor_a_comment_is_quoted_as_a_use() -> None:
    definition = chunk_of(
        "// moor ties a ship.\nfunc moor(ship) {\n    tie(ship)\n}", "a.go", kind="code", defines=("moor",)
    )
    mention = chunk_of("/**\n * To moor ships, moor calls tie.\n */\ntype Quay = string", "b.ts", kind="code")
    use = chunk_of("dock = Dock(quay)\ndock.moor(ship, 2)", "b.py", kind="code")

    found = quotes("Who calls `moor`?", definition, mention, use)

    assert found[0].endswith("dock.moor(ship, 2)")
    assert not any("func moor" in quote for quote in found)
    assert any("func moor" in quote for quote in quotes("Who calls `moor`?", definition, mention))


def test_what_a_better_quote_holds_is_not_quoted_again() -> None:
    chunk = chunk_of("You moor a ship with this:\n\n```sh\nquay moor --ship 7\n```")

    assert quotes("moor a ship", chunk) == [chunk.text]
