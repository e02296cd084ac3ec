"""The pages: their parts compressed, and kept by browsers for good under an address that changes with them."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import mimetypes
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

# Stands for what the heads of all pages have.
_HEAD = "    <!-- head.html -->\n"

_FOR_GOOD = "public, max-age=31536000, immutable"


# Loaded by itself, and before the page is painted.
_APART = ("theme.js",)

# The module that each page names, and what it is called when all that it needs has been joined to it.
_ENTRY = re.compile(r'"static/(?P<entry>main|admin|join|courses|shared)\.js"')
_BUNDLE = re.compile(r"(?P<entry>\w+)(?:\.(?P<later>\w+))?\.bundle\.js")
# Comments and blanks that a style sheet does without.
_STYLE_REST = re.compile(r"/\*.*?\*/|^\s+|(?<=[{};,])\s+|\s+(?=[{}])", re.DOTALL | re.MULTILINE)


class _Parts(StaticFiles):
    """Files of one version, which never change, and the modules of a page joined into one file."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        text, kind = _made(path)
        if not text:
            return await super().get_response(path, scope)
        return Response(text, media_type=kind, headers={"Cache-Control": _FOR_GOOD})

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        reply = super().file_response(*args, **kwargs)
        reply.headers["Cache-Control"] = _FOR_GOOD
        return reply


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` and those beside it, and their parts below `/static/`, each under the version of all."""
    version = _version()
    for route, name in _PAGES.items():
        app.add_api_route(route, _page(name, version), include_in_schema=False)
    mimetypes.add_type("font/woff2", ".woff2")  # Python 3.11 knows it from the system alone
    # Compressed as they are.
    app.mount(f"/static/{version}/fonts", _Parts(directory=_WEB / "fonts", check_dir=False))
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
        reply = HTMLResponse(shown, headers={"Vary": "Accept-Encoding"})
        if "gzip" in request.headers.get("accept-encoding", ""):  # it holds no secret, and nothing that was sent
            reply.body = _compressed(shown)
            reply.headers.update({"Content-Encoding": "gzip", "Content-Length": str(len(reply.body))})
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
    html = file.read_text(encoding="utf-8").replace(_HEAD, (_WEB / "head.html").read_text(encoding="utf-8"))
    joined = _ENTRY.sub(
        lambda found: f'"static/{found["entry"]}.bundle.js"' if _bundle(f"{found['entry']}.js") else found[0], html
    )
    return joined.replace('"static/', f'"static/{version}/')


@cache
def _compressed(html: str) -> bytes:
    return gzip.compress(html.encode(), mtime=0)


def _made(path: str) -> tuple[str, str]:
    """Return a part that is made of others, and its type; empty if a file is served as it is."""
    if path in ("style.css", "admin.css"):
        return _style(path), "text/css"
    found = _BUNDLE.fullmatch(path)
    return _bundle(f"{found['entry']}.js", found["later"] or "") if found else "", "text/javascript"


@cache
def _style(name: str) -> str:
    return _STYLE_REST.sub("", (_WEB / name).read_text(encoding="utf-8"))


@cache
def _bundle(entry: str, later: str = "") -> str:
    """Return a module with all that it needs; empty where they cannot be joined, and are served one by one."""
    return joined_or_nothing(_WEB, entry, _APART, later=later)


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in _WEB.rglob("*") if path.is_file()):
        digest.update(file.relative_to(_WEB).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
