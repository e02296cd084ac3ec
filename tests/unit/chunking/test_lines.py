from __future__ import annotations

import pytest

from openbook.chunking.lines import LINE_RULES, chunk_lines
from openbook.chunking.rules import RULES
from openbook.types import Document, Kind


def document(text: str, kind: Kind = "code") -> Document:
    return Document("s", "a.txt", kind, "", text, "")


@pytest.mark.parametrize("text", ["", "\n", " \r\n\f\t\n"])
def test_blank_text_gives_no_chunk(text: str) -> None:
    assert chunk_lines(document(text)) == []


def test_a_chunk_keeps_its_indentation_and_loses_blank_edges() -> None:
    [chunk] = chunk_lines(document("\n\n  a\n\n  b  \r\n\n"))

    assert chunk.text == "  a\n\n  b"
    assert str(chunk.span) == "a.txt:3-5"


def test_long_text_is_cut_at_blank_lines_into_pieces_of_similar_size() -> None:
    paragraph = "word\n" * 60
    text = "\n".join([paragraph] * 12)

    chunks = chunk_lines(document(text))

    assert [chunk.text.count(paragraph.rstrip()) for chunk in chunks] == [4, 4, 4]


def test_a_megabyte_in_one_line_is_cut_into_bounded_chunks() -> None:
    text = f"short\n{'x' * 1_000_000}\nshort again"

    chunks = chunk_lines(document(text))

    assert max(len(chunk.text) for chunk in chunks) <= 1500
    assert "".join(chunk.text for chunk in chunks) == text.replace("\n", "")
    assert {chunk.span.end_line for chunk in chunks[1:-1]} == {2}


@pytest.mark.parametrize(
    ("line", "symbol", "defines"),
    [
        pytest.param("def run(x)", "run", ("run",), id="def"),
        pytest.param("export default function run() {", "run", ("run",), id="function"),
        pytest.param("  pub(crate) fn run<T>(x: T)", "run", ("run",), id="fn"),
        pytest.param("public final class Client extends Base", "Client", ("Client",), id="class"),
        pytest.param("sub Acme::Client::run {", "Acme.Client.run", ("run",), id="perl"),
        pytest.param("module Acme.Client", "Acme.Client", ("Client",), id="module"),
        pytest.param("(defn run [x]", "run", ("run",), id="lisp"),
        pytest.param("(defn ^:quick run [x]", "", (), id="lisp-metadata"),
        pytest.param("CREATE OR REPLACE PROCEDURE dbo.[run] AS", "dbo.run", ("run",), id="sql"),
        pytest.param("# def run(x)", "", (), id="comment"),
        pytest.param("class of its own.", "of", ("of",), id="prose-can-fool-it"),
        pytest.param("define run", "", (), id="other-word"),
        pytest.param("def 9lives", "", (), id="no-name"),
        pytest.param("suspend fun wait(x: Int) {", "wait", ("wait",), id="kotlin"),
        pytest.param("data class Clock(", "Clock", ("Clock",), id="data-class"),
        pytest.param("enum class Color {", "Color", ("Color",), id="enum-class"),
    ],
)
def test_a_line_that_looks_like_a_definition_names_its_chunk(line: str, symbol: str, defines: tuple[str, ...]) -> None:
    [chunk] = chunk_lines(document(f"first\n{line}\n"))

    assert (chunk.symbol, chunk.defines) == (symbol, defines)
    assert chunk.signature == (line.strip() if symbol else "")


@pytest.mark.parametrize(
    ("language", "line", "symbol"),
    [
        ("hcl", 'resource "aws_s3_bucket" "logs" {', "aws_s3_bucket.logs"),
        ("hcl", 'variable "region" {', "region"),
        ("objc", "@interface Ring : NSObject", "Ring"),
        ("objc", "- (void)fitWidth:(int)width {", "fitWidth"),
        ("objc", "@protocol Ring;", ""),
        ("powershell", "Function global:Get-Thing {", "Get-Thing"),
        ("proto", "message Order {", "Order"),
        ("proto", "  rpc Buy(Order) returns (Order);", "Buy"),
        ("r", "read.parcels <- function(path) {", "read.parcels"),
        ("r", 'setGeneric("weigh", function(x) x)', "weigh"),
        ("r", "total <- sum(weights)", ""),
        ("julia", "- (void)fitWidth:(int)width {", ""),
    ],
)
def test_a_language_without_a_grammar_of_ours_has_its_own_words(language: str, line: str, symbol: str) -> None:
    [chunk] = chunk_lines(Document("s", "a", "code", language, f"first\n{line}\n", ""))

    assert chunk.symbol == symbol
    assert chunk.defines == ((symbol.removeprefix("aws_s3_bucket."),) if symbol else ())


def test_all_languages_with_words_of_their_own_have_a_case() -> None:
    assert set(LINE_RULES) == {"hcl", "objc", "powershell", "proto", "r"}
    assert LINE_RULES.keys().isdisjoint(RULES)


@pytest.mark.parametrize("kind", ["config", "data"])
def test_only_code_has_definitions(kind: Kind) -> None:
    [chunk] = chunk_lines(document("class: first\ndef run()\n", kind))

    assert (chunk.symbol, chunk.defines, chunk.kind) == ("", (), kind)


def test_a_cut_stands_before_a_definition_rather_than_at_a_blank_line() -> None:
    body = "  x = 1\n" * 70
    text = f"def one()\n{body}\n{body}def two()\n{body}\n{body}"

    chunks = chunk_lines(document(text))

    assert [chunk.symbol for chunk in chunks] == ["one", "two"]


@pytest.mark.parametrize("sign", ["#", "//", "--", ";", " *", "<!--"])
def test_no_cut_stands_between_a_comment_and_the_code_below(sign: str) -> None:
    text = f"{sign} Why this is so.\n{sign} It goes on.\nx = 1\n" * 200

    chunks = chunk_lines(document(text))

    assert len(chunks) > 1
    assert all(chunk.text.endswith("x = 1") for chunk in chunks)


SETTINGS = "[tide]\n" + "ebb = 1\n" * 60 + "\n"


def test_each_section_of_settings_has_its_own_chunk_with_the_comment_above_and_its_name_as_context() -> None:
    text = f"# Ropes.\nrope = 5\n\n{SETTINGS}# How to moor.\n[moor]\n{'rope = 2' * 60}\n"

    chunks = chunk_lines(document(text, "config"))

    assert [(chunk.text.split("\n")[0], chunk.context) for chunk in chunks] == [
        ("# Ropes.", ()),
        ("[tide]", ("tide",)),
        ("# How to moor.", ("moor",)),
    ]
    assert "".join(chunk.text for chunk in chunks).replace("\n", "") == text.replace("\n", "")


def test_a_long_section_is_split_and_all_its_chunks_have_its_name() -> None:
    chunks = chunk_lines(document("[tide]\n" + "ebb = 1\n\n" * 400, "config"))

    assert len(chunks) > 1
    assert {chunk.context for chunk in chunks} == {("tide",)}


def test_short_sections_share_a_chunk() -> None:
    chunks = chunk_lines(document(f'[a]\nx = 1\n\n[[b.c]]\ny = 2\n[d "e"] ; old\n["f"]\n{SETTINGS}', "config"))

    assert [chunk.context for chunk in chunks] == [("a", "b.c", 'd "e"', "f"), ("tide",)]


@pytest.mark.parametrize("line", ["  [tide]", "# [tide]", "[tide", "[1, 2],", "[]", '["ebb", "flow"]', "x = [tide]"])
def test_other_brackets_open_no_section(line: str) -> None:
    chunks = chunk_lines(document(f"rope = 5\n{line}\n{'ebb = 1' * 100}\n", "config"))

    assert [chunk.context for chunk in chunks] == [()]


def test_only_settings_have_sections() -> None:
    assert [chunk.context for chunk in chunk_lines(document(SETTINGS, "data"))] == [()]


LONG = "x" * 300


def test_a_setting_whose_comment_follows_a_blank_line_has_its_own_chunk() -> None:
    text = f"# How long\n# ropes are.\nrope = {LONG}\n\n# Where ships are.\nquay = {LONG}\n"

    assert [chunk.text for chunk in chunk_lines(document(text, "config"))] == [
        f"# How long\n# ropes are.\nrope = {LONG}",
        f"# Where ships are.\nquay = {LONG}",
    ]


def test_a_comment_that_follows_a_setting_is_in_its_chunk() -> None:
    text = f"# How long ropes are.\nrope = {LONG}\n# Where ships are.\nquay = {LONG}\n\nebb = {LONG}\n"

    assert [chunk.text for chunk in chunk_lines(document(text, "config"))] == [text.strip()]


def test_short_settings_share_a_chunk() -> None:
    text = f"# One.\nrope = 1\n\n# Two.\nquay = 2\n\n# Three.\nebb = {LONG * 2}\n"

    assert [chunk.text.count("#") for chunk in chunk_lines(document(text, "config"))] == [2, 1]


def test_a_setting_has_the_names_of_what_it_stands_below() -> None:
    text = (
        f"harbour: # all of it\n  quay:\n    ships: {LONG}\n    berth:\n      depth: {LONG}\n\n    # How long.\n"
        f"    rope: {LONG}\n\n  # When.\n  tide: {LONG}\n\n# Who.\nmaster: {LONG}\n"
    )

    assert [(chunk.text.split("\n")[0], chunk.context) for chunk in chunk_lines(document(text, "config"))] == [
        ("harbour: # all of it", ()),
        ("    # How long.", ("harbour", "quay")),
        ("  # When.", ("harbour",)),
        ("# Who.", ()),
    ]


def test_a_setting_of_a_section_has_its_name() -> None:
    text = f"harbour:\n\n[tide]\nebb = {LONG}\n\n# High.\nflow = {LONG}\n"

    assert [chunk.context for chunk in chunk_lines(document(text, "config"))] == [(), ("tide",), ("tide",)]


def test_only_settings_below_the_same_keys_share_a_chunk() -> None:
    quay = "quay:\n  # One.\n  a: 1\n\n  # Two.\n  b: 2\n\n  # Three.\n  c: 3\n\n"
    text = f"{quay}pier:\n\n  # Four.\n  d: 4\n\n# Five.\ne: 5\n"

    assert [(chunk.text.count("#"), chunk.context) for chunk in chunk_lines(document(text, "config"))] == [
        (1, ()),
        (2, ("quay",)),
        (1, ("pier",)),
        (1, ()),
    ]
