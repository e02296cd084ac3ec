"""What something does is quoted from prose that tells it, before its definition and its uses."""

from __future__ import annotations

import pytest

from openbook.types import Chunk
from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

USES = chunk_of("```r\nlift(crane, lift, 2)\nlift(lift)\n```\n\nThen lift and lift again.\n", "guide.md")
CODE = chunk_of("lift <- function(crane) {\n  up(crane)\n}\n", "R/lift.R", kind="code", language="r", defines=("lift",))
TOLD = "Raises ships with a crane."


def page(title: str, part: str = "", told: str = TOLD, path: str = "man/lift.Rd") -> Chunk:
    below = f"## {part}\n{told}" if part else told
    return chunk_of(f"# {title}\n{below}\n", path)


@pytest.mark.parametrize(
    ("question", "chunk"),
    [
        pytest.param("what does lift do", page("lift"), id="section"),
        pytest.param("what does lift do", page("hoist, lift"), id="section on several names"),
        pytest.param("what does lift do", page("lift", "Description"), id="description in a section"),
        pytest.param("what does lift return", page("lift", "Return value"), id="result in a section"),
        pytest.param("what does lift do", page("Cranes", told="`lift()` raises ships."), id="sentence"),
    ],
)
def test_what_something_does_is_quoted_from_what_tells_it(question: str, chunk: Chunk) -> None:
    found = quotes(picked(question, USES, CODE, chunk))

    assert found[0] in chunk.text
    assert "aises ships" in found[0]


@pytest.mark.parametrize(
    ("question", "chunk"),
    [
        pytest.param("what does lift do", page("lift", "Return value"), id="result"),
        pytest.param("what does lift return", page("lift", "Description"), id="description"),
        pytest.param("what does lift do", page("lift_all"), id="another name"),
        pytest.param("what does lift do", page("lift", path="tests/lift.md"), id="test"),
        pytest.param("where is lift", page("lift"), id="place"),
    ],
)
def test_what_tells_something_else_is_not_preferred(question: str, chunk: Chunk) -> None:
    assert "aises ships" not in quotes(picked(question, USES, CODE, chunk))[0]
