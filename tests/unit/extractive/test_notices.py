"""The notice of a license at the top of a file is quoted only for who asks for the license."""

from __future__ import annotations

import pytest

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

NOTICE = """\
/*
 * Copyright 2016 The harbour master, with a berth of his own
 *
 * Distributed under the Apache License to every berth of the harbour,
 * on an "AS IS" basis, without a rope.
 */
"""
CODE = "package harbour;\n\nimport ropes.Hemp;\n"


def said_of(text: str, question: str, language: str = "java", before: str = "") -> str:
    return "\n".join(
        quotes(picked(question, chunk_of(text, "a/Berth.java", kind="code", language=language, before=before)))
    )


def test_a_notice_is_quoted_only_for_a_question_on_licenses() -> None:
    assert "Distributed" not in said_of(NOTICE + CODE, "is every berth of the harbour distributed")
    assert "Distributed" in said_of(NOTICE + CODE, "is every berth of the harbour under a license")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"<?php\n{NOTICE}\nfunction moor() {{}}\n", "php"),
        ("#!/bin/sh\n# Distributed to every berth of the harbour\n# under the GNU licence.\nmoor\n", "shell"),
        ("// SPDX: distributed to every berth of the harbour.\n\nfn moor() {}\n", "rust"),
    ],
)
def test_a_notice_may_be_in_any_comment(text: str, language: str) -> None:
    assert "istributed" not in said_of(text, "is every berth of the harbour distributed", language)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        (f"{NOTICE[:-4]} *\n * Every berth is distributed by the harbour.\n */\n{CODE}", ""),
        ("// The license of all.\n\n// Every berth is distributed by the harbour.\n\n" + CODE, ""),
        (f'{NOTICE}{CODE}\nString berth = "is distributed by the harbour";\n', ""),
        (f"// Every berth is distributed by the harbour, with a license.\n{CODE}", "int berth;\n\n"),
        (f"{CODE}\n// Every berth is distributed by the harbour, with a license.\nint berth = 1;\n", ""),
    ],
)
def test_other_comments_are_quoted(text: str, before: str) -> None:
    assert "is distributed by" in said_of(text, "is every berth of the harbour distributed", before=before)


def test_the_head_of_a_definition_is_quoted_with_a_notice_directly_above() -> None:
    text = f"{NOTICE}class Berth {{\n}}\n"
    chunk = chunk_of(text, "a.java", kind="code", language="java", symbol="Berth", signature="class Berth {")

    assert any("class Berth" in each for each in quotes(picked("what is a Berth", chunk)))


def test_prose_on_a_license_is_quoted() -> None:
    text = "@harbour distributed every berth of his under a license.\n"

    assert quotes(picked("is every berth of the harbour distributed", chunk_of(text, "a.md", language="markdown")))
