"""A negation must stand on both sides, at the same words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.negation import denial_disagrees, denials_of


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("The client does not retry.", "The client retries on 503.", id="not"),
        pytest.param("The client retries on 404.", "The client does not retry on 404.", id="dropped"),
        pytest.param("The client never retries.", "The client retries on 503.", id="never"),
        pytest.param("It doesn't work on Windows.", "It works on Windows.", id="contraction"),
        pytest.param("It cannot be opened.", "It can be opened.", id="cannot"),
        pytest.param("It opens with a key.", "It opens without a key.", id="without"),
        pytest.param("It opens if the door is locked.", "It opens unless the door is locked.", id="unless"),
        pytest.param("All files including logs are read.", "All files except logs are read.", id="except"),
        pytest.param("It still supports Python 2.", "It no longer supports Python 2.", id="no-longer"),
        pytest.param("All of the files are read.", "None of the files are read.", id="none"),
        pytest.param("Requests are retried.", "No request is retried.", id="no"),
        pytest.param("The method has a timeout.", "The method lacks a timeout.", id="lacks"),
        pytest.param("It connects to the server.", "It fails to connect to the server.", id="fails-to"),
        pytest.param("The client retries.", "The client hardly ever retries.", id="hardly"),
        pytest.param("It is not on by default.", "It is on by default, but not in tests.", id="negated-elsewhere"),
        pytest.param("It retries on 404.", "It retries on 503 but not on 404.", id="the-denied-half"),
        pytest.param("It returns None if the file exists.", "Return None if the file does not exist.", id="condition"),
        pytest.param("It returns None if the path exists.", "if not path.exists(): return None", id="code"),
        pytest.param("`f` does not take `x`.", "def f(x): ...", id="parameter"),
        pytest.param("It runs unless it is not set.", "It runs if it is not set.", id="denied-twice"),
        pytest.param(
            "A missing home should stop the report.", "A missing home should not stop it.", id="missing-nearby"
        ),
        pytest.param("Der Server startet nicht.", "Der Server startet.", id="german"),
        pytest.param("Der Server startet.", "Der Server startet nicht.", id="german-dropped"),
        pytest.param("Er hat keinen Port.", "Er hat einen Port.", id="german-kein"),
        pytest.param("Le client ne réessaie pas la requête.", "Le client réessaie la requête.", id="french"),
        pytest.param("La requête est réessayée.", "La requête n'est jamais réessayée.", id="french-dropped"),
        pytest.param("Aucune requête n'est envoyée.", "La requête est envoyée.", id="french-aucune"),
        pytest.param("El cliente nunca reintenta la petición.", "El cliente reintenta la petición.", id="spanish"),
        pytest.param("O cliente não repete o pedido.", "O cliente repete o pedido.", id="portuguese"),
        pytest.param("服务器支持压缩", "服务器不支持压缩", id="chinese"),
        pytest.param("服务器不支持压缩", "服务器支持压缩", id="chinese-added"),
    ],
)
def test_a_claim_that_denies_what_is_affirmed_or_the_reverse_disagrees(claim: str, cited: str) -> None:
    assert denial_disagrees(claim, [cited])


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        pytest.param("The client does not retry.", "The client never retries.", id="other-negation"),
        pytest.param("No request is retried.", "Requests are not retried.", id="other-side"),
        pytest.param("Le client ne réessaie pas.", "Le client ne réessaie jamais la requête.", id="french"),
        pytest.param("Er wiederholt nicht.", "Er wiederholt nie die Anfrage.", id="german"),
        pytest.param("The method has no timeout.", "The method lacks a timeout.", id="lacks"),
        pytest.param("It uses little memory.", "It hardly uses memory.", id="hardly-is-little"),
        pytest.param("It does not connect to it.", "It fails to connect to it.", id="fails-to"),
        pytest.param("It holds no more than 16 of them.", "It holds at most 16 of them.", id="a-bound-denies-nothing"),
        pytest.param("It must not exceed 16 MB.", "It is at most 16 MB.", id="not-exceed"),
        pytest.param("存在无限多个素数。", "素数有无限多个，存在证明。", id="chinese-infinite"),
        pytest.param("Requests are never retried.", "It does not retry requests.", id="other-order"),
        pytest.param("The client retries on 503.", "The client retries on 503 but not on 404.", id="unrelated-half"),
        pytest.param("It listens on port 8000.", "It listens on port 8000. It does not fork.", id="unrelated-sentence"),
        pytest.param("It supports Python 2 no longer.", "It does not support Python 2 any more.", id="no-longer"),
        pytest.param("It returns None for missing paths.", "if not path.exists():\n    return None", id="missing"),
        pytest.param("It starts when the key is missing.", "It starts without a key.", id="missing-of-other-words"),
        pytest.param("The value is not valid.", "The value is invalid.", id="first-syllable"),
        pytest.param("Both A and B are read.", "Not only A but also B is read.", id="not-only"),
        pytest.param("It returns None.", "return None", id="none-of-code"),
        pytest.param("Seven files are read.", "No. 7 files are read.", id="number-sign"),
        pytest.param('It prints "do not retry".', 'It prints "do not retry".', id="inside-a-quote"),
        pytest.param("It is blue.", "It is red.", id="no-negation-at-all"),
    ],
)
def test_a_negation_of_something_else_or_in_other_words_is_no_disagreement(claim: str, cited: str) -> None:
    assert denial_disagrees(claim, [cited]) == ""


def test_a_sentence_that_affirms_the_claim_outweighs_one_that_denies_it_of_something_else() -> None:
    cited = ["The client does not retry on 404.", "The client retries on 503."]

    assert denial_disagrees("The client retries on 503.", cited) == ""


def test_the_reason_names_the_negation_as_it_is_written() -> None:
    reason = denial_disagrees("The client doesn't retry.", ["The client retries."])

    assert reason == 'the claim says "doesn\'t retry", the cited lines do not'


def test_a_negation_reaches_over_its_own_clause_only() -> None:
    (denial,) = denials_of("If it is not cached, the file is read again.")

    assert denial.denied == ("cach",)


@given(st.text(), st.lists(st.text(), max_size=4))
def test_any_texts_agree_or_not(claim: str, cited: list[str]) -> None:
    assert isinstance(denial_disagrees(claim, cited), str)
