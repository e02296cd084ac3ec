"""The parts of a server: built for one library, injected into routes, and closed together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi import Path as PathParameter

from openbook.errors import OpenbookError
from openbook.libraries.catalog import name_of
from openbook.library import Library
from openbook.permissions import check_writable
from openbook.server.answer_pool import AnswerPool
from openbook.server.answer_tracker import open_tracer
from openbook.server.auth import Authenticator, Caller
from openbook.server.colouring import COLOURER
from openbook.server.erasure import Erased, erase, open_sessions
from openbook.server.failures import RequestRefusedError, without_places
from openbook.server.feedback import FeedbackStore
from openbook.server.jobs import JobQueue
from openbook.server.limits import Limits, MemoryLimits, RecordedLimits
from openbook.server.metrics import Metrics
from openbook.server.models import ModelRegistry, offered_models
from openbook.server.oidc import OidcClient
from openbook.server.originals import Originals
from openbook.server.people import SERVER, Deed, People
from openbook.server.question_images import QuestionImages
from openbook.server.question_service import QuestionService
from openbook.server.running_answers import RunningAnswers
from openbook.server.search_service import SearchService
from openbook.server.served_library import ServedLibrary
from openbook.server.shared_store import open_shared_store
from openbook.server.shares import ShareStore
from openbook.server.shutdown import ShutdownSignal
from openbook.server.source_service import SourceService
from openbook.server.study_guides import StudyGuides
from openbook.server.uploads import UploadStore
from openbook.server.work_reporter import WorkReporter

_DAY_S = 24 * 3600.0

# Nobody can read expired conversations, nor those of removed keys, so it suffices to delete what is left every hour.
_EXPIRE_EVERY_S = 3600.0


class ServerParts:
    """All parts of one server, built from the options of `create_app`. Routes take it as `Parts`."""

    def __init__(
        self, assistant: Library, *, models: ModelRegistry | None, needs_key: bool, roots: Sequence[Path], workers: int
    ) -> None:
        settings = self.settings = assistant.settings
        self.metrics = Metrics()
        self.people = People.of(settings.home)
        self.keys = self.people.keys
        self.shared = open_shared_store(settings.shared_store) if settings.shared_store else None
        expire_s = settings.session_days * _DAY_S
        self.authenticator = Authenticator(
            self.keys,
            self.shared.logins() if self.shared is not None else None,
            needs_key=needs_key,
            cookie_s=expire_s,
            person_s=settings.oidc_hours * 3600.0 if settings.oidc_issuer else 0.0,
        )
        self.oidc = OidcClient(settings, self.authenticator.logins) if settings.oidc_issuer else None
        self.models = models or offered_models(settings)
        self.answer_pool = AnswerPool(assistant.location, settings, workers) if workers else None

        # State that outlives a request is in the shared store, or on this machine without one.
        self.shares, self.feedback = ShareStore(settings.home), FeedbackStore(settings.home)
        self.sessions = open_sessions(settings, self.shared)
        self.limits: Limits
        if self.shared is not None:
            self.limits = RecordedLimits(self.shared.limits(settings), self.keys, settings)
        else:
            self.limits = MemoryLimits(self.keys, settings)

        self.library, self.stopping = ServedLibrary(assistant), ShutdownSignal()
        work = self.shared.work() if self.shared is not None else None
        self.jobs = JobQueue(most=settings.server_jobs, timeout_s=settings.job_timeout_s, work=work)
        uploads = UploadStore(name_of(assistant.location), settings)
        self.contents = SourceService(self.library, self.jobs, uploads, settings, roots=roots)
        self.originals = Originals(self.library, uploads=uploads)
        self.guides = StudyGuides(self.library)
        self.images = QuestionImages(settings.server_images, self.originals.pages)
        self.asker = QuestionService(
            *(self.library, self.sessions, self.models, self.limits, self.metrics, settings, self.images),
            *(self.jobs, self.stopping),
            answer_pool=self.answer_pool,
            tracer=open_tracer(settings.telemetry),
        )
        self.answers = RunningAnswers(self.asker, self.stopping, work)
        self.reporter = None if work is None else WorkReporter(work, self.answers, self.jobs)
        self.searcher = SearchService(self.library)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the background tasks, and close everything at shutdown."""
        await asyncio.to_thread(self.contents.resume)
        beside = [asyncio.create_task(self._expire())]
        if self.answer_pool is not None:
            beside.append(asyncio.create_task(self.answer_pool.start()))
        if self.reporter is not None:
            beside.append(asyncio.create_task(self.reporter.run()))
        try:
            yield
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            await self.answers.close()
            if self.answer_pool is not None:
                await self.answer_pool.close()
            await asyncio.to_thread(self.jobs.close)
            await self.report_work()  # the final states
            for part in (self.asker, self.searcher, COLOURER, self.originals, self.guides):
                await asyncio.to_thread(part.close)
            for kept in (self.library, self.sessions, self.shares, self.feedback, self.keys, self.shared):
                if kept is not None:
                    kept.close()

    async def report_work(self) -> None:
        """Report a new answer or job to other servers, because the next request about it may reach one of them."""
        if self.reporter is not None:
            await self.reporter.report_now()

    def store_trouble(self) -> str:
        """Return the error of the shared store; empty if it works, or if there is none."""
        try:
            if self.shared is not None:
                self.shared.check()
        except OpenbookError as exc:
            return without_places(str(exc))
        return ""

    def is_degraded(self) -> bool:
        """Return whether questions are answered, but the shared store or the home cannot keep what belongs to them."""
        try:
            check_writable(self.settings.home)
        except OSError:
            return True
        return bool(self.store_trouble())

    def erase_removed(self) -> Erased:
        """Delete the conversations, ratings and share links of removed keys and students."""
        return erase(self.people, self.sessions, self.feedback, self.shares)

    async def _expire(self) -> None:
        while True:
            with contextlib.suppress(OpenbookError):  # a store does not respond; once more in an hour
                await asyncio.to_thread(self._delete_old)
            await asyncio.sleep(_EXPIRE_EVERY_S)

    def _delete_old(self) -> None:
        if erased := self.erase_removed():
            self.people.audit.add(SERVER, "deleted texts", f"of removed keys: {erased}")
        self.sessions.expire()


async def parts_of(request: Request) -> ServerParts:
    """Return the parts of the server that handles a request."""
    parts: ServerParts = request.app.state
    return parts


Parts = Annotated[ServerParts, Depends(parts_of)]


Id = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$")]
"""A path parameter: 32 hexadecimal digits."""


def note(request: Request, caller: Caller, did: Deed, what: str) -> None:
    """Add an action of a caller to the audit log."""
    people: People = request.app.state.people
    people.audit.add(caller.name, did, what, _address_of(request))


def refuse(request: Request, exc: RequestRefusedError, who: str) -> None:
    """Log a rejected login or student with the reason, without the sent secret, which may be nearly correct."""
    people: People = request.app.state.people
    people.audit.refuse(f"{who}: {exc}", _address_of(request))


def _address_of(request: Request) -> str:
    return request.client.host if request.client else ""
