"""Dates in questions, paths and texts."""

from __future__ import annotations

import unicodedata

import pytest

from openbook.questions.dates_asked import Date, dates_asked, dates_in
from openbook.questions.kinds import kind_of
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    "written",
    [
        "20 March 2024",
        "20th of March, 2024",
        "March 20th, 2024",
        "Mar 20 2024",
        "20-Mar-2024",
        "2024-03-20",
        "2024/03/20",
        "20240320",
        "20.3.2024",
        "20. 3. 2024",
        "3/20/2024",
        "20. März 2024",
        unicodedata.normalize("NFD", "20. März 2024"),
        "20 mars 2024",
        "20 de marzo de 2024",
    ],
)
def test_a_day_is_read_in_every_form(written: str) -> None:
    asked = read_question(f"Who was present on {written}?")

    assert asked.dates is not None
    assert (asked.dates.dates, asked.view) == ((Date(2024, 3, 20),), "passages")
    assert asked.dates.share_in("minutes/2024-03-20.md") == 1.0


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("what did we decide in March 2024", Date(2024, 3, 0)),
        ("what did we decide in March?", Date(0, 3, 0)),
        ("what is due on 20 March?", Date(0, 3, 20)),
        ("was wurde am 20.3. beschlossen", Date(0, 3, 20)),
        ("was war im Mai los", Date(0, 5, 0)),
        ("que s'est-il passé en mars ?", Date(0, 3, 0)),
        ("what is in 2024-03", Date(2024, 3, 0)),
        ("minutes of March", Date(0, 3, 0)),
        ("what is due by December?", Date(0, 12, 0)),
    ],
)
def test_a_month_or_a_day_without_a_year_is_read(question: str, date: Date) -> None:
    asked = dates_asked(question)

    assert asked is not None
    assert asked.dates == (date,)


@pytest.mark.parametrize(
    "question",
    [
        "How may I march in step?",
        "which 3 may fail",
        "What changed in 2024.3.1?",
        "Who is March?",
        "Which commits are by Jan?",
        "What is the mass of Mars?",
        "how do I import from dec",
        "Which release is 1.2.3?",
        "why 2024-03-20 12:00:01 ERROR no berth",
        "2024-13-45",
        f"20 March 2024 {'and so on ' * 30}",
    ],
)
def test_other_words_and_numbers_are_no_dates(question: str) -> None:
    assert dates_asked(question) is None


def test_a_text_says_a_date_if_nothing_that_it_says_differs() -> None:
    day = dates_asked("on 20 March 2024")
    month = dates_asked("in March")

    assert day is not None
    assert month is not None
    assert [day.share_in(text) for text in ("on 20 March", "on 20 March 2023", "March 2024", "2024-03-21")] == [
        1,
        0,
        0,
        0,
    ]
    assert [month.share_in(text) for text in ("2019-03-04.md", "April 2019")] == [0.4, 0.0]


def test_a_date_with_blanks_between_its_numbers_is_in_a_text_of_its_month() -> None:
    month = dates_asked("in March")

    assert month is not None
    assert month.share_in("Am 20. 3. 2024 beschlossen.") > 0


def test_what_is_a_part_of_a_date_is_no_other_one() -> None:
    assert dates_in("20 March 2024, 2023-04-05") == (Date(2023, 4, 5), Date(2024, 3, 20))


@pytest.mark.parametrize("text", ["1" * 20_000, "20 " * 7_000, "march " * 3_500, "1/1/" * 5_000, "20" + " " * 20_000])
def test_long_texts_are_read_at_once(text: str) -> None:
    assert len(dates_in(text)) < 2


def test_a_date_is_no_arithmetic() -> None:
    assert kind_of("Summarise the minutes of 20 March 2024") == "specific"
    assert kind_of("Was ist 20 + 3?") == "arithmetic"
