"""Ratings of answers: stored until withdrawn, and read by owners, also as a question set."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from openbook.errors import QueryError
from openbook.evals.metrics import ExpectedSpan
from openbook.evals.questions import EvalQuestion
from openbook.questions.question import read_question
from openbook.sqlite_store import store_of_conversations

Rating = Literal["good", "bad"]
Reason = Literal["", "wrong", "incomplete", "wrong source", "should have answered", "should have refused", "other"]

_TABLES = """
CREATE TABLE IF NOT EXISTS ratings (
    owner TEXT NOT NULL, session_id TEXT NOT NULL, answer_id TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL,
    rating TEXT NOT NULL, reason TEXT NOT NULL, comment TEXT NOT NULL, query TEXT NOT NULL, model TEXT NOT NULL,
    refused INTEGER NOT NULL, places TEXT NOT NULL, PRIMARY KEY (owner, answer_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ratings_by_session ON ratings (owner, session_id);
CREATE INDEX IF NOT EXISTS ratings_by_age ON ratings (at);
"""

_FIELDS = "at, who, rating, reason, comment, query, model, refused, places"


@dataclass(frozen=True, slots=True)
class Feedback:
    """A rating of an answer, with its reason and comment."""

    at: float
    """Unix seconds."""
    who: str
    """Name of the key; `browser` without one."""
    rating: Rating
    reason: Reason
    comment: str
    query: str
    """The question as searched for, which is understandable on its own."""
    model: str
    refused: bool
    places: tuple[str, ...]
    """The citations of the answer as `SOURCE/PATH:START-END`, in order, without conflicting and unknown ones."""


class FeedbackStore:
    """Ratings of one home, one for each answer and person. Safe for threads and processes."""

    def __init__(self, home: Path) -> None:
        self._tables = store_of_conversations(home / "feedback.sqlite", _TABLES, "ratings")

    def rate(
        self,
        owner: str,
        who: str,
        record: Mapping[str, Any],
        rating: Rating,
        reason: Reason = "",
        comment: str = "",
    ) -> None:
        """Store a rating. It replaces the person's previous rating of the answer."""
        row = (
            *(owner, record["session_id"], record["id"], who, time.time(), rating, reason, comment),
            *(record.get("searched") or record["query"], record["model"], record["refused"]),
            json.dumps(_places(record["citations"])),
        )
        with self._tables.transaction() as execute:
            execute(f"INSERT OR REPLACE INTO ratings VALUES ({', '.join('?' * len(row))})", row)

    def take_back(self, owner: str, answer_id: str) -> None:
        """Delete a person's rating of an answer, if there is one."""
        with self._tables.transaction() as execute:
            execute("DELETE FROM ratings WHERE owner = ? AND answer_id = ?", (owner, answer_id))

    def forget(self, owner: str, session_id: str) -> None:
        """Delete a person's ratings of the answers of a conversation."""
        with self._tables.transaction() as execute:
            execute("DELETE FROM ratings WHERE owner = ? AND session_id = ?", (owner, session_id))

    def forget_all(self, owner: str) -> int:
        """Delete all ratings of a person, and return their number."""
        with self._tables.transaction() as execute:
            return execute("DELETE FROM ratings WHERE owner = ?", (owner,)).rowcount

    def of(self, owner: str, session_id: str) -> dict[str, Rating]:
        """Return the ratings of a conversation, by the ids of its answers."""
        sql = "SELECT answer_id, rating FROM ratings WHERE owner = ? AND session_id = ?"
        return dict(self._tables.read(sql, (owner, session_id)))

    def last(self, most: int) -> list[Feedback]:
        """Return the latest ratings of all people, newest first; at equal times, by answer id."""
        rows = self._tables.read(f"SELECT {_FIELDS} FROM ratings ORDER BY at DESC, answer_id LIMIT ?", (most,))
        return [_read(*row) for row in rows]

    def close(self) -> None:
        self._tables.close()


def _read(*row: Any) -> Feedback:
    at, who, rating, reason, comment, query, model, refused, places = row
    return Feedback(at, who, rating, reason, comment, query, model, bool(refused), tuple(json.loads(places)))


def _places(citations: Iterable[Mapping[str, Any]]) -> list[str]:
    right = [each for each in citations if each["verdict"] in ("exact", "confirmed", "unverified")]
    named = [f"{each['source']}/{each['path']}:{each['start_line']}-{each['end_line']}" for each in right]
    return list(dict.fromkeys(named))


def question_set(feedback: Iterable[Feedback]) -> list[EvalQuestion]:
    """Turn ratings into a question set for `openbook eval`, the latest first.

    - A good answer expects the lines that it cited. A good refusal, or an answer that should have been refused, expects
      a refusal.
    - For any other bad answer, the right one is unknown: the set contains only its question.

    The latest rating of a question decides. Questions that are no questions on their own, such as small talk, are left
    out.
    """
    found: dict[str, EvalQuestion] = {}
    for each in feedback:
        try:
            text = read_question(each.query).text
        except QueryError:
            continue
        if text not in found:
            found[text] = _expected(text, each)
    return list(found.values())


def _expected(text: str, said: Feedback) -> EvalQuestion:
    if (said.rating == "good" and said.refused) or said.reason == "should have refused":
        return EvalQuestion(text, unanswerable=True)
    if said.rating == "bad":
        return EvalQuestion(text)
    return EvalQuestion(text, lines=tuple(map(_span, said.places)))


def _span(place: str) -> ExpectedSpan:
    path, _, lines = place.rpartition(":")
    start, _, end = lines.partition("-")
    return ExpectedSpan(path, int(start), int(end))
