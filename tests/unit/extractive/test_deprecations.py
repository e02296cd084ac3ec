"""Deprecated definitions come after the others of their name, and say what they are."""

from __future__ import annotations

import pytest

from tests.unit.extractive.picking import picked, quotes
from tests.unit.retrieval.material import chunk_of

QUESTION = "What does `moor_ship` do?"
LONG = "".join(f" * Line {number} says more.\n" for number in range(12))
OLD = {
    "rust": '#[cfg_attr(\n    feature = "old",\n    deprecated(note = "no")\n)]\nfn moor_ship() {\n    tie()\n}',
    "java": "@Deprecated\nvoid moor_ship() {\n    tie();\n}",
    "kotlin": '@Deprecated(\n    "use the other",\n)\nfun moor_ship() {\n    tie()\n}',
    "swift": '@available(*, deprecated, message: "no")\nfunc moor_ship() {\n    tie()\n}',
    "csharp": '[Obsolete("use the other")]\nvoid moor_ship() {\n    tie();\n}',
    "cpp": "[[deprecated]]\nvoid moor_ship() {\n    tie();\n}",
    "typescript": "/** @deprecated Use the other. */\nfunction moor_ship() {\n    tie()\n}",
    "go": "// moor_ship ties.\n//\n// Deprecated: use the other.\nfunc moor_ship() {\n    tie()\n}",
    "php": f"/**\n * moor_ship ties a ship.\n{LONG} * @deprecated\n */\nfunction moor_ship() {{\n    tie();\n}}",
}
LIVE = {
    "python": "def moor_ship(a):\n    tie(a)",
    "rust": "fn moor_ship(a: u8) {\n    tie(a)\n}",
    "java": "void moor_ship(int a) {\n    tie(a);\n}",
    "kotlin": "fun moor_ship(a: Int) {\n    tie(a)\n}",
    "swift": "func moor_ship(a: Int) {\n    tie(a)\n}",
    "csharp": "void moor_ship(int a) {\n    tie(a);\n}",
    "cpp": "void moor_ship(int a) {\n    tie(a);\n}",
    "typescript": "function moor_ship(a) {\n    tie(a)\n}",
    "go": "func moor_ship(a int) {\n    tie(a)\n}",
    "php": "function moor_ship($a) {\n    tie($a);\n}",
}


def first(question: str, language: str, *texts: str) -> str:
    return told(question, language, *texts)[0]


def told(question: str, language: str, *texts: str) -> list[str]:
    chunks = [
        chunk_of(text, f"{n}.x", kind="code", language=language, defines=("moor_ship",)) for n, text in enumerate(texts)
    ]
    return quotes(picked(question, *chunks, scores=[1.0, 0.9, 0.8][: len(chunks)]))


@pytest.mark.parametrize("language", OLD)
def test_a_deprecated_definition_comes_after_another(language: str) -> None:
    assert first(QUESTION, language, OLD[language], LIVE[language]) == LIVE[language]


@pytest.mark.parametrize(
    ("language", "attribute"),
    [
        ("rust", '#[deprecated(note = "no")]'),
        ("rust", '#[cfg_attr(feature = "old", deprecated)]'),
        ("rust", '#[cfg_attr(\n    feature = "old",\n    deprecated (note = "no"),\n)]'),
        ("csharp", "[System.Obsolete]"),
        ("cpp", '[[deprecated("no")]]'),
        ("cpp", "[[gnu::deprecated]]"),
        ("cpp", "/// @deprecated no"),
        ("java", "@java.lang.Deprecated"),
        ("python", '@warnings.deprecated("no")'),
        ("swift", '@available(iOS, introduced: 1.0, deprecated: 2.0, message: "no")'),
    ],
)
def test_an_attribute_of_another_form_says_that_a_definition_is_deprecated(language: str, attribute: str) -> None:
    live = LIVE[language]

    assert first(QUESTION, language, f"{attribute}\n{live.replace('tie', 'moor')}", live) == live


@pytest.mark.parametrize("attribute", ["deprecated", '__deprecated__("no")'])
def test_an_attribute_on_the_line_of_a_definition_says_so(attribute: str) -> None:
    old = f"__attribute__(({attribute})) void moor_ship() {{\n    tie();\n}}"

    assert first(QUESTION, "cpp", old, LIVE["cpp"]) == LIVE["cpp"]


@pytest.mark.parametrize(
    ("language", "above"),
    [
        ("rust", '#[serde(rename = "undeprecated")]'),
        ("rust", '#[serde(rename = "deprecated_moor")]'),
        ("rust", "#[deprecated]\nfn tie() {}"),
        ("java", '@DeprecatedSince("1")'),
        ("csharp", "[ObsoleteRope]"),
        ("go", "// It is not deprecated: it ties."),
        ("go", "// Deprecated: the functions of the old harbour.\n"),
    ],
)
def test_other_lines_above_a_definition_do_not_say_that_it_is_deprecated(language: str, above: str) -> None:
    live = LIVE[language]
    other = live.replace("tie", "moor")

    assert first(QUESTION, language, f"{above}\n{other}", live).endswith(other)


def test_a_comment_below_a_definition_is_not_the_one_above() -> None:
    old = "__attribute__((deprecated)) void moor_ship() {\n    tie();\n}\n// The next one ties."

    assert first(QUESTION, "cpp", old, LIVE["cpp"]) == LIVE["cpp"]


def test_a_deprecated_definition_is_quoted_behind_the_other() -> None:
    assert told(QUESTION, "java", OLD["java"], LIVE["java"]) == [LIVE["java"], OLD["java"]]


def test_the_deprecated_definition_is_quoted_with_its_attribute_if_there_is_no_other() -> None:
    assert first(QUESTION, "rust", OLD["rust"]) == OLD["rust"]
    assert first("What does Old.moor_ship do?", "java", OLD["java"]) == OLD["java"]
