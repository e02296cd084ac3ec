"""Reports the answers and jobs of this server to the shared store, and stops those that were cancelled elsewhere."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from openbook.errors import SharedError
from openbook.server.jobs import Job, JobQueue
from openbook.server.running_answers import RunningAnswer, RunningAnswers, write_event
from openbook.server.shared_store import Kind, SharedWork, WorkUpdate

_logger = logging.getLogger(__name__)

# The delay for clients that follow an answer through another server.
_REPORT_EVERY_S = 0.15

# A fifth of the time after which work is considered lost.
_HEARTBEAT_S = 2.0

# Pause while the store is unavailable, because each attempt is logged.
_RETRY_S = 1.0


@dataclass(slots=True)
class _Reported:
    """What the store knows of an answer or job."""

    header: str = ""
    last: int = 0
    passing: set[int] = field(default_factory=set)
    """Numbers of events that later ones supersede."""
    at: float = 0.0
    has_ended: bool = False


class WorkReporter:
    """Reports the answers and jobs of this server while they run. For the event loop alone."""

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
        self._reported: dict[str, _Reported] = {}
        self._reporting = asyncio.Lock()

    async def run(self) -> None:
        """Report repeatedly until cancelled, with retries while the store is unavailable."""
        while True:
            try:
                await self.report()
            except SharedError:
                await asyncio.sleep(_RETRY_S)
            except Exception:
                _logger.exception("reporting to other servers failed")
                await asyncio.sleep(_RETRY_S)
            await asyncio.sleep(_REPORT_EVERY_S)

    async def report(self) -> None:
        """Report all changes since the last time.

        Raises:
            SharedError: The store cannot be reached.
        """
        async with self._reporting:
            answers, jobs = self._answers.all(), self._jobs.all()
            for answer in answers:
                if await self._report_on("answer", answer.id, _answer_update(answer)):
                    await answer.stop()
            for job in jobs:
                if await self._report_on("job", job.id, _job_update(job)):
                    await asyncio.to_thread(self._jobs.cancel, job)
            current = {answer.id for answer in answers} | {job.id for job in jobs}
            self._reported = {work_id: each for work_id, each in self._reported.items() if work_id in current}

    async def report_now(self) -> None:
        """Report, if possible, before a client asks another server about new work. Failures are ignored."""
        try:
            await self.report()
        except SharedError:  # logged, and retried soon
            pass
        except Exception:
            _logger.exception("reporting to other servers failed")

    async def _report_on(self, kind: Kind, work_id: str, update_for: Callable[[_Reported], WorkUpdate]) -> bool:
        """Report one answer or job, and return whether it was cancelled elsewhere."""
        known = self._reported.setdefault(work_id, _Reported())
        if known.has_ended:
            return False
        update = update_for(known)
        now = self._clock()
        is_new = update.events or update.dropped or update.has_ended or update.header != known.header
        if not is_new and now - known.at < _HEARTBEAT_S:
            return False
        reply = await asyncio.to_thread(self._work.update, kind, update)
        if reply.is_behind:
            known.last, known.passing = 0, set()
            update = update_for(known)
            reply = await asyncio.to_thread(self._work.update, kind, update)
        known.header, known.at, known.has_ended = update.header, now, update.has_ended
        known.last = max((number for number, _ in update.events), default=known.last)
        known.passing -= set(update.dropped)
        known.passing |= {number for number, text in update.events if _passes(text)}
        return reply.stop and not update.has_ended


def _answer_update(answer: RunningAnswer) -> Callable[[_Reported], WorkUpdate]:
    def update(known: _Reported) -> WorkUpdate:
        events = tuple(
            (number, write_event(event))
            for number, event in enumerate(answer.events[known.last :], start=known.last + 1)
            if event is not None
        )
        return WorkUpdate(
            answer.id,
            answer.owner,
            answer.response().model_dump_json(),
            has_ended=answer.state != "running",
            events=events,
            dropped=tuple(sorted(number for number in known.passing if answer.events[number - 1] is None)),
            known=known.last,
            is_whole=answer.state == "done",  # the last event contains all others
        )

    return update


def _job_update(job: Job) -> Callable[[_Reported], WorkUpdate]:
    def update(known: _Reported) -> WorkUpdate:
        has_ended = job.has_ended  # before the report: a job that ends now is reported the next time
        header = json.dumps({"source": job.source, "job": job.response().model_dump(mode="json")})
        return WorkUpdate(job.id, job.owner, header, has_ended=has_ended, known=known.last)

    return update


def _passes(text: str) -> bool:
    return text.startswith(("draft\n", "status\n"))
