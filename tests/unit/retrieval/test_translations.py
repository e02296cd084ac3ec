"""Copies of a page in languages that a question is not in."""

from __future__ import annotations

import pytest

from openbook.types import View
from tests.unit.retrieval.material import Library


@pytest.mark.parametrize("view", ["files", "passages"])
@pytest.mark.parametrize(
    ("question", "third"),
    [
        ("how is the harbour log turned off", {"docs/de/log.md", "docs/fr-FR/log.md"}),
        ("wie kann ich das harbour log mit off abschalten", {"docs/fr-FR/log.md"}),
        ("harbour log abschalten", {"docs/fr-FR/log.md"}),
        ("harbour log turned off", {"docs/fr-FR/log.md"}),
    ],
)
def test_copies_of_a_page_in_neither_the_language_of_the_question_nor_english_count_as_translations(
    library: Library, question: str, third: set[str], view: View
) -> None:
    library.put("docs/log.md", "The log of the harbour is turned off with this.")
    library.put("docs/de/log.md", "Harbour log turned off: das Protokoll wird mit `harbour log off` abgeschaltet.")
    library.put("docs/fr-FR/log.md", "This page about turning off the harbour log is not translated yet.")
    library.put("docs/fr-FR/only.md", "Harbour log turned off : le journal est désactivé par `harbour log off`.")
    library.put("docs/fr-FR/log.py", "def harbour_log_turned_off(): ...", kind="code")
    library.put("docs/log.py", "def harbour_log_turned_off(): ... # harbour", kind="code")

    results = library.search(question, view=view)

    assert {result.chunk.span.path for result in results if "role" not in result.signals} == third


@pytest.mark.parametrize(
    ("question", "third"),
    [
        ("harbour-log vs harbour-net", {"docs/zh/log.md"}),
        ("harbour log abschalten", {"docs/zh/log.md"}),
        ("harbour-log harbour-net configuration 日志", set()),
    ],
)
def test_keywords_are_not_in_a_language_whose_letters_they_lack(
    library: Library, question: str, third: set[str]
) -> None:
    library.put("docs/en/log.md", "The harbour log is turned off with harbour-log, and a harbour-net is not.")
    library.put("docs/de/log.md", "Das harbour log wird mit harbour-log abgeschaltet, das harbour-net nicht.")
    library.put("docs/zh/log.md", "harbour-log 日志 harbour-net")
    library.put("docs/zh/only.md", "harbour-log 日志 harbour-net 网")

    results = library.search(question)

    assert {result.chunk.span.path for result in results if "role" not in result.signals} == third


@pytest.mark.parametrize("question", ["How is the harbour log turned off?", "harbour log", "hvordan er harbour log"])
def test_pages_without_a_copy_that_is_read_lose_nothing(library: Library, question: str) -> None:
    library.put("README.md", "Harbour log: das Protokoll wird mit `harbour log off` für dich abgeschaltet.")
    library.put("docs/de/log.md", "Harbour log: das Protokoll wird mit `harbour log off` für dich abgeschaltet. Und?")
    library.put("docs/fr/log.md", "Harbour log : le journal est désactivé par `harbour log off` pour vous.")
    library.put("log.md", "The harbour log is turned off with this.", source="other")
    library.put("fr/log.md", "Harbour log : le journal est désactivé par `harbour log off` pour nous.")
    library.put("vector.md", "The harbour log of del x + y and del y is turned off.")

    assert all("role" in result.signals for result in library.search(question))
