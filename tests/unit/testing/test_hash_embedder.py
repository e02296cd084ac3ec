from __future__ import annotations

import pytest

from openbook.testing import HashEmbedder


def test_case_order_and_punctuation_do_not_change_a_hashed_text() -> None:
    plain, shuffled = HashEmbedder().embed(["open the file", "File: open, THE!"])

    assert plain @ shuffled == pytest.approx(1.0, abs=1e-6)


def test_unrelated_words_are_hashed_far_apart() -> None:
    embedder = HashEmbedder(dim=256)

    fox, law = embedder.embed(["fox", "law"])

    assert abs(fox @ law) < 0.25


def test_the_identity_of_hashes_names_their_dimensions() -> None:
    assert HashEmbedder(dim=8).identity != HashEmbedder(dim=16).identity


def test_hashes_without_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="dim is 0, and must be positive"):
        HashEmbedder(dim=0)
