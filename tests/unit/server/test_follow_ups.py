from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.server.presenting import present
from openbook.server.schemas import CitationResponse
from openbook.server.served_library import ServedLibrary
from openbook.server.suggestions import follow_ups
from openbook.settings import Settings
from tests.support import write_tree

Cited = Callable[[dict[str, str], str], tuple[Library, list[CitationResponse]]]

HARBOUR = (
    "# Ferries\n\nFerries leave the harbour at six.\n\n# Storms\n\nIn storms the boats stay inside.\n\n"
    "# Licence\n\nThe licence of the pilot is yearly.\n\n# Lanterns\n\nLanterns burn with whale oil.\n"
)


@pytest.fixture
def cited(tmp_path: Path) -> Iterator[Cited]:
    with ExitStack() as stack:

        def answer(files: dict[str, str], query: str) -> tuple[Library, list[CitationResponse]]:
            folder = write_tree(tmp_path / "docs", files)
            settings = Settings(home=tmp_path / "home", workers=1)
            assistant = stack.enter_context(Library.of(folder, settings=settings))
            served = ServedLibrary(assistant)
            return assistant, present(assistant.query(query), served, "").citations

        yield answer


def test_what_stands_next_to_a_cited_place_is_suggested_but_not_the_licence_or_what_was_asked(cited: Cited) -> None:
    assistant, citations = cited({"harbour.md": HARBOUR}, "When do ferries leave the harbour?")

    suggested = follow_ups(assistant, citations, ["what can you tell me about ferries"], ())

    assert suggested == ["What can you tell me about storms?", "What can you tell me about Lanterns?"]


def test_of_a_course_one_more_lesson_is_suggested_and_not_each_of_them(cited: Cited) -> None:
    topics = ("Knots", "Winds", "Tides", "Buoys")
    lessons = "\n".join(
        f"Lesson {number}: {topic}\nThis lesson teaches how {topic.lower()} help who sails a boat at sea.\n"
        for number, topic in enumerate(topics)
    )
    head = "Course Title: Sailing a Boat\nCourse Link: https://sea.example/boat\nCourse Instructor: Runa Holm\n\n"
    assistant, citations = cited({"boat.txt": head + lessons}, "How do winds help who sails a boat?")

    suggested = follow_ups(assistant, citations, [], ())

    assert len(suggested) == 1
    assert suggested[0].endswith("of the course “Sailing a Boat” teach?")


def test_every_suggestion_is_answered_by_what_was_cited(cited: Cited) -> None:
    body = "\n".join(f"    boat_{number} = 'a boat that waits at the pier for the tide'" for number in range(40))
    names = ("open_harbour", "about", "_hidden", "close_harbour")
    code = "\n\n\n".join(f'def {name}():\n    """Run {name} of the harbour."""\n{body}' for name in names)
    files = {"harbour.py": code + "\n"}
    assistant, citations = cited(files, "What does open_harbour do?")

    suggested = follow_ups(assistant, citations, ["What does open_harbour do?"], ())

    assert suggested == ["What does close_harbour do?"]
    assert not assistant.query(suggested[0]).refused


def test_after_an_answer_from_tests_or_with_marks_that_name_nothing_there_is_no_suggestion(cited: Cited) -> None:
    assistant, citations = cited({"tests/test_pier.md": HARBOUR}, "When do ferries leave the harbour?")
    nothing = citations[0].model_copy(update={"path": ""})

    assert follow_ups(assistant, [*citations, nothing], [], ()) == []
