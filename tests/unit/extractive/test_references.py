"""Quotes are of the numbered part that is asked for."""

from __future__ import annotations

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

RULES = (
    "## 7.2 Votes\n\nThe section on the session timeout of the votes is another one.\n\n"
    "## 7.3 Quays\n\nCaptains are asked three times a year.\n\nThe session timeout is one hour for all of them."
)


def test_a_section_asked_for_as_a_whole_is_quoted_from_its_beginning() -> None:
    page = chunk_of(RULES, "rules.md", context=("Rules",), language="markdown")

    assert quotes(picked("What does section 7.3 say?", page))[0].startswith("Captains are asked")


def test_what_a_section_says_of_something_is_quoted_from_it() -> None:
    page = chunk_of(RULES, "rules.md", context=("Rules",), language="markdown")

    assert "one hour" in quotes(picked("What does section 7.3 say about the session timeout?", page))[0]


def test_a_line_with_the_number_is_quoted_rather_than_one_that_speaks_of_it() -> None:
    said = "Requirement 2.1.1 of the rules is a requirement that demands a length."
    other = chunk_of(said, "rules.md", context=("Rules",), language="markdown")
    line = chunk_of("2.1.1 Ropes have twelve strands at least.", "rules.md", before=f"{said}\n\n", language="markdown")

    assert quotes(picked("What does requirement 2.1.1 of the rules demand?", other, line))[0] == line.text
