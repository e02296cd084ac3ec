"""What is of the day that a question names comes first, however the day is written."""

from __future__ import annotations

import pytest

from tests.unit.retrieval.material import Library


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(90):  # more than are ranked
        library.put(f"{number}.md", f"Present on 20 March 2023: {number} captains of the harbour, 2024.")
    return library


@pytest.mark.parametrize("path", ["minutes/2024-03-20.md", "minutes/20.3.2024.md", "minutes/20 mars 2024.md"])
def test_the_file_of_a_day_comes_first(library: Library, path: str) -> None:
    library.put(path, "Two cranes and a rope.")
    library.put("minutes/2024-03-21.md", "The captains of the harbour were present.")

    found = library.search("Which captains were present on 20 March 2024?")

    assert found[0].chunk.span.path == path
    assert ["date" in each.signals for each in found[:2]] == [True, False]


def test_a_text_that_writes_the_day_in_another_way_comes_first(library: Library) -> None:
    library.put("mail.txt", "Sent: 2024-03-20. Two captains are ill.")

    assert library.search("Which captains are ill on March 20th, 2024?")[0].chunk.span.path == "mail.txt"


def test_what_is_of_a_day_comes_before_what_mentions_it(library: Library) -> None:
    library.put("2024-03-20.md", "Two captains are ill.")
    library.put("plan.md", "Two captains are ill until 20 March 2024.")

    assert library.search("Which captains are ill on 20 March 2024?")[0].chunk.span.path == "2024-03-20.md"
