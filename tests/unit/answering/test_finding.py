"""A judge of answers weighs words as the library has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.finding import Finder
from tests.unit.retrieval.material import Library

CLAIM = "Sessions end after one hour."


@pytest.fixture
def finder(tmp_path: Path) -> Finder:
    library = Library(tmp_path / "lib.db")
    library.put("a.md", *(f"Sessions of kind {number} end." for number in range(9)), "Frobnication ends.")
    return Finder(library.index, library.embedder)


def test_what_stands_beside_the_claims_is_read_only_for_words_that_they_do_not_have(finder: Finder) -> None:
    read: list[str] = []

    def beside() -> str:
        read.append("read")
        return "frobnication"

    judge = finder.judge(CLAIM, beside)

    judge.judge(CLAIM, ["Sessions end after an hour."])
    assert read == []
    judge.judge("Frobnication ends after rebooting.", ["Frobnication ends."])
    assert read == ["read"]


def test_words_weigh_the_same_wherever_they_stand(finder: Finder) -> None:
    text = f"{CLAIM} Frobnication ends after rebooting."
    claim, cited = "Frobnication ends sessions after rebooting.", ["Frobnication ends sessions."]

    whole, apart = finder.judge(text), finder.judge(CLAIM, lambda: text)

    assert whole.judge(claim, cited) == apart.judge(claim, cited)
