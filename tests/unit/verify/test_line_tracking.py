"""Lines that a commit has moved to another file are followed there, also if they were edited on the way."""

from __future__ import annotations

import pytest

from tests.repositories import Repository
from tests.unit.verify.checks import CODE, only, told

STEPS = [f"        self.record_the_step({number}, kind='{name}')\n" for number, name in enumerate("abcdefghijkl")]
STORE = "class Store:\n    def load(self, key):\n" + "".join(STEPS) + "        return self.found\n"
OTHER = "class Other:\n    def close(self):\n        self.connection.close()\n"


def split(repository: Repository, page: str, new: str) -> None:
    """Commit a page and what it cites, edit that, and move it to another file with one more edit."""
    repository.commit({"src/store.py": STORE + "\n\n" + OTHER, "docs/a.md": page})
    repository.commit({"src/store.py": STORE.replace("kind='b'", "kind='bb'") + "\n\n" + OTHER})
    repository.commit({"src/store.py": OTHER, "src/loading.py": new})


@pytest.mark.parametrize(
    ("page", "now"),
    [
        pytest.param("It records (src/store.py:3-12).\n", "src/loading.py:6-15", id="block"),
        pytest.param("`load` (src/store.py:2)\n", "src/loading.py:5", id="head"),
    ],
)
def test_lines_that_were_edited_before_and_as_they_left_their_file_are_followed(
    repository: Repository, page: str, now: str
) -> None:
    moved = (
        STORE.replace("kind='b'", "kind='bb'").replace("kind='h'", "kind='hh'").replace("(self, key)", "(self, keys)")
    )

    split(repository, page, "import os\n\n\n" + moved)

    assert told(only(repository.folder, page)) == ("moved", "history", now)


def test_lines_that_were_deleted_are_not_those_of_another_file_of_that_commit(repository: Repository) -> None:
    page = "It records (src/store.py:3-12).\n"

    split(repository, page, CODE)

    assert only(repository.folder, page).verdict == "changed"


def test_lines_that_the_other_file_had_before_are_another_place(repository: Repository) -> None:
    page = "It records (src/store.py:3-12).\n"
    repository.commit({"src/store.py": STORE + "\n\n" + OTHER, "src/loading.py": STORE, "docs/a.md": page})
    repository.commit({"src/store.py": OTHER, "src/loading.py": STORE + "\n"})

    assert only(repository.folder, page).verdict == "changed"
