"""Work that goes on in the background, one piece after the other, and how far it is."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Literal

from openbook.errors import OpenbookError
from openbook.ingest.sync import Progress
from openbook.server.failures import RequestRefusedError

_logger = logging.getLogger(__name__)

# Jobs that have ended are remembered for whoever asks late.
_REMEMBERED = 200

# Each has a piece of memory, and whoever waits behind so many waits for nothing.
_MOST_OPEN = 100

# Faster than anybody sees, and rare enough to cost nothing.
_LOOK_EVERY_S = 0.1

Work = Callable[[Progress], dict[str, Any]]
"""Does it, tells how far it is, and gives a report as JSON values."""


_STOPPED = "the server was stopped; it goes on when it is started again"
_UNWANTED = "its source was removed"


class StoppedError(OpenbookError):
    """The server stops, or the work is not wanted any more."""


@dataclass(slots=True)
class Job:
    """A background job. Written by the thread that runs it, read by others."""

    id: str
    owner: str
    source: str
    """Name of the source that it is about; empty if it is not known yet."""
    state: Literal["queued", "running", "done", "error"] = "queued"
    done: int = 0
    """Files."""
    total: int = 0
    message: str = ""
    """What went wrong, and what to do."""
    report: dict[str, Any] | None = None
    doing: Future[None] = field(default_factory=Future)
    """Done when nothing more happens."""
    why_stopped: str = ""
    """Why the work has to stop; empty while it need not."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens."""
        return self.state in ("done", "error")


class JobQueue:
    """Run background jobs one at a time: a library has one writer."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="openbook-job")

    def start(self, owner: str, source: str, work: Work) -> Job:
        """Do work when what was there before is done.

        Raises:
            RequestRefusedError: Too much of it waits already.
        """
        if len(self.open()) >= _MOST_OPEN:
            raise RequestRefusedError(503, "too much work waits already", hint="try again when some of it is done")
        job = Job(secrets.token_hex(16), owner, source)
        job.doing = self._threads.submit(self._do, job, work)
        self._jobs[job.id] = job
        while len(self._jobs) > _REMEMBERED and next(iter(self._jobs.values())).has_ended:
            self._jobs.popitem(last=False)
        return job

    def get(self, owner: str, job_id: str) -> Job | None:
        """Return a job; None if this owner has none of that id."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.owner == owner else None

    def open(self) -> list[Job]:
        """List what has not ended, in order."""
        return [job for job in list(self._jobs.values()) if not job.has_ended]

    def failed(self) -> dict[str, str]:
        """Return the message of each source whose last job went wrong."""
        last = {job.source: job for job in list(self._jobs.values()) if job.source and job.has_ended}
        return {
            name: job.message
            for name, job in last.items()
            if job.state == "error" and job.why_stopped != _UNWANTED  # one of that name is another one
        }

    async def follow(self, job: Job) -> AsyncIterator[Job]:
        """Yield the job each time that it has got further, and when it has ended."""
        told = None
        while True:
            has_ended = job.has_ended  # asked first: what ends from now on has to be told yet
            now = (job.state, job.done, job.total)
            if now != told:
                told = now
                yield job
            if has_ended:
                return
            await asyncio.sleep(_LOOK_EVERY_S)

    def stop(self) -> None:
        """Stop after what is being committed. What was committed stays."""
        _end(self.open(), _STOPPED)

    def cancel(self, source: str) -> None:
        """Stop the work on one source, and wait for it. What was committed stays."""
        ending = [job for job in self.open() if job.source == source]
        _end(ending, _UNWANTED)
        wait([job.doing for job in ending if not job.has_ended])

    def close(self) -> None:
        """Stop, and wait for it."""
        self.stop()
        self._threads.shutdown(wait=True)

    def _do(self, job: Job, work: Work) -> None:
        def progress(done: int, total: int) -> None:
            job.done, job.total = done, total
            if job.why_stopped:
                raise StoppedError(job.why_stopped)

        job.state = "running"
        try:
            job.report = work(progress)
        except OpenbookError as exc:
            job.message = f"{exc}; {exc.hint}" if exc.hint else str(exc)
            job.state = "error"
        except BaseException:
            job.message, job.state = "the server failed at this; its log has more", "error"
            _logger.exception("a job failed")
            raise
        else:
            job.state = "done"


def _end(jobs: Iterable[Job], why: str) -> None:
    """Have pieces of work end: at once those that wait, and the one that is being done after its next commit."""
    for job in jobs:
        job.why_stopped = why
        if job.doing.cancel():
            job.message, job.state = why, "error"
