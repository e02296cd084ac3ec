"""Names that people give to courses, in three invented catalogs; `benchmarks/course_names.py` has real ones."""

from __future__ import annotations

import pytest

from openbook.courses.names import find_course, resolve
from openbook.embedding.static import load_embedder
from openbook.errors import AmbiguousCourseError, UnknownCourseError
from openbook.types import Course, Lesson

ENGLISH = (
    "Python I|Python II|Advanced Python|Introduction to Machine Learning|Introduction to Statistics"
    "|Introduction to Databases|Machine Learning for Healthcare|Deep Learning Foundations"
    "|Natural Language Processing with Transformers|Computer Vision Basics|Web Development with JavaScript"
    "|TypeScript from Scratch|Linear Algebra|Linear Models in R|C|C++ for Game Developers|Operating Systems"
    "|Distributed Systems|Computer Networks|Compilers|Algorithms and Data Structures|Data Engineering with Streams"
    "|Cloud Security|Kubernetes in Production|Public Speaking|Project Management|Creative Writing"
    "|World History 1500 to 1900|Organic Chemistry|Microeconomics"
)
GERMAN = (
    "Einführung in die Programmierung|Programmierung II|Grundlagen der Statistik|Lineare Algebra I|Lineare Algebra II"
    "|Analysis I|Datenbanken|Betriebssysteme|Maschinelles Lernen|Brot backen für Anfänger|Gärten im Winter"
    "|Geschichte der Stadt Köln|Rhetorik|Steuerrecht|Erste Hilfe|Töpfern|Französisch A1|Französisch A2|Spanisch A1"
    "|Chemie der Farben|Projektleitung|Netzwerke und Protokolle|Fotografie bei Nacht|Schach für Kinder"
    "|Segeln: Theorie|Segeln: Praxis|Imkern|Musiktheorie|Holzbau|Physik im Alltag"
)
ALIKE = (
    "Intro to Rust|Intro to Go|Intro to Haskell|Intro to Docker|Intro to Git|Intro to Figma|Intro to Blender"
    "|Intro to Excel|Intro to SQL|Intro to Bash|Intro to Vim|Intro to LaTeX|Web Security 2023|Web Security 2024"
    "|Data Analysis (Spring)|Data Analysis (Autumn)|Office Hours|Office Hours|Test Driven Development"
    "|Domain Driven Design|Clean Architecture|Code Review|Pair Programming|Technical Writing|Writing for the Web"
    "|Accessible Websites|Search Engines|Game Engines|Payment Systems|Recommender Systems"
)


def catalog(titles: str) -> list[Course]:
    return [Course("school", f"{place}.txt", title) for place, title in enumerate(titles.split("|"))]


def meant(name: str, courses: list[Course]) -> list[str]:
    """Return the title of the one that is meant, or of all candidates."""
    resolution = resolve(name, courses, load_embedder())
    return [one.title for one in ([resolution.course] if resolution.course else resolution.candidates)]


@pytest.mark.parametrize(
    ("titles", "name", "title"),
    [
        (ENGLISH, "Python I", "Python I"),
        (ENGLISH, "python 2", "Python II"),
        (ENGLISH, "the advanced python course", "Advanced Python"),
        (ENGLISH, "intro to stats", "Introduction to Statistics"),
        (ENGLISH, "NLP", "Natural Language Processing with Transformers"),
        (ENGLISH, "natural lang processing", "Natural Language Processing with Transformers"),
        (ENGLISH, "OS", "Operating Systems"),
        (ENGLISH, "kubernetse", "Kubernetes in Production"),
        (ENGLISH, "C", "C"),
        (ENGLISH, "linear algbra", "Linear Algebra"),
        (ENGLISH, "chemistry", "Organic Chemistry"),
        (ENGLISH, "databeses course", "Introduction to Databases"),
        (ENGLISH, "machine learning", "Introduction to Machine Learning"),
        (ENGLISH, "machine learning in healthcare", "Machine Learning for Healthcare"),
        (ENGLISH, "speaking in public", "Public Speaking"),
        (ENGLISH, "the networking course", "Computer Networks"),
        (ENGLISH, "data structs", "Algorithms and Data Structures"),
        (GERMAN, "franzosisch a2", "Französisch A2"),
        (GERMAN, "Tpfern", "Töpfern"),
        (GERMAN, "der Kurs über Betribssysteme", "Betriebssysteme"),
        (GERMAN, "Machinelles Lernen", "Maschinelles Lernen"),
        (GERMAN, "Schach fuer Kinder", "Schach für Kinder"),
        (GERMAN, "Lineare Algebra 2", "Lineare Algebra II"),
        (GERMAN, "Geschichte von Koeln", "Geschichte der Stadt Köln"),
        (GERMAN, "Analysis", "Analysis I"),
        (GERMAN, "Segeln Praxis", "Segeln: Praxis"),
        (ALIKE, "rust", "Intro to Rust"),
        (ALIKE, "intro to go", "Intro to Go"),
        (ALIKE, "haskel", "Intro to Haskell"),
        (ALIKE, "the docker class", "Intro to Docker"),
        (ALIKE, "web security 2024", "Web Security 2024"),
        (ALIKE, "Data analysis in autumn", "Data Analysis (Autumn)"),
        (ALIKE, "TDD", "Test Driven Development"),
        (ALIKE, "DDD", "Domain Driven Design"),
        (ALIKE, "recomender systems", "Recommender Systems"),
        (ALIKE, "writing technical documents", "Technical Writing"),
    ],
)
def test_a_name_means_the_course_that_a_person_would_take_it_for(titles: str, name: str, title: str) -> None:
    assert meant(name, catalog(titles)) == [title]


@pytest.mark.parametrize(
    ("titles", "name", "candidates"),
    [
        (ENGLISH, "Python", {"Python I", "Python II", "Advanced Python"}),
        (ENGLISH, "linear", {"Linear Algebra", "Linear Models in R"}),
        (GERMAN, "Segeln", {"Segeln: Theorie", "Segeln: Praxis"}),
        (GERMAN, "Algebra", {"Lineare Algebra I", "Lineare Algebra II"}),
        (ALIKE, "web security", {"Web Security 2023", "Web Security 2024"}),
        (ALIKE, "engines", {"Search Engines", "Game Engines"}),
        (ALIKE, "office hours", {"Office Hours"}),
    ],
)
def test_a_name_that_fits_several_means_none_of_them_alone(titles: str, name: str, candidates: set[str]) -> None:
    found = meant(name, catalog(titles))

    assert len(found) > 1
    assert set(found) == candidates


@pytest.mark.parametrize(
    ("titles", "name"),
    [
        *[(ENGLISH, name) for name in ("Cooking", "Ruby", "Quantum Physics", "Introduction to Painting")],
        *[
            (ENGLISH, name)
            for name in ("German history", "computer graphics", "Data visualization", "cloud cost rules")
        ],
        *[(GERMAN, name) for name in ("Klavier", "Italienisch A1", "Datenschutz", "Töpfern für Kinder")],
        *[(ALIKE, name) for name in ("Intro to Scala", "gardening", "Systems Biology", "hotel review writing")],
        *[(ALIKE, name) for name in ("the course", "", " ", "???")],
    ],
)
def test_a_name_of_another_course_means_none(titles: str, name: str) -> None:
    assert meant(name, catalog(titles)) == []


def test_a_path_means_its_course_whatever_others_are_called() -> None:
    courses = [Course("a", "x/b.txt", "Bread"), Course("a", ".", "x/b.txt"), Course("c", "x/b.txt", "Bread")]

    assert resolve("a/x/b.txt", courses, load_embedder()).course == courses[0]
    assert resolve("a", courses, load_embedder()).course == courses[1]
    assert resolve("x/b.txt", courses, load_embedder()).candidates == (courses[0], courses[2])


def test_the_name_of_its_file_means_a_course_that_no_title_means() -> None:
    courses = [Course("a", "x/b.txt", "Bread"), Course("a", "x/b.pdf", "Bread"), Course("a", "Bread", "Rolls")]

    assert resolve("b.pdf", courses, load_embedder()).course == courses[1]
    assert resolve("bread", courses, load_embedder()).candidates == (courses[1], courses[0])


@pytest.mark.parametrize(
    "name", ["Ada Miller", "Miller's course", "the class with sourdough and rye", "sourdogh", "grains, the course"]
)
def test_instructor_lessons_and_file_name_a_course_as_well(name: str) -> None:
    lessons = (Lesson("Bread", 0, "Introduction"), Lesson("Bread", 1, "Sourdough"), Lesson("Bread", 2, "Rye"))
    courses = [
        Course("s", "grains.txt", "Bread", instructor="Ada Miller", lessons=lessons),
        Course("s", "knots.txt", "Ropes", instructor="Ben Hitch", lessons=(Lesson("Ropes", 0, "Introduction"),)),
    ]

    assert meant(name, courses) == ["Bread"]


def test_a_lesson_that_every_course_has_names_none() -> None:
    courses = [Course("s", "b.txt", "Bread", lessons=(Lesson("Bread", 0, "Introduction"),))]

    assert meant("Introduction to Cakes", courses) == []


def test_candidates_come_best_first_and_then_by_source_and_path() -> None:
    courses = [Course("s", path, "Knots at Sea") for path in ("c.txt", "a.txt", "b.txt")]

    candidates = resolve("knots", courses, load_embedder()).candidates

    assert [course.path for course in candidates] == ["a.txt", "b.txt", "c.txt"]


def test_an_ambiguous_name_lists_the_candidates_by_what_tells_them_apart() -> None:
    with pytest.raises(AmbiguousCourseError) as caught:
        find_course("office hours", catalog(ALIKE), load_embedder())

    assert str(caught.value) == "'office hours' can mean 2 courses"
    assert caught.value.hint == "name one of: Office Hours (school/16.txt); Office Hours (school/17.txt)"


def test_an_unknown_name_says_so_and_lists_what_there_is() -> None:
    with pytest.raises(UnknownCourseError) as caught:
        find_course("cooking", catalog(ALIKE), load_embedder())

    assert str(caught.value) == "no course is called 'cooking'"
    assert caught.value.hint.startswith("there are: Intro to Rust (school/0.txt); ")
    assert caught.value.hint.endswith("; and 20 more")


def test_without_courses_the_error_says_how_to_add_one() -> None:
    with pytest.raises(UnknownCourseError) as caught:
        find_course("cooking", [], load_embedder())

    assert (str(caught.value), caught.value.hint) == (
        "the library has no courses",
        "add one with: openbook add --course FOLDER",
    )
