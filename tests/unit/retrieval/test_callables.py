from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.retrieval.callables import meant_settings
from openbook.types import Chunk
from tests.unit.retrieval.material import chunk_of

FUNCTION = "def max_load(crane):\n    return crane.limit"


def code(text: str, path: str = "crane.py") -> Chunk:
    return chunk_of(text, path, kind="code", defines=("max_load",))


def meant(question: str, *chunks: Chunk) -> list[str]:
    return [each.name for each in meant_settings(read_question(question), list(chunks))]


@pytest.mark.parametrize(
    "text",
    [
        FUNCTION,
        "int max_load(struct crane *crane)\n{",
        "export const max_load = (crane) => crane.limit;",
        "class max_load:\n    pass",
        "func (c *Crane) max_load() int {",
        "fn max_load<T>(crane: T) -> u8 {",
    ],
)
def test_a_name_that_code_defines_as_what_is_called_is_no_setting(text: str) -> None:
    assert meant("What does max_load do?", code(text)) == []


@pytest.mark.parametrize(
    "text", ["max_load = 4", "    pub max_load: u8,", '"""A crane.\n\nmax_load (int): Tonnes.\n"""\nmax_load: int']
)
def test_a_field_is_a_setting(text: str) -> None:
    assert meant("What does max_load do?", code(text)) == ["max_load"]


def test_a_question_for_a_setting_asks_for_no_function() -> None:
    assert meant("What does the max_load option do?", code(FUNCTION)) == ["max_load"]


def test_a_function_hides_only_what_stands_in_the_same_thing_and_none_of_a_test_does() -> None:
    assert meant("What does gate.max_load do?", code(FUNCTION)) == ["max_load"]
    assert meant("What does crane.max_load do?", code(FUNCTION)) == []
    assert meant("What does max_load do?", code(FUNCTION, "tests/test_crane.py")) == ["max_load"]


def test_a_setting_that_configuration_or_a_section_describes_is_asked_for_though_a_function_makes_its_default() -> None:
    described, bare = (
        chunk_of(text, "port.toml", kind="config") for text in ("# Tonnes that it lifts.\nmax_load = 4", "max_load = 4")
    )

    section = chunk_of("## max_load\n\nTonnes that it lifts.\n", "crane.md")

    assert meant("What does max_load do?", code(FUNCTION), described) == ["max_load"]
    assert meant("What does max_load do?", code(FUNCTION), section) == ["max_load"]
    assert meant("What does max_load do?", code(FUNCTION), bare) == []


def test_what_is_asked_for_the_parameters_of_a_function_is_no_setting() -> None:
    assert meant("parameters of max_load", code(FUNCTION)) == []


def test_a_section_that_shows_a_call_describes_no_setting_but_the_function() -> None:
    section = chunk_of("# max_load\n\nTonnes that it lifts.\n\n```r\nmax_load(crane)\n```\n", "man/max_load.Rd")

    assert meant("What does max_load do?", code(FUNCTION), section) == []
