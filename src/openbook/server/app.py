"""Builds the app from its parts and routes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

import openbook
from openbook.library import Library
from openbook.server.failures import add_error_handlers
from openbook.server.models import ModelRegistry
from openbook.server.page import add_page
from openbook.server.parts import ServerParts
from openbook.server.routes import (
    chat_completions,
    contents,
    conversations,
    feedback,
    logins,
    operation,
    people,
    questions,
    shares,
    start,
)
from openbook.server.schemas import ErrorResponse
from openbook.server.security import SecurityMiddleware

_ERROR = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorResponse.__name__}"}}}


def create_app(
    assistant: Library,
    *,
    models: ModelRegistry | None = None,
    needs_key: bool = False,
    roots: Sequence[Path] = (),
    workers: int = 0,
) -> SecuredApp:
    """Build an app that serves a library, and closes it at shutdown.

    Args:
        assistant: The library, whose settings the server uses.
        models: Models that callers may choose. Default: those of the settings, and of the keys that are set.
        needs_key: Whether every caller needs a key, as on every address but loopback.
        roots: Folders within which sources may be added.
        workers: Maximum worker processes for search and checks; 0 uses threads of this process.

    Raises:
        SettingsError: A setting, or the folder of the settings, is unusable.
        SessionError: Conversations cannot be stored.
        MissingExtraError, PluginError: A package that a setting needs is not installed, or failed.
    """
    app = SecuredApp(
        ServerParts(assistant, models=models, needs_key=needs_key, roots=roots, workers=workers),
        title="Openbook",
        version=openbook.__version__,
    )
    topics = (
        *(questions, contents, conversations, logins, people),
        *(chat_completions, operation, start, feedback, shares),
    )
    for topic in topics:
        # `include_router` would have FastAPI build each route once more before the first reply, which takes 50 ms.
        app.router.routes.extend(topic.router.routes)
    add_error_handlers(app)
    add_page(app)
    return app


class SecuredApp(FastAPI):
    """An app behind its security middleware, which also covers the replies of error handlers."""

    state: ServerParts  # type: ignore[assignment]

    def __init__(self, parts: ServerParts, **options: Any) -> None:
        super().__init__(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lambda _: parts.running(), **options)
        self.state = parts

    def build_middleware_stack(self) -> ASGIApp:
        settings = self.state.settings
        return SecurityMiddleware(
            super().build_middleware_stack(),
            authenticator=self.state.authenticator,
            hosts=settings.server_hosts,
            upload_bytes=settings.upload_bytes,
            metrics=self.state.metrics,
            takes_images=settings.server_images > 0,
        )

    def stop(self) -> None:
        """End everything that is still waiting with an error. Call it in the thread of the event loop."""
        self.state.stopping.stop()
        self.state.jobs.stop()

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI description. FastAPI alone would describe the errors of a stream as a stream."""
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
