from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openbook.answers import Exchange
from openbook.sessions.protocol import new_id
from openbook.sessions.searching import search_sessions
from openbook.sessions.sqlite import SqliteSessions
from tests.fakes.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture
def sessions(tmp_path: Path, clock: Clock) -> Iterator[SqliteSessions]:
    with closing(SqliteSessions(tmp_path / "sessions.sqlite", expire_s=1e6, now=clock)) as kept:
        yield kept


def keep(sessions: SqliteSessions, query: str, answer: str) -> str:
    session_id = new_id()
    record = {"query": query, "answer": answer}
    sessions.add("ada", session_id, Exchange(query, "(quotes)"), record, begins=True)
    return session_id


def test_the_latest_conversations_that_have_all_words_in_one_exchange_are_found(
    sessions: SqliteSessions, clock: Clock
) -> None:
    ids = []
    for _ in range(3):
        ids.append(keep(sessions, "When do tides turn?", "Twice a day."))
        clock.now_s += 1
    sessions.add("ada", ids[0], Exchange("And ferries?", ""), {"query": "And ferries?", "answer": None})

    assert [match.session.id for match in search_sessions(sessions, "ada", "day TIDES", 2)] == [ids[0], ids[2]]
    assert search_sessions(sessions, "ada", "tides ferries", 9) == []
    assert search_sessions(sessions, "ada", "  ", 9) == []


def test_a_match_shows_the_line_with_most_of_the_words_and_where_they_stand(sessions: SqliteSessions) -> None:
    keep(sessions, "When does the sea rise?", f"Some day.\n{'It is told. ' * 20}The spring tide is a springtide.")

    (match,) = search_sessions(sessions, "ada", "tide springtide", 9)

    assert [match.snippet[start:end] for start, end in match.matches] == ["tide", "springtide"]
    assert match.snippet.startswith("It is told. It is told. The spring")


def test_a_match_is_shown_without_the_signs_before_its_line_and_with_those_behind_it(sessions: SqliteSessions) -> None:
    keep(sessions, "> # Is this C#", "")

    (match,) = search_sessions(sessions, "ada", "c#", 9)

    assert (match.snippet, match.matches) == ("Is this C#", ((8, 10),))


def test_where_folding_changes_the_length_of_a_line_it_is_shown_without_marks(sessions: SqliteSessions) -> None:
    keep(sessions, "Wie heißt die Straße?", "")

    (match,) = search_sessions(sessions, "ada", "STRASSE", 9)

    assert (match.snippet, match.matches) == ("Wie heißt die Straße?", ())
