"""A token in a file never reaches the index, unless the library was made with masking off."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook import Library
from openbook.settings import Settings

_TOKEN = "ghp_" + "x7Kq2LmN8vRt4WzYp1Bc5DfGh9JsAe3UoIi6"
_TEXT = f"# Deploy\n\nThe deploy script calls the registry with this token:\n\n    export TOKEN={_TOKEN}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "ops"
    path.mkdir()
    (path / "deploy.md").write_text(_TEXT, encoding="utf-8")
    return path


def settings(tmp_path: Path, *, mask: bool = True) -> Settings:
    return Settings(home=tmp_path / "home", workers=1, mask_secrets=mask)


def in_files(home: Path, text: str) -> bool:
    """Check whether any file of a home has a text."""
    return any(text.encode() in file.read_bytes() for file in home.rglob("*") if file.is_file())


def test_a_token_reaches_no_file_of_the_library(folder: Path, tmp_path: Path) -> None:
    with Library.open("ops", settings=settings(tmp_path)) as library:
        report = library.add(folder)
        answer = library.query("Which token does the deploy script use?")

    assert report.remarks == {"deploy.md": ("masked: GitHub token on line 5",)}
    assert "export TOKEN=ghp_****" in answer.answer
    assert [citation.verdict for citation in answer.citations] == ["exact"] * len(answer.citations)
    assert answer.citations
    assert not in_files(tmp_path / "home", _TOKEN)


def test_a_library_stays_as_it_was_made(folder: Path, tmp_path: Path) -> None:
    with Library.open("open", settings=settings(tmp_path, mask=False)) as library:
        library.add(folder)
    (folder / "deploy.md").write_text(_TEXT + "\nRenew it each month.\n", encoding="utf-8")

    with Library.open("open", settings=settings(tmp_path)) as library:
        library.add(folder)
        [result] = library.search("token deploy")

    assert _TOKEN in result.chunk.text


def test_quotes_are_compared_with_masked_text_when_a_file_has_changed(folder: Path, tmp_path: Path) -> None:
    with Library.open("ops", settings=settings(tmp_path)) as library:
        library.add(folder)
        (folder / "deploy.md").write_text(_TEXT + "\nRenew it each month.\n", encoding="utf-8")
        answer = library.query("Which token does the deploy script use?")

    assert [citation.verdict for citation in answer.citations] == ["exact"] * len(answer.citations)
    assert answer.citations


def test_masking_can_be_switched_by_the_environment() -> None:
    made = [Settings.from_env({"OPENBOOK_MASK_SECRETS": word}).mask_secrets for word in ("off", "0", "On", "true")]

    assert made == [False, False, True, True]
