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


@pytest.mark.parametrize(
    ("head", "words", "encoding"),
    [
        pytest.param('<html><meta charset="euc-kr"><p>', "아파치 웹서버 똠방", "cp949", id="html"),
        pytest.param(
            '<META http-equiv=x content="text/html; charset=ISO-8859-2">', "Žluťoučký kůň", "iso8859-2", id="html-4"
        ),
        pytest.param("<?xml version='1.0' encoding='koi8-r'?>", "Привет", "koi8_r", id="xml"),
        pytest.param("<meta charset=iso-8859-1>", "“it’s fine”", "cp1252", id="what-is-meant"),
        pytest.param("#!/usr/bin/python\n# -*- coding: iso-8859-15 -*-\n#", "5 € Šš", "iso8859-15", id="python"),
    ],
)
def test_an_encoding_that_is_stated_is_not_guessed(head: str, words: str, encoding: str) -> None:
    assert decode(f"{head} {words}\n".encode(encoding)) == f"{head} {words}\n"


@pytest.mark.parametrize(
    ("stated", "raw"),
    [
        pytest.param("iso-8859-2", "größer als 日本語".encode(), id="it-is-utf-8"),
        pytest.param("utf-8", "Le garçon a mangé".encode("cp1252"), id="it-is-not-utf-8"),
        pytest.param("euc-kr", "Le garçon a mangé à côté".encode("cp1252"), id="it-does-not-fit"),
        pytest.param("rot13", "Le garçon a mangé".encode("cp1252"), id="no-character-set"),
        pytest.param("unicode_escape", "Le garçon a mangé".encode("cp1252"), id="no-encoding-of-a-disk"),
        pytest.param("no-such-one", "Le garçon a mangé".encode("cp1252"), id="unknown"),
    ],
)
def test_an_encoding_that_is_stated_wrongly_is_not_believed(stated: str, raw: bytes) -> None:
    text = decode(f'<meta charset="{stated}">'.encode() + raw)

    assert text.partition(">")[2] in {"größer als 日本語", "Le garçon a mangé", "Le garçon a mangé à côté"}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_of_latin_letters_needs_no_mark(encoding: str) -> None:
    text = "Größer “or” less is not what it was.\r\n" * 20

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
        pytest.param(b"".join(bytes([value, 0]) for value in range(1, 99)), id="small-numbers-of-two-bytes"),
        pytest.param(bytes(64), id="zeros"),
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


def test_lines_that_end_as_on_old_macs_are_lines() -> None:
    assert decode(b"# Geckos\r\rThey climb.\r") == "# Geckos\n\nThey climb.\n"
    assert decode("# Größe\r\rEins.\r".encode("utf-16")) == "# Größe\n\nEins.\n"
    assert decode(b"a\rb\n") == "a\rb\n"


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_skipped(raw: bytes) -> None:
    try:
        text = decode(raw)
    except SkippedFileError:
        return

    assert "\0" not in text
    text.encode("utf-8")
