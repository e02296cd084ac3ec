"""What `openbook verify --fix` leaves to the reader, and writes with `--unsafe-fixes`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.support_cli import run
from tests.repositories import Repository

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a repository whose page cites a line that was edited and moved, as the working folder."""
    repository = Repository(tmp_path / "shop")
    code = "".join(f"price_of_things_{number} = {number}\n" for number in range(9))
    repository.commit({"src/prices.py": code, "docs/a.md": "See src/prices.py:4.\n"})
    repository.commit({"src/prices.py": "# one\n# two\n" + code.replace("_3 = 3", "_3 = 4")})
    monkeypatch.chdir(repository.folder)
    return repository


def test_a_place_that_is_not_certain_is_reported_with_the_reason_and_not_written(
    shop: Repository, capsys: Captured
) -> None:
    (result,) = run(capsys, "verify", "--format", "sarif", "docs/a.md").json["runs"][0]["results"]
    outcome = run(capsys, "verify", "--fix", "docs/a.md")

    assert result["message"]["text"] == "moved: src/prices.py:4 -> src/prices.py:6 (the lines were edited)"
    told = "docs/a.md:1: moved: src/prices.py:4 -> src/prices.py:6 (--fix leaves it: the lines were edited)\n"
    assert outcome.out == told
    assert "next: --fix --unsafe-fixes also updates those that --fix leaves" in outcome.err
    assert (shop.folder / "docs/a.md").read_text(encoding="utf-8") == "See src/prices.py:4.\n"
    assert outcome.code == 1


def test_unsafe_fixes_write_it_and_say_why_somebody_should_look(shop: Repository, capsys: Captured) -> None:
    outcome = run(capsys, "verify", "--fix", "--unsafe-fixes", "docs/a.md")

    told = "docs/a.md:1: fixed: src/prices.py:4 -> src/prices.py:6 (not certain: the lines were edited)\n"
    assert (outcome.code, outcome.out) == (0, told)
    assert (shop.folder / "docs/a.md").read_text(encoding="utf-8") == "See src/prices.py:6.\n"
