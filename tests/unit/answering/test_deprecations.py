"""Deprecated definitions come after the others of their name, and say what they are."""

from __future__ import annotations

import pytest

from tests.unit.answering.picking import picked, quotes
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
PYTHON_WARNS = 'def moor_ship():\n    """Ties."""\n    a = 1\n    warnings.warn("no", DeprecationWarning)\n    tie()'
PYTHON_TELLS = 'def moor_ship():\n    """Ties.\n\n    .. deprecated:: 2.0\n    """\n    tie()'


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


def test_a_deprecated_definition_is_quoted_behind_the_other() -> None:
    assert told(QUESTION, "java", OLD["java"], LIVE["java"]) == [LIVE["java"], OLD["java"]]


@pytest.mark.parametrize("text", [PYTHON_WARNS, PYTHON_TELLS])
def test_the_body_of_a_function_may_say_that_it_is_deprecated(text: str) -> None:
    live = "def moor_ship(a):\n    tie(a)"

    assert first(QUESTION, "python", text, live) == live


def test_a_warning_in_a_method_is_not_one_of_its_class() -> None:
    text = "class moor_ship:\n    def tie(self):\n        warnings.warn('no', DeprecationWarning)"

    assert first(QUESTION, "python", text, "def moor_ship(a):\n    tie(a)").startswith("class moor_ship:")


def test_the_deprecated_definition_is_quoted_with_its_attribute_if_there_is_no_other() -> None:
    assert first(QUESTION, "rust", OLD["rust"]) == OLD["rust"]
    assert first("What does Old.moor_ship do?", "java", OLD["java"]) == OLD["java"]


def test_what_says_so_far_from_the_signature_is_quoted_as_well() -> None:
    body = "".join(f"    tie({number})\n\n" for number in range(20))
    text = f'def moor_ship():\n    """Ties."""\n{body}    warnings.warn("it is old", DeprecationWarning)\n{body}'
    chunk = chunk_of(text, "a.py", kind="code", language="python", symbol="moor_ship", defines=("moor_ship",))

    assert any("DeprecationWarning" in quote for quote in quotes(picked(QUESTION, chunk)))
