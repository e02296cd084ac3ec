"""A broken claim is another claim, and a true one says what its units say."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from benchmarks.mutations import (
    Break,
    break_entity,
    break_identifier,
    break_negation,
    break_number,
    break_quote,
    break_range,
    break_scarce,
    broken,
)
from benchmarks.true_claims import Claim, File, chinese_claims, file_of, make_claims, reworded

CODE = '''
LIMIT_S = 30

# The client is told the limit, because it cannot know it by itself.
def wait_for(url, limit=30) -> bool:
    """Wait for a server, at most as many seconds as the limit says.

    Nothing is raised when it does not respond in time.
    """
    return send_request(url)


def send_request(url):
    return True
'''
PROSE = """The server was written by Grace Hopper in 1952, and it is never restarted.

It says "too late to wait for it" to 20 clients, none of which was made by Ada Lovelace.

Nobody at the bureau of Alan Turing has read what it sends to the printer at night.

It is a machine without a clock, and the bureau has a clock without a machine.
"""


@pytest.fixture
def files() -> list[File]:
    return [file_of("wait.py", CODE), file_of("send.py", CODE.replace("wait", "send")), file_of("page.md", PROSE)]


def test_units_of_a_claim_hold_the_text_that_it_was_made_from(files: list[File]) -> None:
    claims = make_claims(files, 20, seed=1)

    assert {claim.kind for claim in claims} == {"prose", "docstring", "statement", "comment", "quote"}
    prose = [claim for claim in claims if claim.kind == "prose"]
    assert all(claim.source in " ".join(claim.cited) for claim in prose)


@pytest.mark.parametrize(
    ("change", "before", "start"),
    [
        (break_number, "It says it to 20 clients.", "It says it to "),
        (break_negation, "It is never restarted.", "It is "),
        (break_negation, "It is restarted at night.", "It is "),
        (break_quote, 'It says "too late to wait for it" there.', 'It says "'),
        (break_entity, "It was written by Grace Hopper.", "It was written by "),
    ],
    ids=["number", "negation-dropped", "negation-added", "quote", "entity"],
)
def test_one_thing_is_broken(files: list[File], change: Break, before: str, start: str) -> None:
    claim = Claim("prose", before, files[2], 0, 1)

    changed = change(claim, random.Random(1))

    assert changed is not None
    assert changed.text != before
    assert changed.text.startswith(start)
    assert changed.cited == claim.cited


@pytest.mark.parametrize(
    ("kind", "before", "start"),
    [
        ("ordinal", "It keeps the first of them.", "It keeps the "),
        ("bound", "It keeps at most 5 of them.", "It keeps at least 5 of them."),
        ("rate", "It sends 5 of them per hour.", "It sends 5 of them per "),
        ("weekday", "It runs on Monday.", "It runs on "),
        ("month", "It ran in March.", "It ran in "),
        ("sign", "The default is 5.", "The default is -5."),
        ("sign", "The default is -5.", "The default is 5."),
    ],
)
def test_what_few_claims_say_is_broken_by_a_word_of_its_kind(
    files: list[File], kind: str, before: str, start: str
) -> None:
    changed = break_scarce(kind, Claim("prose", before, files[2], 0, 1), random.Random(1))

    assert changed is not None
    assert changed.text != before
    assert changed.text.startswith(start)


def test_what_a_claim_does_not_say_is_not_broken(files: list[File]) -> None:
    claim = Claim("prose", "It is restarted at night.", files[2], 0, 1)

    assert break_scarce("ordinal", claim, random.Random(1)) is None


def test_sentences_of_chinese_texts_are_claims_and_their_numbers_are_broken() -> None:
    file = file_of("page.txt", "服务器等待30秒。它重试3次。\n")

    claims = chinese_claims([file], seed=1)
    broken_ones = [break_number(claim, random.Random(1), re.compile(r"\d+")) for claim in claims]

    assert sorted(claim.text for claim in claims) == ["它重试3次。", "服务器等待30秒。"]
    assert all(changed and changed.text not in file.text for changed in broken_ones)


def test_an_identifier_is_swapped_for_a_sibling_that_is_not_cited(files: list[File]) -> None:
    claim = Claim("statement", "`wait_for` returns `bool`.", files[0], 2, 3, "wait_for")

    changed = break_identifier(claim, random.Random(1))

    assert changed is not None
    assert "send_request" in changed.text


def test_a_shifted_range_does_not_hold_the_claim(files: list[File]) -> None:
    claim = Claim("prose", "The server was written by Grace Hopper in 1952.", files[2], 0, 1)

    moved = break_range(claim, random.Random(1))

    assert moved is not None
    assert moved.text == claim.text
    assert claim.cited[0] not in moved.cited


def test_each_claim_is_broken_one_way_and_the_same_way_each_time(files: list[File]) -> None:
    claims = make_claims(files, 20, seed=1)

    first, second = broken(claims, files, seed=1), broken(claims, files, seed=1)

    assert first == second
    assert len(first) <= len(claims)
    assert all(changed not in claims for _, changed in first)


def test_other_words_keep_code_quotes_and_numbers(files: list[File]) -> None:
    text = 'However, the `use_cache` must show "many large files" to 1,000 clients, because they cannot wait.'

    said = {reworded(text, random.Random(seed)) for seed in range(20)}

    assert len(said) > 1
    assert all("`use_cache`" in one and '"many large files"' in one for one in said)
    assert all("1,000" in one or "1000" in one for one in said)


def test_a_claim_that_nothing_can_break_is_left_out(files: list[File]) -> None:
    lonely = replace(files[2], text="Yes", units=("Yes",), starts=(0,))
    claim = Claim("docstring", "So be it", lonely, 0, 1)

    assert broken([claim], [lonely, files[0]], seed=1) == []
