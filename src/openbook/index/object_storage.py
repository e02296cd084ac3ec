"""Probe for conditional PUT, which object storage needs so that several machines can write to one library."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator

from obstore import delete, put
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError
from obstore.store import LocalStore, from_url

from openbook.errors import LibraryWriteError


def check_conditional_writes(address: str) -> None:
    """Write a small object twice, the second time only if it is not there.

    LanceDB numbers its commits so. Storage that says yes to both writers of one number loses the work of one of
    them, and nobody is told.

    Raises:
        LibraryWriteError: The second one was written as well, or nothing can be written.
    """
    name = f"openbook-probe-{secrets.token_hex(8)}"
    try:
        store = from_url(address)
        put(store, name, b"1", mode="create")
        try:
            put(store, name, b"2", mode="create")
        except (AlreadyExistsError, NotSupportedError) as exc:
            is_kept = isinstance(exc, AlreadyExistsError)
        else:
            is_kept = False
        with contextlib.suppress(BaseError):  # one byte stays where objects may not be deleted
            delete(store, name)
    except BaseError as exc:
        said = " ".join(str(exc).split())[:300]
        raise LibraryWriteError(
            f"cannot write to {address!r}: {said}", hint="check that the bucket is there, its address and your rights"
        ) from exc
    if not is_kept:
        raise LibraryWriteError(
            f"the storage at {address!r} overwrites what it is told not to: writers would lose each other's work",
            hint="use storage that knows conditional writes (If-None-Match), or a folder",
        )


@contextlib.contextmanager
def claimed(address: str, name: str) -> Iterator[bool]:
    """Yield whether a name could be claimed, and hold the claim meanwhile.

    Args:
        address: Of object storage, or the path of a folder.
        name: Of the object that is there while the name is claimed.

    Raises:
        LibraryWriteError: It cannot be written there.
    """
    try:
        store = from_url(address) if "://" in address else LocalStore(address)
        try:
            put(store, name, b"", mode="create")
        except AlreadyExistsError:
            yield False
            return
    except BaseError as exc:
        raise LibraryWriteError(
            f"cannot write to {address!r}: {' '.join(str(exc).split())[:300]}", hint="check its space and your rights"
        ) from exc
    try:
        yield True
    finally:
        with contextlib.suppress(BaseError):
            delete(store, name)
