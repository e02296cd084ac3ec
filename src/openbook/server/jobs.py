"""Background jobs: several at a time, with progress, including those of other servers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Literal

from openbook.errors import OpenbookError, SharedError
from openbook.ingest.reading_state import ReadingState
from openbook.ingest.sync import Progress
from openbook.process_pool import INTERRUPT
from openbook.server.failures import RequestRefusedError, log_failure, without_places
from openbook.server.schemas import JobResponse
from openbook.server.shared_store import SharedWork, WorkRecord

_logger = logging.getLogger(__name__)

# Finished jobs are kept for late requests.
_REMEMBERED = 200

# A job takes memory, and waiting behind so many is futile.
_MAX_OPEN = 100

# Polling interval: below what people notice, and cheap.
_POLL_S = 0.1

_POLL_ELSEWHERE_S = 0.3

# The other server sees the request when it next reports the job, and then finishes its current commit.
_STOPPED_WITHIN_S = 30.0

_LOST = "the server that did this has stopped; it continues when that server is started again"

Work = Callable[[Progress], dict[str, Any]]
"""Does the work, reports its progress, and returns a report as JSON values."""


_STOPPED = "the server was stopped; it continues when it is started again"
_UNWANTED = "its source was removed"
_CANCELLED = "it was cancelled"


class StoppedError(OpenbookError):
    """The server is stopping, or the job was cancelled or took too long."""


@dataclass(slots=True)
class Job:
    """A background job. Only the thread that runs it writes it."""

    id: str
    owner: str
    source: str
    """Name of its source; empty if unknown so far."""
    work: Work
    paths: frozenset[str] = frozenset()
    """The affected files of the source; empty for all."""
    state: Literal["queued", "running", "done", "error"] = "queued"
    done: int = 0
    """Number of finished files."""
    total: int = 0
    message: str = ""
    """The error and its hint."""
    report: dict[str, Any] | None = None
    doing: Future[None] = field(default_factory=Future)
    """Resolved when the job has ended."""
    why_stopped: str = ""
    """Why the job must stop; empty while it may continue."""

    def response(self) -> JobResponse:
        told = JobResponse.model_validate(self)
        told.message = without_places(told.message)
        return told

    def has_to_follow(self, other: Job) -> bool:
        """Return whether two jobs share files, so that the later one must wait for the earlier one."""
        is_same = self.source == other.source
        return is_same and not (self.paths and other.paths and self.paths.isdisjoint(other.paths))

    @property
    def has_ended(self) -> bool:
        return self.state in ("done", "error")


class RemoteJob:
    """A job run by another server."""

    def __init__(self, record: WorkRecord) -> None:
        read = json.loads(record.header)
        self.id = record.id
        self.owner = record.owner
        self.source: str = read["source"]
        self._job = JobResponse.model_validate(read["job"])
        if record.is_lost:
            self._job.state, self._job.message = "error", _LOST

    def response(self) -> JobResponse:
        return self._job

    @property
    def has_ended(self) -> bool:
        return self._job.state in ("done", "error")


class JobQueue:
    """Runs background jobs, several at a time. Jobs on the same files run one after the other. Thread-safe.

    `work` is the shared store, for finding, following and cancelling jobs of other servers.
    """

    def __init__(self, *, most: int, timeout_s: float, work: SharedWork | None = None) -> None:
        self._work = work
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: list[Job] = []
        self._running: list[Job] = []
        self._most = most
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="openbook-job")

    def start(self, owner: str, source: str, work: Work, *, paths: Collection[str] = ()) -> Job:
        """Queue a job after all earlier ones that share files with it. `paths` are its files; empty for all."""
        self.check_open()
        job = Job(secrets.token_hex(16), owner, source, work, frozenset(paths))
        with self._lock:
            self._jobs[job.id] = job
            self._waiting.append(job)
            while len(self._jobs) > _REMEMBERED and next(iter(self._jobs.values())).has_ended:
                self._jobs.popitem(last=False)
            self._begin()
        return job

    def check_open(self) -> None:
        if len(self.open()) >= _MAX_OPEN:
            raise RequestRefusedError(503, "too many jobs are waiting", hint="try again when some of it is done")

    def _begin(self) -> None:
        """Start all jobs that can run now. Call it with the lock held."""
        ahead = list(self._running)
        for job in list(self._waiting):
            if len(self._running) < self._most and not any(map(job.has_to_follow, ahead)):
                self._waiting.remove(job)
                self._running.append(job)
                job.state = "running"
                self._threads.submit(self._do, job)
            ahead.append(job)

    def all(self) -> list[Job]:
        """List the remembered jobs, the oldest first."""
        return list(self._jobs.values())

    def open(self) -> list[Job]:
        """List the jobs that have not ended, the oldest first."""
        return [job for job in list(self._jobs.values()) if not job.has_ended]

    def reading(self, sources: Collection[str] = ()) -> ReadingState | None:
        """Return the progress of the open jobs of this server for some sources, empty for all; None without any."""
        jobs = [job for job in self.open() if not (sources and job.source) or job.source in sources]
        return ReadingState(sum(job.done for job in jobs), sum(job.total for job in jobs)) if jobs else None

    def failed(self) -> dict[str, str]:
        """Return the error of each source whose last job failed."""
        last = {job.source: job for job in list(self._jobs.values()) if job.source and job.has_ended}
        return {
            name: job.message
            for name, job in last.items()
            if job.state == "error" and job.why_stopped != _UNWANTED  # not a later source of that name
        }

    def find(self, owner: str, job_id: str) -> Job | RemoteJob | None:
        """Return a job; None if this owner has none of that id.

        Raises:
            SharedError: It is not a job of this server, and the store cannot be read.
        """
        found = self._jobs.get(job_id)
        if found is not None and found.owner == owner:
            return found
        if self._work is None:
            return None
        record = self._work.find("job", owner, job_id)
        return None if record is None else RemoteJob(record)

    async def follow(self, job: Job | RemoteJob) -> AsyncIterator[JobResponse]:
        """Yield a job at each progress, and at its end.

        Raises:
            SharedError: The store cannot be read any more.
        """
        told: JobResponse | None = None
        while True:
            now = job.response()
            if now != told:
                told = now
                yield now
            if now.state in ("done", "error"):
                return
            if isinstance(job, Job):
                await asyncio.sleep(_POLL_S)
                continue
            await asyncio.sleep(_POLL_ELSEWHERE_S)
            found = await asyncio.to_thread(self.find, job.owner, job.id)
            if found is None:
                return
            job = found

    def elsewhere(self) -> list[RemoteJob]:
        """List the jobs of other servers; empty while the store cannot be read."""
        if self._work is None:
            return []
        with contextlib.suppress(SharedError):
            found = [RemoteJob(record) for record in self._work.all("job") if record.id not in self._jobs]
            return [job for job in found if not job.has_ended]
        return []

    def cancel_elsewhere(self, source: str) -> None:
        """Cancel the jobs of other servers for a source, and wait until they end, at most half a minute."""
        until = time.monotonic() + _STOPPED_WITHIN_S
        while time.monotonic() < until:
            running = [job for job in self.elsewhere() if job.source == source]
            if not running:
                return
            for job in running:
                self.cancel(job)
            time.sleep(_POLL_ELSEWHERE_S)

    def stop(self) -> None:
        """Cancel all jobs, each after its current commit."""
        self._end(self.open(), _STOPPED)

    def cancel_source(self, source: str) -> None:
        """Cancel the jobs for a source, and wait until they end. Committed work is kept."""
        ending = [job for job in self.open() if job.source == source]
        self._end(ending, _UNWANTED)
        wait([job.doing for job in ending])

    def cancel(self, job: Job | RemoteJob) -> None:
        """Cancel a job. Committed work is kept. A finished job is not changed."""
        if isinstance(job, RemoteJob):
            if self._work is not None:
                self._work.stop("job", job.owner, job.id)
        elif not job.has_ended:
            self._end([job], _CANCELLED)

    def close(self) -> None:
        self.stop()
        self._threads.shutdown(wait=True)

    def _end(self, jobs: Iterable[Job], why: str) -> None:
        """End jobs: waiting ones at once, running ones at their next check."""
        with self._lock:
            for job in jobs:
                job.why_stopped = job.why_stopped or why
                if job in self._waiting:
                    self._waiting.remove(job)
                    job.message, job.state = why, "error"
                    job.doing.set_result(None)
            self._begin()

    def _do(self, job: Job) -> None:
        deadline_s = time.monotonic() + self._timeout_s

        def check() -> None:
            if job.why_stopped:
                raise StoppedError(job.why_stopped)
            if time.monotonic() > deadline_s:
                raise StoppedError(f"it took longer than {self._timeout_s:g} s", hint="send less at once")

        def progress(done: int, total: int) -> None:
            job.done, job.total = done, total
            check()

        INTERRUPT.set(check)  # works even while a child reads a file forever
        try:
            job.report = job.work(progress)
        except OpenbookError as exc:
            job.message = f"{exc}; {exc.hint}" if exc.hint else str(exc)
            job.state = "error"
            if not isinstance(exc, StoppedError):
                log_failure(exc)
        except BaseException:
            job.message, job.state = "the server failed at this; its log has more", "error"
            _logger.exception("a job failed")
            raise
        else:
            job.state = "done"
        finally:
            with self._lock:
                self._running.remove(job)
                self._begin()
            job.doing.set_result(None)
