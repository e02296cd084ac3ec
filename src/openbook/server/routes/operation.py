"""Routes for who runs the server."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from openbook.errors import SharedError
from openbook.server.auth import Identified
from openbook.server.metrics import Metrics
from openbook.server.reference import STYLE, reference
from openbook.server.schemas import HealthResponse, ReadinessResponse
from openbook.server.served_library import ServedLibrary
from openbook.server.shared_store import SharedStore

router: APIRouter = APIRouter()


@router.get("/healthz")
async def healthz() -> HealthResponse:
    """Report liveness."""
    return HealthResponse(status="ok")


@router.get("/readyz")
async def readyz(request: Request) -> ReadinessResponse:
    """Report whether questions can be asked: `ok`, or `degraded` while the store that servers share is away."""
    library: ServedLibrary = request.app.state.library
    is_up = await asyncio.to_thread(_is_store_up, request)

    def ready() -> ReadinessResponse:
        with library.in_use() as assistant:
            held = assistant.stats()
        # Not an error: it is away for all servers, and none of them would be left to answer.
        return ReadinessResponse(status="ok" if is_up else "degraded", documents=held.documents, chunks=held.chunks)

    return await asyncio.to_thread(ready)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, _: Identified) -> Response:
    """Return what was counted, for Prometheus."""
    counted: Metrics = request.app.state.metrics
    if request.app.state.shared is not None:
        counted.store(is_up=await asyncio.to_thread(_is_store_up, request))
    return Response(counted.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _is_store_up(request: Request) -> bool:
    """Return whether what servers share can be reached, or there is no such thing."""
    shared: SharedStore | None = request.app.state.shared
    if shared is None:
        return True
    try:
        shared.check()
    except SharedError:
        return False
    return True


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, _: Identified) -> JSONResponse:
    """Describe the API for machines."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    """Describe the API for people."""
    return HTMLResponse(reference(request.app.openapi()))


@router.get("/docs.css", include_in_schema=False)
async def docs_style() -> Response:
    """Return what the description looks like: pages may hold no styles of their own."""
    return Response(STYLE, media_type="text/css")
