"""Serves the pages: compressed, and cached forever under a URL that changes with their content.

The modules of a page are bundled when the server starts: one request instead of twenty.

A module loaded with `import("./x.js")` becomes a separate bundle, which imports shared modules from the bundle of the
page, so that each exists once.

There is no build step, and the modules can be read and debugged unchanged. Only the forms of `import` and `export` that
the page uses are supported. With any other, the modules are served separately.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import logging
import mimetypes
import re
from collections.abc import Awaitable, Callable, Collection
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

_logger = logging.getLogger(__name__)

_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<names>[^{}]*)\}) from "\./(?P<file>[\w-]+\.js)";$', re.MULTILINE
)
_BARE_IMPORT = re.compile(r'^import "\./(?P<file>[\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?P<what>(?:async )?function\*?|const|class) (?P<name>\w+)", re.MULTILINE)
# Comment lines are a quarter of the size, and indentation costs a kilobyte when compressed. No template literal of the
# page has lines that begin with either.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# Inline types and trailing comments, which do not occur in strings of the page: `/** @type {Event} */` and `; // why`.
_ASIDE = re.compile(r"/\*\*(?:[^*\n]|\*(?!/))*\*/ ?|(?<=[;{,)\]}]) // .*$", re.MULTILINE)
_LATER = re.compile(r'\bimport\("\./(?P<name>[\w-]+)\.js"\)')
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\.meta\b|^await\b.*", re.MULTILINE)


class NotJoinableError(Exception):
    """A module uses a form of `import` or `export` that the bundler does not understand."""


def joined_or_nothing(folder: Path, entry: str, apart: Collection[str] = (), *, later: str = "") -> str:
    """Return the result of `join_modules` or `join_later`; if that fails, log it and return ""."""
    try:
        return join_later(folder, entry, later, apart) if later else join_modules(folder, entry, apart)
    except (NotJoinableError, OSError) as exc:
        _logger.warning("the page is served as its modules", extra={"reason": str(exc)})
        return ""


def join_modules(folder: Path, entry: str, apart: Collection[str] = ()) -> str:
    """Bundle an entry module and all of its imports.

    Each module becomes a function that is called once, in execution order, and returns its exports. Bundles loaded
    later can import them. Comments and indentation are removed.

    Modules in `apart` are not bundled, but imported.

    Raises:
        NotJoinableError: There is an import cycle, or an unsupported form.
        OSError: A module is missing.
    """
    joined: dict[str, str] = {}
    _join(folder, entry, apart, joined, ())
    exported = ", ".join(_variable(name) for name in joined)
    text = "".join(joined.values()) + f"export {{ {exported} }};\n"
    return _LATER.sub(lambda found: f'import("./{later_name(entry, found["name"])}")', text)


def join_later(folder: Path, entry: str, name: str, apart: Collection[str] = ()) -> str:
    """Bundle a module and those of its imports that are not in the bundle of an entry.

    Raises:
        NotJoinableError: As for `join_modules`.
        OSError: A module is missing.
    """
    there: dict[str, str] = {}
    _join(folder, entry, apart, there, ())
    joined = dict(there)
    _join(folder, f"{name}.js", apart, joined, ())
    own = {file: text for file, text in joined.items() if file not in there}
    used = ", ".join(_variable(file) for file in there)
    exported = ", ".join(_exports((folder / f"{name}.js").read_text(encoding="utf-8")))
    return (
        f'import {{ {used} }} from "./{entry.removesuffix(".js")}.bundle.js";\n'
        + "".join(own.values())
        + f"export const {{ {exported} }} = {_variable(name)};\n"
    )


def later_name(entry: str, name: str) -> str:
    """Return the file name of a bundle that is loaded later."""
    return f"{entry.removesuffix('.js')}.{name}.bundle.js"


def _join(folder: Path, name: str, apart: Collection[str], joined: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise NotJoinableError(f"{' imports '.join((*above, name))}")
    if name in joined:
        return
    if name in apart:
        joined[name] = f'import * as {_variable(name)} from "./{name}";\n'
        return
    text = (folder / name).read_text(encoding="utf-8")
    needed = sorted((found.start(), found["file"]) for kind in (_IMPORT, _BARE_IMPORT) for found in kind.finditer(text))
    for _, file in needed:
        _join(folder, file, apart, joined, (*above, name))
    text = _COMMENT.sub("", text)
    exported = _exports(text)
    body = _EXPORT.sub(r"\g<what> \g<name>", _BARE_IMPORT.sub("", _IMPORT.sub(_binding, text)))
    if other := _OTHER.search(body):
        raise NotJoinableError(f"{name}: {other[0]}")
    body = _INDENT.sub("", _ASIDE.sub("", body))
    joined[name] = (
        f"\n// {name}\nconst {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"
    )


def _exports(text: str) -> list[str]:
    return [found["name"] for found in _EXPORT.finditer(text)]


def _binding(found: re.Match[str]) -> str:
    """Convert an `import` to a `const` declaration."""
    module = _variable(found["file"])
    if found["all"]:
        return f"const {found['all']} = {module};"
    names = [name.strip() for name in found["names"].split(",") if name.strip()]
    return f"const {{ {', '.join(name.replace(' as ', ': ') for name in names)} }} = {module};"


def _variable(file: str) -> str:
    return "module_" + re.sub(r"\W", "_", file.removesuffix(".js"))


_WEB = Path(__file__).parent / "web"

_PAGES = {"/": "index.html", **{f"/{name}": f"{name}.html" for name in ("join", "admin", "courses", "shared")}}

# Placeholder for the common part of all heads.
_HEAD = "    <!-- head.html -->\n"

_IMMUTABLE = "public, max-age=31536000, immutable"


# Loaded separately, and before the first paint.
_SEPARATE = ("theme.js",)

# The entry module of each page, and the name of its bundle.
_ENTRY = re.compile(r'"static/(?P<entry>main|admin|join|courses|shared)\.js"')
_BUNDLE = re.compile(r"(?P<entry>\w+)(?:\.(?P<later>\w+))?\.bundle\.js")
# Comments and white space that a style sheet does not need.
_STYLE_REST = re.compile(r"/\*.*?\*/|^\s+|(?<=[{};,])\s+|\s+(?=[{}])", re.DOTALL | re.MULTILINE)


class _Parts(StaticFiles):
    """Static files of one version, which never change, and the bundles."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        text, kind = _made(path)
        if not text:
            return await super().get_response(path, scope)
        return Response(text, media_type=kind, headers={"Cache-Control": _IMMUTABLE})

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        reply = super().file_response(*args, **kwargs)
        reply.headers["Cache-Control"] = _IMMUTABLE
        return reply


def add_page(app: FastAPI) -> None:
    """Serve the pages, and their static files below `/static/VERSION/`."""
    version = _version()
    for route, name in _PAGES.items():
        app.add_api_route(route, _page(name, version), include_in_schema=False)
    mimetypes.add_type("font/woff2", ".woff2")  # Python 3.11 knows it only from the system
    # Already compressed.
    app.mount(f"/static/{version}/fonts", _Parts(directory=_WEB / "fonts", check_dir=False))
    # Nothing else is compressed: the length of a compressed response can leak its secrets (BREACH).
    app.mount(f"/static/{version}", GZipMiddleware(_Parts(directory=_WEB, check_dir=False)))
    app.mount("/static", GZipMiddleware(StaticFiles(directory=_WEB, check_dir=False)))


def _page(name: str, version: str) -> Callable[[Request], Awaitable[HTMLResponse]]:
    html = _read(name, version)

    async def page(request: Request) -> HTMLResponse:
        if not html:
            raise RequestRefusedError(404, "this installation has no page", hint="GET /docs describes the API")
        # If people can log in at a provider, the page offers it.
        shown = html if request.app.state.oidc is None else html.replace("<body", "<body data-oidc", 1)
        reply = HTMLResponse(shown, headers={"Vary": "Accept-Encoding"})
        if "gzip" in request.headers.get("accept-encoding", ""):  # safe: no secrets, no user input
            reply.body = _compressed(shown)
            reply.headers.update({"Content-Encoding": "gzip", "Content-Length": str(len(reply.body))})
        # Set the cookie before the page makes concurrent requests and starts a conversation.
        with contextlib.suppress(SharedError):  # the page loads anyway, and shows the error
            await asyncio.to_thread(request.app.state.authenticator.greet, request, reply)
        return reply

    return page


@cache
def _read(name: str, version: str) -> str:
    """Return a page with versioned URLs of its static files; empty if there is none."""
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
    """Return a generated file and its type; empty if the file is served as it is."""
    if path in ("style.css", "admin.css"):
        return _style(path), "text/css"
    found = _BUNDLE.fullmatch(path)
    return _bundle(f"{found['entry']}.js", found["later"] or "") if found else "", "text/javascript"


@cache
def _style(name: str) -> str:
    return _STYLE_REST.sub("", (_WEB / name).read_text(encoding="utf-8"))


@cache
def _bundle(entry: str, later: str = "") -> str:
    """Return the bundle of a module; empty if it cannot be bundled, so that its modules are served separately."""
    return joined_or_nothing(_WEB, entry, _SEPARATE, later=later)


@cache
def _version() -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in _WEB.rglob("*") if path.is_file()):
        digest.update(file.relative_to(_WEB).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
