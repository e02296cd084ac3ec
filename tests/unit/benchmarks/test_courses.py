"""What the table of courses counts, and that its questions are what they claim to be."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.courses import FOREIGN, Case, Outcome, measure, read_cases, table

COURSE = (
    "Course Title: Bread\n\nLesson 0: Flour\nRye flour binds more water than wheat flour does.\n\n"
    "Lesson 1: Fire\nThe oven has to reach two hundred and fifty degrees.\n"
)


def case_of(question: str, sentence: str, wording: str = "same") -> Case:
    start = COURSE.index(sentence)
    return Case(question, "bread.txt", start, start + len(sentence), wording)


def test_a_question_counts_by_its_lesson_and_by_its_whole_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "courses"
    folder.mkdir()
    (folder / "bread.txt").write_text(COURSE, encoding="utf-8", newline="")
    hit = case_of("How hot has the oven to be?", "The oven has to reach two hundred and fifty degrees.")
    no_sentence = case_of("How hot has the oven to be?", "two hundred and fifty degrees.\n")
    no_lesson = case_of("How hot has the oven to be?", "Rye flour binds more water than wheat flour does.")

    outcomes = measure(folder, [hit, no_sentence, no_lesson], tmp_path / "home")

    assert [(one.lesson_found, one.sentence_cited) for one in outcomes[:2]] == [(True, True), (True, False)]
    assert not outcomes[2].sentence_cited
    assert [one.half for one in outcomes] == ["tuned", "tuned", "held"]


def test_the_table_has_a_row_for_each_half_and_keeps_foreign_words_apart() -> None:
    outcomes = [
        Outcome("tuned", "same", lesson_found=True, sentence_cited=True, words=10),
        Outcome("held", "other", lesson_found=True, sentence_cited=False, words=20),
        Outcome("held", FOREIGN, lesson_found=False, sentence_cited=False, words=30),
    ]

    rows = table(outcomes).splitlines()

    assert "| tuned | 1 | 100.0 | 100.0 | 10 |" in rows
    assert "| held | 1 | 100.0 | 0.0 | 20 |" in rows
    assert "| all | 2 | 100.0 | 50.0 | 15 |" in rows
    assert rows[-1] == "| foreign words | 1 | 0.0 | 0.0 | 30 |"


def test_there_are_forty_questions_half_in_other_words_and_twenty_more_on_the_same_sentences() -> None:
    cases = read_cases()
    counted, foreign = cases[:40], cases[40:]

    assert [case.wording for case in counted] == ["same", "other"] * 20
    assert {case.wording for case in foreign} == {FOREIGN}
    assert [(case.file, case.start_char) for case in foreign] == [
        (case.file, case.start_char) for case in counted if case.wording == "other"
    ]
    assert len({case.question for case in cases}) == 60
    assert all(0 < case.end_char - case.start_char < 400 for case in cases)
    assert json.dumps([case.file for case in counted]).count("course1") == 10
