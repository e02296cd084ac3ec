"""Questions in another language than the sources are told so, and others are not."""

from __future__ import annotations

import pytest

from openbook.answering.refusals import noted
from openbook.answers import GenerationResult
from tests.unit.answering.asking import ask
from tests.unit.retrieval.material import Library

_OTHER_LANGUAGE = "The question and the sources are in different languages"


@pytest.mark.parametrize("question", ["Wann werden die Rosen im Garten geschnitten?", "¿Cómo salgo de Vim?"])
def test_a_question_in_another_language_than_the_sources_is_told_what_helps(library: Library, question: str) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))

    answer = ask(library, question)

    assert answer.refused
    assert _OTHER_LANGUAGE in answer.answer


def test_names_and_messages_in_a_language_do_not_make_it_that_of_the_sources(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(100)))
    library.put("b.md", "La Paz.", "Es ist das Haus der Katze.", "Cuál es la capital de?")

    assert _OTHER_LANGUAGE in ask(library, "¿Cuál es la capital de España?").answer
    assert _OTHER_LANGUAGE in ask(library, "Wie lautet der Name, den das Haus trägt?").answer


def test_a_question_in_the_language_of_the_sources_is_not_told_of_languages(library: Library) -> None:
    library.put("a.md", *(f"Die Regel {number} ist für das Haus, in dem der Herr wohnt." for number in range(50)))

    assert _OTHER_LANGUAGE not in ask(library, "Wie ist das Wetter in der Wüste?").answer


def test_a_question_in_one_of_two_languages_of_the_sources_is_not_told_of_languages(library: Library) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(300)))
    library.put("b.md", "Der Verein wird von der Versammlung für das Jahr auf die Probe gestellt.")

    assert _OTHER_LANGUAGE not in ask(library, "Wie lautet das Urteil der Versammlung?").answer
    assert _OTHER_LANGUAGE in ask(library, "¿Cuál es la capital de España?").answer


@pytest.mark.parametrize("question", ["Restart a pod on demand", "snooze a message until monday morning"])
def test_a_short_english_question_is_not_told_of_languages(library: Library, question: str) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(9)))

    assert _OTHER_LANGUAGE not in ask(library, question).answer


@pytest.mark.parametrize("deciding", [[], ["Vim"]])
def test_a_doubtful_answer_to_a_question_in_another_language_says_what_helps(deciding: list[str]) -> None:
    answer = GenerationResult("Wie beende ich Vim?", "> Vim ends. [1]")

    assert _OTHER_LANGUAGE in noted(answer, deciding, is_doubtful=not deciding, is_foreign=True).answer
    assert noted(answer, [], is_foreign=True) == answer
