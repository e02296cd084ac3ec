"""A summary of one document gives its central sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Filter, ResultRole
from tests.support import write_tree

_MINUTES = (
    "# Meeting\n\n## Ropes\n\nAll ropes of the harbour are replaced by thicker ones until the end of the year.\n\n"
    "## Cranes\n\nThe second crane is sold to the neighbours, because nobody is trained to use it.\n"
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    files = {f"minutes/2024-03-{day}.md": _MINUTES.replace("crane", f"crane of quay {day}") for day in (13, 20)}
    files |= {"reports/tide-report.md": _MINUTES.replace("rope", "tide"), "README.md": "# Harbour\n\nAll of it.\n"}
    write_tree(tmp_path / "harbour", files)
    library = Library(tmp_path / "library.db", Settings(home=tmp_path))
    library.add(tmp_path / "harbour")
    return library


@pytest.mark.parametrize(
    ("question", "glob", "path"),
    [
        ("Summarise this document", "2024-03-13.md", "minutes/2024-03-13.md"),
        ("Summarise the minutes of 20 March 2024", "", "minutes/2024-03-20.md"),
        ("What was decided on March 20th?", "", "minutes/2024-03-20.md"),
        ("Give me a summary of the tide report", "", "reports/tide-report.md"),
    ],
)
def test_the_sentences_of_all_sections_are_quoted(library: Library, question: str, glob: str, path: str) -> None:
    answer = library.query(question, where=Filter(globs=(glob,) if glob else ()))

    assert not answer.refused
    assert {each.span.path for each in answer.citations} == {path}
    assert {role for each in answer.results for role in each.roles} == {ResultRole.DOCUMENT}
    assert "thicker ones" in answer.answer
    assert "nobody is trained" in answer.answer


def test_a_day_of_which_there_is_no_file_is_searched_for(library: Library) -> None:
    assert library.query("What was decided on 21 March 2024?").refused
