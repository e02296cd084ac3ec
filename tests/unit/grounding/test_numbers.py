"""Numbers are read as values, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.numbers import factors_of, numbers_of
from tests.unit.grounding.odd_texts import ODD


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("30 seconds", [(30.0, "time")], id="with-a-unit"),
        pytest.param("30s", [(30.0, "time")], id="unit-sticks-to-it"),
        pytest.param("a 30-second wait", [(30.0, "time")], id="hyphen"),
        pytest.param("30 秒", [(30.0, "time")], id="chinese-unit"),
        pytest.param("等待60秒。", [(60.0, "time")], id="chinese-without-blanks"),
        pytest.param("重试3次", [(3.0, "")], id="chinese-counted"),
        pytest.param("等待30分钟或2小时", [(1800.0, "time"), (7200.0, "time")], id="chinese-minutes"),
        pytest.param("重试三次，有两百个", [(3.0, ""), (200.0, "")], id="chinese-words"),
        pytest.param("两万五千条，三十秒", [(25_000.0, ""), (30.0, "time")], id="chinese-scales"),
        pytest.param("一个服务器十分快", [], id="chinese-words-that-count-nothing"),
        pytest.param("30초", [(30.0, "time")], id="korean-unit"),
        pytest.param("2 Minuten", [(120.0, "time")], id="german-unit"),
        pytest.param("30,000 ms", [(30.0, "time")], id="thousands-and-a-smaller-unit"),
        pytest.param("30_000", [(30_000.0, "")], id="thousands-as-in-code"),
        pytest.param("5% or 5 percent", [(0.05, "share"), (0.05, "share")], id="shares"),
        pytest.param("512 MB", [(512e6, "size")], id="size"),
        pytest.param("2.5 million users", [(2.5e6, "")], id="scale"),
        pytest.param("three retries", [(3.0, "")], id="word"),
        pytest.param("thirty-five days", [(35 * 86_400.0, "time")], id="two-words-and-a-unit"),
        pytest.param("two hundred", [(200.0, "")], id="word-and-scale"),
        pytest.param("one of them", [], id="one-is-a-pronoun"),
        pytest.param("one second", [(1.0, "time")], id="one-with-a-unit"),
        pytest.param("-5", [(-5.0, "")], id="negative"),
        pytest.param("minus 5 or negative 6", [(-5.0, ""), (-6.0, "")], id="sign-as-a-word"),
        pytest.param("-5 s", [(-5.0, "time")], id="negative-with-a-unit"),
        pytest.param("(x)-1", [(1.0, "")], id="difference"),
        pytest.param("1e6 and 2.5e-3", [(1e6, ""), (0.0025, "")], id="exponent"),
        pytest.param("10-20", [(10.0, ""), (20.0, "")], id="range"),
        pytest.param("the 1990s", [(1990.0, "")], id="a-decade-is-no-time-span"),
        pytest.param("v1.2.3", [(0.0, "version")], id="version"),
        pytest.param("Python 3.14.0t, 1.2.3rc1 and 4.0b2", [(0.0, "version")] * 3, id="versions-with-letters"),
        pytest.param("需要1.2.3版", [(0.0, "version")], id="version-in-chinese"),
        pytest.param("1_2.3.4 and 1.5é", [], id="neither-number-nor-version"),
        pytest.param("1_000.5_0", [(1000.5, "")], id="underscores-as-in-code"),
        pytest.param(
            "\u017fix, s\u0131x and \u017fixty-\u017fix",
            [(6.0, ""), (6.0, ""), (66.0, "")],
            id="letters-that-equal-others",
        ),
        pytest.param("Python 3.11", [(3.11, "")], id="two-parts"),
        pytest.param("utf8, x1 and a2", [], id="digits-of-names"),
        pytest.param("It is port 8000.", [(8000.0, "")], id="full-stop-behind"),
    ],
)
def test_a_number_has_a_value_in_the_smallest_unit_of_its_kind(text: str, expected: list[tuple[float, str]]) -> None:
    assert [(number.value, number.kind) for number in numbers_of(text)] == expected


def test_a_text_can_confirm_a_number_by_words_that_state_none() -> None:
    implied = numbers_of("both of them, twice, at half the price", implied=True)

    assert [number.value for number in implied] == [2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("timeout_ms = 1500", [(1.5, "time")], id="assigned"),
        pytest.param("timeoutMs: 1_500", [(1.5, "time")], id="camel-case"),
        pytest.param('"max-bytes": 10', [(10.0, "size")], id="json"),
        pytest.param("timeout_s: float = 30", [(30.0, "time")], id="with-a-type"),
        pytest.param("timeout_s = 60 * 60", [(60.0, ""), (60.0, "")], id="a-product-is-not-read"),
        pytest.param("workers = 30", [(30.0, "")], id="no-unit"),
        pytest.param("timeout_ms = 1__0", [], id="no-number"),
    ],
)
def test_a_name_of_code_may_say_the_unit_of_its_number(text: str, expected: list[tuple[float, str]]) -> None:
    assert [(number.value, number.kind) for number in numbers_of(text, implied=True)] == expected


def test_units_that_a_text_names_have_factors() -> None:
    assert factors_of("time", "in milliseconds or minutes, not MB") == {0.001, 60.0}
    assert factors_of("", "seconds") == frozenset()


@pytest.mark.slow
@given(st.text() | ODD, st.booleans())
def test_every_text_has_numbers_if_only_none(text: str, implied: bool) -> None:
    numbers = numbers_of(text, implied=implied)

    assert [number.start for number in numbers] == sorted(number.start for number in numbers)
