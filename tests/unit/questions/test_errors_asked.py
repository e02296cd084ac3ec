from __future__ import annotations

import pytest

from openbook.questions.errors_asked import without_values
from openbook.questions.question import read_question


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("why do I get QuayFullError?", "QuayFullError"),
        ("Why QuayFullError?", "QuayFullError"),
        ("Why am I getting a `QuayFullError` when mooring", "QuayFullError"),
        ("why does my dock sometimes get QuayFullError", "QuayFullError"),
        ("why does `dock.moor` fail with QuayFullError", "QuayFullError"),
        ("why my dock gets QuayFullError", "QuayFullError"),
        ("why am I seeing QuayFullError", "QuayFullError"),
        ("why do we see QuayFullError", "QuayFullError"),
        ("why do we hit QuayFullError", "QuayFullError"),
        ("why does it receive QuayFullError", "QuayFullError"),
        ("Why did I got QuayFullError", "QuayFullError"),
        ("why does moor return QuayFullError", "QuayFullError"),
        ("why does QuayFullError occur", "QuayFullError"),
        ("when is dock.QuayFullError raised?", "QuayFullError"),
        ("where is ErrFull returned", "ErrFull"),
        ("when is errFull returned", "errFull"),
        ("where do we throw QuayFullError", "QuayFullError"),
        ("when can QuayFullError happen", "QuayFullError"),
        ("when will QuayFullError be triggered", "QuayFullError"),
        ("When does `moor` raise QuayFullError?", "QuayFullError"),
        ("what causes ErrFull", "ErrFull"),
        ("What could trigger QuayFullError", "QuayFullError"),
        ("which function raises QuayFullError", "QuayFullError"),
        ("who throws QuayFullError", "QuayFullError"),
        ("what is the reason for QuayFullError", "QuayFullError"),
        ("possible causes of QuayFullError", "QuayFullError"),
        ("why do I get a Timeout error", "Timeout"),
        ("when is the Timeout exception raised", "Timeout"),
        ("what raises the exception Timeout", "Timeout"),
        ("what raises the error Timeout", "Timeout"),
        ("why do I get ENOENT", "ENOENT"),
        ("why doesn't the dock raise QuayFullError if it's late", "QuayFullError"),
        ("what are the docks' reasons for QuayFullError on the docks' quays", "QuayFullError"),
    ],
)
def test_the_error_whose_cause_is_asked_for_is_found(question: str, error: str) -> None:
    assert read_question(question).error == error


@pytest.mark.parametrize(
    "question",
    [
        "What does QuayFullError do?",
        "Where is QuayFullError defined?",
        "QuayFullError",
        "why do I get wet",
        "why do I get JSON back",
        "why do I get EU docks",
        "when is Dock.moor returned",
        "who triggers on_full",
        "why is QuayFullError a class",
        "what returns QuayStatus",
        "why do we use QuayStatus",
        "why do we use QuayStatus to let docks get ships",
        "why do I get SEVERAL docks",
        f"when is QuayFullError told in {'long ' * 50}tales and raised",
        "why does it seem that QuayStatus is old",
        "why do widgets show QuayStatus",
        "how do I raise QuayFullError",
        "how do I get QuayFullError from the dock",
        "what happens when QuayFullError is raised",
        'why do I get "the Dock.QuayFull is full"?',
        "why do I get 'the Dock.QuayFull is full'",
        "why do I get “the Dock.QuayFull is full”",
        "what causes QuayFullError vs. DockError",
        "Why do I get QuayFullError? " + "The ships are many. " * 30,
    ],
)
def test_other_questions_ask_for_no_cause(question: str) -> None:
    assert read_question(question).error == ""


@pytest.mark.parametrize(
    "text",
    [
        "berth B7 is not free",
        "Unable to moor at B7",
        "rope R2 doesn't hold",
        "ship Anna has two anchors",
        "FullError: moored at B7",
        "why do I get moored at B7?",
        "the log says moored at B7, what is that?",
        "FullError: moored at B7, what is the problem here",
        "when does it fail with moored at B7",
        "rope R2 missing (see the ropes), what now?",
        "[ERROR] moored at B7, why is that",
        "why does it complain about ropes of B7",
        "Cannot use a berth outside a harbour",
        "Mooring can not be established",
        "I/O failed at berth B7",
    ],
)
def test_what_a_program_says_may_be_a_message(text: str) -> None:
    assert read_question(text).messages[-1] == text


@pytest.mark.parametrize(
    "text",
    [
        "berth B7 not given",
        "no rope R2 here",
        "cannot moor B7",
        "ships must moor singly",
        "ropes are tied up",
        "berth B7 was left",
        "ropes were tied up",
        "ropes have two ends",
        "rope had two ends",
        "failed to moor",
        "invalid rope R2",
        "unknown rope R2",
        "unexpected end of rope",
        "expected a rope",
        "berth B7 already full",
        "unsupported kind of rope",
        "illegal kind of rope",
        "bad kind of rope",
        "mooring denied at B7",
        "mooring refused at B7",
        "mooring rejected at B7",
        "rope R2 required here",
        "mooring requires a rope",
        "rope R2 too short",
        "mooring only at B7",
        "FullException: moored at B7",
        "OldRopeWarning: moored at B7",
        "deprecated rope R2",
        "rope R2 doesn’t hold",
        "Error: berth B7 is not free. " * 15,
    ],
)
def test_a_word_of_messages_tells_what_a_program_says(text: str) -> None:
    assert read_question(text).messages == (text.strip(),)


@pytest.mark.parametrize(
    "text",
    [
        "what is RopeError: moored at B7",
        "what is FullException: moored at B7",
        "what is RopeWarning: moored at B7",
        "why has it failed with moored at B7",
        "what is FAILED: moored at B7",
        "what is [fatal]: moored at B7",
        "what does it say about pier B7",
        "what is it if the log says moored at B7",
        "what is wrong, it keeps saying moored at B7",
        "what is fatal: moored at B7",
        "what is it that prints moored at B7",
        "what is [error] moored at B7",
        "what is wrong, it complains of pier B7",
        "why does my ship get moored at B7",
        "why is it that one gets moored at B7",
        "why am I getting moored at B7",
        "why is it that I got moored at B7",
        "why do I see moored at B7",
        "why is it that one sees moored at B7",
        "why am I seeing moored at B7",
    ],
)
def test_a_question_tells_by_a_word_that_it_has_a_message(text: str) -> None:
    assert read_question(text).messages == (text,)


def test_a_quoted_text_is_a_message_before_the_question_around_it() -> None:
    question = 'where is "moored at B7" told?'

    assert read_question(question).messages == ("moored at B7", question)


def test_a_text_in_single_quotes_is_a_message_if_it_is_no_value() -> None:
    long, short = "where is 'moored again at B7' told?", "where is 'moored at B7' told?"

    assert read_question(long).messages == ("moored again at B7", long)
    assert read_question(short).messages == ()


@pytest.mark.parametrize(
    "text",
    [
        "retry policy of the client",
        "In which file is a berth that is not free?",
        "The ship of a friend is not moored. We have ropes and no hooks.",
        "A ship has my ropes and no hooks",
        "Our ship has no hooks",
        "I have no hooks",
        "I'm at a berth that is not free",
        "12 tons of rope are how many metres",
        "My berth is not free",
        "Our berth is not free",
        "Give me all that is moored",
        "If two ships are at one berth, where is it checked which is moved?",
        "show all that is moored at a berth in the harbour",
        "We have no hooks",
        "What happens when the same ship is moored twice?",
        "which pier must be tied, Hook / hook?",
        "how much rope has a ship",
        "Why doesn't it follow ropes on its own like ships did?",
        "Where in the code are the ropes of a ship tied?",
        "When mooring on piers, does the quay treat ropes that others manage as already tied?",
        "is no-hooks too strict",
        "Does no-constant-rope report comparing two ropes like 1 < 2 out of the box?",
        "do ships have to have hooks",
        "in what order are ropes tied",
        "print the ropes of all ships",
        "How long is a ship that is not free kept?",
        "How do I get a berth that is free?",
        "not moored",
        "How do I moor where a berth is not free?",
        "Is a berth required for a ship that is not old",
        "which code drops a line that is too old",
        "which code draws the blueprint of a ship",
        "where is the printer of the harbour",
        "why do ships forget a rope",
        "why is the getter of a rope slow",
        "history of this rope",
        "length of the mainline",
        "isle with notable ropes",
        "no free pier vs. no free quay",
        "Error: berth B7 is not free. " * 18,
    ],
)
def test_topics_and_ordinary_questions_have_no_message(text: str) -> None:
    assert read_question(text).messages == ()


@pytest.mark.parametrize(
    "value",
    ["'a rope'", '"a rope"', "`rope`", "RopeOne", "rope_one", "/var/rope", "rope.old", "rope:old", "C:\\rope", "42"],
)
def test_values_of_a_message_are_left_out(value: str) -> None:
    assert without_values(f"The ship {value} isn't free").split() == ["The", "ship", "isn't", "free"]


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("It isn't free at 'a rope' now", "It isn't free at now"),
        ("It isn't the ships' rope", "It isn't the ships' rope"),
        ("The 'old rope isn't free", "The 'old rope isn't free"),
        ("The 'a rope' and 'a ship' moor", "The and moor"),
    ],
)
def test_an_apostrophe_quotes_no_value_of_a_message(message: str, said: str) -> None:
    assert " ".join(without_values(message).split()) == said
