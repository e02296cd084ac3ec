"""Suggested questions: none that its own document does not respond, and new ones for a library that has changed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from openbook.library import Library
from openbook.server.served_library import ServedLibrary
from openbook.server.suggestions import SuggestionCache
from openbook.settings import Settings
from tests.support import write_tree


def test_a_question_that_another_document_answers_is_not_suggested(tmp_path: Path) -> None:
    folder = write_tree(
        tmp_path / "docs",
        {
            "a.md": "# Storms\n\n```\nx = 1\n```\n",
            "b.md": "# Harbour\n\nWhat is said about storms: in storms the ferries wait.\n",
        },
    )
    assistant = Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1))
    with closing(ServedLibrary(assistant)) as library:
        suggestions = SuggestionCache(library)

        before = suggestions.get()
        write_tree(folder, {"c.md": "# Tides\n\nTides turn at noon.\n"})
        assistant.add(folder)

        assert before == ["What is said about “Harbour”?"]
        assert suggestions.get() == [*before, "What is said about “Tides”?"]


def test_each_course_is_asked_about_once(tmp_path: Path) -> None:
    lessons = {
        f"{course}/{number:02}-{topic}.md": f"# {topic}\n\nThis lesson teaches how {topic} works at sea.\n"
        for course in ("sailing", "diving")
        for number, topic in enumerate(("knots", "wind", "tides"), 1)
    }
    settings = Settings(home=tmp_path / "home", workers=1)
    assistant = Library.open("courses", settings=settings)
    for course in ("sailing", "diving"):
        assistant.add(write_tree(tmp_path, lessons) / course, course=True)
    with closing(ServedLibrary(assistant)) as library:
        suggested = SuggestionCache(library).get()

    assert sorted(question.partition(" of the ")[2] for question in suggested) == [
        "course “Diving” teach?",
        "course “Sailing” teach?",
    ]


def test_tests_changelogs_and_what_builds_the_pages_are_not_what_people_ask_about(tmp_path: Path) -> None:
    files = {
        "tests/test_a.py": 'def test_harbour():\n    """Check the harbour."""\n    assert harbour()\n',
        "docs/conf.py": 'def setup():\n    """Set up the pages of the harbour."""\n',
        ".github/POLICY.md": "# Policy\n\nThe policy of the harbour.\n",
        "CHANGES.md": "# Version 3.2\n\nVersion 3.2 has tides.\n",
        "b.md": "# Harbour\n\nThe harbour is deep.\n",
    }
    folder = write_tree(tmp_path / "src", files)
    with closing(ServedLibrary(Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))) as library:
        assert SuggestionCache(library).get() == ["What is said about “Harbour”?"]


def test_a_name_that_no_question_can_ask_for_is_left_out(tmp_path: Path) -> None:
    files = {"a.py": "def about():\n    return 1\n", "b.md": "# Harbour\n\nThe harbour is deep.\n"}
    folder = write_tree(tmp_path / "src", files)
    with closing(ServedLibrary(Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))) as library:
        assert SuggestionCache(library).get() == ["What is said about “Harbour”?"]


def test_what_the_runner_of_tests_calls_is_not_suggested(tmp_path: Path) -> None:
    code = 'def FuzzQuay():\n    """Try every quay."""\n\n\ndef depth(quay):\n    """Measure how deep a quay is."""\n'
    folder = write_tree(tmp_path / "src", {"quay.py": code})
    with closing(ServedLibrary(Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))) as library:
        assert SuggestionCache(library).get() == []


def test_rules_of_styles_and_constants_are_not_suggested(tmp_path: Path) -> None:
    files = {
        "a.css": ".quay div > p { depth: 1 }\nimg.logo { width: 10px }\n",
        "b.py": 'QUAY_DEPTH = 3\n\n\ndef depth(quay):\n    """Measure how deep a quay is."""\n',
    }
    folder = write_tree(tmp_path / "src", files)
    with closing(ServedLibrary(Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))) as library:
        assert SuggestionCache(library).get() == ["What does depth do?"]


def test_each_source_has_its_turn(tmp_path: Path) -> None:
    subjects = {"ada": ("Anchor", "Ballast", "Capstan"), "bob": ("Rudder",)}
    folders = [
        write_tree(tmp_path / source, {f"{each}.md": f"# {each}\n\nThe {each.lower()} is heavy.\n" for each in of})
        for source, of in subjects.items()
    ]
    with closing(ServedLibrary(Library.of(*folders, settings=Settings(home=tmp_path / "home", workers=1)))) as library:
        suggested = SuggestionCache(library).get()

    assert suggested[:2] == ["What is said about “Anchor”?", "What is said about “Rudder”?"]
    assert len(suggested) == 4
