"""Suggested questions: what a newcomer asks first, answered by its own place, made anew for a changed library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import process_time

import pytest

from openbook.library import Library
from openbook.server.served_library import ServedLibrary
from openbook.server.suggestions import SuggestionCache, question_on_heading, suggest
from openbook.settings import Settings
from tests.support import write_tree

Suggested = Callable[[dict[str, str]], list[str]]


@pytest.fixture
def suggested(tmp_path: Path) -> Iterator[Suggested]:
    with ExitStack() as stack:

        def questions(files: dict[str, str]) -> list[str]:
            folder = write_tree(tmp_path / "quay", files)
            settings = Settings(home=tmp_path / "home", workers=1)
            return [each.question for each in suggest(stack.enter_context(Library.of(folder, settings=settings)))]

        yield questions


def test_a_question_that_another_document_answers_is_not_suggested(tmp_path: Path) -> None:
    folder = write_tree(
        tmp_path / "docs",
        {
            "a.md": "# Storms\n\n```\nx = 1\n```\n",
            "b.md": "# Harbour\n\nWhat can you tell me about storms: in storms the ferries wait.\n",
        },
    )
    assistant = Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1))
    with closing(ServedLibrary(assistant)) as library:
        suggestions = SuggestionCache(library)

        before = suggestions.get()
        write_tree(folder, {"c.md": "# Tides\n\nTides turn at noon.\n"})
        assistant.add(folder)

        assert before == ["What can you tell me about harbour?"]
        assert sorted(suggestions.get()) == ["What can you tell me about Tides?", *before]


def test_what_it_is_how_it_is_done_and_its_topics_come_by_turns(suggested: Suggested) -> None:
    readme = (
        "# Quay\n\nQuay is a program that moors ships in a harbour.\n\n"
        "## Installation\n\nInstall the program with the package manager.\n\n"
        "## Mooring Order\n\nThe mooring order decides which ship is moored first.\n\n"
        "## Writing a rule\n\nRules are written in a file, one rule to a line, with the name of the ship first.\n\n"
        "## Why are ships moored by length?\n\nLong ships are moored first because they need the outer berths.\n"
    )

    assert suggested({"README.md": readme}) == [
        "What is quay?",
        "How do I install quay?",
        "What can you tell me about the mooring order?",
        "How do I write a rule?",
        "Why are ships moored by length?",
    ]


def test_a_folder_with_a_name_that_every_project_has_is_not_asked_for_by_it(tmp_path: Path) -> None:
    page = "# Quay\n\nQuay is a program that moors ships in a harbour. Its docs are short.\n"
    folder = write_tree(tmp_path / "docs", {"README.md": page})

    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as library:
        assert [each.question for each in suggest(library)][:1] == ["What does this project do?"]


def test_settings_of_a_page_that_describes_several_are_asked_for_by_name(suggested: Suggested) -> None:
    names = ("berth_count", "tide_table", "night_watch")
    page = "# Settings\n\n" + "\n".join(
        f"## {name}\n\nSets the {name.replace('_', ' ')} of the harbour.\n" for name in names
    )
    alone = "# Tokens\n\n## PILOT_TOKEN\n\nIs made by the pilot.\n"

    found = suggested({"settings.md": page, "tokens.md": alone})

    assert {f"What does {name} do?" for name in names} <= set(found)
    assert "What does PILOT_TOKEN do?" not in found


def test_of_types_the_one_that_most_files_use_comes_first(suggested: Suggested) -> None:
    types = {
        f"{name.lower()}.py": f'class {name}:\n    """Keep the {name.lower()} of a harbour."""\n'
        for name in ("AnchorList", "BerthPlan")
    }
    users = {f"use{n}.py": f"def use{n}(plan: BerthPlan) -> None:\n    print(plan)\n" for n in range(5)}
    few = {f"few{n}.py": f"def few{n}(anchors: AnchorList) -> None:\n    print(anchors)\n" for n in range(2)}

    assert suggested(types | users | few) == ["What does BerthPlan do?", "What does AnchorList do?"]


def test_in_a_library_of_many_files_a_type_that_few_use_is_an_inner_matter(suggested: Suggested) -> None:
    kinds = {"plan.py": 'class BerthPlan:\n    """Keep the plan of a harbour."""\n'}
    others = {f"part{n}.py": f"def part{n}(tide):\n    return tide + {n}\n" for n in range(20)}
    users = {f"use{n}.py": f"def use{n}(plan: BerthPlan) -> None:\n    print(plan)\n" for n in range(3)}

    assert suggested(kinds | others) == []
    assert suggested(kinds | others | users) == ["What does BerthPlan do?"]


def test_a_name_without_a_word_on_what_it_does_is_not_suggested(suggested: Suggested) -> None:
    users = {f"use{n}.py": f"def use{n}(plan: BerthPlan) -> None:\n    print(plan)\n" for n in range(5)}

    assert suggested({"kinds.py": "class BerthPlan:\n    berths = 3\n", **users}) == []


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


def test_what_is_for_those_who_keep_the_project_is_not_what_people_ask_first(suggested: Suggested) -> None:
    files = {
        "tests/test_a.py": 'def test_harbour():\n    """Check the harbour."""\n    assert harbour()\n',
        "docs/conf.py": 'def setup_pages():\n    """Set up the pages of the harbour."""\n',
        ".github/POLICY.md": "# Policy\n\nThe policy of the harbour.\n",
        "CHANGES.md": "# Version 3.2\n\nVersion 3.2 has tides.\n",
        "doc/release-checklist.md": "# Signing\n\nSign the tag before you push it.\n",
        "AGENTS.md": "# Style of code\n\nThe style of code is plain.\n",
        "README_de.md": "# Hafen\n\nDer Hafen ist tief.\n",
        "b.md": "# Harbour\n\nThe harbour is deep.\n\n## Sponsors of ours\n\nThe sponsors of ours pay for the pier.\n",
    }

    assert suggested(files) == ["What can you tell me about the harbour?"]


def test_headings_that_need_their_page_are_not_suggested(suggested: Suggested) -> None:
    page = (
        "# Harbour\n\nThe harbour is deep.\n\n## Length\n\nThe length is in metres.\n\n## Why does this happen?\n\n"
        "This happens because of the tide.\n\n## Berths are never shared\n\nBerths are never shared by ships.\n"
    )

    assert suggested({"b.md": page}) == ["What can you tell me about the harbour?"]


def test_private_names_and_what_the_runner_of_tests_calls_are_not_suggested(suggested: Suggested) -> None:
    names = ("_hidden_quay", "FuzzQuay", "deep_quay")
    code = {f"{name}.py": f'def {name}(quay):\n    """Measure {name} of a quay."""\n' for name in names}

    assert suggested(code) == ["What does deep_quay do?"]


def test_each_source_has_its_turn(tmp_path: Path) -> None:
    subjects = {"ada": ("Anchor", "Ballast", "Capstan"), "bob": ("Rudder",)}
    folders = [
        write_tree(tmp_path / source, {f"{each}.md": f"# {each}\n\nThe {each.lower()} is heavy.\n" for each in of})
        for source, of in subjects.items()
    ]
    with closing(Library.of(*folders, settings=Settings(home=tmp_path / "home", workers=1))) as assistant:
        found = suggest(assistant)

    assert {each.source for each in found[:2]} == {"ada", "bob"}
    assert len(found) == 4


@pytest.mark.parametrize("piece", ["a_", " {a"])
def test_a_heading_as_long_as_a_page_is_given_up_at_once(piece: str) -> None:
    began = process_time()

    assert question_on_heading(piece * 15_000 + "( x", "") is None
    assert process_time() - began < 1


def test_a_library_of_posts_alone_has_questions(suggested: Suggested) -> None:
    files = {"blog/2024-01-10-storms.md": "# Storms\n\nIn storms the ferries wait for the pilot.\n"}

    assert suggested(files) == ["What can you tell me about storms?"]
