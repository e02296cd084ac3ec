"""The page: its parts compressed, and kept by browsers for good under an address that changes with them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from openbook.server.failures import RequestRefusedError

_WEB = Path(__file__).parent / "web"

_FOR_GOOD = "public, max-age=31536000, immutable"


class _Parts(StaticFiles):
    """Files of one version, which never change."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        reply = super().file_response(*args, **kwargs)
        reply.headers["Cache-Control"] = _FOR_GOOD
        return reply


def add_page(app: FastAPI) -> None:
    """Serve the page at `/`, and its parts below `/static/`, each under the version of all of them."""
    html, version = _read_page()

    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> HTMLResponse:
        if not html:
            raise RequestRefusedError(404, "this installation has no page", hint="GET /docs describes the API")
        reply = HTMLResponse(html)
        # Before the page reads several things at once, and begins a conversation meanwhile.
        request.app.state.authenticator.greet(request, reply)
        return reply

    # Nothing else is compressed: by the length of a compressed reply, its secrets can be guessed.
    app.mount(f"/static/{version}", GZipMiddleware(_Parts(directory=_WEB, check_dir=False)))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=_WEB, check_dir=False)))


@cache
def _read_page() -> tuple[str, str]:
    """Return the page, which names its parts by their version, and that version. Both are empty if there is no page."""
    index = _WEB / "index.html"
    if not index.is_file():
        return "", ""
    digest = hashlib.sha256()
    for file in sorted(path for path in _WEB.rglob("*") if path.is_file()):
        digest.update(file.relative_to(_WEB).as_posix().encode() + b"\0" + file.read_bytes())
    version = digest.hexdigest()[:16]
    return index.read_text(encoding="utf-8").replace('"static/', f'"static/{version}/'), version
