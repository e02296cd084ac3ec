"""The section on a release is found by its number, and comes first."""

from __future__ import annotations

import pytest

from tests.unit.retrieval.material import Library


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(90):  # more than are ranked
        library.put(f"docs/{number}.md", f"What changed in 4 and 0: {number}, 4, 0, 0.")
    library.put("crane.py", "# 4.0.0\nload = 4", kind="code")
    return library


def test_the_section_on_a_release_comes_first(library: Library) -> None:
    library.put("CHANGES.md", "## 4.0.0\n\nRopes are thick now.\n\n## 3.0.0\n\nShips have names.")

    found = library.search("What changed in 4.0.0?")

    assert found[0].chunk.span.path == "CHANGES.md"
    assert ["release" in result.signals for result in found[:3]] == [True, False, False]


def test_the_file_on_a_release_comes_first(library: Library) -> None:
    library.put("notes/v4.0.0.md", "What has changed: ropes are thick now.")
    library.put("notes/v4.0.1.md", "Ropes are thin again, as before 4.0.0.")

    assert library.search("What changed in 4.0.0?")[0].chunk.span.path == "notes/v4.0.0.md"
