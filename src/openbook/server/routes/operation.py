"""Routes for operating the server: health, metrics and the API description."""

from __future__ import annotations

import contextlib
import shlex

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from openbook.errors import CorruptLibraryError, LibraryError
from openbook.libraries.catalog import name_of
from openbook.retrieval.search import EVERYTHING
from openbook.server.auth import Identified
from openbook.server.failures import REFUSALS, RequestRefusedError
from openbook.server.parts import Parts
from openbook.server.reference import STYLE, reference
from openbook.server.schemas import ErrorResponse, HealthResponse, ReadinessResponse

# The schema of errors is described once: FastAPI builds a validator for each model of each route.
router: APIRouter = APIRouter(responses=REFUSALS | {400: {"model": ErrorResponse}})


# Async: it never blocks, and must not wait for a free thread.
@router.get("/healthz")
async def healthz() -> HealthResponse:
    """Report liveness."""
    return HealthResponse(status="ok")


@router.get("/readyz")
def readyz(parts: Parts) -> ReadinessResponse:
    """Report whether questions can be asked: `ok`, or `degraded` while the shared store or the home cannot be written.

    503 if the library cannot be read, or nothing has been added to it yet.
    """
    # Not an error: the store is unavailable to all servers, and a load balancer would take all of them out.
    status = "degraded" if parts.is_degraded() else "ok"
    name = name_of(parts.library.location)
    try:
        with parts.library.in_use() as assistant:
            held = assistant.stats()
            assistant.index.match(("ready",), None, 1, EVERYTHING)  # the counts are cached; questions read the library
            is_filled = parts.library.is_filled(assistant)
    except LibraryError as exc:
        # No key is needed here, so only the log has the message, which may contain addresses.
        fault = "is damaged" if isinstance(exc, CorruptLibraryError) else "cannot be read"
        raise RequestRefusedError(503, f"the library {name!r} {fault}", hint=exc.hint) from exc
    if not is_filled:
        fill = f"openbook add PATH --library {shlex.quote(name)}"
        raise RequestRefusedError(503, f"nothing has been added to the library {name!r} yet", hint=f"fill it: {fill}")
    return ReadinessResponse(status=status, documents=held.documents, chunks=held.chunks)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(parts: Parts, _: Identified) -> Response:
    """Return metrics in the text format of Prometheus."""
    if parts.shared is not None:
        parts.metrics.store(is_up=not parts.store_trouble())
    with contextlib.suppress(LibraryError), parts.library.in_use() as assistant:  # `/readyz` tells of it
        library = parts.library
        parts.metrics.library(assistant.stats().documents, library.changed_at(assistant), library.unread(assistant))
    return Response(parts.metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request, _: Identified) -> JSONResponse:
    """Return the OpenAPI description."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> HTMLResponse:
    """Return the API reference as a page."""
    return HTMLResponse(reference(request.app.openapi()))


@router.get("/docs.css", include_in_schema=False)
async def docs_style() -> Response:
    """Return the style sheet of the reference, since inline styles are not allowed."""
    return Response(STYLE, media_type="text/css")
