"""Words that only make a sentence, in languages other than English."""

from __future__ import annotations

import pytest

from openbook.questions.words import content_words_of_question, stop_words, without_place


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("Was macht die Option cycle?", {"option", "cycle"}),
        ("Comment désactiver le journal ?", {"désactiver", "journal"}),
        ("¿Cómo se registra un muelle?", {"registra", "muelle"}),
    ],
)
def test_what_is_left_of_a_question_in_another_language_is_what_it_asks_for(question: str, telling: set[str]) -> None:
    words = {word.strip("¿?") for word in question.lower().split()} - {""}

    assert words - stop_words(question) == telling


@pytest.mark.parametrize("question", ["What does the comment on man pages say?", "comment syntax", "die casting"])
def test_english_words_that_look_like_them_stay(question: str) -> None:
    assert not stop_words(question)


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("自転車のタイヤはどうやって交換しますか？", ["自転車のタイヤ", "交換"]),
        ("どうすればよいですか", ["どうすればよいですか"]),
    ],
)
def test_endings_of_japanese_are_not_what_is_asked(question: str, telling: list[str]) -> None:
    assert content_words_of_question(question) == telling


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("What does the --style option accept?", ["style", "option"]),
        ("Which themes exist?", ["themes"]),
        ("what values does `limit` allow", ["values", "limit"]),
        ("Where does the server accept connections?", ["server", "accept", "connections"]),
        ("What does it mean?", ["mean"]),
    ],
)
def test_a_verb_that_asks_for_values_is_not_what_is_asked(question: str, telling: list[str]) -> None:
    assert content_words_of_question(question) == telling


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("How do I moor ships with this library?", ["moor", "ships"]),
        ("Which ropes does this provider need", ["ropes"]),
        ("the plugin loads ropes", ["plugin", "loads", "ropes"]),
        ("What is this library?", ["library"]),
    ],
)
def test_words_for_the_sources_as_a_whole_are_not_what_is_asked(question: str, telling: list[str]) -> None:
    assert [word for word in content_words_of_question(without_place(question)) if word != "need"] == telling


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("Must a user log in again?", ["user", "log", "login"]),
        ("Which calls work without being logged in?", ["calls", "without", "log", "login"]),
        ("Where does it sign users in?", ["sign", "users"]),
        ("Who signed out last?", ["sign", "signout", "last"]),
        ("Is he logging on?", ["log", "logon"]),
        ("How is the log inspected?", ["log", "inspected"]),
    ],
)
def test_the_verb_of_a_login_is_read_as_its_noun_as_well(question: str, telling: list[str]) -> None:
    assert [word for word in content_words_of_question(question) if word not in ("work", "again")] == telling


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("How do I turn off the lamp?", ["turn", "disable", "lamp"]),
        ("Who switched all lamps on", ["switch", "enable", "lamps"]),
        ("Turning a lamp of the pier on", ["Turn", "enable", "lamp", "pier"]),
        ("Is it turned by a lamp? It is off", ["turned", "lamp"]),
        ("Who switches on?", ["switch", "enable"]),
        ("Which switch is near the lamp?", ["switch", "near", "lamp"]),
    ],
)
def test_who_turns_something_off_disables_it_as_well(question: str, telling: list[str]) -> None:
    assert content_words_of_question(question) == telling
