"""Changelogs, tests and the like are quoted after what is asked for."""

from __future__ import annotations

import pytest

from tests.unit.extractive.picking import picked
from tests.unit.retrieval.material import chunk_of


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where is a long rope cut?", "src/ship.py"),
        ("How is a long rope cut?", "CHANGELOG.md"),
        ("Where in the changelog is a long rope cut?", "CHANGELOG.md"),
    ],
)
def test_who_asks_for_a_place_gets_it_before_what_a_changelog_says(question: str, first: str) -> None:
    news = chunk_of("- A long rope is cut.", "CHANGELOG.md", kind="docs", language="markdown")
    code = chunk_of("def cut(rope, long):\n    return rope[:long]\n", "src/ship.py", kind="code", language="python")

    quotes = picked(question, news, code)

    assert quotes[0].passage.first.span.path == first
