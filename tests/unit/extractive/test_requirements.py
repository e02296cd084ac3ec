"""What states a required version is quoted first, without the lines around it."""

from __future__ import annotations

import pytest

from openbook.extractive.context import build_context
from openbook.extractive.passages import passages_of
from openbook.extractive.requirements import lines_with_versions, share_of_versions
from openbook.questions.question import read_question
from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of, result_of

QUESTION = "Which Python version does the harbour need?"
OTHER = "A version of the tide table is in the harbour, and the Python of the harbour master reads it."


def page(text: str, path: str = "ropes.md") -> Chunk:
    return chunk_of(text, path, language="markdown")


def manifest(text: str, path: str = "pyproject.toml") -> Chunk:
    return chunk_of(text, path, kind="config", language="toml")


def test_the_sentence_that_states_the_version_comes_first() -> None:
    found = picked(
        QUESTION,
        page(OTHER, "other.md"),
        page("Ropes are strong.\n\n## Needs\n\nThe harbour has needs. It requires Python 3.9 or newer."),
    )

    assert quotes(found)[0].endswith("It requires Python 3.9 or newer.")


def test_a_manifest_is_quoted_by_the_lines_that_state_versions() -> None:
    text = (
        '[project]\nname = "harbour"\nrequires-python = ">=3.9"\nlicense = "MIT"\ntags = ["Python 3.9",\n"Python 3.10"]'
    )

    found = quotes(picked(QUESTION, page(OTHER, "other.md"), manifest(text)))

    assert sorted(found[:2]) == ['requires-python = ">=3.9"', 'tags = ["Python 3.9",\n"Python 3.10"]']


def test_a_manifest_answers_by_another_name_of_the_thing() -> None:
    found = picked(
        "which golang do I need",
        page("Cranes are tall, and which of them lift is known."),
        manifest("module harbour\n\ngo 1.26", "go.mod"),
    )

    assert quotes(found)[0] == "go 1.26"


def test_the_lines_of_a_list_are_quoted_together() -> None:
    text = "It has:\n\n- a long pier with a crane\n- Python 3.9+\n- Ruby 3+\n- many ropes of hemp and steel"

    found = picked("Which versions of Python and Ruby are supported?", page(OTHER, "other.md"), page(text))

    assert quotes(found)[0] == "- Python 3.9+\n- Ruby 3+"


def test_a_line_of_a_manifest_is_quoted_without_its_statement() -> None:
    text = '{\n  "name": "harbour",\n  "engines": {\n    "node": ">=18"\n  },\n  "private": true\n}'
    package = chunk_of(text, "package.json", kind="config", language="json")

    found = picked("which node does the harbour need", page(OTHER, "other.md"), package)

    assert quotes(found)[0] == '    "node": ">=18"'


def test_a_sentence_over_several_lines_is_quoted_whole() -> None:
    text = "Ropes hold.\n\nThe cranes of the harbour\nneed Python 3.9 or newer on\nall of the piers."

    found = picked(QUESTION, page(OTHER, "other.md"), page(text))

    assert quotes(found)[0].endswith("The cranes of the harbour\nneed Python 3.9 or newer on\nall of the piers.")


def test_a_single_line_of_a_page_is_no_passage_of_its_own() -> None:
    (shown,) = build_context([result_of(page("The cranes of the harbour\nneed Python 3.9 or newer."))], 10_000).shown

    assert list(lines_with_versions(read_question(QUESTION), shown)) == []


@pytest.mark.parametrize("path", ["CHANGES.md", "tests/ropes.md"])
def test_changelogs_and_tests_state_nothing(path: str) -> None:
    found = picked(QUESTION, page(OTHER, "other.md"), page("It requires Python 3.9 or newer.", path))

    assert quotes(found)[0] == OTHER


def test_code_states_nothing() -> None:
    text = "load = 3\n# It requires Python 3.9+ here.\n# It requires Python 3.9+ there.\nwidth = 4"
    code = chunk_of(text, "crane.py", kind="code", language="python")

    assert quotes(picked(QUESTION, page(OTHER, "other.md"), code))[0] == OTHER


@pytest.mark.parametrize(("language", "stated"), [("toml", 0), ("", 1)])
def test_a_manifest_in_an_example_is_that_of_another_project(language: str, stated: int) -> None:
    example = f'```{language}\nrequires-python = ">=3.8"\npython = ">=3.9"\n```'
    text = f"The harbour has an example:\n\n{example}\n\nIt needs Python 3.9+."
    query = read_question(QUESTION)
    (shown,) = build_context([result_of(page(text))], 1000).shown

    assert len(list(lines_with_versions(query, shown))) == stated
    assert [share_of_versions(query, each) for each in passages_of(shown)] == [0.0, stated, 1.0]


def test_what_a_page_says_comes_before_a_manifest_in_an_example() -> None:
    example = page('Of Python, the harbour needs:\n\n```toml\nrequires-python = ">=3.8" # version of the harbour\n```')
    said = page("The harbour needs Python 3.10, or newer.", "needs.md")

    assert quotes(picked(QUESTION, example, said))[0] == said.text
