"""The facts of a claim must stand in the cited text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.literal import Agreement, agreement


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("It waits 30 seconds.", "timeout: 30s", id="unit-in-short"),
        pytest.param("It waits 30 seconds.", "It waits 30,000 ms.", id="other-unit"),
        pytest.param("It waits 30 seconds.", "timeout_s = 30", id="unit-in-a-name"),
        pytest.param("It waits 1.5 seconds.", "timeout_ms = 1500", id="smaller-unit-in-a-name"),
        pytest.param("It has 64 MB.", "size_mb = 64", id="unit-that-is-no-name"),
        pytest.param("It has 4096 bytes.", "It has 4 KiB.", id="unit-that-looks-like-a-name"),
        pytest.param("It has 1,000,000 items.", "It has 1e6 items.", id="exponent"),
        pytest.param("The default is -1.", "default = -1", id="negative"),
        pytest.param("The pool holds no more than 16.", "The pool holds at most 16.", id="bound-in-other-words"),
        pytest.param("It waits thirty seconds.", "It waits 30 s.", id="in-words"),
        pytest.param("It has two parts.", "It has both parts.", id="implied"),
        pytest.param("The share is 5%.", "share = 0.05", id="share-as-a-fraction"),
        pytest.param("The limit is 30,000.", "LIMIT = 30_000", id="thousands"),
        pytest.param("The flag is 255.", "FLAG = 0xFF", id="hexadecimal"),
        pytest.param("It came out on 2 May 2021.", "Released 2021-05-02", id="other-form-of-date"),
        pytest.param("It came out on 2 May 2021.", "Released in 2021, on May 2", id="date-in-two-places"),
        pytest.param("It came out in May 2021.", "Released 2021-05-02", id="less-exact-date"),
        pytest.param("It needs version 1.2.3.", "requires v1.2.3", id="version"),
        pytest.param("Call `Client.get` for it.", "def get(self): # of Client", id="dotted-by-parts"),
        pytest.param("Call `get()` for it.", "def get(self): ...", id="call"),
        pytest.param("Set max_tokens first.", "Set the max tokens first.", id="respelled"),
        pytest.param("Run `pip install x` first.", "$ pip  install x", id="command"),
        pytest.param("It was Grace Hopper.", "It was Hopper.", id="part-of-a-name"),
        pytest.param("It is American.", "It is in America.", id="derived-name"),
        pytest.param("It is of the FBI.", "It is of the Federal Bureau of Investigation: F B I", id="initials"),
        pytest.param('It says "too late, friend".', "It says “too  *late*, friend”.", id="quote-with-markup"),
        pytest.param('It says "too late ... friend".', "It says too late, my friend.", id="quote-with-a-gap"),
        pytest.param("It is blue.", "Anything", id="nothing-to-check"),
    ],
)
def test_facts_that_stand_there_in_another_form_agree(claim: str, cited: str) -> None:
    assert agreement(claim, [cited]) == Agreement()


@pytest.mark.parametrize(
    ("claim", "cited", "reason"),
    [
        pytest.param("It waits 30 s.", "It waits.", "the number 30 s is not in the cited lines", id="number"),
        pytest.param(
            "It waits 30 minutes.", "Wait: 30 s", "the number 30 minutes is not in the cited lines", id="unit"
        ),
        pytest.param(
            "It waits 1500 s.", "wait_ms = 1500", "the number 1500 s is not in the cited lines", id="unit-in-a-name"
        ),
        pytest.param("The default is -1.", "default = 1", "the number -1 is not in the cited lines", id="sign"),
        pytest.param("重试5次。", "重试3次。", "the number 5 is not in the cited lines", id="chinese"),
        pytest.param("It is 2 May 2021.", "2021-05-03", "the date 2 May 2021 is not in the cited lines", id="date"),
        pytest.param("It needs 1.2.3.", "v1.2.4", "the number 1.2.3 is not in the cited lines", id="version"),
        pytest.param("It needs 1.0.2k.", "1.0.2j", "the number 1.0.2k is not in the cited lines", id="letter"),
        pytest.param("Call `get_all`.", "def get_one()", "`get_all` is not in the cited lines", id="identifier"),
        pytest.param(
            "Set `max_tokens`.", "maxTokens", "`max_tokens` is not in the cited lines", id="in-ticks-as-written"
        ),
        pytest.param(
            "He met Grace Hopper.", "He met Ada.", "the name Grace Hopper is not in the cited lines", id="name"
        ),
        pytest.param(
            'It says "too late".', "It says it is late.", 'the quote "too late" is not in the cited lines', id="quote"
        ),
    ],
)
def test_a_fact_that_does_not_stand_there_is_missing(claim: str, cited: str, reason: str) -> None:
    assert reason in agreement(claim, [cited]).missing


@pytest.mark.parametrize(
    ("claim", "cited", "reason"),
    [
        pytest.param(
            "The client waits 60 seconds for it.",
            "The client waits 30 seconds for it, at most 60.",
            "the claim says 60 where the cited lines say 30",
            id="number-that-stands-elsewhere",
        ),
        pytest.param(
            "It uses `foo_bar` to open what it needs.",
            "It uses `baz_qux` to open what it needs, and `foo_bar`.",
            "the claim says foo_bar where the cited lines say baz_qux",
            id="identifier-that-stands-elsewhere",
        ),
        pytest.param(
            "It takes 9 requests per hour.",
            "It takes 9 requests per minute.",
            'the claim says "per hour" where the cited lines say "per minute"',
            id="rate",
        ),
        pytest.param(
            "It does not open the file.",
            "It opens the file.",
            'the claim says "not open", the cited lines do not',
            id="negation",
        ),
    ],
)
def test_a_fact_in_the_place_of_another_one_is_contradicted(claim: str, cited: str, reason: str) -> None:
    assert reason in agreement(claim, [cited]).contradicted


def test_a_swapped_name_is_missing_since_people_have_several_names() -> None:
    found = agreement("It was sold to Ada by the bank.", ["It was sold to Grace by the bank of Ada."])

    assert found.missing == ("the claim says Ada where the cited lines say Grace",)
    assert found.contradicted == ()


def test_names_of_the_place_hold_though_they_do_not_stand_in_its_lines() -> None:
    assert agreement("`Client.get` waits.", ["def get(): wait()"], ["net/client.py", "Client"]) == Agreement()


def test_shares_of_what_is_missing_are_told() -> None:
    found = agreement("It took 3 of 4 from Grace and Ada.", ["It took 3 from Ada."])

    assert (found.missing_numbers, found.missing_names) == (0.5, 0.5)


@given(st.text(), st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=2))
def test_any_texts_can_be_compared(claim: str, cited: list[str], around: list[str]) -> None:
    found = agreement(claim, cited, around)

    assert 0 <= found.missing_numbers <= 1
    assert 0 <= found.missing_names <= 1
