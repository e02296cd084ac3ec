"""The app: its parts made, its routes put together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

import openbook
from openbook.libraries.catalog import name_of
from openbook.library import Library
from openbook.server.answer_pool import AnswerPool
from openbook.server.auth import Authenticator
from openbook.server.colouring import COLOURER
from openbook.server.failures import add_error_handlers
from openbook.server.feedback import FeedbackStore
from openbook.server.jobs import JobQueue
from openbook.server.limits import MemoryLimits, RecordedLimits
from openbook.server.metrics import Metrics
from openbook.server.models import ModelRegistry, offered_models
from openbook.server.oidc import OidcDoor
from openbook.server.originals import Originals
from openbook.server.page import add_page
from openbook.server.people import People
from openbook.server.question_images import QuestionImages
from openbook.server.question_service import QuestionService
from openbook.server.routes import (
    answers,
    chat_completions,
    contents,
    conversations,
    courses,
    feedback,
    logins,
    oidc,
    operation,
    people,
    questions,
    shares,
    start,
)
from openbook.server.running_answers import RunningAnswers
from openbook.server.schemas import ErrorResponse
from openbook.server.search_service import SearchService
from openbook.server.security import SecurityMiddleware
from openbook.server.served_library import ServedLibrary
from openbook.server.shared_answers import SharedAnswers
from openbook.server.shared_jobs import SharedJobs
from openbook.server.shared_store import SharedStore, open_shared_store
from openbook.server.shares import ShareStore
from openbook.server.shutdown import ShutdownSignal
from openbook.server.source_service import SourceService
from openbook.server.study_guides import StudyGuides
from openbook.server.telemetry import open_tracer
from openbook.server.uploads import UploadStore
from openbook.server.work_teller import WorkTeller
from openbook.sessions.protocol import Sessions
from openbook.sessions.sqlite import SqliteSessions
from openbook.settings import Settings

_DAY_S = 24 * 3600.0

# Conversations that expire late are not shown late, so an hour is soon enough.
_EXPIRE_EVERY_S = 3600.0

_ERROR = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorResponse.__name__}"}}}

_REFUSALS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 507)
_RESPONSES: dict[int | str, dict[str, Any]] = {status: {"model": ErrorResponse} for status in _REFUSALS}


def create_app(
    assistant: Library,
    *,
    models: ModelRegistry | None = None,
    needs_key: bool = False,
    roots: Sequence[Path] = (),
    workers: int = 0,
) -> SecuredApp:
    """Build an app that serves a library, and closes it in the end.

    Args:
        assistant: The library. Its settings hold for the server.
        models: What may write answers; by the settings and the keys that are set, if not given.
        needs_key: Whether everybody needs a key, as on every address but this machine's own.
        roots: Folders below which sources may be added.
        workers: Processes that search and check for answers, at most; 0: threads of this one do.

    Raises:
        SettingsError: A setting, or the folder of the settings, cannot be used.
        SessionError: Conversations cannot be kept.
        MissingExtraError, PluginError: A package that a setting needs is not installed, or failed.
    """
    settings = assistant.settings
    metrics, known = Metrics(), People.of(settings.home)
    shared = open_shared_store(settings.shared_store) if settings.shared_store else None
    authenticator = _authenticator(known, shared, settings, needs_key=needs_key)
    security = partial(
        SecurityMiddleware,
        authenticator=authenticator,
        hosts=settings.server_hosts,
        upload_bytes=settings.upload_bytes,
        metrics=metrics,
        takes_images=settings.server_images > 0,
    )
    app = SecuredApp(
        security=security,
        title="Openbook",
        version=openbook.__version__,
        lifespan=_lifespan,
        responses=_RESPONSES,
    )
    state: Any = app.state
    state.metrics, state.authenticator, state.shared = metrics, authenticator, shared
    state.people, state.keys = known, known.keys
    state.oidc = OidcDoor(settings, authenticator.logins) if settings.oidc_issuer else None
    state.models = models or offered_models(settings)
    state.answer_pool = AnswerPool(assistant.location, settings, workers) if workers else None
    _add_parts(state, assistant, roots)
    _add_routes(app)
    return app


def _authenticator(known: People, shared: SharedStore | None, settings: Settings, *, needs_key: bool) -> Authenticator:
    return Authenticator(
        known.keys,
        shared.logins() if shared is not None else None,
        needs_key=needs_key,
        cookie_s=settings.session_days * _DAY_S,
        person_s=settings.oidc_hours * 3600.0 if settings.oidc_issuer else 0.0,
    )


def _add_parts(state: Any, assistant: Library, roots: Sequence[Path]) -> None:
    settings = assistant.settings
    _add_memory(state, settings)
    state.library = ServedLibrary(assistant)
    state.jobs = JobQueue(most=settings.server_jobs, longest_s=settings.job_timeout_s)
    state.stopping = ShutdownSignal()
    uploads = UploadStore(name_of(assistant.location), settings)
    work = state.shared.work() if state.shared is not None else None
    state.shared_jobs = SharedJobs(state.jobs, work)
    state.contents = SourceService(state.library, state.jobs, uploads, settings, roots=roots, others=state.shared_jobs)
    state.originals = Originals(state.library)
    state.guides = StudyGuides(state.library)
    state.images = QuestionImages(settings.server_images, state.originals.pages)
    state.asker = QuestionService(
        *(state.library, state.sessions, state.models, state.limits, state.metrics, settings, state.images),
        state.stopping,
        answer_pool=state.answer_pool,
        tracer=open_tracer(settings.telemetry),
    )
    here = RunningAnswers(state.asker)
    state.running_answers = here
    state.teller = None if work is None else WorkTeller(work, here, state.jobs)
    state.answers = SharedAnswers(here, state.stopping, work, state.teller)
    state.searcher = SearchService(state.library)


def _add_memory(state: Any, settings: Settings) -> None:
    """Add what has to outlive a request: where several servers share it, else on this machine."""
    state.shares, state.feedback = ShareStore(settings.home), FeedbackStore(settings.home)
    expire_s = settings.session_days * _DAY_S
    if state.shared is not None:
        state.sessions = state.shared.sessions(expire_s)
        state.limits = RecordedLimits(state.shared.limits(settings), state.keys, settings)
    else:
        state.sessions = SqliteSessions(settings.home / "sessions.sqlite", expire_s=expire_s)
        state.limits = MemoryLimits(state.keys, settings)


class SecuredApp(FastAPI):
    """An app behind its security middleware, which also covers the replies of error handlers."""

    def __init__(self, *, security: Callable[[ASGIApp], ASGIApp], **options: Any) -> None:
        super().__init__(docs_url=None, redoc_url=None, openapi_url=None, **options)
        self._security = security

    def build_middleware_stack(self) -> ASGIApp:
        """Return what is called for a request."""
        return self._security(super().build_middleware_stack())

    def stop(self) -> None:
        """End what is still waited for, each with an error that says so. In the thread of the event loop."""
        self.state.stopping.stop()
        self.state.jobs.stop()

    def openapi(self) -> dict[str, Any]:
        """Describe the API. FastAPI would say that the errors of a stream are a stream too."""
        schema = super().openapi()
        for described in (each for methods in schema["paths"].values() for each in methods.values()):
            if described.get("security") and not self.state.authenticator.needs_key and {} not in described["security"]:
                described["security"].append({})
            for status, reply in described["responses"].items():
                if status >= "400":
                    reply["content"] = _ERROR
                if status == "401":
                    reply["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
        return schema


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: Any = app.state
    await asyncio.to_thread(state.contents.resume)
    beside = [asyncio.create_task(_expire(state.sessions))]
    if state.answer_pool is not None:
        beside.append(asyncio.create_task(state.answer_pool.start()))
    if state.teller is not None:
        beside.append(asyncio.create_task(state.teller.run()))
    try:
        yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await state.running_answers.close()
        if state.answer_pool is not None:
            await state.answer_pool.close()
        await asyncio.to_thread(state.jobs.close)
        if state.teller is not None:
            await state.teller.tell_now()  # how it all ended
        await asyncio.to_thread(state.asker.close)
        await asyncio.to_thread(state.searcher.close)
        await asyncio.to_thread(COLOURER.close)
        await asyncio.to_thread(state.originals.close)
        await asyncio.to_thread(state.guides.close)
        state.library.close()
        state.sessions.close()
        state.shares.close()
        state.feedback.close()
        state.keys.close()
        if state.shared is not None:
            state.shared.close()


async def _expire(sessions: Sessions) -> None:
    while True:
        await asyncio.to_thread(sessions.expire)
        await asyncio.sleep(_EXPIRE_EVERY_S)


def _add_routes(app: FastAPI) -> None:
    for topic in (
        questions,
        answers,
        contents,
        courses,
        conversations,
        logins,
        oidc,
        people,
        chat_completions,
        operation,
        start,
        feedback,
        shares,
    ):
        app.include_router(topic.router)
    add_error_handlers(app)
    add_page(app)
