"""Options and settings are quoted from what describes them."""

from __future__ import annotations

import pytest

from openbook.types import Chunk
from tests.unit.answering.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

TIDES = "Tells the harbour which tables it reads, and how often."
QUIET = "- ``--quiet`` Print nothing but errors of the harbour"
MENTION = "With --quiet at low tide and with --quiet at hand, piers do what --quiet does."


def section(text: str, heading: str, path: str = "settings.md") -> Chunk:
    return chunk_of(f"## {heading}\n\n{text}\n", path, context=("Settings", heading))


@pytest.mark.parametrize(
    ("question", "mention", "told", "heading"),
    [
        pytest.param(
            "What does TIDE_MODE do?", "Set TIDE_MODE before each flood.", TIDES, "TIDE_MODE=<mode>", id="setting"
        ),
        pytest.param("What does --tides do?", MENTION.replace("quiet", "tides"), TIDES, "`--tides`", id="option"),
        pytest.param("What does --quiet do?", MENTION, QUIET, "All options", id="entry-of-a-list"),
    ],
)
def test_an_option_is_quoted_from_what_describes_it(question: str, mention: str, told: str, heading: str) -> None:
    found = quotes(picked(question, section(mention, "Piers", "piers.md"), section(told, heading)))

    assert found[0].startswith(told)
