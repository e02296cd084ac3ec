"""Kind and language come from the name first, then from the first line."""

from __future__ import annotations

from time import process_time

import pytest
import semble_grammars

from openbook.sources.classify import classify
from openbook.sources.languages import BY_NAME, BY_PROGRAM, BY_SUFFIX, Format


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", ("code", "python")),
        ("a.pyi", ("code", "python")),
        ("a.jsx", ("code", "javascript")),
        ("a.mjs", ("code", "javascript")),
        ("a.ts", ("code", "typescript")),
        ("a.tsx", ("code", "tsx")),
        ("A.java", ("code", "java")),
        ("A.CS", ("code", "csharp")),
        ("a.c", ("code", "c")),
        ("a.hpp", ("code", "cpp")),
        ("a.sql", ("code", "sql")),
        ("init.el", ("code", "elisp")),
        ("quay.asd", ("code", "lisp")),
        ("quay.fnl", ("code", "fennel")),
        ("quay.hy", ("code", "hy")),
        ("Rakefile", ("code", "ruby")),
        ("BUILD", ("code", "starlark")),
        ("README.md", ("docs", "markdown")),
        ("docs/index.rst", ("docs", "rst")),
        ("notes.txt", ("docs", "text")),
        ("a.ipynb", ("docs", "notebook")),
        ("a.adoc", ("docs", "asciidoc")),
        ("README", ("docs", "text")),
        ("LICENSE", ("docs", "text")),
        ("CHANGELOG.unknown", ("docs", "text")),
        ("pyproject.toml", ("config", "toml")),
        ("a.yml", ("config", "yaml")),
        ("package.json", ("config", "json")),
        ("Dockerfile", ("config", "dockerfile")),
        ("Dockerfile.dev", ("config", "dockerfile")),
        ("docker/web.Dockerfile", ("config", "dockerfile")),
        ("Makefile", ("config", "make")),
        ("CMakeLists.txt", ("config", "cmake")),
        ("requirements-dev.txt", ("config", "text")),
        ("requirements.txt", ("config", "text")),
        (".gitignore", ("config", "gitignore")),
        ("a.csv", ("data", "csv")),
        ("a.jsonl", ("data", "jsonl")),
        ("server.log", ("data", "log")),
        ("man/harbour.pod.in", ("docs", "pod")),
        ("man/harbour.Rd", ("docs", "rd")),
        ("config.h.in", ("code", "c")),
        ("Makefile.in", ("config", "make")),
        ("MANIFEST.in", ("config", "text")),
        ("manual/on-call.html.md.erb", ("docs", "markdown")),
        ("README.md.j2", ("docs", "markdown")),
        ("docs/usage.rst.inc", ("docs", "rst")),
        ("index.html.erb", ("code", "embedded_template")),
        ("notes.md.json", ("config", "json")),
    ],
)
def test_names_tell_the_format(path: str, expected: tuple[str, str]) -> None:
    assert classify(path, "") == expected


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/bin/sh", "bash"),
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -u", "python"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/env -S LANG=C perl", "perl"),
        ("#! /usr/local/bin/Rscript", "r"),
    ],
)
def test_a_first_line_tells_the_language_of_a_script(line: str, language: str) -> None:
    assert classify("bin/tool", f"{line}\n") == ("code", language)


def test_an_unknown_program_leaves_text() -> None:
    assert classify("tool", "#!/opt/strange\n") == ("docs", "text")
    assert classify("tool", "#!") == ("docs", "text")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("int add(int a, int b);\n", "c", id="c"),
        pytest.param("#include <stdio.h>\nstruct a { int b; };\n", "c", id="c-with-system-header"),
        pytest.param("#ifndef A\nnamespace a {\n", "cpp", id="namespace"),
        pytest.param("template <typename T>\nT f(T);\n", "cpp", id="template"),
        pytest.param("#include <vector>\n", "cpp", id="cpp-header"),
        pytest.param("#import <Foundation/Foundation.h>\n@interface A : NSObject\n", "objc", id="objective-c"),
    ],
)
def test_the_dialect_of_a_header_is_in_its_text(text: str, language: str) -> None:
    assert classify("a.h", text) == ("code", language)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# -*- mode: org -*-\n* Tides\n", ("docs", "org")),
        ("# -*- coding: utf-8; mode: python; fill-column: 80 -*-\nx = 1\n", ("code", "python")),
        ("-*- Python -*-\nx = 1\n", ("code", "python")),
        ("# -*- coding: utf-8 -*-\nx = 1\n", ("docs", "text")),
        ("# -*- mode: tides -*-\nx = 1\n", ("docs", "text")),
    ],
)
def test_the_mode_of_a_file_without_a_known_name_is_its_format(text: str, expected: Format) -> None:
    assert classify("tides.2", text) == expected
    assert classify("tides.toml", text) == ("config", "toml")


@pytest.mark.parametrize("text", [".TL\nThe harbour\n.PP\nMoor here.\n", "'\\\" t\n.TS\n", '.\\" A comment.\n'])
def test_a_chapter_of_troff_is_no_test_of_perl(text: str) -> None:
    assert classify("doc/harbour.t", text) == ("docs", "man")
    assert classify("t/harbour.t", "use Test::More;\n") == ("code", "perl")


def test_large_json_is_data() -> None:
    assert classify("a.json", "[" + "1," * 60_000 + "1]") == ("data", "json")


def test_grammars_are_called_as_their_package_calls_them() -> None:
    named = {language for _, language in [*BY_SUFFIX.values(), *BY_NAME.values()]} | set(BY_PROGRAM.values())

    without_grammar = named - set(semble_grammars.available_languages())

    assert without_grammar == {
        "asm", "awk", "coffeescript", "crystal", "csv", "cython", "d", "elisp", "elm", "fennel", "fish", "fsharp",
        "handlebars", "hy", "ics", "jsonl", "less", "lisp", "log", "man", "matlab", "nim", "notebook", "nu", "pascal",
        "po", "pod", "rd", "sass", "sbv", "srt", "tcl", "text", "tsv", "verilog", "vhdl", "vtt",
    }  # fmt: skip


COMPLETION = "#compdef fd\n" + "".join(f"'--option{n}[what it is for]' \\\n" for n in range(9))
NOTES = (
    "The harbour is open.\nShips moor at the quay until the tide comes in.\n\nRopes lie on the pier.\n"
    "Whoever leaves late pays for one more night.\nOpen from May.\n"
)


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        pytest.param("completion/_fd", COMPLETION, "data", id="no-sentences"),
        pytest.param("tests/a.snap", "exports[`moors 1`] = `\n" + "  <Ship />\n" * 9 + "`;\n", "data", id="snapshot"),
        pytest.param("notes.me", NOTES, "docs", id="sentences"),
        pytest.param("README", COMPLETION, "docs", id="page-by-name"),
        pytest.param("LICENSE.third-party", COMPLETION, "docs", id="page-by-first-part"),
        pytest.param("a.note", "- ropes\n- fenders\n", "docs", id="few-lines"),
        pytest.param("a.zh-notes", "港口在五月到九月之间每天开放，船只停靠在码头。\n" * 6, "docs", id="without-spaces"),
    ],
)
def test_what_no_name_tells_about_is_a_page_if_it_has_sentences(path: str, text: str, kind: str) -> None:
    assert classify(path, text) == (kind, "text")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("Harbour\n=======\n\n.. note::\n\n   Moor at noon.\n", "rst", id="directive"),
        pytest.param(".. _tides:\n\nTides\n-----\n", "rst", id="label"),
        pytest.param("Call :meth:`~Harbour.moor` first.\n", "rst", id="role"),
        pytest.param("Harbour\n=======\n\nMoor at noon: see `moor`.\n", "text", id="heading-alone"),
        pytest.param("... and so on::\n\n    moor()\n", "text", id="dots"),
    ],
)
def test_text_with_restructuredtext_in_it_is_read_as_such(text: str, language: str) -> None:
    assert classify("docs/harbour.txt", text) == ("docs", language)


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        pytest.param("cities.txt", "Moorburg\nHarbour Town\n" * 15, "data", id="list"),
        pytest.param("run.txt", "ok   harbour   0.31s\nok   pier   1.2s\n" * 15, "data", id="output"),
        pytest.param("todo.txt", "- ropes\n- fenders\n" * 5, "docs", id="few-lines"),
        pytest.param("cities.txt", "Moorburg\n" * 30 + NOTES, "docs", id="some-sentences"),
        pytest.param("LICENSE.txt", "Moorburg\n" * 30, "docs", id="page-by-name"),
        pytest.param("keys.txt", "Ctrl+B    toggle sidebar\nCtrl+P    go home\n" * 12, "docs", id="keys"),
        pytest.param("start.txt", "1. Turn the key\n   Press start\n" * 12, "docs", id="steps"),
        pytest.param("1.txt", "So welcome to lesson\none of five.\nFirst we eat\n" * 9, "docs", id="captions"),
        pytest.param("hi.txt", "बंदरगाह हर दिन खुला है।\n" * 30, "docs", id="another-script"),
    ],
)
def test_of_a_text_file_many_lines_without_sentences_are_data(path: str, text: str, kind: str) -> None:
    assert classify(path, text) == (kind, "text")


@pytest.mark.parametrize("path", ["go.mod", "CODEOWNERS", "robots.txt", ".gitattributes"])
def test_settings_of_many_lines_are_settings(path: str) -> None:
    assert classify(path, "require example.org/pier v1.0.0\n" * 30) == ("config", "text")


_ASCIIDOC = (
    "Harbour\n=======\n\n== Mooring\n\nMoor the ship at noon today.\n\n=== Ropes\n\nUse two ropes and a fender.\n"
)
_OPTIONS = "= moor(1)\n\n== NAME\n\nmoor\n\n== OPTIONS\n\n" + "--rope::\n Sets it.\n\n" * 12


def test_what_is_written_for_models_is_markdown() -> None:
    assert classify("docs/llms.txt", "# Harbour\n\n- [Moor](moor.md)\n" * 20) == ("docs", "markdown")


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        pytest.param("docs/harbour", _ASCIIDOC, "asciidoc", id="no-suffix"),
        pytest.param("docs/harbour.txt", _ASCIIDOC, "asciidoc", id="txt"),
        pytest.param("man/harbour.man", _ASCIIDOC, "asciidoc", id="manual-page"),
        pytest.param(
            "docs/harbour.txt", "include::a.txt[]\n\nAsk link:b.html[the master] now.\n", "asciidoc", id="macros"
        ),
        pytest.param("man/harbour.1.in", f".TH HARBOUR 1\n{_ASCIIDOC}", "man", id="roff-filled-in"),
        pytest.param("man/harbour.1", f".TH HARBOUR 1\n{_ASCIIDOC}", "man", id="roff"),
        pytest.param("docs/harbour", "== Mooring\n\nMoor the ship at noon today.\n", "text", id="one-title"),
        pytest.param("docs/harbour.txt", _ASCIIDOC.replace("\n", "\r\n"), "asciidoc", id="line-ends-of-windows"),
        pytest.param("README.txt", "= moor\n\nship :: sea\n\n== NAME:\n\nMoor.\n\n== USE:\n", "text", id="rdoc"),
        pytest.param("run.txt", "\n=== RUN   TestMoor\n--- PASS: TestMoor\n\n=== RUN   Test2\n", "text", id="log"),
        pytest.param(
            "ropes", "= ropes\n:toc: left\n\n== A\n\n[source,sh]\n----\nls\n----\n", "asciidoc", id="attributes"
        ),
        pytest.param("a.txt", "Use link:a[b].\n== A\n", "text", id="title-in-a-paragraph"),
        pytest.param("moor.txt", _OPTIONS, "asciidoc", id="options"),
        pytest.param("moor", _OPTIONS, "asciidoc", id="options-no-suffix"),
        pytest.param("docs/harbour", "== Mooring ==\n\n== Ropes ==\n\nUse two of them now.\n", "text", id="wiki"),
    ],
)
def test_text_with_two_marks_of_asciidoc_is_read_as_such_if_one_is_of_it_alone(
    path: str, text: str, language: str
) -> None:
    assert classify(path, text) == ("docs", language)


@pytest.mark.parametrize(
    ("name", "text"),
    [("notes.txt", ":a" * 40_000), ("notes.min", "whales" * 20_000)],
)
def test_a_long_line_is_classified_at_once(name: str, text: str) -> None:
    began = process_time()

    classify(name, text)
    assert process_time() - began < 1
