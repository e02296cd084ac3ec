"""The judge says in one word how much of a claim the cited lines carry, and why not all of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbook.embedding.static import load_embedder
from openbook.grounding.judge import Judge
from openbook.testing import HashEmbedder

CITED = [
    "The client retries a failed request three times, and waits",
    "30 seconds between attempts. It does not retry on 404.",
    "Timeouts are set by `timeout_s`, which Grace Hopper added in May 2021.",
]


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(load_embedder(), {})


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("The client retries a failed request three times.", id="word-for-word"),
        pytest.param("A request that failed is retried 3 times by the client.", id="other-order"),
        pytest.param("It waits thirty seconds between attempts.", id="number-in-words"),
        pytest.param("The client never retries on 404.", id="other-negation"),
        pytest.param("`timeout_s` sets timeouts.", id="identifier"),
        pytest.param("In short, Grace Hopper added `timeout_s` in May 2021.", id="name-and-date"),
    ],
)
def test_what_the_cited_lines_say_is_supported(judge: Judge, claim: str) -> None:
    judgement = judge.judge(claim, CITED)

    assert (judgement.verdict, judgement.reason) == ("supported", "")


@pytest.mark.parametrize(
    "claim",
    [
        pytest.param("The client retries a failed request five times.", id="number"),
        pytest.param("It waits 30 minutes between attempts.", id="unit"),
        pytest.param("The client retries on 404.", id="negation-dropped"),
        pytest.param("The client never retries a failed request.", id="negation-added"),
        pytest.param("Timeouts are set by `timeout_ms`.", id="identifier"),
        pytest.param("Timeouts are set by `timeout_s`, which Ada Lovelace added in May 2021.", id="name"),
        pytest.param('The client "retries forever" a failed request.', id="quote"),
        pytest.param("Grace Hopper added it in May 2020.", id="date"),
        pytest.param("The server listens on the port that the environment names.", id="something-else"),
        pytest.param("The client retries a failed request, and encrypts every connection with a key.", id="half-of-it"),
    ],
)
def test_what_the_cited_lines_do_not_say_is_not_supported_and_the_reason_is_told(judge: Judge, claim: str) -> None:
    judgement = judge.judge(claim, CITED)

    assert judgement.verdict in {"partial", "unsupported"}
    assert judgement.reason


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        pytest.param("The client retries a failed request five times.", "unsupported", id="contradicted"),
        pytest.param("The client retries a failed request for Ada.", "partial", id="a-name-too-many"),
        pytest.param("Bananas are yellow.", "unsupported", id="foreign"),
        pytest.param(" ", "unsupported", id="blank"),
    ],
)
def test_a_contradiction_weighs_more_than_something_missing(judge: Judge, claim: str, verdict: str) -> None:
    assert judge.judge(claim, CITED).verdict == verdict


@pytest.mark.parametrize("cited", [[], [""], ["..."]], ids=["none", "empty", "no-words"])
def test_nothing_supports_no_claim(judge: Judge, cited: list[str]) -> None:
    assert judge.judge("The client retries.", cited).verdict == "unsupported"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("The timeout is 1.5 seconds.", "timeout_ms = 1500", id="unit-in-a-name"),
        pytest.param("The buffer has 4096 bytes.", "The buffer has 4 KiB.", id="other-unit"),
        pytest.param("It is tried two times.", "It is tried twice.", id="twice"),
        pytest.param("The limit is 1,000,000 items.", "The limit is 1e6 items.", id="exponent"),
    ],
)
def test_the_same_number_carries_a_claim_however_it_is_written(judge: Judge, claim: str, cited: str) -> None:
    assert judge.judge(claim, [cited]).verdict == "supported"


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("服务器等待60秒。", "服务器等待30秒。"),
        ("重试5次。", "重试3次。"),
        ("最多500个。", "最多100个。"),
        ("等待30分钟。", "等待30秒。"),
    ],
)
def test_another_number_in_chinese_is_not_supported(judge: Judge, claim: str, cited: str) -> None:
    assert judge.judge(cited, [cited]).verdict == "supported"
    assert judge.judge(claim, [cited]).verdict != "supported"


def test_names_of_the_place_complete_its_lines_and_do_not_replace_them(judge: Judge) -> None:
    around = ["net/client.py", "Client.get"]

    assert judge.judge("`Client.get` takes `url`.", ["def get(self, url):"], around).verdict == "supported"
    assert judge.judge("`Client.get` exists in `client.py`.", ["pass"], around).verdict == "unsupported"


def test_rarity_decides_which_word_may_be_missing() -> None:
    claim, cited = "The frobnicator is very quick today", ["A frobnicator."]

    rare = Judge(HashEmbedder(), {"frobnic": 50.0}).judge(claim, cited)
    common = Judge(HashEmbedder(), lambda token: 0.1 if token == "frobnic" else 1.0).judge(claim, cited)

    assert rare.score > common.score


@settings(max_examples=60)
@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=50), st.lists(st.text(max_size=40), max_size=3))
def test_any_texts_give_a_judgement(claim: str, cited: list[str], around: list[str]) -> None:
    judgement = Judge(HashEmbedder(), {}).judge(claim, cited, around)

    assert judgement.verdict in {"supported", "partial", "unsupported"}
    assert (judgement.verdict == "supported") == (judgement.reason == "")
    assert 0 <= judgement.score <= 1


@pytest.mark.parametrize("piece", ["a ", "`", '"', "A", "1,", "not ", "(", "x.", "不"])
def test_a_million_characters_are_judged(judge: Judge, piece: str) -> None:
    text = piece * (1_000_000 // len(piece))

    assert judge.judge(text, [text, "It is so."]).verdict in {"supported", "partial", "unsupported"}


@given(
    st.lists(st.sampled_from([*" ".join(CITED).split(), "five", "encrypts", "Hopper,"]), min_size=1, max_size=9),
    st.lists(st.sampled_from(CITED), min_size=1, max_size=3),
)
@settings(max_examples=50)
def test_what_can_support_no_claim_supports_none(words: list[str], cited: list[str]) -> None:
    judge, claim = Judge(load_embedder(), {}), " ".join(words)

    supported = judge.judge(claim, cited).verdict == "supported"

    assert judge.may_support(claim, cited) or not supported


def test_lines_on_something_else_cannot_support_a_claim(judge: Judge) -> None:
    assert not judge.may_support("The server listens on the port that the environment names.", CITED)
    assert judge.may_support("The client retries a failed request five times.", CITED)
