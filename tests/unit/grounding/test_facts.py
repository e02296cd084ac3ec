"""What a text states that can be checked to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.grounding.facts import content_words, facts_of, has_facts


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        pytest.param('It says "too late" there.', ("too late",), id="straight"),
        pytest.param("It says “too late” there.", ("too late",), id="curly"),
        pytest.param("Es heißt „zu spät“.", ("zu spät",), id="german"),
        pytest.param("它说「太晚」。", ("太晚",), id="chinese"),
        pytest.param("It says 'too late' there.", ("too late",), id="single"),
        pytest.param("Don't say it's ours.", (), id="apostrophes"),
        pytest.param('`"quoted"` in code', (), id="inside-ticks"),
    ],
)
def test_quotes_are_read(text: str, quotes: tuple[str, ...]) -> None:
    assert facts_of(text).quotes == quotes


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        pytest.param("Call `run` first.", ("run",), id="ticks"),
        pytest.param("Call ``run`` first.", ("run",), id="two-ticks"),
        pytest.param("Call run() first.", ("run",), id="call"),
        pytest.param("Set max_tokens or maxTokens.", ("max_tokens", "maxTokens"), id="snake-and-camel"),
        pytest.param("Use os.path.join here.", ("os.path.join",), id="dotted"),
        pytest.param("Use std::vector here.", ("std::vector",), id="colons"),
        pytest.param("Pass --dry-run to it.", ("--dry-run",), id="option"),
        pytest.param("Type `pip install x` now.", ("pip install x",), id="command"),
        pytest.param("It works, e.g. here. i.e. there.", (), id="abbreviations"),
        pytest.param("It ends.Then it starts.", (), id="missing-blank"),
        pytest.param("It is a well-known thing - really.", (), id="dashes"),
    ],
)
def test_identifiers_are_read(text: str, identifiers: tuple[str, ...]) -> None:
    assert facts_of(text).identifiers == identifiers


def test_numbers_of_code_and_quotes_are_left_out() -> None:
    facts = facts_of('`sha256` and "5 of 6" took 7 s, and `3` is a value of code.')

    assert [number.value for number in facts.numbers] == [7.0]


@pytest.mark.parametrize(
    ("claim", "states"),
    [
        pytest.param("The server retries failed requests.", True, id="plain-statement"),
        pytest.param("It waits 30 s.", True, id="one-number"),
        pytest.param("In short, the client keeps connections open.", False, id="summary"),
        pytest.param("Put simply: `onIdle` is about finishing.", False, id="summary-with-a-name"),
        pytest.param("Kurz gesagt, der Client hält Verbindungen offen.", False, id="german-summary"),
        pytest.param("The context manager does not close the file.", True, id="denial-of-code"),
        pytest.param("The formula is not among the sources shown, so I can't tell.", False, id="not-shown"),
        pytest.param("The sources that I was shown don't cover `Deque`.", False, id="sources-do-not-cover"),
        pytest.param("The context manager closes the file.", True, id="context-is-a-word-of-code"),
        pytest.param("The documents are indexed at night.", True, id="documents-are-a-subject"),
        pytest.param("The moon is made of cheese.", True, id="two-telling-words"),
        pytest.param("Every request is encrypted.", True, id="two-with-a-determiner"),
        pytest.param("It never deletes anything.", True, id="two-with-a-denial"),
        pytest.param("Yes, every request is encrypted.", True, id="behind-a-yes"),
        pytest.param("Yes, it does.", False, id="yes"),
        pytest.param("Yes, that works.", False, id="yes-and-one-telling-word"),
        pytest.param("Key points", False, id="title"),
        pytest.param("Great question.", False, id="praise"),
        pytest.param("That is a good question.", False, id="longer-praise"),
        pytest.param("Thanks for asking.", False, id="thanks"),
        pytest.param("This is not documented.", False, id="about-the-sources-in-short"),
        pytest.param("Here is what I found:", False, id="lead-in"),
        pytest.param("Does it retry?", False, id="question"),
        pytest.param("The sources do not say how long.", False, id="about-the-sources"),
        pytest.param("Let me know!", False, id="courtesy"),
        pytest.param("Yes.", False, id="one-word"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_claim_states_something_or_not(claim: str, states: bool) -> None:
    assert has_facts(claim) is states


def test_words_that_only_say_that_something_is_said_do_not_tell() -> None:
    assert content_words("In short, it is said that the cache is used") == ("cach", "use")


@given(st.text())
def test_every_text_has_facts_if_only_none(text: str) -> None:
    facts = facts_of(text)

    assert bool(facts) is any((facts.quotes, facts.identifiers, facts.numbers))
    assert has_facts(text) in (True, False)
