"""Uploads on object storage, shared by several servers. Each server has a copy of the files in its home."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from openbook.errors import MissingExtraError, SettingsError
from openbook.permissions import make_private_folder
from openbook.server.failures import RequestRefusedError
from openbook.settings import read_options

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

# Uploads and listings of sources wait for these.
_RETRY: RetryConfig = {"max_retries": 2, "retry_timeout": timedelta(seconds=5)}

# A listing is short, and pages wait for it. A file may take as long as the client allows.
_LISTING: ClientConfig = {"connect_timeout": timedelta(seconds=2), "timeout": timedelta(seconds=5)}

# Prefixes of environment variables, by kind of storage.
_PREFIXES = {"S3Store": "AWS_", "AzureStore": "AZURE_", "GCSStore": "GOOGLE_"}

_OPTIONS = (
    "allow_http", "allow_invalid_certificates", "connect_timeout", "default_content_type", "http1_only",
    "http2_keep_alive_interval", "http2_keep_alive_timeout", "http2_keep_alive_while_idle", "http2_only",
    "pool_idle_timeout", "pool_max_idle_per_host", "proxy_url", "proxy_ca_certificate", "proxy_excludes",
    "randomize_addresses", "read_timeout", "timeout", "user_agent",
)  # fmt: skip

_MAX_MESSAGE_CHARS = 200

# A query string may contain a signature.
_QUERY = re.compile(r"\?\S*")

_logger = logging.getLogger(__name__)


class UploadBucket:
    """The uploads of one library on object storage. Not thread-safe.

    Each file is one object, created only if its name is free. An empty object beside it has its owner in its name.
    """

    def __init__(self, address: str, library: str, folder: Path) -> None:
        """Prepare, without a request.

        Args:
            address: An address such as `s3://bucket/folder`.
            library: Name of the library.
            folder: Folder of the copy, to which paths are relative.

        Raises:
            SettingsError: The address is not one of object storage.
            MissingExtraError: The client of this storage is not installed.
        """
        try:
            import obstore
            from obstore import exceptions
            from obstore.store import from_url
        except ModuleNotFoundError as exc:
            raise MissingExtraError(f"{exc.name} is not installed", hint="pip install 'openbook[lance]'") from exc
        self._os, self._errors = obstore, exceptions
        try:
            self._store = from_url(address, retry_config=_RETRY)
            self._lister: ObjectStore = self._store
            if prefix := _PREFIXES.get(type(self._store).__name__):
                # Given options, the client ignores the environment.
                options: ClientConfig = {**_LISTING, **read_options(prefix, _OPTIONS)}  # type: ignore[typeddict-item]
                self._lister = from_url(address, retry_config=_RETRY, client_options=options)
        except (exceptions.BaseError, ValueError, TypeError) as exc:
            raise SettingsError(
                f"{address!r} cannot be used for uploads: {_said(exc)}",
                hint="set OPENBOOK_UPLOADS to a folder, or to an address such as s3://bucket/folder",
            ) from exc
        self._folder = folder
        self._files, self._owners = f"{library}/files", f"{library}/owners"

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except self._errors.BaseError as exc:
            _logger.warning("the upload storage does not respond: %s", _said(exc))
            raise RequestRefusedError(
                503,
                "the upload storage does not respond",
                hint="try again in a minute; what was uploaded before is safe",
            ) from exc

    def _listed(self, prefix: str) -> dict[str, ObjectMeta]:
        with self._asking():
            found = [each for page in self._os.list(self._lister, prefix) for each in page]
        return {each["path"].removeprefix(f"{prefix}/"): each for each in found}

    def refresh(self) -> None:
        """Update the copy from the storage.

        Raises:
            RequestRefusedError: The storage does not respond. Files copied so far are kept.
        """
        held = {path: meta for path, meta in self._listed(self._files).items() if _is_safe(path)}
        for path, meta in held.items():
            if not _is_copy(self._folder / path, meta):
                self._fetch(path, meta)
        for file in [file for name in _tops(held, self._folder) for file in (self._folder / name).rglob("*")]:
            if file.is_file() and file.relative_to(self._folder).as_posix() not in held:
                _drop(file, self._folder)

    def _fetch(self, path: str, meta: ObjectMeta) -> None:
        file = self._folder / path
        make_private_folder(self._folder)
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._folder / f"{secrets.token_hex(8)}.part"
        try:
            with self._asking(), partial.open("wb") as stream:
                try:
                    for piece in self._os.get(self._store, f"{self._files}/{path}"):
                        stream.write(piece)
                except (FileNotFoundError, self._errors.NotFoundError):  # just deleted
                    return
            _stamp(partial, meta)
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)

    def put(self, paths: Sequence[str], owner: str) -> bool:
        """Store files of the copy under their names.

        Returns False, and stores none, if another server has just taken one of the names, or stored a file in their
        folder.

        Raises:
            RequestRefusedError: The storage does not respond. Files that were stored are deleted, if possible.
        """
        stored: list[str] = []
        is_done = False
        try:
            with self._asking(), contextlib.suppress(self._errors.AlreadyExistsError):
                for path in paths:
                    self._put(path, mode="create")
                    stored.append(path)
            listed = self._listed(self._files)
            folders = {path.rpartition("/")[0] for path in paths if path.count("/") > 1}  # folders of courses
            others = [
                path for path in set(listed).difference(stored) if path.rpartition("/")[0] in folders and _is_safe(path)
            ]
            if len(stored) == len(paths) and not others:
                with self._asking():
                    for path in paths:
                        self._os.put(self._store, f"{self._owner(owner)}/{path}", b"", use_multipart=False)
                for path in paths:
                    _stamp(self._folder / path, listed[path])
                is_done = True
        finally:
            if not is_done:
                with contextlib.suppress(self._errors.BaseError):
                    self._os.delete(self._store, [f"{self._files}/{path}" for path in stored])
        return is_done

    def _put(self, path: str, *, mode: str) -> None:
        content = (self._folder / path).read_bytes()
        self._os.put(self._store, f"{self._files}/{path}", content, mode=mode, use_multipart=False)  # type: ignore[arg-type]

    def replace(self, path: str) -> None:
        """Store a changed file of the copy.

        Raises:
            RequestRefusedError: The storage does not respond.
        """
        with self._asking():
            self._put(path, mode="overwrite")
        _stamp(self._folder / path, self._listed(self._files)[path])

    def delete(self, paths: Iterable[str]) -> None:
        """Delete files from the storage, but not from the copy.

        Raises:
            RequestRefusedError: The storage does not respond.
        """
        gone = set(paths)
        owned = [f"{self._owners}/{path}" for path in self._listed(self._owners) if path.partition("/")[2] in gone]
        with self._asking():
            for key in [*(f"{self._files}/{path}" for path in sorted(gone)), *owned]:
                with contextlib.suppress(FileNotFoundError, self._errors.NotFoundError):
                    self._os.delete(self._store, key)

    def used_bytes(self, owner: str) -> int:
        """Return the bytes that an owner stores.

        Raises:
            RequestRefusedError: The storage does not respond.
        """
        held = self._listed(self._files)
        return sum(held[path]["size"] for path in self._listed(self._owner(owner)) if path in held)

    def _owner(self, owner: str) -> str:
        return f"{self._owners}/{quote(owner, safe='').replace('%', '=').replace('.', '=2E') or '='}"


def _said(error: Exception) -> str:
    return _QUERY.sub("", " ".join(str(error).split()))[:_MAX_MESSAGE_CHARS]


def _is_safe(path: str) -> bool:
    """Return whether the name of an object is a safe relative path that a scan of the copy would find."""
    parts = PurePosixPath(path).parts
    return len(parts) > 1 and all(part == part.lstrip("./\\") and "\\" not in part for part in parts)


def _tops(held: Mapping[str, object], folder: Path) -> set[str]:
    there = {each.name for each in folder.iterdir() if each.is_dir()} if folder.is_dir() else set()
    return {path.partition("/")[0] for path in held} | {name for name in there if not name.endswith(".part")}


def _is_copy(file: Path, meta: ObjectMeta) -> bool:
    try:
        found = file.stat()
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == (meta["size"], _modified_ns(meta))


def _modified_ns(meta: ObjectMeta) -> int:
    return round(meta["last_modified"].timestamp() * 1000) * 1_000_000


def _stamp(file: Path, meta: ObjectMeta) -> None:
    """Set the modification time of a copy to that of the object, because refreshes and the index compare it."""
    os.utime(file, ns=(_modified_ns(meta), _modified_ns(meta)))


def _drop(file: Path, folder: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink()
        if file.parent.parent != folder:
            file.parent.rmdir()
