"""Routes for who runs the server."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

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
    """Report readiness: of the library, and of the store that servers share if there is one."""
    library: ServedLibrary = request.app.state.library
    shared: SharedStore | None = request.app.state.shared

    def ready() -> ReadinessResponse:
        if shared is not None:
            shared.check()
        with library.in_use() as assistant:
            held = assistant.stats()
        return ReadinessResponse(status="ok", documents=held.documents, chunks=held.chunks)

    return await asyncio.to_thread(ready)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, _: Identified) -> Response:
    """Return what was counted, for Prometheus."""
    counted: Metrics = request.app.state.metrics
    return Response(counted.page(), media_type="text/plain; version=0.0.4; charset=utf-8")


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
