"""Tells other servers of the work of this one, and stops what they want stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from openbook.errors import SharedError
from openbook.server.jobs import Job, JobQueue
from openbook.server.running_answers import RunningAnswer, RunningAnswers, write_event
from openbook.server.shared_store import Kind, SharedWork, WorkNews

_logger = logging.getLogger(__name__)

# Who follows an answer at another server reads its words so much later.
_TELL_EVERY_S = 0.15

# A fifth of the time after which work counts as lost.
_HEARTBEAT_S = 2.0

# A store that is away is not asked more often: each time is a line in the log.
_REST_S = 1.0


@dataclass(slots=True)
class _Told:
    """What others know of a piece of work."""

    header: str = ""
    last: int = 0
    passing: set[int] = field(default_factory=set)
    """Numbers of events that later ones replace."""
    at: float = 0.0
    has_ended: bool = False


class WorkTeller:
    """Tell a store of the answers and jobs of this server, as long as they go on. For the event loop alone."""

    def __init__(
        self,
        work: SharedWork,
        answers: RunningAnswers,
        jobs: JobQueue,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._answers = answers
        self._jobs = jobs
        self._clock = clock
        self._told: dict[str, _Told] = {}
        self._telling = asyncio.Lock()

    async def run(self) -> None:
        """Tell of all that happens, until it is cancelled. While the store is away, it is tried again."""
        while True:
            try:
                await self.tell()
            except SharedError:
                await asyncio.sleep(_REST_S)
            except Exception:
                _logger.exception("other servers cannot be told")
                await asyncio.sleep(_REST_S)
            await asyncio.sleep(_TELL_EVERY_S)

    async def tell(self) -> None:
        """Tell what has happened since the last time.

        Raises:
            SharedError: The store cannot be reached.
        """
        async with self._telling:
            answers, jobs = self._answers.all(), self._jobs.all()
            for answer in answers:
                if await self._tell_of("answer", answer.id, _answer_news(answer)):
                    await answer.stop()
            for job in jobs:
                if await self._tell_of("job", job.id, _job_news(job)):
                    await asyncio.to_thread(self._jobs.cancel, job)
            known = {answer.id for answer in answers} | {job.id for job in jobs}
            self._told = {work_id: told for work_id, told in self._told.items() if work_id in known}

    async def tell_now(self) -> None:
        """Tell it if the store can be reached, before a client asks another server for what this one began."""
        with contextlib.suppress(SharedError):  # said to the log, and tried again soon
            await self.tell()

    async def _tell_of(self, kind: Kind, work_id: str, news_for: Callable[[_Told], WorkNews]) -> bool:
        """Tell what is new of one piece of work, and return whether others want it stopped."""
        told = self._told.setdefault(work_id, _Told())
        if told.has_ended:
            return False
        news = news_for(told)
        now = self._clock()
        has_news = news.events or news.dropped or news.has_ended or news.header != told.header
        if not has_news and now - told.at < _HEARTBEAT_S:
            return False
        heard = await asyncio.to_thread(self._work.tell, kind, news)
        if heard.is_behind:
            told.last, told.passing = 0, set()
            news = news_for(told)
            heard = await asyncio.to_thread(self._work.tell, kind, news)
        told.header, told.at, told.has_ended = news.header, now, news.has_ended
        told.last = max((number for number, _ in news.events), default=told.last)
        told.passing -= set(news.dropped)
        told.passing |= {number for number, text in news.events if _passes(text)}
        return heard.stop and not news.has_ended


def _answer_news(answer: RunningAnswer) -> Callable[[_Told], WorkNews]:
    def news(told: _Told) -> WorkNews:
        events = tuple(
            (number, write_event(event))
            for number, event in enumerate(answer.events[told.last :], start=told.last + 1)
            if event is not None
        )
        return WorkNews(
            answer.id,
            answer.owner,
            answer.response().model_dump_json(),
            has_ended=answer.state != "running",
            events=events,
            dropped=tuple(sorted(number for number in told.passing if answer.events[number - 1] is None)),
            known=told.last,
            is_whole=answer.state == "done",  # the last event has all that the others told
        )

    return news


def _job_news(job: Job) -> Callable[[_Told], WorkNews]:
    def news(told: _Told) -> WorkNews:
        has_ended = job.has_ended  # asked first: what ends from now on is told the next time
        header = json.dumps({"source": job.source, "job": job.response().model_dump(mode="json")})
        return WorkNews(job.id, job.owner, header, has_ended=has_ended, known=told.last)

    return news


def _passes(text: str) -> bool:
    return text.startswith(("draft\n", "status\n"))
