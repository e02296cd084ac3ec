"""Maps errors to HTTP responses with a common body."""

from __future__ import annotations

import errno
import logging
import re
import sqlite3
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from openbook.errors import (
    AmbiguousCourseError,
    ClusterError,
    FetchError,
    LibraryError,
    LibraryWriteError,
    MissingExtraError,
    ModelError,
    OpenbookError,
    QueryError,
    RateLimitedError,
    SessionError,
    SettingsError,
    SourceError,
    UnknownCourseError,
    UnknownSourceError,
    UnreadAttachmentError,
)
from openbook.sqlite_store import is_unwritable

if TYPE_CHECKING:
    # Imported lazily, since `openbook keys` uses these errors even if the server is not installed.
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

_logger = logging.getLogger(__name__)

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {} for status in (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 501, 502, 503, 507)
}
"""What the description of each route says of its errors."""

_HINTS = {
    400: "GET /docs has the fields of each request",
    404: "GET /docs lists what there is",
    405: "GET /docs lists what there is",
    500: "the log has more under the request id",
}

# Local paths of the server must not be revealed to callers.
_PLACE = re.compile(r"""(['"])((?:/|[A-Za-z]:\\)(?:(?!\1)[^\n])*)\1""")

# Addresses of servers that this server calls, which appear without quotes. Addresses of repositories, known to the
# caller, have quotes.
_ADDRESS = re.compile(r"( at )?(?<!['\"`a-z0-9+.:-])[a-z][a-z0-9+.:-]*://[^\s'\"`]*[^\s'\"`.,:;)]")

# What follows in the message of a model's error is the provider's, and may quote the question.
_OF_PROVIDER = re.compile(r" \(|: ")

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

# The first match decides, so subclasses precede their base class.
_STATUSES: tuple[tuple[type[OpenbookError], int], ...] = (
    (QueryError, 400),
    (FetchError, 502),
    (SourceError, 400),
    (SettingsError, 400),
    (UnknownSourceError, 404),
    (UnknownCourseError, 404),
    (AmbiguousCourseError, 409),
    (RateLimitedError, 503),
    (UnreadAttachmentError, 400),
    (ModelError, 502),
    (ClusterError, 502),
    (MissingExtraError, 501),
    (LibraryWriteError, 503),
    (SessionError, 503),
    (LibraryError, 500),
)


class RequestRefusedError(OpenbookError):
    """A refused request and its HTTP status."""

    def __init__(self, status: int, message: str, *, hint: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s
        """Seconds until a retry may succeed; None if waiting does not help."""


def status_of(error: OpenbookError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, RequestRefusedError):
        return error.status
    fault = error.__cause__
    if getattr(fault, "errno", None) in _FULL or _sqlite_code(fault) == sqlite3.SQLITE_FULL:
        return 507
    if isinstance(error, SettingsError) and isinstance(fault, sqlite3.Error | OSError):
        return 503  # the file of the keys: no request can mend it
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def _sqlite_code(fault: BaseException | None) -> int:
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


def log_failure(error: OpenbookError) -> None:
    """Log what failed here, rather than in the request. Questions are not logged."""
    if status_of(error) < HTTPStatus.INTERNAL_SERVER_ERROR:
        return
    if isinstance(error, RequestRefusedError) and isinstance(error.__cause__, OpenbookError):
        error = error.__cause__  # callers are told less
    reason, said = str(error), {}
    if isinstance(error, ModelError):
        reason, said = _OF_PROVIDER.split(reason, maxsplit=1)[0], {"model_status": error.status}
    _logger.warning("failed", extra={"error": type(error).__name__, "reason": reason, **said})


def error_body(message: str, hint: str = "") -> dict[str, Any]:
    """Return the body of an error response."""
    return {"error": {"message": without_places(message), "hint": without_places(hint)}}


def without_places(text: str) -> str:
    """Shorten quoted paths of the server to their last part, and remove addresses of other servers.

    Example:
        >>> without_places("cannot read '/home/ada/notes/a.md': it is gone")
        "cannot read 'a.md': it is gone"
        >>> without_places("no connection to http://10.0.0.7:9000/v1"), without_places("ollama at http://[::1]:1 fails")
        ("no connection to the model's server", 'ollama fails')
        >>> without_places("the store at kept://10.0.0.7:6379/0 cannot be used: Connection refused")
        'the store cannot be used: Connection refused'
    """
    text = _PLACE.sub(lambda found: f"{found[1]}{_last(found[2])}{found[1]}", text)
    return _ADDRESS.sub(lambda found: "" if found[1] else "the model's server", text)


def _last(path: str) -> str:
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def internal_error() -> dict[str, Any]:
    """Return the body of a 500: the details are only in the log."""
    return error_body("the server failed at this request", _HINTS[500])


def error_response(error: OpenbookError) -> JSONResponse:
    """Build the response for an error, and log it if this server failed."""
    from starlette.responses import JSONResponse  # without FastAPI, which the MCP server does not need

    log_failure(error)
    wait_s = getattr(error, "retry_after_s", None)
    headers = {} if wait_s is None else {"Retry-After": str(max(1, round(wait_s)))}
    status = status_of(error)
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="Openbook"'
    return JSONResponse(error_body(str(error), error.hint), status, headers)


def _methods(request: Request) -> list[str]:
    """Return all methods of a path. Each has its own route, and the router would name only those of the first."""
    from starlette.routing import Match

    def has(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)

    return [method for method in ("DELETE", "GET", "PATCH", "POST", "PUT") if has(method)]


def not_kept(what: str, error: OSError) -> RequestRefusedError:
    """Build the error of a failed write."""
    reason = error.strerror or type(error).__name__
    step = "the server needs a folder that it may write to" if is_unwritable(error) else "free some space"
    return RequestRefusedError(507, f"the {what} cannot be kept: {reason}", hint=f"nothing was stored; {step}")


def add_error_handlers(app: FastAPI) -> None:
    """Add handlers that return every error in one shape."""
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse
    from starlette.exceptions import HTTPException

    @app.exception_handler(OpenbookError)
    async def _(_: Request, exc: OpenbookError) -> JSONResponse:
        return error_response(exc)

    @app.exception_handler(RequestValidationError)
    async def _(_: Request, exc: RequestValidationError) -> JSONResponse:
        first = exc.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return JSONResponse(error_body(f"{place}: {first['msg']}", "GET /docs has the fields of each request"), 422)

    @app.exception_handler(HTTPException)
    async def _(request: Request, exc: HTTPException) -> JSONResponse:
        if isinstance(exc.__cause__, OSError):  # request bodies are spooled to disk
            return error_response(not_kept("request", exc.__cause__))
        headers = dict(exc.headers or {})
        if "Allow" in headers:
            headers["Allow"] = ", ".join(_methods(request))
        return JSONResponse(error_body(str(exc.detail), _HINTS.get(exc.status_code, "")), exc.status_code, headers)

    @app.exception_handler(Exception)
    async def _(_: Request, exc: Exception) -> JSONResponse:
        return JSONResponse(internal_error(), 500)
