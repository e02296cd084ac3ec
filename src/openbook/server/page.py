"""The pages: their parts compressed, and kept by browsers for good under an address that changes with them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from openbook.server.failures import RequestRefusedError

_WEB = Path(__file__).parent / "web"

_PAGES = {"/": "index.html", "/join": "join.html", "/admin": "admin.html", "/shared": "shared.html"}

_FOR_GOOD = "public, max-age=31536000, immutable"


class _Parts(StaticFiles):
    """Files of one version, which never change."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        reply = super().file_response(*args, **kwargs)
        reply.headers["Cache-Control"] = _FOR_GOOD
        return reply


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` and those beside it, and their parts below `/static/`, each under the version of all."""
    version = _version()
    for route, name in _PAGES.items():
        app.add_api_route(route, _page(name, version), include_in_schema=False)
    # Nothing else is compressed: by the length of a compressed reply, its secrets can be guessed.
    app.mount(f"/static/{version}", GZipMiddleware(_Parts(directory=_WEB, check_dir=False)))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=_WEB, check_dir=False)))


def _page(name: str, version: str) -> Callable[[Request], Awaitable[HTMLResponse]]:
    html = _read(name, version)

    async def page(request: Request) -> HTMLResponse:
        if not html:
            raise RequestRefusedError(404, "this installation has no page", hint="GET /docs describes the API")
        reply = HTMLResponse(html)
        # Before the page reads several things at once, and begins a conversation meanwhile.
        await asyncio.to_thread(request.app.state.authenticator.greet, request, reply)
        return reply

    return page


@cache
def _read(name: str, version: str) -> str:
    """Return a page, which names its parts by their version; empty if there is none."""
    file = _WEB / name
    return file.read_text(encoding="utf-8").replace('"static/', f'"static/{version}/') if file.is_file() else ""


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in _WEB.rglob("*") if path.is_file()):
        digest.update(file.relative_to(_WEB).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
