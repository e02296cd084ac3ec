"""Code names in questions, and the codes that stand for them."""

from __future__ import annotations

import pytest

from openbook.questions.names import coded_names, identifiers, is_pattern, name_parts, read_name
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("does Tide.js work with ASP.NET?", []),
        ("what does Tide.json return, and what does Rope.js() do?", ["Tide.json", "Rope.js"]),
        ("see:Tide.turn and Quay::Ropes.tie", ["Tide.turn", "Quay::Ropes.tie"]),
        # Long names are read in linear time.
        ("ropes.js" * 2_500, []),
        ("ropes::" * 2_500 + "tide-table", []),
    ],
    ids=["products", "calls", "qualified", "long product", "long setting"],
)
def test_products_are_no_code_names(text: str, names: list[str]) -> None:
    assert identifiers(text) == names


@pytest.mark.parametrize(
    ("text", "defined", "names"),
    [
        ("what does QY06 check?", ["Rule_QY05", "Rule_QY06"], ["Rule_QY06"]),
        ("why does ROPE2086 fail with QY06?", ["QY06", "ROPE2086"], ["ROPE2086", "QY06"]),
        ("what does QY06 check?", ["Rule_QY06", "Test_QY06"], []),
        ("what does QY06 check?", ["Rule_QY061", "RuleQY06", "qy06"], []),
        ("is it in UTF8, HTTP2 or S3?", ["UTF8", "HTTP2", "S3"], []),
        ("what does Quay06 check?", ["Rule_Quay06"], []),
        ("what do berth0 and its v3 return?", ["berth0", "Berth0", "old_berth0", "v3"], ["berth0"]),
    ],
)
def test_a_code_stands_for_the_one_name_that_ends_with_it(text: str, defined: list[str], names: list[str]) -> None:
    assert [each.name for each in coded_names(text, defined)] == names


def test_a_question_names_what_code_defines_by_its_code() -> None:
    question = read_question("what do QY06 and Rope.tie check?")

    assert question.naming({"Rule_QY06", "tie"}).identifiers == ("Rule_QY06", "tie")
    assert question.naming({"tie"}) is question


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        (r"\Harbour\Quay\Moor", ["Harbour", "Quay", "Moor"]),
        ("Moor::class", ["Moor"]),
        ("Moor.class", ["Moor"]),
        ("Moor::class.java", ["Moor"]),
        ("$this->quay->moor($ship->name, $ship->length)", ["quay", "moor"]),
        ("$this->quay->moor($ship->name,", ["quay", "moor"]),
        ("quay.find(ship).moor(rope)", ["quay", "find", "moor"]),
        ("Moor<T>", ["Moor"]),
        ("Quay.Moor<Map<K, Fn(u8) -> V>>(string)", ["Quay", "Moor"]),
        ("Quay<D, F>::moor_mut", ["Quay", "moor_mut"]),
        ("Vec::<u8>::moor()?", ["Vec", "moor?"]),
        ("<Ship as Moor>::tie", ["tie"]),
        ("Quay@moor", ["Quay", "moor"]),
        ("$ship", ["ship"]),
        ("*Ship", ["Ship"]),
        ("&'a mut Ship", ["Ship"]),
        ("[]Ship", ["Ship"]),
        ("Ship[]", ["Ship"]),
        ("@Moored", ["Moored"]),
        ("#[moored(twice)]", ["moored"]),
        ("self.ship", ["ship"]),
        ("`Quay.moor`", ["Quay", "moor"]),
        ("pub fn moor<T>(ship: T) -> Rope<T>", ["moor"]),
        ("moorings: number", ["moorings"]),
        ("moor/2", ["moor"]),
        ("harbour.ropes/moor", ["harbour", "ropes", "moor"]),
        ("Quay::operator->", ["Quay", "operator->"]),
        ("Quay::operator()(int)", ["Quay", "operator()"]),
        ("moor!", ["moor!"]),
        ("--moor", ["--moor"]),
        ("<$>", ["<$>"]),
        ("class", ["class"]),
        ("()", []),
        (" . ", []),
    ],
)
def test_a_name_is_read_as_it_stands_in_code(written: str, parts: list[str]) -> None:
    assert name_parts(written) == parts


@pytest.mark.parametrize(
    ("written", "language", "spelled"),
    [
        ("moor!", "ruby", "moor!"),
        ("moor!(ship)", "rust", "moor"),
        ("$quay", "javascript", "$quay"),
        ("$quay", "php", "quay"),
        ("this.#quay", "typescript", "#quay"),
        ("Ship#quay", "typescript", "quay"),
        ("quay->rope", "scheme", "quay->rope"),
        ("quay->rope", "c", "rope"),
        ("*tides*", "elisp", "*tides*"),
        ("Tides*", "cpp", "Tides"),
        ("users$", "typescript", "users$"),
        ("Moor::class", "elisp", "Moor"),
    ],
)
def test_a_sign_is_part_of_a_name_in_the_languages_that_have_it(written: str, language: str, spelled: str) -> None:
    assert read_name(written).in_language(language) == spelled


def test_a_pattern_is_no_name() -> None:
    assert all(map(is_pattern, (".*Depth", "get_.+", "moor|tie", "^moor", r"\w+Moor", "a*b")))
    assert not any(map(is_pattern, ("*Ship", "Ship*", "$ship", "users$", r"App\Depth", "a.b", "Ship[]", "moor?")))


@pytest.mark.parametrize("part", ["(", "<", "<a>", "a.", "a->", "$", "#", "@a", "!", "operator ", "'a ", "class ", "`"])
def test_a_name_of_many_signs_is_read_in_linear_time(part: str) -> None:
    name = part * (20_000 // len(part))

    assert read_name(name).in_language("rust") is not None
    assert not is_pattern(name)
