"""Whether storage keeps the promise that lets several machines write to one library."""

from __future__ import annotations

import secrets

from obstore import delete, put
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError
from obstore.store import from_url

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
