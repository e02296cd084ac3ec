"""A citation is as old as the commit that its page names as its date."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository
from tests.unit.verify.checks import CODE, PUSHED, only, told


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "shop")


@pytest.mark.parametrize(
    ("page", "now"),
    [
        pytest.param("**Measured at:** `COMMIT`\n\nSee src/app.py:5.\n", "src/app.py:7", id="head"),
        pytest.param("At commit COMMIT, it waits (src/app.py:5).\n", "src/app.py:7", id="sentence"),
        pytest.param("Fixed in commit `COMMIT`.\n\nSee src/app.py:7.\n", "", id="another-commit"),
        pytest.param("Verified at `COMMIT`.\n\n`timeout_s` (src/app.py:7)\n", "", id="later-lines-are-named"),
    ],
)
def test_a_page_that_names_a_commit_is_about_its_lines(repository: Repository, page: str, now: str) -> None:
    repository.commit({"src/app.py": CODE})
    page = page.replace("COMMIT", repository.git("rev-parse", "--short=9", "HEAD").strip())
    repository.commit({"src/app.py": PUSHED})
    repository.commit({"docs/a.md": page})

    assert told(only(repository.folder, page)) == ("moved" if now else "ok", "history", now)
