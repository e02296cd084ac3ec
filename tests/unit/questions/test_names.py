"""Code names in questions, and the codes that stand for them."""

from __future__ import annotations

import pytest

from openbook.questions.names import coded_names, identifiers
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
