from __future__ import annotations

import pytest

from openbook.questions.names import identifiers
from openbook.questions.question import read_question


def asked(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(each.owners, each.name) for each in read_question(text).settings]


@pytest.mark.parametrize(
    ("question", "owners", "name"),
    [
        ("What does crane.maxLoad do?", ("crane",), "maxLoad"),
        ("what is harbour.crane.max-load for", ("harbour", "crane"), "max-load"),
        ("What is the default of max_load?", (), "max_load"),
        ("Which values can crane.reach take?", ("crane",), "reach"),
        ("How do I set max-load?", (), "max-load"),
        ("What does the berths option do?", (), "berths"),
        ("What is the default value of berths?", (), "berths"),
        ("What does berths default to?", (), "berths"),
        ("Which values can berths have in crane_config?", ("crane_config",), "berths"),
        ("Was macht crane.maxLoad?", ("crane",), "maxLoad"),
        ("What does the -x flag of moor-ship do?", ("moor-ship",), "-x"),
        ("What does --max-load mean?", (), "--max-load"),
        ("What does crane.maxLoad do in harbour?", ("crane",), "maxLoad"),
        ("What is harbour lift --max-load", (), "--max-load"),
        ("How many tonnes does the crane lift if I don't give -m", (), "-m"),
        ("Is there a short form of --max-load?", (), "--max-load"),
        ("How can I change max-load to 5?", (), "max-load"),
        ("what does :moor! do", (), ":moor!"),
        ("What is $ship?", (), "$ship"),
        ("what does `&mo` do", (), "&mo"),
        ("meaning of `%T`", (), "%T"),
        ("what's ~hq", (), "~hq"),
        ("What does @all select in a list of ships?", (), "@all"),
        ("what is {ship.name} for", (), "{ship.name}"),
        ("what does #{ship_id} expand to", (), "#{ship_id}"),
        ("What does [no-wake] mean?", (), "[no-wake]"),
        ("meaning of %T in ship_format", ("ship_format",), "%T"),
        ("what does HarbourCrane max_load do", ("HarbourCrane",), "max_load"),
        ("Crane maxLoad", ("Crane",), "maxLoad"),
        ("harbour.Crane max_load", ("harbour", "Crane"), "max_load"),
        ("what does `Crane` `max_load` do", ("Crane",), "max_load"),
        ("what does Crane's max_load do", ("Crane",), "max_load"),
        ("What does max_load of HarbourCrane do?", ("HarbourCrane",), "max_load"),
        ("what does the HarbourCrane max_load option do", ("HarbourCrane",), "max_load"),
        ("What does the reach argument of lift do?", ("lift",), "reach"),
        ("what does param reach of harbour::lift() mean", ("harbour", "lift"), "reach"),
        ("what does reach do in lift", ("lift",), "reach"),
        ("what is the default of .reach in lift", ("lift",), "reach"),
        ("what does the harbour_crane reach option do", ("harbour_crane",), "reach"),
        ("what does harbour_crane's reach option do", ("harbour_crane",), "reach"),
        ("What does the reach property of HarbourCrane do?", ("HarbourCrane",), "reach"),
        ("What does the reach keyword do when I lift a boat?", (), "reach"),
        ("What does max_load accept?", (), "max_load"),
        ("Explain max_load", (), "max_load"),
        ("Change max_load", (), "max_load"),
    ],
)
def test_a_setting_is_asked_for_by_its_name(question: str, owners: tuple[str, ...], name: str) -> None:
    assert asked(question) == [(owners, name)]


@pytest.mark.parametrize(
    "question",
    [
        "Where is maxLoad read?",
        "Who calls max_load?",
        "What is a HarbourCrane?",
        "What is in HarbourCrane?",
        "What does the crane max_load mean?",
        "What does harbour.toml hold?",
        "What is the difference between max_load and min_load?",
        "Why does the crane stop in the middle of the night after I changed max_load?",
        "How do I moor a ship?",
        "How do I lift a boat of the harbour with --max-load?",
        "Does the crane stop with --max-load?",
        'What does "--max-load is too high" mean?',
        "What happens to boats, ships, ropes and fenders of the harbour with --max-load?",
        "How do I change it to Ctrl-a?",
        "What is a quick-release hook?",
        "How does built-in mooring work?",
        "How does two-way traffic work?",
        "What does @Moor do?",
        "What is $HOME?",
        "What is #12?",
        "What does :8080 mean?",
        "Who is harbour@example.com?",
        "What does {a: 1} mean?",
        "Where is :moor read?",
        "what does it do in lift",
        "What does the reach argument of lift do to boats?",
        "What does the harbour_crane reach in its harbour do?",
        "Which arguments does harbour_crane take?",
        "What is the primary key of boats in the harbour?",
    ],
)
def test_other_questions_ask_for_no_setting(question: str) -> None:
    assert asked(question) == []


def test_the_first_part_of_a_name_with_hyphens_is_no_name_of_code() -> None:
    assert identifiers("What does crane.max-load do?") == []
    assert identifiers("What does harbour.crane.max-load do?") == []
    assert identifiers("What does Crane.load do?") == ["Crane.load"]


def test_a_text_asks_for_no_setting() -> None:
    assert asked(f"What does {'maxLoad' * 50} do?") == []
