"""Lines that only mark a place or draw a page."""

from __future__ import annotations

import pytest

from tests.unit.extractive.test_passages import shown, texts


@pytest.mark.parametrize(
    "line",
    [
        "<!-- snippet: how to renew a session -->",
        ".. code-block:: python",
        ".. literalinclude:: sessions/three.py\n   :language: python\n   :lines: 3-12",
        ".. warning::",
        "::: tip Did you know?",
        "[!IMPORTANT]",
        '![A drawing of three sessions](sessions.png) <img alt="three of them" src="a.png">',
        'import { Sessions } from "@site/src/sessions"',
    ],
)
def test_what_only_marks_a_place_or_draws_a_page_is_not_offered(line: str) -> None:
    assert texts(shown(f"Sessions end after one hour.\n\n{line}\n\nThey can be renewed.")) == [
        "Sessions end after one hour.",
        "They can be renewed.",
    ]


@pytest.mark.parametrize(
    "line", [".. option:: --renew once", "Import it from the sessions.", "See [a session](a.md) now."]
)
def test_what_looks_like_markup_and_says_something_is_offered(line: str) -> None:
    assert line in texts(shown(f"Sessions end after one hour.\n\n{line}\n\nThey can be renewed."))


@pytest.mark.parametrize(("language", "is_offered"), [("mermaid", False), ("yaml", True)])
def test_an_example_that_is_drawn_is_not_offered(language: str, is_offered: bool) -> None:
    entry = shown(f"Sessions end after one hour.\n\n```{language}\nopen the session: --> close it\n```\n")

    assert any("close it" in text for text in texts(entry)) is is_offered
