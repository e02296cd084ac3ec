"""What a release changed is quoted from its section."""

from __future__ import annotations

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

CHANGES = (
    "## 4.0.1\n\nThe changes of 4.0.0 are documented in full.\n\n"
    "## 4.0.0\n\n- Ropes are thick.\n- Cranes lift more than ships do.\n\n"
    "## 3.0.0\n\nWhat changed in 3.0.0 is that ships have names of their own."
)


def test_the_changes_are_quoted_from_the_section_on_the_release() -> None:
    page = chunk_of(CHANGES, "CHANGES.md", context=("Changes",), language="markdown")

    assert quotes(picked("What changed in 4.0.0?", page))[0] == "- Ropes are thick.\n- Cranes lift more than ships do."


def test_code_has_no_sections() -> None:
    code = chunk_of("# Ropes are thick.\nload = crane(4)\nwidth = 4", "crane.py", kind="code", context=("4.0.0",))
    page = chunk_of("What changed in 4.0.0 is said elsewhere, and not here.", "page.md", language="markdown")

    assert quotes(picked("What changed in 4.0.0?", code, page))[0] == page.text


def test_the_changes_are_quoted_from_the_file_on_the_release() -> None:
    notes = chunk_of("Ropes are thick.\n\nCranes lift more than ships do.", "notes/4.0.0.md", language="markdown")
    page = chunk_of("What changed in 4.0.0 is said elsewhere, and not here.", "page.md", language="markdown")

    assert quotes(picked("What changed in 4.0.0?", page, notes))[0] == notes.text


def test_a_section_on_a_release_of_something_comes_before_what_names_no_release() -> None:
    of_other = chunk_of("Cranes are thick.", "reports/cranes.md", context=("crane (4.0.0)",), language="markdown")
    page = chunk_of("The harbour has changed, as is said elsewhere.", "page.md", language="markdown")

    assert quotes(picked("What changed in 4.0.0?", page, of_other))[0] == of_other.text
