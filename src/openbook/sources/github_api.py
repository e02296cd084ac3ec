"""One request to GitHub: sent once or again, waited for, refused in words that say what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Self

from openbook.errors import FetchError, MissingExtraError
from openbook.settings import Secret
from openbook.sources.network_policy import NetworkPolicy
from openbook.sources.remote import Patience

if TYPE_CHECKING:
    import httpx2

_JSON = "application/vnd.github+json"
_VERSION = {"X-GitHub-Api-Version": "2022-11-28"}

_CONNECT_S = 10.0  # TCP and TLS to the other side of the earth take one second
_SILENCE_S = 30.0  # GitHub gives up on a request of its own after ten

_TRIES = 3

_LEAST_WAIT_S = 60.0  # what GitHub asks for where it gives no time

# A tree of the 100,000 entries that GitHub lists at most, with paths of 250 characters each.
_MOST_JSON_BYTES = 64 * 1024 * 1024

_TOKEN = "GITHUB_TOKEN"


def is_installed() -> bool:
    """Return whether the package is there that talks to GitHub."""
    return find_spec("httpx2") is not None


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whole."""

    body: bytes
    etag: str
    next_url: str
    """Of the next page; empty for the last."""


class Api:
    """GitHub's API, for one repository. Use it as a context manager."""

    def __init__(
        self, location: str, *, api_url: str, token: Secret | None, reach: NetworkPolicy, patience: Patience
    ) -> None:
        """Get ready to ask.

        Args:
            location: What errors name as the place.
            api_url: Where all requests go. Redirects are followed, such as those to archives.
            token: Sent there, and to no other host that it leads to; None asks as anybody.
            reach: What may be asked.
            patience: How long it may take.

        Raises:
            MissingExtraError: The package for GitHub is not installed.
        """
        if not is_installed():
            raise MissingExtraError("the package 'httpx2' is not installed", hint="pip install 'openbook[github]'")
        self._location = location
        self._has_token = token is not None
        self._reach = reach
        self._patience = patience
        self._api_url = api_url.rstrip("/")
        self._client = self._connect(api_url, token)

    def _connect(self, api_url: str, token: Secret | None) -> httpx2.Client:
        import httpx2

        from openbook.sources.pinned_transport import PinnedTransport, trusted

        key = {"Authorization": f"Bearer {token.reveal()}"} if token else {}  # redirects to another host lose it
        return httpx2.Client(
            base_url=api_url,
            headers={"User-Agent": "openbook", **_VERSION, **key},
            verify=trusted(),
            transport=PinnedTransport(self._reach) if self._reach.confined else None,
            follow_redirects=True,
            event_hooks={"request": [self._check]},  # asked for every redirect too
        )

    def __enter__(self) -> Self:
        self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.__exit__(kind, error, trace)

    def _check(self, request: httpx2.Request) -> None:
        self._reach.check_host(request.url.netloc.decode("ascii"))
        if request.url.scheme != "https" and not self._api_url.startswith("http:"):
            raise FetchError(self._location, "GitHub leads away from https")

    def get(self, path: str, *, accept: str = _JSON, etag: str = "", max_bytes: int = _MOST_JSON_BYTES) -> Reply | None:
        """Ask for something; None if it still is what `etag` stands for.

        Args:
            path: Of the API, or a whole address that it gave.
            accept: Media type.
            etag: As an earlier reply had it.
            max_bytes: More are an error.

        Raises:
            FetchError: There is no such thing, no way to it, or no time left.
        """
        headers = {"Accept": accept, **({"If-None-Match": etag} if etag else {})}
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._ask(path, headers, max_bytes)
            except _faults() as exc:
                fault = exc
            self._patience.sleep(self._pause_s(fault, attempt))

    def _ask(self, path: str, headers: dict[str, str], max_bytes: int) -> Reply | None:
        with self._opened(path, headers) as response:
            if response.status_code == 304:
                return None
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > max_bytes:
                    raise FetchError(self._location, "GitHub sends more than it promised")
                self._patience.check(self._location)
            next_url = response.links.get("next", {}).get("url", "")
            if not next_url.startswith(f"{self._api_url}/" if next_url else ""):
                raise FetchError(self._location, "GitHub leads elsewhere")  # where the token must not go
            return Reply(bytes(body), response.headers.get("etag", ""), next_url)

    @contextmanager
    def stream(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open what is too large for memory, and give it in chunks.

        Raises:
            FetchError: As `get` does; and while it is read, with no status, if it breaks off.
        """
        with ExitStack() as stack:
            yield self._chunks(self._try_to_open(path, stack))

    def _try_to_open(self, path: str, stack: ExitStack) -> httpx2.Response:
        attempt = 0
        while True:
            attempt += 1
            try:
                return stack.enter_context(self._opened(path, {"Accept": _JSON}))
            except _faults() as exc:
                fault = exc
            self._patience.sleep(self._pause_s(fault, attempt))

    def _chunks(self, response: httpx2.Response) -> Iterator[bytes]:
        try:
            for chunk in response.iter_bytes():
                self._patience.check(self._location)
                yield chunk
        except _faults() as exc:
            raise FetchError(self._location, "GitHub broke off", hint="try again") from exc

    @contextmanager
    def _opened(self, path: str, headers: dict[str, str]) -> Iterator[httpx2.Response]:
        self._patience.check(self._location)
        with self._client.stream("GET", path, headers=headers, timeout=self._timeout()) as response:
            if response.is_error:
                said = next(response.iter_bytes(), b"").decode("utf-8", "replace")
                raise _Failed(response.status_code, response.headers, said)
            yield response

    def _timeout(self) -> httpx2.Timeout:
        import httpx2

        left_s = self._patience.left_s
        return httpx2.Timeout(min(_SILENCE_S, left_s), connect=min(_CONNECT_S, left_s))

    def _pause_s(self, fault: Exception, attempt: int) -> float:
        """Return how long to wait before the next try.

        Raises:
            FetchError: There is none.
        """
        status = fault.status if isinstance(fault, _Failed) else None
        if isinstance(fault, _Failed):
            wait_s = _asked_to_wait_s(fault)
            if wait_s is not None:
                return self._wait_s(wait_s, fault.status, attempt)
            if fault.status < 500:
                raise self._refused(fault.status, fault.headers)
        if attempt < _TRIES and self._patience.left_s > attempt:
            return float(attempt)
        self._patience.check(self._location)
        if status is not None:
            raise FetchError(self._location, f"GitHub answers {status}", hint="try again later", status=status)
        raise FetchError(self._location, "no connection to GitHub, or it broke off", hint="check the network")

    def _wait_s(self, wait_s: float, status: int, attempt: int) -> float:
        if wait_s < self._patience.left_s and attempt < _TRIES:
            return wait_s
        at = time.time() + wait_s
        when = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        more = "" if self._has_token else f", or set {_TOKEN}, which allows 5,000 requests an hour instead of 60"
        reason = f"GitHub takes no more requests until {when}"
        raise FetchError(self._location, reason, hint=f"try again then{more}", status=status, retry_at=at)

    def _refused(self, status: int, headers: Mapping[str, str]) -> FetchError:
        token = f"the token in {_TOKEN}"
        if status == 401:
            reason, hint = (
                f"GitHub does not accept {token}",
                f"make a new one, or unset {_TOKEN} for public repositories",
            )
        elif status == 403 and "x-github-sso" in headers:
            reason, hint = "its organisation wants single sign-on", f"allow {token} for the organisation on GitHub"
        elif status == 403:
            reason, hint = "GitHub forbids it", f"{token} needs the right to read contents" if self._has_token else ""
        elif status == 404 and self._has_token:
            reason, hint = f"it does not exist, or {token} may not see it", "check the name and the token's rights"
        elif status == 404:
            # GitHub says the same of both, so that nobody learns which names are taken.
            reason = "it does not exist, or is private"
            hint = f"check the name; if it is private, set {_TOKEN} or give its SSH address"
        elif status == 451:
            reason, hint = "GitHub may not show it, for legal reasons", ""
        else:
            reason, hint = f"GitHub answers {status}", ""
        return FetchError(self._location, reason, hint=hint, status=status)


class _Failed(Exception):  # noqa: N818 - it never leaves this module
    """GitHub answered with an error."""

    def __init__(self, status: int, headers: Mapping[str, str], said: str) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
        self.said = said


def _asked_to_wait_s(failed: _Failed) -> float | None:
    """Read out of a reply how long to wait; None if the error is no limit of rates."""
    headers = failed.headers
    if failed.status not in (403, 429):
        return None
    if headers.get("retry-after", "").isdigit():
        return float(headers["retry-after"]) + 1
    if headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-reset", "").isdigit():
        return max(0.0, float(headers["x-ratelimit-reset"]) - time.time()) + 1
    return _LEAST_WAIT_S if failed.status == 429 or "rate limit" in failed.said else None


def _faults() -> tuple[type[Exception], ...]:
    import httpx2

    return (httpx2.HTTPError, httpx2.StreamError, _Failed)
