"""The queue of questions: a few run at a time, callers take turns, and excess questions are rejected."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from openbook.server.failures import RequestRefusedError
from openbook.settings import Settings
from openbook.text import counted

# How often a waiting caller is told its new place.
_UPDATE_EVERY_S = 0.5

# Weight of the last turn in the moving average of the time between turns.
_LAST_SHARE = 0.05

# Share of the maximum wait that the expected wait may take: otherwise those who wait longer than expected would time
# out at the very end.
_SURE_SHARE = 0.8

# Factor on the maximum wait for callers who see their place, which is better than a late rejection. A server that is
# fast at admission may become slow. With other programs on its two cores, 112 of 176 streams admitted at once had no
# turn in time, and 64 had their answer by then: `python -m benchmarks.server --crowds`.
_PATIENCE = 6

# An estimate of hours is useless.
_MAX_RETRY_S = 60.0


class NoTurnError(RequestRefusedError):
    """The queue is full, or the wait too long."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(
            503,
            message,
            hint=f"try again in {counted(max(1, round(retry_after_s)), 'second')}",
            retry_after_s=retry_after_s,
        )


@dataclass(frozen=True, slots=True)
class Queued:
    """A question is waiting for its turn."""

    place: int
    """1 for the next one."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a question reached the server, and from whom."""

    party: str
    """Questions of one party share its turns."""
    arrived_s: float = field(default_factory=time.perf_counter)
    """By `time.perf_counter`."""


@dataclass(slots=True, eq=False)
class Ticket:
    """A question in the queue."""

    arrival: Arrival
    turn: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Resolved when the turn has come; failed if the question was dropped."""
    has_turn: bool = False
    is_open: bool = False


class QuestionQueue:
    """Schedule questions round-robin between parties. Not thread-safe: for the event loop.

    A turn lasts while the server itself works, not while a model writes. Checks of model text never wait; while there
    are many, no new question starts. A question is open from its turn to its answer.
    """

    def __init__(self, settings: Settings, turns: int, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._max_waiting = settings.server_queue
        self._max_open = settings.server_answers
        self._max_wait_s = settings.server_wait_s
        self._turns = turns
        self._clock = clock
        self._waiting: OrderedDict[str, deque[Ticket]] = OrderedDict()
        self._open: Counter[str] = Counter()
        self._taken = 0
        self._each_s: float | None = None
        """Mean seconds between two turns while questions wait; None if none has waited yet."""
        self._given_s: float | None = None
        """Time of the last turn while others were waiting; None if nobody was."""

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def open(self) -> int:
        """Number of questions in progress, including those that wait for a model."""
        return self._open.total()

    @property
    def retry_after_s(self) -> float:
        """Estimate of the seconds until the current queue is processed, from 1 to 60."""
        return min(max(1.0, self.waiting * (self._each_s or 0.0)), _MAX_RETRY_S)

    def places(self, party: str) -> list[int]:
        """Return the places of a party's questions in the queue, in order."""
        return [self._place(party, at) for at in range(len(self._waiting.get(party, ())))]

    def enter(self, arrival: Arrival) -> Ticket:
        """Enter the queue, or get a turn at once if one is free.

        If the queue is full, the party with most questions in it loses its last one.
        """
        ticket = Ticket(arrival)
        own = self._waiting.setdefault(arrival.party, deque())
        own.append(ticket)
        self._give_turns()
        if ticket.has_turn:
            return ticket
        expected_s = self._place(arrival.party, len(own) - 1) * (self._each_s or 0.0)
        if expected_s > _SURE_SHARE * self._max_wait_s:
            self._remove(ticket)
            raise NoTurnError(f"a turn would take about {expected_s:.0f} seconds", self.retry_after_s)
        if self.waiting > self._max_waiting:
            longest = max(self._waiting.values(), key=len)
            dropped = longest[-1] if len(longest) > len(own) else ticket
            self._remove(dropped)
            refusal = NoTurnError(f"{counted(self.waiting, 'question')} waiting already", self.retry_after_s)
            if dropped is ticket:
                raise refusal
            dropped.turn.set_exception(refusal)
        return ticket

    async def wait(self, ticket: Ticket, *, sees_place: bool = False) -> AsyncGenerator[Queued, None]:
        """Wait for the turn of a question, and yield its place whenever it changes.

        A caller who sees the places is willing to wait longer.
        """
        max_s = self._max_wait_s * (_PATIENCE if sees_place else 1)
        told = 0
        while not ticket.turn.done():
            left_s = ticket.arrival.arrived_s + max_s - self._clock()
            if left_s <= 0:
                raise NoTurnError(f"no turn came within {max_s:g} seconds", self.retry_after_s)
            party = ticket.arrival.party
            place = self._place(party, self._waiting[party].index(ticket))
            if place != told:
                told = place
                yield Queued(place)
            await asyncio.wait({ticket.turn}, timeout=min(_UPDATE_EVERY_S, left_s))
        ticket.turn.result()

    def resume(self, ticket: Ticket) -> None:
        """Take a turn again at once, to check model text."""
        if ticket.is_open and not ticket.has_turn:
            ticket.has_turn = True
            self._taken += 1

    def end_turn(self, ticket: Ticket) -> None:
        """End a turn, so that the next question starts: a model writes, or the answer is done."""
        if ticket.has_turn:
            ticket.has_turn = False
            self._taken -= 1
            self._give_turns()

    def leave(self, ticket: Ticket) -> None:
        """Leave the queue, whatever the outcome."""
        if ticket.is_open:
            ticket.is_open = False
            self._open -= Counter([ticket.arrival.party])
        elif not ticket.turn.done():
            self._remove(ticket)
        else:
            ticket.turn.exception()  # retrieve the exception of a dropped ticket that nobody awaited
        self.end_turn(ticket)
        self._give_turns()

    def _place(self, party: str, at: int) -> int:
        """Return which of the next turns the question has, from 1: in each round, every party has one."""
        is_before, place = True, at + 1
        for other, tickets in self._waiting.items():
            if other == party:
                is_before = False
            else:
                place += min(len(tickets), at + is_before)
        return place

    def _give_turns(self) -> None:
        while self._taken < self._turns and self.open < self._max_open:
            party = next((each for each in self._waiting if self._open[each] < max(1, self._max_open // 2)), None)
            if party is None:
                return
            tickets = self._waiting[party]
            ticket = tickets.popleft()
            self._waiting.move_to_end(party)
            if not tickets:
                del self._waiting[party]
            self._taken += 1
            self._open[party] += 1
            ticket.has_turn = ticket.is_open = True
            ticket.turn.set_result(None)
            self._count_turn()

    def _count_turn(self) -> None:
        now, before = self._clock(), self._given_s
        if before is not None:  # otherwise nobody was waiting, and the pause means nothing
            mean_s = now - before if self._each_s is None else self._each_s
            self._each_s = mean_s + _LAST_SHARE * (now - before - mean_s)
        self._given_s = now if self._waiting else None

    def _remove(self, ticket: Ticket) -> None:
        tickets = self._waiting[ticket.arrival.party]
        tickets.remove(ticket)
        if not tickets:
            del self._waiting[ticket.arrival.party]
