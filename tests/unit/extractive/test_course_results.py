"""Questions on courses, answered without a model: outlines, lessons, and which course speaks of something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answers import Exchange, GenerationResult
from openbook.extractive.context import build_context
from openbook.extractive.course_results import course_key
from openbook.questions.question import read_question
from openbook.types import Filter
from tests.unit.answering.courses import BREAD, ROSES, put_course, put_courses
from tests.unit.retrieval.material import Library


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    put_courses(made)
    made.put("notes.md", "The retry policy of the oven server waits one minute.")
    yield made
    made.close()


def ask(library: Library, question: str, where: Filter | None = None, *before: str) -> GenerationResult:
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)
    options = AnswerOptions(history=tuple(Exchange(each, "") for each in before))
    return generator.generate_with_retrieval(question, where=where or Filter(), options=options)


def quotes(answer: GenerationResult) -> list[str]:
    for citation in answer.citations:
        assert citation.verdict == "exact"
    return [citation.quote for citation in answer.citations]


BREAD_OUTLINE = ["Course Title: Baking Rye Bread", "Lesson 0: Welcome", "Lesson 1: Sourdough", "Lesson 2: The Oven"]


@pytest.mark.parametrize(
    "question",
    [
        "What is the outline of the rye bread course?",
        "Which lessons does the Baking Rye Bread course have?",
        "Was ist die Gliederung des Rye-Bread-Kurses?",
    ],
)
def test_an_outline_quotes_the_headings_of_the_course_that_is_named(library: Library, question: str) -> None:
    answer = ask(library, question)

    assert quotes(answer) == BREAD_OUTLINE
    assert (
        "\n\nBaking Rye Bread\n\n> Course Title: Baking Rye Bread [1:1]\n\n> Lesson 0: Welcome [2:1]" in answer.answer
    )


@pytest.mark.parametrize(
    "question",
    ["What was covered in lesson 1 of the rye bread course?", "Summarize lesson 1 of Baking Rye Bread"],
)
def test_a_lesson_is_summed_up_by_its_own_telling_sentences_in_order(library: Library, question: str) -> None:
    answer = ask(library, question)

    assert {citation.label for citation in answer.citations} == {"Baking Rye Bread · Lesson 1: Sourdough"}
    assert quotes(answer)[0] == "In this lesson we make a sourdough from flour and water and nothing else."
    assert "Let's go." not in quotes(answer)
    places = [citation.span.start_char for citation in answer.citations]
    assert places == sorted(places)


def test_lesson_0_is_a_lesson_and_tells_what_a_course_is_about(library: Library) -> None:
    for question in ("What is in lesson 0 of the rye bread course?", "What is the rye bread course about?"):
        assert quotes(ask(library, question))[0].startswith("This course shows you how to bake dark rye bread")


def test_the_course_is_clear_where_there_is_but_one(library: Library) -> None:
    roses = Filter(courses=frozenset({("src", "b.txt")}))

    assert quotes(ask(library, "What is this course about?", roses))[0].startswith("In this lesson we dig the soil")
    assert quotes(ask(library, "What is the outline of this course?", roses))[0] == "Course Title: Growing Roses"
    assert len(quotes(ask(library, "What is the outline of this course?"))) == 2


def test_a_lesson_without_a_course_is_that_of_each(library: Library) -> None:
    labels = {citation.label for citation in ask(library, "What did we learn in lesson 2?").citations}

    assert labels == {"Baking Rye Bread · Lesson 2: The Oven", "Growing Roses · Lesson 2: Pruning"}


def test_a_topic_is_looked_for_in_the_course_or_lesson_that_is_named(library: Library) -> None:
    put_course(library, "c.txt", BREAD.replace("Rye", "White").replace("rye", "white").replace("Sourdough", "Yeast"))

    answer = ask(library, "What does lesson 2 of the rye bread course say about the crust?")

    assert {citation.label for citation in answer.citations} == {"Baking Rye Bread · Lesson 2: The Oven"}
    assert all("crust" in quote for quote in quotes(answer))
    assert {citation.span.path for citation in answer.citations} == {"a.txt"}


def test_which_courses_speak_of_something_gives_the_best_line_of_each_and_no_others(library: Library) -> None:
    pizza = "Lesson 1: Dough\nA sourdough of three days makes the best pizza.\nRoll it thin.\n"
    put_course(library, "c.txt", f"Course Title: Pizza\n\n{pizza}\nLesson 2: Heat\nStones get hot slowly.\n")

    answer = ask(library, "Which courses explain the sourdough?")

    assert sorted(citation.span.path for citation in answer.citations) == ["a.txt", "c.txt"]
    assert all("ourdough" in quote for quote in quotes(answer))


def test_which_courses_there_are_is_answered_by_their_headers(library: Library) -> None:
    assert [quote.partition("\n")[0] for quote in quotes(ask(library, "What courses are there?"))] == [
        "Course Title: Baking Rye Bread",
        "Course Title: Growing Roses",
    ]


@pytest.mark.parametrize(
    "question",
    ["Who teaches the roses course?", "Who teaches roses?", "who taught Roses", "Wer unterrichtet Roses?"],
)
def test_who_teaches_a_course_stands_in_its_header(library: Library, question: str) -> None:
    (quote,) = quotes(ask(library, question))

    assert quote.endswith("Course Instructor: Ben Hill")


@pytest.mark.parametrize("question", ["Who teaches the oven to wait?", "Who teaches"])
def test_a_question_for_somebody_else_is_no_question_for_a_header(library: Library, question: str) -> None:
    assert not any("Course Instructor" in quote for quote in quotes(ask(library, question)))


def test_where_something_is_explained_names_lessons(library: Library) -> None:
    answer = ask(library, "Where is cold proofing explained?")

    assert answer.citations[0].label == "Baking Rye Bread · Lesson 2: The Oven"
    assert quotes(answer)[0].startswith("Cold proofing in the fridge")


def test_where_something_is_explained_outside_of_courses_is_an_ordinary_question(library: Library) -> None:
    assert quotes(ask(library, "Where is the retry policy explained?"))[0].startswith("The retry policy of the oven")


@pytest.mark.parametrize(
    "question",
    [
        "What is the outline of the astronomy course?",
        "What was covered in lesson 1 of the astronomy course?",
    ],
)
def test_what_no_course_has_is_refused_and_not_answered_from_another(library: Library, question: str) -> None:
    answer = ask(library, question)

    assert (answer.refused, answer.reason, answer.citations) == (True, "nothing found", ())


@pytest.mark.parametrize(
    "question",
    [
        "What was covered in lesson 9 of the rye bread course?",
        "What does lesson 9 of the rye bread course say about the crust?",
    ],
)
def test_a_lesson_that_is_not_there_is_refused_with_those_that_are(library: Library, question: str) -> None:
    answer = ask(library, question)

    assert (answer.refused, answer.reason, answer.citations) == (True, "no such lesson", ())
    assert answer.answer.startswith("The sources do not answer this: no such lesson, there are 0 to 2.")
    assert "Baking Rye Bread · Lesson 1: Sourdough" in answer.answer


def test_a_name_that_means_several_courses_gives_their_headers(library: Library) -> None:
    put_course(library, "copy/a.txt", BREAD)

    answer = ask(library, "What is the outline of the Baking Rye Bread course?")

    assert [citation.span.path for citation in answer.citations] == ["a.txt", "copy/a.txt"]
    assert all(quote.startswith("Course Title: Baking Rye Bread") for quote in quotes(answer))


def test_the_same_lesson_in_two_files_is_told_once(library: Library) -> None:
    put_course(library, "copy/a.txt", BREAD)

    told = quotes(ask(library, "What was covered in lesson 1 of the Baking Rye Bread course?"))

    assert len(told) == len(set(told))


def test_the_filter_of_the_person_comes_first(library: Library) -> None:
    roses = Filter(courses=frozenset({("src", "b.txt")}))

    assert ask(library, "What is the outline of the rye bread course?", roses).reason == "nothing found"
    assert {citation.span.path for citation in ask(library, "What courses are there?", roses).citations} == {"b.txt"}
    second = Filter(lesson=2)
    assert {citation.label for citation in ask(library, "What is the roses course about?", second).citations} == {
        "Growing Roses · Lesson 2: Pruning"
    }


def test_a_question_that_leans_on_an_earlier_one_is_about_its_course(library: Library) -> None:
    answer = ask(library, "And what was covered in lesson 2?", None, "What is the outline of the roses course?")

    assert {citation.label for citation in answer.citations} == {"Growing Roses · Lesson 2: Pruning"}


def test_a_library_without_courses_answers_as_ever(tmp_path: Path) -> None:
    library = Library(tmp_path / "notes.db")
    library.put("a.md", "Lesson 5 of the harbour: never lift alone.")

    answer = ask(library, "What was covered in lesson 5 of the harbour course?")

    assert quotes(answer) == ["Lesson 5 of the harbour: never lift alone."]
    library.close()


def test_a_long_lesson_is_shown_from_beginning_to_end(tmp_path: Path) -> None:
    spoken = " ".join(
        f"Sentence {number} says something new about topic {number % 9} of the talk." for number in range(600)
    )
    library = Library(tmp_path / "long.db")
    put_course(library, "a.txt", f"Course Title: Long\n\nLesson 1: Talk\n{spoken}\n\nLesson 2: End\nBye.\n")

    found = EvidenceFinder(library.index, library.embedder, library.text_now).find(
        read_question("What was covered in lesson 1?"), 10, Filter()
    )

    assert len(found) == 24
    assert found[0].chunk.text.startswith("Lesson 1: Talk")
    assert "Sentence 5" in found[-1].chunk.text
    assert [one.chunk.span.start_char for one in found] == sorted(one.chunk.span.start_char for one in found)
    assert {course_key(one.chunk) for one in found} == {("src", "a.txt")}
    assert build_context(found, 6_000).shown[-1].number > 20
    library.close()


def test_the_outline_of_roses_is_not_that_of_bread(library: Library) -> None:
    assert ROSES.partition("\n")[0] in quotes(ask(library, "outline of the roses course"))


@pytest.mark.parametrize(
    "question", ["What is the title of lesson 1 in the rye bread course?", "Wie heißt Lektion 1 im Kurs Rye Bread?"]
)
def test_what_a_lesson_is_called_is_told_by_its_heading(library: Library, question: str) -> None:
    answer = ask(library, question)

    assert [citation.quote.split("\n")[0] for citation in answer.citations] == ["Lesson 1: Sourdough"]


@pytest.mark.parametrize(
    "question",
    [
        "Summarize this lesson",
        "What is the lesson about?",
        "Fass diese Lektion zusammen",
        "Résume cette leçon",
        "Resume esta lección",
    ],
)
def test_the_lesson_that_is_chosen_is_summed_up(library: Library, question: str) -> None:
    course = next(each for each in library.index.courses(Filter()) if each.title == "Baking Rye Bread")

    answer = ask(library, question, Filter(courses=frozenset({course.key}), lesson=1))

    assert {citation.label for citation in answer.citations} == {"Baking Rye Bread · Lesson 1: Sourdough"}


def test_this_lesson_means_none_where_none_is_chosen(library: Library) -> None:
    chosen = ask(library, "Summarize this lesson")

    assert not any("lesson asked for" in result.signals for result in chosen.results)
