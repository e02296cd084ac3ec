"""Enumerations in code, and their values with comments."""

from __future__ import annotations

from typing import Any

import pytest

from openbook.questions.question import read_question
from openbook.retrieval.enumerations import enumerations_in
from openbook.retrieval.signals import enumeration_strength
from tests.unit.retrieval.material import Library, chunk_of


def read(text: str, language: str) -> dict[str, list[str]]:
    return {each.name: [member.name for member in each.members] for each in enumerations_in(text, language)}


def texts(text: str, language: str) -> list[str]:
    return [text[member.start : member.end] for each in enumerations_in(text, language) for member in each.members]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("rust", "pub(x) enum Knot<'a, T> {\n    Bowline(&'a str, T),\n    #[x(y)]\n    Hitch { a: u8 },\n}"),
        ("rust", "enum Knot<T>\nwhere\n    T: Copy,\n{\n    Bowline = b'{',\n    Hitch,\n}"),
        ("java", "public enum Knot implements Tied {\n  @Old Bowline(\"a;b\"), Hitch { int n() { } };\n  int a, b;\n}"),
        ("kotlin", "enum class Knot(val turns: Int) : Tied {\n  Bowline(1),\n  Hitch(2);\n  fun a() = 1\n}"),
        ("swift", "enum Knot: String, Codable {\n  case Bowline(Int, Int), Hitch\n  var turns: Int { 1 }\n}"),
        ("typescript", "export const enum Knot {\n  Bowline = 'a,b',\n  Hitch,\n}"),
        ("typescript", "export type Knot =\n  // the first\n  | \"Bowline\"\n  | 'Hitch';"),
        ("tsx", 'type Knot = "Bowline" | "Hitch"'),
        ("c", "typedef enum {\n#ifdef ROPE\n  Bowline, /* one, two */\n#endif\n  Hitch\n} Knot;"),
        ("c", "enum Knot\n{\n  Bowline = MAX(1, 2),\n  Hitch\n};\nenum Knot tie(int a) {\n  return a;\n}"),
        ("cpp", "enum class Knot : std::uint8_t {\n  Bowline,\n  Hitch,\n};"),
        ("csharp", "[Flags]\npublic enum Knot : byte\n{\n    [Old(1, 2)]\n    Bowline = 1 << 0,\n    Hitch = 2\n}"),
        ("php", "enum Knot: string\n{\n  case Bowline = 'a';\n  case Hitch = 'b';\n  function a() {}\n}"),
        ("scala", "enum Knot(val turns: Int):\n  case Bowline extends Knot(1)\n  case Hitch\n\nval case = 1"),
        ("python", "class Knot(Enum):\n    Bowline = 1\n    Hitch: A = 2\n\n    def a(b):\n        d = 1\n\nc = 1"),
        ("python", "class Knot(TextChoices):\n    Bowline = (\n        'a',\n        'b',\n    )\n    Hitch = 'c'"),
        ("go", "type Knot int\n\nconst (\n\tBowline Knot = iota // one\n\tHitch\n)"),
        ("go", 'const (\n\t// One.\n\tBowline Knot = "a"\n\tHitch   Knot = "b"\n\tOther   Rope = "c"\n)'),
    ],
)  # fmt: skip
def test_the_values_of_an_enumeration_are_read(language: str, text: str) -> None:
    assert read(text, language) == {"Knot": ["Bowline", "Hitch"]}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", "enum knot tie(int a, int b) {\n  return a;\n}"),
        ("c", "struct rope {\n  enum knot knot;\n};"),
        ("c", "enum {\n  A,\n  B\n};"),
        ("rust", "enum Knot {}"),
        ("rust", "// an enum Knot {\nstruct Rope { a: u8, b: u8 }"),
        ("typescript", 'type Knot = "only";'),
        ("typescript", "type Knot = Rope | Chain;"),
        ("python", "class Knot(Base):\n    a = 1"),
        ("python", "class Knot(Enum):\n    pass"),
        ("go", "const (\n\tA = 1\n\tB = 2\n)"),
    ],
)
def test_other_code_has_none(language: str, text: str) -> None:
    assert read(text, language) == {}


def test_a_value_has_the_comments_above_and_beside_it() -> None:
    rust = "enum Knot {\n    /// Holds.\n    Bowline, // one\n\n    /// Slips.\n    #[old]\n    Hitch,\n}"
    go = "const (\n\t// Holds.\n\tBowline Knot = iota // one\n\tHitch\n)"

    assert texts(rust, "rust") == ["/// Holds.\n    Bowline, // one", "/// Slips.\n    #[old]\n    Hitch,"]
    assert texts(go, "go") == ["\t// Holds.\n\tBowline Knot = iota // one", "\tHitch"]


def test_an_enumeration_ends_with_its_last_value_if_methods_follow() -> None:
    text = "  enum Knot {\n    Bowline,\n    Hitch;\n\n    int turns;\n  }"
    closed = "typedef enum {\n  Bowline\n} Knot;  // of ropes"

    assert [text[each.start : each.end] for each in enumerations_in(text, "java")] == [
        "enum Knot {\n    Bowline,\n    Hitch;"
    ]
    assert [closed[each.start : each.end] for each in enumerations_in(closed, "c")] == [closed]


def test_the_type_of_constants_in_go_belongs_to_them() -> None:
    text = (
        "type Knot int\n\n// Knots.\nconst (\n\tBowline Knot = iota\n)\n\ntype Rope int\n\nconst (\n\tTaut Knot = 7\n)"
    )

    starts = [text[each.start :].split("\n")[0] for each in enumerations_in(text, "go")]

    assert starts == ["type Knot int", "const ("]


ENUM = "pub enum MooringKind {\n    /// Swings.\n    Swing,\n}"
REST = "    /// Swings.\n    Swing,\n}"
HEAD = "pub enum MooringKind"


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        (ENUM, {}, 1.0),
        (ENUM.replace("Swing,", "Pile,"), {}, 0.0),
        (ENUM, {"path": "tests/kind.rs"}, 0.0),
        (ENUM, {"kind": "docs"}, 0.0),
        (REST, {"symbol": "MooringKind", "signature": HEAD}, 1.0),
        (REST, {"symbol": "Other", "signature": "pub enum Other"}, 0.0),
        (REST, {"symbol": "MooringKind", "signature": "impl MooringKind"}, 0.0),
        ("    tie(Swing),\n}", {"symbol": "MooringKind", "signature": HEAD}, 0.0),
    ],
)
def test_a_chunk_has_the_value_of_a_question(text: str, fields: dict[str, Any], expected: float) -> None:
    chunk = chunk_of(text, **{"path": "kind.rs", "kind": "code", "language": "rust", **fields})

    assert enumeration_strength(read_question("What does MooringKind::Swing do?"), chunk) == expected


def test_a_chunk_without_the_head_has_no_enumeration_to_show() -> None:
    asked = read_question("What is MooringKind?")

    assert enumeration_strength(asked, chunk_of(ENUM, "kind.rs", kind="code", language="rust")) == 1.0
    rest = chunk_of(REST, "kind.rs", kind="code", language="rust", symbol="MooringKind", signature=HEAD)
    assert enumeration_strength(asked, rest) == 0.0


def test_an_enumeration_is_found_among_many_uses_of_its_words(library: Library) -> None:
    library.put("kinds.rs", ENUM, kind="code", language="rust", symbol="MooringKind", defines=("MooringKind",))
    for number in range(120):  # more than are candidates
        library.put(f"docs/{number}.md", f"Which mooring kinds are there at pier {number}? Moorings of any kind.")

    found = library.search("which mooring kinds are there?")

    assert found[0].chunk.span.path == "kinds.rs"
    assert found[0].signals["enumeration"] > 0
