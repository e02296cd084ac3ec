"""Which courses a source holds, and which lesson each file of it is."""

from __future__ import annotations

import pytest

from openbook.errors import CourseFileError
from openbook.sources.contents import Pages
from openbook.sources.course_plan import are_courses, describing_files, place_files
from openbook.sources.lesson_numbers import LessonNumber

PAGE = "# Page\n"


def outline(files: dict[str, str], name: str = "knots") -> dict[str, list[str]]:
    """Return the lessons of each course as lines of number, path and title, in order."""
    placed = place_files(Pages(frozenset(files), lambda path: files.get(path, "")), name)
    found: dict[str, list[tuple[tuple[int, int], str]]] = {}
    for path, placement in placed.items():
        lesson = placement.lesson
        lines = found.setdefault(lesson.course, [])
        if lesson.number is not None:
            place = (lesson.number, -1 if lesson.part is None else lesson.part)
            lines.append((place, f"{lesson.label} {path} {lesson.title}".rstrip()))
    return {course: [line for _, line in sorted(lines)] for course, lines in found.items()}


def lessons(*paths: str, **texts: str) -> list[str]:
    ((_, found),) = outline({**{path: f"# Page {path}\n" for path in paths}, **texts}).items()
    return found


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("01-intro.md", "1"),
        ("lesson_3.txt", "3"),
        ("Lecture 4 - Knots at Sea.txt", "4"),
        ("week2/splicing.txt", "2"),
        ("00_start.txt", "0"),
        ("07.txt", "7"),
        ("Lektion 8 Spleißen.txt", "8"),
        ("CS101 lecture 5.txt", "5"),
        ("Module 2 - Lesson 1.txt", "2.1"),
        ("Lektion 3, Teil 1.txt", "3.1"),
        ("1.1 Setup.txt", "1.1"),
        ("week2/Lesson 1.12 - Install.txt", "1.12"),
        ("01.02-names.ipynb", "1.2"),
        ("3. Ropes.txt", "3"),
        ("week 3/05.10.2023 splicing.txt", "3"),
        ("2023-10-05 Lecture 7.txt", "7"),
        ("08-first-steps-part-1.ipynb", "8"),
    ],
)
def test_names_say_the_number_of_a_lesson(path: str, label: str) -> None:
    assert lessons(path) == [f"{label} {path}"]


def test_lessons_that_begin_anew_in_each_module_have_numbers_of_two_parts() -> None:
    found = lessons("01-rag/lessons/01-intro.md", "01-rag/lessons/02-data.md", "02-agents/lessons/01-intro.md")

    assert found == [
        "1.1 01-rag/lessons/01-intro.md",
        "1.2 01-rag/lessons/02-data.md",
        "2.1 02-agents/lessons/01-intro.md",
    ]


def test_lessons_that_are_numbered_through_the_weeks_keep_their_numbers() -> None:
    found = lessons("week1/lecture1.pdf", "week1/lecture2.pdf", "week2/lecture3.pdf")

    assert found == ["1 week1/lecture1.pdf", "2 week1/lecture2.pdf", "3 week2/lecture3.pdf"]


def test_slides_and_transcripts_in_folders_of_their_own_are_one_lesson() -> None:
    found = lessons("slides/01-ropes.pdf", "transcripts/01-ropes.vtt", "slides/02-hitch.pdf")

    assert found == ["1 slides/01-ropes.pdf", "1 transcripts/01-ropes.vtt", "2 slides/02-hitch.pdf"]


def test_what_lies_beside_lessons_belongs_to_their_module_which_the_readme_names() -> None:
    files = {
        "01-rag/README.md": "# Module 1: Agentic RAG\n",
        "01-rag/lessons/01-intro.md": PAGE,
        "01-rag/code/01-data.ipynb": "{}",
        "01-rag/code/rag.py": "x = 1\n",
        "01-rag/.gitignore": "x\n",
        "awesome.md": PAGE,
        "cohorts/2024/01-rag/homework.md": PAGE,
    }
    ((_, found),) = outline(files).items()

    assert found == [
        "1 01-rag/.gitignore Agentic RAG",
        "1 01-rag/README.md Agentic RAG",
        "1 01-rag/code/01-data.ipynb Agentic RAG",
        "1 01-rag/code/rag.py Agentic RAG",
        "1.1 01-rag/lessons/01-intro.md",
    ]


@pytest.mark.parametrize(
    "path",
    ["404.html", "LICENSE.md", "CONTRIBUTING.md", "SECURITY.md", "README.md", "requirements.txt", "a.py", "data.csv"],
)
def test_what_is_about_a_repository_is_no_lesson(path: str) -> None:
    assert lessons("ropes.md", path) == ["1 ropes.md"]


def test_pages_without_numbers_come_by_date_position_links_or_name() -> None:
    dated = {"shell.md": "---\ndate: 2020-01-13\n---\n", "editors.md": "---\ndate: 2020-01-15\n---\n"}
    placed = {"b.md": "---\nnav_order: 1\n---\n", "a.md": "---\nnav_order: 2\n---\n"}
    linked = {"README.md": "1. [Ropes](ropes.md)\n2. [Hitch](hitch.md)\n", "hitch.md": PAGE, "ropes.md": PAGE}

    assert [lessons(**files) for files in (dated, placed, linked)] == [
        ["1 shell.md", "2 editors.md"],
        ["1 b.md", "2 a.md"],
        ["1 ropes.md", "2 hitch.md"],
    ]
    assert lessons("part10.md", "a9.md") == ["10 part10.md"]
    assert lessons("rope b.md", "rope A.md") == ["1 rope A.md", "2 rope b.md"]


def test_a_site_makes_pages_of_what_has_front_matter_and_is_not_a_draft() -> None:
    stated = "---\ntitle: X\n---\n"
    files = {"a.md": stated, "b.md": stated, "notes.txt": "x", "c.md": "---\ntitle: X\ndraft: true\n---\n"}

    assert lessons(**files) == ["1 a.md", "2 b.md"]


@pytest.mark.parametrize(
    "value", ["!!bool maybe", "!!timestamp soon", "!!int ''", "!!float _", "!!python/name:os.system", "1" + "0" * 400]
)
def test_a_value_in_front_matter_that_yaml_cannot_build_costs_no_lesson(value: str) -> None:
    assert lessons(**{"b.md": f"---\nweight: {value}\n---\n# B\n", "a.md": PAGE, "c.txt": "x"}) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param(
            "_toc.yml",
            "format: jb-book\nroot: intro\nparts:\n- caption: P\n  chapters:\n  - file: b\n    sections:\n"
            "    - file: a\n      title: First\n- caption: Q\n  chapters:\n  - file: c\n",
            id="jupyter-book",
        ),
        pytest.param(
            "mkdocs.yml",
            "site_name: Knots\ndocs_dir: .\nmarkdown_extensions:\n- x: !!python/name:y.z\n"
            "nav:\n- Home: index.md\n- B:\n  - b.md\n  - First: a.md\n- c.md\n- Web: https://x\n",
            id="mkdocs",
        ),
        pytest.param(
            "_quarto.yml",
            "website:\n  sidebar:\n    contents:\n    - section: B\n      href: b.md\n      contents:\n"
            "      - text: First\n        href: a.md\n    - c.md\n",
            id="quarto",
        ),
        pytest.param(
            "_toctree.yml",
            "- title: 1. B\n  local: b\n  sections:\n  - local: a\n    title: First\n- title: 2. C\n  local: c\n",
            id="hugging-face",
        ),
        pytest.param("SUMMARY.md", "[Foreword](index.md)\n\n- [](b.md)\n  - [First](a.md)\n- [](c.md)\n", id="mdbook"),
        pytest.param(
            "sidebars.js",
            "// @ts-check\nmodule.exports = {docs: [{type: 'category', label: 'B', link: {type: 'doc', id: 'b'},\n"
            "  items: [{type: 'doc', id: 'a', label: 'First'},],}, 'c'],}; // end\n",
            id="docusaurus",
        ),
    ],
)
def test_a_table_of_contents_says_order_titles_and_modules(path: str, text: str) -> None:
    docs = "docs/" if path == "sidebars.js" else ""
    files = {path: text, **{f"{docs}{name}.md": PAGE for name in ("a", "b", "c", "d", "index", "intro")}}

    ((_, found),) = outline(files).items()

    kept = [line.replace("docs/", "") for line in found]
    if path == "mkdocs.yml":  # a section has no page of its own there
        assert kept == ["1.1 b.md", "1.2 a.md First", "2 c.md"]
    else:
        assert [line.removesuffix(" B").removesuffix(" C") for line in kept] == ["1 b.md", "1.1 a.md First", "2 c.md"]


def test_a_sidebar_that_is_generated_follows_positions_and_numbers() -> None:
    files = {
        "sidebars.js": "export default {docs: [{type: 'autogenerated', dirName: '.'}]};",
        "docs/z.md": "---\nsidebar_position: 1\n---\n",
        "docs/basics/_category_.json": '{"label": "Basics", "position": 2}',
        "docs/basics/02-b.md": "# B\n",
        "docs/basics/01-a.md": "# A\n",
    }
    ((_, found),) = outline(files).items()

    assert found == ["1 docs/z.md", "2.1 docs/basics/01-a.md", "2.2 docs/basics/02-b.md"]


def test_all_sidebars_of_a_site_are_its_outline_and_one_without_categories_is_a_module() -> None:
    files = {
        "sidebars.json": '{"docs": {"Start": ["a"], "Guides": ["b", "c"]}, "api": ["d"]}',
        **{f"docs/{name}.md": f"# Page {name}\n" for name in "abcd"},
    }
    ((_, found),) = outline(files).items()

    assert found == ["1.1 docs/a.md", "2.1 docs/b.md", "2.2 docs/c.md", "3.1 docs/d.md"]


def test_a_number_of_two_parts_in_a_module_of_another_number_is_one_of_the_module() -> None:
    found = lessons("L13/1-lenet.ipynb", "L13/2-alexnet.ipynb", "L14/1.1-vgg.ipynb", "L14/1.2-vgg-large.ipynb")

    assert [line.split()[0] for line in found] == ["13.1", "13.2", "14.1", "14.1"]


def test_lessons_of_a_module_with_the_same_title_are_called_after_their_files() -> None:
    copied = '{"cells": [{"cell_type": "markdown", "source": ["# MLP with Dropout\\n", "Words."]}]}'
    files = {f"L11/{name}.ipynb": copied for name in ("batch_norm", "kaiming")} | {"L12/adam.ipynb": copied}
    files |= {"L13/a.md": "# Alike\n", "L13/b.md": "# Unlike\n"}
    ((_, found),) = outline(files).items()

    assert found == [
        "11.1 L11/batch_norm.ipynb Batch norm",
        "11.2 L11/kaiming.ipynb Kaiming",
        "12 L12/adam.ipynb",
        "13.1 L13/a.md",
        "13.2 L13/b.md",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("pages", "last"), [(999, "1.999"), (1000, "1"), (2100, "1")])
@pytest.mark.parametrize("has_contents", [True, False])
def test_a_module_of_more_pages_than_labels_can_name_is_one_lesson(pages: int, last: str, has_contents: bool) -> None:
    names = [f"week1/{''.join('abcdefghij'[int(digit)] for digit in f'{page:04}')}.md" for page in range(pages)]
    listed = "\n".join(f"      - {name}" for name in names)
    contents = {"mkdocs.yml": f"nav:\n  - Reference:\n{listed}\n  - Knots:\n      - week2/knot.md\n"}

    found = lessons(*names, "week2/knot.md", **(contents if has_contents else {}))

    assert len(found) == pages + 1
    assert {line.split()[0] for line in found if names[-1] in line} == {last}
    assert all(LessonNumber.parse(line.split()[0]) for line in found)
    assert len({line.split()[0] for line in found}) == (pages + 1 if pages == 999 else 2)


def test_what_programs_have_drawn_is_no_lesson() -> None:
    assert lessons("L1/a.md", "L1/b.md", "L1/results/plot.pdf", "L2/c.md") == [
        "1.1 L1/a.md",
        "1.2 L1/b.md",
        "2 L2/c.md",
    ]


@pytest.mark.parametrize("text", ["", "[", "- 1\n- 2\n", "parts: 3\n", "a: &a [*a]\n", "nav: {a: {b: c}}\n"])
@pytest.mark.parametrize("path", ["_toc.yml", "mkdocs.yml", "_quarto.yml", "_toctree.yml", "myst.yml", "sidebars.js"])
def test_a_damaged_table_of_contents_counts_for_nothing(path: str, text: str) -> None:
    assert lessons("01-a.md", "02-b.md", **{path: text}) == ["1 01-a.md", "2 02-b.md"]


def test_translations_and_years_are_courses_of_their_own() -> None:
    toctree = "- title: 1. A\n  sections:\n  - local: a\n  - local: b\n"
    pages = {f"{place}/{name}.md": PAGE for place in ("chapters/de", "chapters/en") for name in "ab"}
    tables = {f"chapters/{code}/_toctree.yml": toctree for code in ("de", "en")}
    years = {f"_{year}/{name}.md": "---\ntitle: X\n---\n" for year in (2019, 2020) for name in "ab"}

    assert list(outline({**pages, **tables, "README.md": "# Knots\n"})) == ["Knots (de)", "Knots (en)"]
    assert list(outline({**years, "_config.yml": "title: Knots\n"})) == ["Knots (2019)", "Knots (2020)"]


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ({"course.txt": "Course Title: Knots\n", "README.md": "# Repo\n"}, "Knots"),
        ({"README.md": "<h1>Knots <b>at</b> Sea</h1>\n"}, "Knots at Sea"),
        ({"index.md": "---\ntitle: Knots\n---\n# Hello\n"}, "Knots"),
        (
            {"config.yaml": "carpentry: swc\ntitle: 'Knots'\n", "episodes/01-a.md": PAGE, "episodes/02-b.md": ""},
            "Knots",
        ),
        ({"01.md": "Just words.\n"}, "Tying knots"),
    ],
)
def test_a_course_is_called_what_its_files_say_the_most_telling_first(files: dict[str, str], title: str) -> None:
    assert list(outline(files, "tying_knots/home")) == [title]


@pytest.mark.parametrize(("name", "title"), [("handouts", "Handouts"), ("2024", "2024"), ("en", "En")])
def test_a_folder_with_nothing_above_it_in_a_repository_is_named_after_itself(name: str, title: str) -> None:
    assert list(outline({"01.txt": "x"}, name)) == [title]


@pytest.mark.parametrize(("name", "title"), [("en/chapters/bread", "Bread (en)"), ("docs/bread", "Bread")])
def test_a_folder_that_says_only_a_language_is_named_after_those_above(name: str, title: str) -> None:
    assert list(outline({"01.txt": "x"}, name)) == [title]


def test_a_course_file_names_orders_splits_and_hides_lessons() -> None:
    written = """
title = "Ropework"
[[lessons]]
file = "b.md"
number = "1.1"
title = "Knots first"
[[lessons]]
file = "a.md"
[[lessons]]
file = "c.md"
hidden = true
"""
    files = {"a.md": PAGE, "b.md": PAGE, "c.md": PAGE, "d.md": PAGE, "course.toml": written}

    assert outline(files) == {"Ropework": ["1.1 b.md Knots first", "1.2 a.md"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = \n", "line 1: Invalid value"),
        ("title = 3\n", "line 1: title is 3; write text in quotes"),
        ("\ntitel = 'x'\n", "line 2: there is no 'titel'; known are title, link, instructor, lessons"),
        ("[[lessons]]\ntitle = 'x'\n", "line 1: a lesson needs a file"),
        (
            "[[lessons]]\nfile = 'a.md'\n\n[[lessons]]\nfile = 'x.md'\n",
            "line 5: there is no file 'x.md' in this course",
        ),
        ("[[lessons]]\nfile = 'a.md'\nnumber = 1.3\n", 'line 3: number is 1.3; write one such as 4 or "1.3"'),
        ("[[lessons]]\nfile = 'a.md'\nhidden = 1\n", "line 3: hidden is 1; write true or false"),
        ("[[lessons]]\nfile = 'a.md'\n[[lessons]]\nfile = 'a.md'\n", "line 4: 'a.md' is listed twice; give each a"),
        ("lessons = 3\n", "line 1: lessons are tables: write [[lessons]] above each"),
    ],
)
def test_an_error_in_a_course_file_names_the_line(text: str, reason: str) -> None:
    with pytest.raises(CourseFileError) as raised:
        outline({"a.md": PAGE, "course.toml": text})

    assert raised.value.reason.startswith(reason)
    assert raised.value.location == "course.toml"


def test_the_most_telling_file_comes_first() -> None:
    names = ["README.md", "a.md", "Course.TXT", "readme.pdf", "syllabus"]

    assert describing_files(names) == ["Course.TXT", "syllabus", "README.md"]


@pytest.mark.parametrize(
    ("folders", "files", "are"),
    [
        pytest.param(["bread", "knots"], [], True, id="only-folders"),
        pytest.param(["bread"], ["README.md", "LICENSE", "Makefile"], True, id="with-a-readme"),
        pytest.param(["week2", "pictures"], [], False, id="one-is-a-part"),
        pytest.param(["bread", "knots"], ["01.txt"], False, id="with-material"),
        pytest.param(["week1", "02-more"], [], False, id="parts"),
        pytest.param(["slides", "transcripts"], [], False, id="kinds-of-files"),
        pytest.param([], [], False, id="nothing"),
    ],
)
def test_folders_are_courses_where_there_is_nothing_else(folders: list[str], files: list[str], are: bool) -> None:
    assert are_courses(folders, files) is are
