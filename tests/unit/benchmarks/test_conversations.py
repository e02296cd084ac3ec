"""What the table of conversations counts."""

from __future__ import annotations

import pytest

from benchmarks.conversations import ANSWERABLE, UNANSWERABLE, Asked, area, refused_share
from openbook.answering.answerability import FOLLOW_UP_FLOOR, SUPPORT_FLOOR

BETWEEN = (SUPPORT_FLOOR + FOLLOW_UP_FLOOR) / 2


def test_more_is_asked_of_a_follow_up() -> None:
    assert Asked(ANSWERABLE, BETWEEN, is_follow_up=True).refused
    assert not Asked(ANSWERABLE, BETWEEN, is_follow_up=False).refused


def test_the_share_counts_the_tasks_of_one_label() -> None:
    asked = [Asked(label, support, is_follow_up=True) for label, support in ((UNANSWERABLE, 0), (UNANSWERABLE, 1))]

    assert refused_share(asked, UNANSWERABLE) == 0.5
    assert refused_share(asked, ANSWERABLE) == 0.0


def test_the_area_is_one_where_every_answerable_task_has_more_support() -> None:
    good = [Asked(ANSWERABLE, support, is_follow_up=True) for support in (0.5, 0.9)]

    assert area([*good, Asked(UNANSWERABLE, 0.4, is_follow_up=True)]) == 1.0
    assert area([*good, Asked(UNANSWERABLE, 0.5, is_follow_up=True)]) == pytest.approx(0.75)
