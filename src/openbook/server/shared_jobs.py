"""Background jobs of all servers that share a store, whichever of them is asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator

from openbook.errors import SharedError
from openbook.server.jobs import Job, JobQueue
from openbook.server.schemas import JobResponse
from openbook.server.shared_store import SharedWork, ToldWork

_LOOK_EVERY_S = 0.3

# A server hears of it the next time that it tells of the job, and ends what it is committing.
_STOPPED_WITHIN_S = 30.0

_LOST = "the server that did this has stopped; it goes on when that server is started again"


class RemoteJob:
    """A job that another server does."""

    def __init__(self, told: ToldWork) -> None:
        read = json.loads(told.header)
        self.id = told.id
        self.owner = told.owner
        self.source: str = read["source"]
        self._job = JobResponse.model_validate(read["job"])
        if told.is_lost:
            self._job.state, self._job.message = "error", _LOST

    def response(self) -> JobResponse:
        return self._job

    @property
    def has_ended(self) -> bool:
        return self._job.state in ("done", "error")


class SharedJobs:
    """Find, follow and stop jobs, those of other servers too. Without a store there are none."""

    def __init__(self, here: JobQueue, work: SharedWork | None) -> None:
        self._here = here
        self._work = work

    def find(self, owner: str, job_id: str) -> Job | RemoteJob | None:
        """Return a job; None if this owner has none of that id.

        Raises:
            SharedError: It is none of this server, and what others do cannot be read.
        """
        found = self._here.get(owner, job_id)
        if found is not None or self._work is None:
            return found
        told = self._work.find("job", owner, job_id)
        return None if told is None else RemoteJob(told)

    async def follow(self, job: Job | RemoteJob) -> AsyncIterator[JobResponse]:
        """Yield a job each time that it has got further, and when it has ended.

        Raises:
            SharedError: What others do cannot be read any more.
        """
        if isinstance(job, Job):
            async for each in self._here.follow(job):
                yield each.response()
            return
        told, now = None, job.response()
        while True:
            if now != told:
                told = now
                yield now
            if now.state in ("done", "error"):
                return
            await asyncio.sleep(_LOOK_EVERY_S)
            found = await asyncio.to_thread(self.find, job.owner, job.id)
            if found is None:
                return
            now = found.response()

    def cancel(self, job: Job | RemoteJob) -> None:
        """Stop a job. What was committed stays, and one that has ended as it is."""
        if isinstance(job, Job):
            self._here.cancel(job)
        elif self._work is not None:
            self._work.stop("job", job.owner, job.id)

    def elsewhere(self) -> list[RemoteJob]:
        """List what other servers are doing; empty while that cannot be read."""
        if self._work is None:
            return []
        with contextlib.suppress(SharedError):
            here = {job.id for job in self._here.all()}
            found = [RemoteJob(told) for told in self._work.all("job") if told.id not in here]
            return [job for job in found if not job.has_ended]
        return []

    def cancel_elsewhere(self, source: str) -> None:
        """Stop the work of other servers on one source, and wait for it."""
        until = time.monotonic() + _STOPPED_WITHIN_S
        while time.monotonic() < until:
            running = [job for job in self.elsewhere() if job.source == source]
            if not running:
                return
            for job in running:
                self.cancel(job)
            time.sleep(_LOOK_EVERY_S)
