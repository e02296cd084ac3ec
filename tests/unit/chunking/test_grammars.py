from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from semble_grammars import get_language

from openbook.chunking import grammars
from openbook.chunking.code import chunk_code
from openbook.chunking.grammars import load_parser, parse
from openbook.chunking.rules import RULES
from openbook.types import Document


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    _forget()
    yield
    _forget()


def _forget() -> None:
    grammars._load_grammar.cache_clear()
    grammars._warn_once.cache_clear()
    get_language.cache_clear()


@pytest.mark.parametrize("language", list(RULES))
def test_every_language_with_rules_has_a_grammar(language: str) -> None:
    assert load_parser(language) is not None


@pytest.mark.parametrize("language", ["", "klingon"])
def test_a_language_without_a_grammar_has_no_parser(language: str) -> None:
    assert load_parser(language) is None
    assert parse(language, b"x = 1") is None


def test_text_is_parsed_from_bytes_of_any_length() -> None:
    source = ("é = 1\n" * 10_000).encode()

    tree = parse("python", source)

    assert tree is not None
    assert tree.root_node.end_byte == len(source)
    assert tree.root_node.named_child_count == 10_000


@pytest.mark.slow
def test_a_text_that_takes_too_long_gives_no_tree() -> None:
    assert parse("html", b"<div>" * 20_000) is None


def test_a_text_that_is_too_large_gives_no_tree() -> None:
    assert parse("python", b"x = 1\n" * 600_000) is None


def test_threads_parse_at_the_same_time() -> None:
    sources = [b"def f():\n    return 1\n" * count for count in range(1, 200)]

    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(lambda source: parse("python", source), sources))

    assert [tree.root_node.named_child_count for tree in trees if tree is not None] == list(range(1, 200))


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("folder", ["file/inside", "~no-such-user/cache"])
def test_without_a_folder_to_unpack_to_code_is_cut_by_lines_and_that_is_said_once(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.delenv("SEMBLE_GRAMMARS_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", folder if folder.startswith("~") else str(tmp_path / folder))
    caplog.set_level(logging.WARNING)

    chunks = [
        chunk
        for language, text in (("python", "def f(): ...\n"), ("go", "func g() {\n}\n"))
        for chunk in chunk_code(Document("s", "a", "code", language, text, ""))
    ]

    assert [chunk.symbol for chunk in chunks] == ["f", "g"]
    assert len({record.getMessage() for record in caplog.records}) == len(caplog.records)
    assert "SEMBLE_GRAMMARS_CACHE_DIR" in caplog.records[0].getMessage()


class Interrupted(bytes):
    """Source during which somebody presses Ctrl-C, when it is read for the third time."""

    reads = 0

    def __getitem__(self, key: Any) -> Any:
        self.reads += 1
        if self.reads == 3:
            raise KeyboardInterrupt
        return super().__getitem__(key)


def test_an_interrupt_while_the_parser_reads_is_no_fault_of_the_file() -> None:
    with pytest.raises(KeyboardInterrupt):
        parse("python", Interrupted(b"def f():\n    return 1\n" * 20_000))
