from __future__ import annotations

from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from openbook.types import ResultRole
from tests.support import write_tree

QUAYS = '''import logging

logger = logging.getLogger(__name__)


class Quay:
    """A place where ships are moored."""

    def moor(self, ship):
        return ship


def clear(quay):
    """Clear a quay by night."""
'''


@pytest.fixture
def harbour(tmp_path: Path) -> Library:
    folder = tmp_path / "harbour"
    files = {
        "SUMMARY.md": "# Summary\n\n* [About](about.md)\n* [Tides](tides.md)\n* [Summaries of ropes](ropes.md)\n",
        "docs/tides.md": "# High water\n\nThe sea rises twice a day, and the gates are opened by then.\n",
        "docs/ropes.md": "# Ropes\n\nRopes are sold by the yard. The page `tides.md` tells about gates.\n",
        "src/quays.py": QUAYS,
        "old/README.md": "# Old\n\nThese are the pages of an older harbour, which nobody reads.\n",
        "new/README.md": "# New\n\nThese are the pages of a newer harbour, which everybody reads.\n",
    }
    write_tree(folder, files)
    return Library.of(folder, settings=Settings(home=tmp_path / "home"))


@pytest.mark.parametrize(
    "question",
    [
        "What is docs/tides.md about?",
        "Summarize tides.md",
        "Give me a summary of the page `docs/tides.md`.",
        "What is in Tides.md?",
        "What does the file tides.md say?",
    ],
)
def test_a_page_that_a_question_names_says_itself_what_it_is_about(harbour: Library, question: str) -> None:
    with harbour as library:
        answer = library.query(question)

    assert not answer.answer.startswith("No source mentions")
    assert [each.quote for each in answer.citations] == ["The sea rises twice a day, and the gates are opened by then."]


def test_a_file_of_code_that_a_question_names_is_told_by_what_it_defines(harbour: Library) -> None:
    with harbour as library:
        answer = library.query("What does src/quays.py do?")

    heads = [each.quote.partition("\n")[0].strip() for each in answer.citations]
    assert heads == ["class Quay:", "def moor(self, ship):", "def clear(quay):"]


def test_a_file_of_code_without_comments_is_told_by_its_definitions_without_its_constants(tmp_path: Path) -> None:
    write_tree(tmp_path / "harbour", {"quays.py": "LIMIT = 3\n\n\ndef moor(ship):\n    return ship\n"})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("What is in quays.py?")

    assert [each.quote for each in answer.citations] == ["def moor(ship):"]


SETTINGS = """//! Limits of the harbour, and who may change them.

// The tides allow no more.
pub(crate) const LIMIT: u32 = 3;

/// Sets a limit.
pub fn set(limit: u32) -> bool {
    limit < LIMIT
}

/// Removes a limit.
pub fn clear() {}
"""

PORTS = '''# Copyright 2026 The Harbour Authors.

"""
Finds a free berth for a ship, by its length and draft.
"""

# Chosen by the pilots.
DEPTH = 12
# Metres.
LENGTH = 80


class Berth:
    name: str
    depth: int = DEPTH


def find(ship):
    return Berth()
'''


@pytest.mark.parametrize(
    ("name", "code", "heads"),
    [
        (
            "limits.rs",
            SETTINGS,
            ["//! Limits of the harbour, and who may change them.", "/// Sets a limit.", "/// Removes a limit."],
        ),
        (
            "ports.py",
            PORTS,
            ["Finds a free berth for a ship, by its length and draft.", "class Berth:", "def find(ship):"],
        ),
    ],
)
def test_a_file_of_code_is_told_by_what_it_says_of_itself_before_its_definitions(
    tmp_path: Path, name: str, code: str, heads: list[str]
) -> None:
    write_tree(tmp_path / "harbour", {name: code})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query(f"Summarize {name}")

    assert [each.quote.strip('"\n ').partition("\n")[0] for each in answer.citations] == heads


@pytest.mark.parametrize(
    ("name", "code", "heads"),
    [
        ("quays.go", "package quays\n\nconst Limit int = 3\n\nfunc Moor() {\n}\n", ["func Moor() {"]),
        (
            "quays.ts",
            "export const LIMIT = 3;\n\nexport const moor = (ship) => {\n  tie(ship);\n};\n\nexport type Ship = Boat\n",
            ["export const moor = (ship) => {", "export type Ship = Boat"],
        ),
        ("quays.py", "# mypy: allow-untyped-defs.\n\n\ndef moor(ship):\n    return ship\n", ["def moor(ship):"]),
        ("limits.py", "LIMIT = 3\n", ["LIMIT = 3"]),
        (
            "rope.py",
            '"""Ropes of all lengths"""\n\n\ndef moor(ship):\n    return ship\n',
            ['"""Ropes of all lengths"""', "def moor(ship):"],
        ),
        (
            "yard.py",
            "def tie(ship):\n" + "    ship.log(ship.length)\n" * 60 + "\n\n# Ropes are sold by the yard.\n\nlog()\n\n\n"
            "def moor(ship):\n    return ship\n",
            ["def tie(ship):", "def moor(ship):"],
        ),
        ("rope.rb", "# frozen_string_literal: true\n\ndef moor(ship)\n  ship\nend\n", ["def moor(ship)"]),
        (
            "rope.js",
            "// ropes of all ships at src/ropes/rope.js\n\nfunction moor(ship) {\n  return ship;\n}\n",
            ["function moor(ship) {"],
        ),
        (
            "ropes.py",
            "import os\n\n# Ropes are sold by the yard.\n\n\ndef moor(ship):\n    return ship\n",
            ["def moor(ship):"],
        ),
        (
            "ships.py",
            "# Copyright of all.\n\nfor ship in SHIPS:\n    tie(ship)\n\n\ndef moor(ship):\n    return ship\n",
            ["def moor(ship):"],
        ),
        (
            "tides.py",
            "# Metres.\nTIDES = {\n"
            + "    'a port of the north': 3,\n" * 50
            + "}\n\n\n"
            + "".join(
                f'def {name}(ship):\n    """Lets a ship {name}."""\n' + "    ship.log(ship.length)\n" * 60 + "\n\n"
                for name in ("moor", "sail")
            ),
            ["def moor(ship):", "def sail(ship):"],
        ),
    ],
)
def test_constants_are_told_only_of_a_file_that_has_nothing_else(
    tmp_path: Path, name: str, code: str, heads: list[str]
) -> None:
    write_tree(tmp_path / "harbour", {name: code})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query(f"Summarize {name}")

    assert [each.quote.partition("\n")[0].strip() for each in answer.citations] == heads


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Summarize docs/quays.md", "There is no file docs/quays.md in the sources."),
        ("What is lib/quays.py for?", "There is no file lib/quays.py in the sources. Did you mean src/quays.py?"),
        ("What is docs/tide.md about?", "There is no file docs/tide.md in the sources. Did you mean docs/tides.md?"),
    ],
)
def test_a_file_that_is_not_there_is_not_answered_by_others_in_silence(
    harbour: Library, question: str, note: str
) -> None:
    with harbour as library:
        answer = library.query(question)

    assert answer.answer.startswith(f"{note}\n\n")


@pytest.mark.parametrize("question", ["What is src/quays.py for?", "What is robots.txt for?"])
def test_a_file_that_is_there_and_what_may_be_a_subject_have_no_note(harbour: Library, question: str) -> None:
    with harbour as library:
        assert "There is no file" not in library.query(question).answer


def test_a_file_of_code_is_told_by_its_opening_comment_first(tmp_path: Path) -> None:
    code = (
        "//! Support for clearing the ropes that nobody uses.\n\nuse std::fs;\n\n"
        "/// A rope that hangs from one of the bollards.\npub struct Rope {\n    length: u32,\n}\n"
    )
    write_tree(tmp_path / "harbour", {"src/quays.rs": code})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("What is src/quays.rs about?")

    assert answer.citations[0].quote.startswith("//! Support for clearing the ropes that nobody uses.")


def test_what_is_private_in_a_long_file_leaves_room_for_what_is_not(tmp_path: Path) -> None:
    helper = "def _moor_{0}(ship):\n" + "    ship.moor(ship.length, ship.draft, ship.name)\n" * 40 + "\n\n"
    code = "".join(map(helper.format, range(12))) + 'def moor(ship):\n    """Moors a ship by its ropes."""\n'
    write_tree(tmp_path / "harbour", {"quays.py": code})

    with Library.of(tmp_path / "harbour", settings=Settings(home=tmp_path / "home")) as library:
        answer = library.query("Summarize quays.py")

    assert any("Moors a ship" in each.quote for each in answer.citations)


def test_a_page_of_links_is_told_by_these(harbour: Library) -> None:
    with harbour as library:
        answer = library.query("What is in SUMMARY.md?")

    assert "* [About](about.md)\n* [Tides](tides.md)\n" in answer.citations[0].quote


@pytest.mark.parametrize("question", ["What is README.md about?", "What is tides.md about, and ropes.md?"])
def test_a_name_that_several_files_have_and_two_names_are_searched_for(harbour: Library, question: str) -> None:
    with harbour as library:
        answer = library.query(question)

    assert ResultRole.OVERVIEW not in answer.results[0].roles


def test_a_part_of_a_page_is_searched_for(harbour: Library) -> None:
    with harbour as library:
        answer = library.query("What does tides.md say about ropes that are sold by the yard?")

    assert answer.citations[0].span.path == "docs/ropes.md"
