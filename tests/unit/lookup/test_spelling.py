"""A refusal asks whether words that no source has were misspelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.generator import Generator
from openbook.types import Filter, Kind
from tests.unit.retrieval.material import Library


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path / "mill.db")
    library.put("a.md", *(f"The retry policy of cookies number {number} has secrets." for number in range(9)))
    library.put("b.md", "A harbor that is named once.")
    library.put("c.py", "stack = []", "stack.append(1)", kind="code")
    return library


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("plicy", "policy", id="letter-too-few"),
        pytest.param("pollicy", "policy", id="letter-too-many"),
        pytest.param("pelicy", "policy", id="wrong-vowel"),
        pytest.param("poilcy", "policy", id="exchanged-letters"),
        pytest.param("cookeis", "cookies", id="form-that-the-sources-have"),
    ],
)
def test_a_word_with_one_typing_error_has_a_suggestion(library: Library, word: str, meant: str) -> None:
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    assert finder.spelled_like([word, word], Filter()) == (meant,)


@pytest.mark.parametrize(
    "word",
    [
        pytest.param("cokie", id="only-its-plural-occurs"),
        pytest.param("harbr", id="occurs-once"),
        pytest.param("Slack", id="may-be-a-name"),
        pytest.param("plicies", id="two-errors"),
        pytest.param("plicy2", id="no-word"),
        pytest.param("rety", id="short"),
        pytest.param("bolicy", id="first-letter"),
        pytest.param("pokicy", id="wrong-consonant"),
    ],
)
def test_other_words_have_none(library: Library, word: str) -> None:
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    assert finder.spelled_like([word], Filter()) == ()


def test_suggestions_are_words_that_the_filter_lets_through(library: Library) -> None:
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    assert finder.spelled_like(["stakc"], Filter()) == ("stack",)
    assert finder.spelled_like(["stakc"], Filter(kinds=frozenset[Kind]({"docs"}))) == ()


def test_a_refusal_asks_what_was_meant(library: Library) -> None:
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)

    answer = generator.generate_with_retrieval("how does the pollicy hcange for secretts of kafka")

    assert answer.refused
    assert (
        "No source mentions 'pollicy', 'hcange', 'secretts', 'kafka'. Did you mean 'policy', 'secrets'?"
        in answer.answer
    )


def test_words_of_another_language_are_not_taken_for_misspelled_ones(library: Library) -> None:
    generator = Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=6_000)

    answer = generator.generate_with_retrieval("welche plicy gilt für die Kekse im Hafen")

    assert answer.refused
    assert "Did you mean" not in answer.answer


def test_only_the_first_words_of_a_long_text_are_looked_up(library: Library) -> None:
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    unknown = [f"qwxz{letter}qz" for letter in "abcdefgh"]

    assert finder.spelled_like([*unknown[1:], "plicy"], Filter()) == ("policy",)
    assert finder.spelled_like([*unknown, "plicy"], Filter()) == ()
