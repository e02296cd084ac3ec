"""The queue of questions: callers take turns, nobody fills it alone, and what exceeds it is told when to come again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from openbook.server.question_queue import Arrival, NoTurnError, QuestionQueue, Ticket
from openbook.settings import Settings
from tests.fakes.clock import Clock


def use(using: Callable[[QuestionQueue, Clock], Awaitable[None]], *, turns: int = 1, **limits: Any) -> None:
    async def run() -> None:
        clock = Clock(100.0)
        await using(QuestionQueue(Settings(**limits), turns, clock=clock), clock)

    asyncio.run(run())


def enter(queue: QuestionQueue, party: str) -> Ticket:
    return queue.enter(Arrival(party, 100.0))


async def keep_busy(queue: QuestionQueue, clock: Clock, *, each_s: float) -> None:
    """Give turns at a constant pace while others wait, and leave the queue empty with its turn taken."""
    holder, *waiting = (enter(queue, "ada") for _ in range(10))
    for each in waiting:
        clock.now_s += each_s
        queue.leave(holder)
        holder = each


async def place_of(queue: QuestionQueue, ticket: Ticket) -> int:
    return (await anext(queue.wait(ticket))).place


def test_one_caller_with_a_hundred_questions_is_answered_by_turns_with_others() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        many = [enter(queue, "many") for _ in range(50)]
        one, other = enter(queue, "one"), enter(queue, "other")
        assert [await place_of(queue, each) for each in (many[1], one, other, many[2])] == [1, 2, 3, 4]

        order: list[str] = []
        while len(order) < 5:
            holder = next(each for each in (*many, one, other) if each.has_turn)
            order.append(holder.arrival.party)
            queue.leave(holder)
        assert order == ["many", "many", "one", "other", "many"]

    use(using)


def test_a_full_queue_takes_a_newcomer_in_place_of_the_last_question_of_whoever_has_most() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        first, second, third = (enter(queue, "many") for _ in range(3))
        with pytest.raises(NoTurnError, match="2 questions waiting already"):
            enter(queue, "many")
        newcomer = enter(queue, "one")
        with pytest.raises(NoTurnError) as dropped:
            await place_of(queue, third)
        assert (dropped.value.status, dropped.value.retry_after_s) == (503, 1.0)
        assert queue.waiting == 2
        for ticket in (first, second, newcomer, third):
            queue.leave(ticket)
        assert (queue.waiting, queue.open) == (0, 0)

    use(using, server_queue=2)


def test_a_turn_is_free_again_while_a_model_writes_but_only_so_many_answers_are_open() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        writing = []
        for party in ("ada", "eve"):
            writing.append(enter(queue, party))
            queue.end_turn(writing[-1])
        waits = enter(queue, "bob")
        assert (queue.open, waits.has_turn) == (2, False)
        queue.leave(writing[0])
        assert waits.has_turn

    use(using, server_answers=2)


def test_half_of_the_open_answers_are_for_others() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        many = [enter(queue, "many") for _ in range(4)]
        assert [each.has_turn for each in many] == [True, True, False, False]
        assert enter(queue, "one").has_turn

    use(using, turns=10, server_answers=4)


def test_a_question_waits_no_longer_than_is_allowed_since_it_arrived() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        enter(queue, "ada")
        waits = enter(queue, "eve")
        clock.now_s += 5
        with pytest.raises(NoTurnError, match="no turn came within 5 seconds"):
            await place_of(queue, waits)
        queue.leave(waits)
        assert queue.waiting == 0

    use(using, server_wait_s=5)


def test_who_sees_the_place_of_a_question_waits_on_when_the_queue_has_become_slower() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        holder = enter(queue, "ada")
        seen, unseen = enter(queue, "eve"), enter(queue, "bob")
        clock.now_s += 29
        with pytest.raises(NoTurnError, match="no turn came within 5 seconds"):
            await place_of(queue, unseen)
        queue.leave(unseen)

        places = queue.wait(seen, sees_place=True)
        assert (await anext(places)).place == 1
        queue.leave(holder)
        assert [each async for each in places] == []
        assert seen.has_turn

    use(using, server_wait_s=5)


def test_who_sees_the_place_of_a_question_does_not_wait_for_ever() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        enter(queue, "ada")
        waits = enter(queue, "eve")
        clock.now_s += 30
        with pytest.raises(NoTurnError, match="no turn came within 30 seconds"):
            await anext(queue.wait(waits, sees_place=True))

    use(using, server_wait_s=5)


def test_a_refusal_has_the_estimated_wait() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        await keep_busy(queue, clock, each_s=3)
        for _ in range(9):
            enter(queue, "eve")
        with pytest.raises(NoTurnError) as refused:
            enter(queue, "eve")
        assert (refused.value.retry_after_s, queue.retry_after_s) == (27, 27)

    use(using, server_queue=9, server_wait_s=60)


def test_a_question_whose_turn_would_come_too_late_is_refused_at_once_and_another_callers_is_not() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        await keep_busy(queue, clock, each_s=3)
        for _ in range(3):
            enter(queue, "many")
        with pytest.raises(NoTurnError, match="a turn would take about 12 seconds"):
            enter(queue, "many")
        enter(queue, "one")
        assert queue.places("one") == [2]

    use(using, server_wait_s=12)


def test_pauses_do_not_count_for_the_speed_of_the_queue() -> None:
    async def using(queue: QuestionQueue, clock: Clock) -> None:
        for _ in range(5):
            clock.now_s += 3600
            queue.leave(enter(queue, "ada"))
        enter(queue, "ada"), enter(queue, "ada")
        assert queue.retry_after_s == 1

    use(using)


def test_checking_an_answer_precedes_new_questions() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        written = [enter(queue, party) for party in ("ada", "eve", "bob")]
        for ticket in written:
            queue.end_turn(ticket)
        for ticket in written:
            queue.resume(ticket)
        waits = enter(queue, "ida")
        queue.leave(written[0])
        queue.leave(written[1])
        assert not waits.has_turn
        queue.leave(written[2])
        assert waits.has_turn

    use(using)


def test_leaving_the_queue_frees_a_place() -> None:
    async def using(queue: QuestionQueue, _: Clock) -> None:
        first, second, third = enter(queue, "ada"), enter(queue, "eve"), enter(queue, "bob")
        queue.leave(second)
        assert (await place_of(queue, third), queue.places("bob"), queue.places("eve")) == (1, [1], [])
        queue.leave(first)
        assert third.has_turn

    use(using)
