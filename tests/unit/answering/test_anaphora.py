from __future__ import annotations

import pytest

from openbook.answering.followups import has_own_words, leans
from tests.unit.answering.support_conversations import (
    DECIDED_ON,
    FOLLOW_UPS,
    FOREIGN_FOLLOW_UPS,
    FOREIGN_STANDALONE,
    HELD_OUT,
    LATER_FOLLOW_UPS,
    LATER_STANDALONE,
    STANDALONE,
)


@pytest.mark.parametrize(
    "question",
    [
        "and where is it tested?",
        "And in the scanner?",
        "What about ferries?",
        "How does it wait?",
        "Who calls them?",
        "Is this tested?",
        "What does that do",
        "Why?",
        "Which tests?",
        "How long?",
        "What happens there?",
        "Und wie lange?",
        "Wer hat ihn geschrieben?",
        "Show me that in code.",
        "Explain how that works.",
        "Are those the only ones?",
        "Is that configurable?",
        "Ist das konfigurierbar?",
        "Ist das threadsicher?",
        "Warum ist das nötig?",
        "Wo wird das getestet?",
        "Wo ist das definiert?",
        "Kann man das ändern?",
        "Muss ich das selbst schließen?",
        "Lässt sich das abschalten?",
        "Wie sieht das aus?",
        "Gib mir ein Beispiel.",
        "No, I meant the client.",
        "Oops, the server",
        "I meant the asynchronous client",
        "You mentioned a limit. Where is it set?",
        "Is the last one safe?",
        "Geht das auch mit Redis?",
        "How do I write one?",
        "Can I add one myself?",
    ],
)
def test_a_question_leans_on_those_before_it(question: str) -> None:
    assert leans(question)


@pytest.mark.parametrize(
    "question",
    [
        "How do I merge two caches into one?",
        "How do I write one plugin?",
        "Where is the retry policy tested?",
        "Which function sends cookies that have expired?",
        "this_is_a_name",
        "cookie handling",
        "cookies",
        "What is a parcel?",
        "Which courses talk about storms?",
        "What is a function?",
        "Is it safe to delete the lock file?",
        "What is this project about?",
        "`Client.get`",
        "Wie lange wartet die Fähre im Sturm?",
        "Kann man das Limit ändern?",
        "Ist das Protokoll verschlüsselt?",
        "Wo wird das Token geprüft?",
        "Wie wird das Ergebnis gespeichert?",
        "Wo ist das Paket registriert?",
        "wo finde ich das gerät",
        "Gib die Liste der Kurse aus.",
        "向量索引是什么",
    ],
)
def test_a_question_stands_alone(question: str) -> None:
    assert not leans(question)


@pytest.mark.parametrize("half", [DECIDED_ON, HELD_OUT], ids=["decided-on", "held-out"])
def test_everyday_questions_are_told_apart(half: int) -> None:
    missed = [question for question in (FOLLOW_UPS + FOREIGN_FOLLOW_UPS)[half::2] if not leans(question)]
    wrong = [question for question in (STANDALONE + FOREIGN_STANDALONE)[half::2] if leans(question)]

    assert missed == []
    assert wrong == []


def test_what_the_rules_do_not_tell_of_later_questions() -> None:
    assert [question for question in LATER_FOLLOW_UPS if not leans(question)] == [
        "Could you give me a concrete example from the repo?",
        "Are there tests?",
        "what happens in the else branch?",
    ]
    assert [question for question in LATER_STANDALONE if leans(question)] == ["does it run on macOS or only on Linux?"]


def test_a_pronoun_may_mean_what_an_earlier_clause_names() -> None:
    assert not leans("When a ferry docks, who unloads it?")
    assert leans("What happens when it docks?")
    assert leans("How does the crane use it?")


def test_general_words_and_words_of_asking_are_none_of_its_own() -> None:
    assert not has_own_words("Could you show me an example?")
    assert not has_own_words("Warum ist das so?")
    assert not has_own_words(" ")
    assert has_own_words("Could you show me an example of a crane?")
    assert has_own_words("`default`")
