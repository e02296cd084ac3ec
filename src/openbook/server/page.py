"""The pages: their parts compressed, and kept by browsers for good under an address that changes with them."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from openbook.errors import SharedError
from openbook.server.failures import RequestRefusedError
from openbook.server.page_bundle import joined_or_nothing

_WEB = Path(__file__).parent / "web"

_PAGES = {"/": "index.html", **{f"/{name}": f"{name}.html" for name in ("join", "admin", "courses", "shared")}}

_FOR_GOOD = "public, max-age=31536000, immutable"


# Loaded by itself, and before the page is painted.
_APART = ("theme.js",)

# The module that each page names, and what it is called when all that it needs has been joined to it.
_ENTRY = re.compile(r'"static/(?P<entry>main|admin|join|courses)\.js"')
_BUNDLE = re.compile(r"(?P<entry>\w+)\.bundle\.js")


class _Parts(StaticFiles):
    """Files of one version, which never change, and the modules of a page joined into one file."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        found = _BUNDLE.fullmatch(path)
        text = _bundle(f"{found['entry']}.js") if found else ""
        if not text:
            return await super().get_response(path, scope)
        return Response(text, media_type="text/javascript", headers={"Cache-Control": _FOR_GOOD})

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
        # Where people can log in at a provider, the page offers it.
        shown = html if request.app.state.oidc is None else html.replace("<body", "<body data-oidc", 1)
        reply = HTMLResponse(shown)
        # Before the page reads several things at once, and begins a conversation meanwhile.
        with contextlib.suppress(SharedError):  # the page comes up, and says what is wrong
            await asyncio.to_thread(request.app.state.authenticator.greet, request, reply)
        return reply

    return page


@cache
def _read(name: str, version: str) -> str:
    """Return a page, which names its parts by their version; empty if there is none."""
    file = _WEB / name
    if not file.is_file():
        return ""
    html = file.read_text(encoding="utf-8")
    joined = _ENTRY.sub(
        lambda found: f'"static/{found["entry"]}.bundle.js"' if _bundle(f"{found['entry']}.js") else found[0], html
    )
    return joined.replace('"static/', f'"static/{version}/')


@cache
def _bundle(entry: str) -> str:
    """Return a module with all that it needs; empty where they cannot be joined, and are served one by one."""
    return joined_or_nothing(_WEB, entry, _APART)


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in _WEB.rglob("*") if path.is_file()):
        digest.update(file.relative_to(_WEB).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
