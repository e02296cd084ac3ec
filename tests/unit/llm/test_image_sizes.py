"""The size of an image is read from its first bytes, for each kind that models read."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from PIL import Image

from openbook.llm.image_sizes import media_type_of, size_of


def saved(kind: str, size: tuple[int, int] = (301, 7), mode: str = "RGB", **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size, 0 if mode == "P" else None).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    ("raw", "media_type"),
    [
        pytest.param(saved("PNG"), "image/png", id="png"),
        pytest.param(saved("PNG", mode="P"), "image/png", id="png-palette"),
        pytest.param(saved("GIF", mode="P"), "image/gif", id="gif"),
        pytest.param(saved("JPEG"), "image/jpeg", id="jpeg"),
        pytest.param(saved("JPEG", progressive=True), "image/jpeg", id="jpeg-progressive"),
        pytest.param(saved("JPEG", exif=b"Exif\0\0" + bytes(5_000)), "image/jpeg", id="jpeg-exif"),
        pytest.param(saved("WEBP"), "image/webp", id="webp-lossy"),
        pytest.param(saved("WEBP", lossless=True), "image/webp", id="webp-lossless"),
        pytest.param(saved("WEBP", exif=b"Exif\0\0II*\0"), "image/webp", id="webp-extended"),
    ],
)
def test_kind_and_size_are_those_that_it_was_saved_with(raw: bytes, media_type: str) -> None:
    assert media_type_of(raw) == media_type
    assert size_of(raw) == (301, 7)


@pytest.mark.parametrize("raw", [saved("PNG"), saved("GIF", mode="P"), saved("JPEG"), saved("WEBP")])
def test_what_is_cut_off_is_damaged_or_still_has_its_size(raw: bytes) -> None:
    sizes = set()
    for length in range(len(raw)):
        with contextlib.suppress(ValueError):  # anything else fails the test
            sizes.add(size_of(raw[:length]))

    assert sizes == {(301, 7)}


def test_a_jpeg_whose_lengths_lead_nowhere_ends() -> None:
    with pytest.raises(ValueError, match="damaged"):
        size_of(b"\xff\xd8\xff\xe0\x00\x00" + bytes(1_000))


def test_what_is_no_image_has_no_kind() -> None:
    assert media_type_of(b"<svg></svg>") == ""
    with pytest.raises(ValueError, match="not an image"):
        size_of(b"<svg></svg>")
