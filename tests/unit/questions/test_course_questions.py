"""What is read of a question on courses, before anything is known of the courses."""

from __future__ import annotations

import pytest

from openbook.questions.course_questions import read_course_question


@pytest.mark.parametrize(
    ("text", "name", "lesson", "asks"),
    [
        ("What is the outline of the Bread course?", "Bread", None, "outline"),
        ("outline of Baking Bread", "Baking Bread", None, "outline"),
        ("Which lessons does the bread course have?", "bread", None, "outline"),
        ("What was covered in lesson 5 of the Bread course?", "Bread", 5, "summary"),
        ("Summarize lesson 0 of Baking Bread", "Baking Bread", 0, "summary"),
        ('What is in lesson 2 of "How to Bake"?', "How to Bake", 2, "summary"),
        (
            'What is the outline of the "Baking: Rich Rye with Salt" course?',
            "Baking: Rich Rye with Salt",
            None,
            "outline",
        ),
        ("What is the course on rye bread about?", "rye bread", None, "summary"),
        ("Who teaches the bread course?", "bread", None, "header"),
        ("Give me the link to the Baking Real Sourdough Bread course", "Baking Real Sourdough Bread", None, "header"),
        ("What is lesson 5 of the bread course about? Who teaches it?", "bread", None, "header"),
        ("What does lesson 3 of the Bread course say about yeast?", "Bread", 3, "topic"),
        ("In the Baking Real Bread course, how is yeast kept?", "Baking Real Bread", None, "topic"),
        ("What does the course on rye bread say about yeast?", "rye bread", None, "topic"),
        ("Was ist die Gliederung des Brot-Kurses?", "Brot", None, "outline"),
        ("Was wurde in Lektion 5 des Brot-Kurses behandelt?", "Brot", 5, "summary"),
        ("Worum geht es im Kurs über Brot?", "Brot", None, "summary"),
        ("Worum geht es im Kurs Brot?", "Brot", None, "summary"),
        ("Wovon handelt der Brot-Kurs?", "Brot", None, "summary"),
        ("Wer unterrichtet den Kurs Brot?", "Brot", None, "header"),
        ("Gib mir die Gliederung des Kurses Brot", "Brot", None, "outline"),
        ("Who teaches the course Bread and Salt?", "Bread and Salt", None, "header"),
        ("What's the link to the bread course?", "bread", None, "header"),
        ("What is the title of lesson 5 in the bread course?", "bread", 5, "link"),
        ("Link to lesson 3 of the bread course please", "bread", 3, "link"),
        ("List the lessons in Baking Bread", "Baking Bread", None, "outline"),
        ("Wie heißt der Dozent vom Brot-Kurs?", "Brot", None, "header"),
        ("Wie heißt Lektion 5 im Kurs Brot?", "Brot", 5, "link"),
        ("Qui donne le cours sur le pain ?", "pain", None, "header"),
        ("Quel est le lien du cours Pain ?", "Pain", None, "header"),
        ("Comment s'appelle la leçon 5 du cours Pain ?", "Pain", 5, "link"),
        ("Quelles sont les leçons du cours Pain ?", "Pain", None, "outline"),
        ("De quoi parle la leçon 2 du cours Pain ?", "Pain", 2, "summary"),
        ("¿Quién imparte el curso de Pan?", "Pan", None, "header"),
        ("¿Qué lecciones tiene el curso Pan?", "Pan", None, "outline"),
        ("¿De qué trata la lección 2 del curso Pan?", "Pan", 2, "summary"),
        ("Which lectures does the bread course have?", "bread", None, "outline"),
        ("What was covered in lecture 5 of the Bread course?", "Bread", 5, "summary"),
        ("Welche Vorlesungen hat der Kurs Brot?", "Brot", None, "outline"),
        ("Wie heißt Vorlesung 5 im Kurs Brot?", "Brot", 5, "link"),
        ("¿Qué clases tiene el curso Pan?", "Pan", None, "outline"),  # codespell:ignore
        ("¿De qué trata la clase 2 del curso Pan?", "Pan", 2, "summary"),
    ],
)
def test_the_name_the_lesson_and_what_is_asked_are_read(text: str, name: str, lesson: int | None, asks: str) -> None:
    asked = read_course_question(text)

    assert asked is not None
    assert (asked.names[0], asked.lesson, asked.asks(name)) == (name, lesson, asks)


@pytest.mark.parametrize(
    ("text", "asks", "topic"),
    [
        ("Which courses explain yeast?", "courses", "yeast"),
        ("Which courses build an oven?", "courses", "build oven"),
        ("In which courses do we bake?", "courses", "bake"),
        ("Welche Kurse erklären Hefe?", "courses", "Hefe"),
        ("What courses are there?", "courses", ""),
        ("Welche Kurse gibt es hier?", "courses", ""),
        ("Quels cours sont disponibles ?", "courses", ""),
        ("¿Qué cursos hay?", "courses", ""),  # codespell:ignore
        ("Is there a course about yeast?", "courses", "yeast"),
        ("Are there any courses on yeast?", "courses", "yeast"),
        ("Gibt es einen Kurs über Hefe?", "courses", "Hefe"),
        ("Y a-t-il un cours sur la levure ?", "courses", "levure"),
        ("¿Hay algún curso sobre levadura?", "courses", "levadura"),
        ("Quel cours parle de levure ?", "courses", "levure"),
        ("¿En qué curso se habla de levadura?", "courses", "levadura"),
        ("Where is cold proofing explained?", "lessons", "cold proofing"),
        ("In which lesson is cold proofing introduced?", "lessons", "cold proofing"),
        ("Wo wird Hefe erklärt?", "lessons", "Hefe"),
    ],
)
def test_questions_for_places_have_a_topic_and_no_name(text: str, asks: str, topic: str) -> None:
    asked = read_course_question(text)

    assert asked is not None
    assert (asked.asks(), asked.topic()) == (asks, topic)


@pytest.mark.parametrize(
    "text",
    [
        *("", "When do sessions end?", "Where is the default port?", "lesson", "course " * 100),
        *("how do I lesson the load", "Of course, how does it work?"),
        *("Que se passe-t-il au cours de la nuit ?", "Welche Funktion schreibt die Datei?", "¿Quién llama a parse?"),
    ],
)
def test_other_questions_are_none_on_courses(text: str) -> None:
    assert read_course_question(text) is None


@pytest.mark.parametrize("text", ["What is the course of the river?", "courses", "Is this course any good?"])
def test_a_course_that_is_not_named_is_asked_nothing_of(text: str) -> None:
    asked = read_course_question(text)

    assert asked is not None
    assert asked.asks() in ("", "courses")
    assert not asked.is_about_one


@pytest.mark.parametrize("text", ["What is the outline of this course?", "List the lessons of the whole course"])
def test_this_course_is_no_name(text: str) -> None:
    asked = read_course_question(text)

    assert asked is not None
    assert (asked.names, asked.asks()) == ((), "outline")


def test_a_topic_without_a_word_to_search_for_is_none() -> None:
    asked = read_course_question("Where doesn't lesson 3 explain?")

    assert asked is not None
    assert (asked.topic(), asked.asks()) == ("", "summary")


def test_of_several_questions_the_last_is_read_and_those_before_name_the_course() -> None:
    asked = read_course_question("What is the outline of the Bread course? And what is lesson 2 about?")

    assert asked is not None
    assert (asked.names, asked.lesson, asked.asks("Bread")) == (("Bread",), 2, "summary")
