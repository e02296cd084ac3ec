"""Bytes become text without loss where the encoding is known, and never an exception of codecs."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.errors import SkippedFileError
from openbook.sources.decode import decode

TEXT = "Größe 漢字 😀\r\nzweite\tZeile\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(TEXT.encode(), id="utf-8"),
        pytest.param(codecs.BOM_UTF8 + TEXT.encode(), id="utf-8-with-mark"),
        pytest.param(codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), id="utf-16-le"),
        pytest.param(codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), id="utf-16-be"),
        pytest.param(codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), id="utf-32-le"),
        pytest.param(codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), id="utf-32-be"),
    ],
)
def test_unicode_is_exact_and_loses_only_its_mark(raw: bytes) -> None:
    assert decode(raw) == TEXT


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param("# niño\n", "cp1252", id="one-accent-in-a-comment"),
        pytest.param("Le garçon a mangé à côté de la forêt.\n", "cp1252", id="french"),
        pytest.param("“quotes” – dashes – it’s fine…\n", "cp1252", id="windows-punctuation"),
        pytest.param("Příliš žluťoučký kůň úpěl ďábelské ódy\n", "cp1250", id="czech"),
        pytest.param("Привет, мир. Это проверка кодировки текста.\n", "cp1251", id="russian"),
        pytest.param("日本語のテキストです。これはテスト。\n", "cp932", id="japanese"),
        pytest.param("中文文本测试，这是一个例子。\n", "gb18030", id="chinese"),
    ],
)
def test_legacy_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_few_damaged_bytes_do_not_make_utf8_another_encoding() -> None:
    raw = ("größer " * 20).encode() + b"\xff" + b" Ende"

    text = decode(raw)

    assert text.startswith("größer größer")
    assert text.endswith("\ufffd Ende")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"GIF89a\0\0", id="nul"),
        pytest.param(bytes(range(1, 32)) * 20, id="control-characters"),
        pytest.param(codecs.BOM_UTF16_LE + b"a\0\0\0", id="nul-in-utf-16"),
        pytest.param(b"caf\xe9\x01\x02\x03\x04", id="control-characters-in-latin"),
    ],
)
def test_binary_content_is_refused(raw: bytes) -> None:
    with pytest.raises(SkippedFileError) as caught:
        decode(raw, "a.txt")

    assert (caught.value.location, caught.value.reason) == ("a.txt", "binary")


def test_damaged_utf16_is_refused() -> None:
    with pytest.raises(SkippedFileError):
        decode(codecs.BOM_UTF16_LE + b"a\0b")


def test_escape_sequences_and_form_feeds_are_text() -> None:
    assert decode(b"\x1b[1mbold\x1b[0m\n\x0c\n") == "\x1b[1mbold\x1b[0m\n\f\n"


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_skipped(raw: bytes) -> None:
    try:
        text = decode(raw)
    except SkippedFileError:
        return

    assert "\0" not in text
    text.encode("utf-8")
