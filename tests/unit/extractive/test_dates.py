"""Quotes are of the day that is asked for."""

from __future__ import annotations

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of


def test_the_page_of_the_day_is_quoted_which_need_not_say_it() -> None:
    of_day = chunk_of("The captains and both pilots were present.", "minutes/2024-03-20.md", language="markdown")
    other = chunk_of("All captains were present on 20 March 2023.", "minutes/2023-03-20.md", language="markdown")

    assert quotes(picked("Who was present on 20 March 2024?", other, of_day))[0] == of_day.text


def test_the_sentence_that_says_the_day_is_quoted() -> None:
    of_deposit = "The deposit of the captains is due at the office of the harbour in the old tower, in cash.\n\n"
    of_rent = "The rent of the pilots is due at the new office, on 2024-03-20 as in every year before this one."
    page = chunk_of(of_deposit * 2 + of_rent, "rent.md", language="markdown")

    assert of_rent in quotes(picked("What is due at the office on March 20th?", page))[0]
