"""The numbered part that a question refers to comes first, and so does the version of a document that it names."""

from __future__ import annotations

import pytest

from tests.unit.retrieval.material import Library


@pytest.fixture
def library(library: Library) -> Library:
    for number in range(90):  # more than are ranked
        library.put(f"{number}.md", f"Section 6 of 4 charters says what elections are, see section 6.4 of {number}.")
    return library


@pytest.mark.parametrize("heading", ["Section 6. Elections", "6 Elections", "§ 6 Elections"])
def test_the_section_of_the_document_comes_first(library: Library, heading: str) -> None:
    library.put("harbour-charter.md", "A simple majority.", context=("Charter", heading))
    library.put("crane-report.md", "All captains.", context=("Report", heading))

    found = library.search("What does section 6 of the harbour charter say?")

    assert found[0].chunk.span.path == "harbour-charter.md"


def test_the_line_comes_before_the_one_in_a_table_of_contents(library: Library) -> None:
    library.put(
        "rules.md", "6.4 Elections ........ 12\n6.5 Votes ........ 13", "6.4 Captains\n\nA majority elects them."
    )

    found = library.search("What does section 6.4 say of elections?")

    assert found[0].chunk.text.startswith("6.4 Captains")


def test_the_named_version_of_a_document_comes_first(library: Library) -> None:
    for version in ("3.0.1", "4.0.3", "5.0.0"):
        library.put(f"Harbour Mooring Standard {version}.pdf", f"Ropes have {version[0]} strands at least.")

    found = library.search("How many strands have ropes in HMS 4?")

    assert "4.0.3" in found[0].chunk.span.path
    assert ["edition" in each.signals for each in found[:2]] == [True, False]
