"""Questions that name files which could not be read."""

from __future__ import annotations

import pytest

from openbook.answering.refusals import asks_for_content_alone, like_unread, named_unread
from openbook.index.protocol import DocumentSummary
from openbook.questions.question import read_question
from openbook.sources.formats import EMPTY
from openbook.types import Filter

UNREAD = {"a/My Report.docx": "damaged", "talk.key": "Keynote", "app.py": "too large"}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        pytest.param("What is in my report.docx?", ["a/My Report.docx"], id="blank-in-the-name"),
        pytest.param("What does a/My Report.docx say?", ["a/My Report.docx"], id="path"),
        pytest.param("Compare talk.key, and a.md", ["talk.key"], id="suffix-of-an-unread-format"),
        pytest.param("Does My Report say it?", [], id="no-suffix"),
        pytest.param("What is in small-talk.key?", [], id="longer-name"),
        pytest.param("What is in talk.keynote?", [], id="longer-suffix"),
    ],
)
def test_a_file_is_named_by_its_whole_name_in_any_case(question: str, named: list[str]) -> None:
    assert list(named_unread(question, Filter(), lambda _: UNREAD)) == named


@pytest.mark.parametrize(
    ("question", "like"),
    [
        pytest.param("What was the average of the PM10 readings?", ["sensor readings 2025.csv"], id="one-word"),
        pytest.param("What did the sensors read in May?", ["sensor readings 2025.csv"], id="stems"),
        pytest.param("Which harbour has the lowest water?", ["Low water at the harbour.pdf"], id="most-words"),
        pytest.param("What happened in 2025?", [], id="numbers"),
        pytest.param("What does a CSV hold?", [], id="suffix"),
        pytest.param("What is in sensor readings 2025.csv?", [], id="whole-name"),
    ],
)
def test_a_file_is_likely_meant_if_its_name_has_most_words_of_the_question(question: str, like: list[str]) -> None:
    unread = {"sensor readings 2025.csv": "too large", "Low water at the harbour.pdf": "damaged", "water.csv": "x"}
    aside = {"tests/readings.csv": "damaged", "harbour.md": EMPTY}

    assert list(like_unread(read_question(question), {**unread, **aside})) == like


@pytest.mark.parametrize("question", ["How does app.run work?", "Where is self.index set?", "What is in app.py?"])
def test_no_file_is_looked_for_when_a_question_names_code(question: str) -> None:
    def unread(_: Filter) -> dict[str, str]:
        raise AssertionError("the files of a source were looked at")

    assert named_unread(question, Filter(), unread) == {}


@pytest.mark.parametrize(
    ("question", "is_alone"),
    [
        pytest.param("What is in talk.key?", True, id="what-is-in"),
        pytest.param("Summarize docs/talk.key", True, id="summarize"),
        pytest.param("Was steht in der Datei talk.key?", True, id="german"),
        pytest.param("Que contient talk.key ?", True, id="french"),
        pytest.param("Quel est le contenu de talk.key ?", True, id="french-noun"),
        pytest.param("¿Qué dice talk.key?", True, id="spanish"),
        pytest.param("What does talk.key say about tides?", False, id="something-in-it"),
    ],
)
def test_a_question_for_the_content_of_a_file_is_told_from_others(question: str, *, is_alone: bool) -> None:
    assert asks_for_content_alone(question, {"talk.key": "Keynote"}, []) == is_alone


def test_a_file_of_the_same_name_that_was_read_may_be_meant() -> None:
    read = [DocumentSummary("s", "other/talk.key", "docs")]

    assert not asks_for_content_alone("What is in talk.key?", {"talk.key": "Keynote"}, read)
