"""All errors that Openbook raises on purpose.

    OpenbookError
    ├── SettingsError          a setting is set but does not parse
    ├── QueryError             a question that cannot be asked (also a ValueError)
    ├── InvalidArgumentError   an argument has a value that it may not have (also a ValueError)
    ├── SourceError            a source cannot be read
    │   ├── SourceNotFoundError it does not exist
    │   ├── CourseFileError    a `course.toml` cannot be used
    │   ├── SkippedFileError   one file cannot be read; the rest of its source can
    │   └── FetchError         a repository cannot be fetched
    ├── LibraryError           an index cannot be used
    │   ├── CorruptLibraryError    the file is damaged, or not an index
    │   ├── MismatchedLibraryError the index was built by another version, embedder or chunker
    │   ├── LibraryWriteError      the index cannot be written: disk full, read-only, locked
    │   ├── UnknownSourceError     the library has no source with this name
    │   ├── UnknownCourseError     no course of the library matches a name
    │   └── AmbiguousCourseError   several courses match a name
    ├── SessionError           conversations cannot be kept or read
    │   └── SharedError            the shared store of several servers cannot be used
    ├── ClusterError           a cluster cannot be reached, or cannot do the work
    ├── MissingExtraError      an optional package is not installed
    ├── PluginError            a plugin cannot be imported, or failed
    ├── ToolError              a tool cannot do what the model asked for; reported to the model
    │   └── NoDocumentError        no document has that path
    └── ModelError             a model did not answer
        ├── KeyMissingError        no key is set
        ├── KeyRefusedError        the provider rejects the key, or does not allow it for this model
        ├── RateLimitedError       too many requests or tokens
        ├── OverloadedError        the provider has an error or is overloaded
        ├── UnreachableError       no connection
        ├── TimedOutError          no answer in time
        ├── BadRequestError        the provider rejects the request, such as an unknown model
        │   └── UnreadAttachmentError  the model does not read images or PDF; nothing was sent
        ├── BadResponseError       the response does not follow the protocol
        └── CutOffError            the stream was interrupted

Each carries a `hint`: what to do next, in one line.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence


class OpenbookError(Exception):
    """Root of all errors raised on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class SettingsError(OpenbookError):
    """A setting is set but does not parse."""


class QueryError(OpenbookError, ValueError):
    """A question that cannot be asked."""


class InvalidArgumentError(OpenbookError, ValueError):
    """An argument has a value that it may not have. The message ends with the hint, since a traceback has only that."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message, hint=hint)


class SourceError(OpenbookError):
    """A source cannot be read."""

    def __init__(self, location: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"cannot read {location!r}: {reason}", hint=hint)
        self.location = location
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        # Errors are pickled during ingest; the default would call `__init__` with the message alone.
        return (_rebuild_source_error, (type(self), self.location, self.reason, self.hint), vars(self))


class SourceNotFoundError(SourceError):
    """A source does not exist."""


class CourseFileError(SourceError):
    """A `course.toml` cannot be used; the reason includes the line."""


class SkippedFileError(SourceError):
    """One file cannot be read; the rest of its source can."""


class FetchError(SourceError):
    """A repository cannot be fetched. The message never contains a token."""

    def __init__(self, location: str, reason: str, *, hint: str = "", status: int | None = None) -> None:
        super().__init__(location, reason, hint=hint)
        self.status = status
        """HTTP status. None if there was no response."""


class LibraryError(OpenbookError):
    """An index cannot be used."""

    def __init__(self, message: str, *, hint: str = "", rebuild: str = "") -> None:
        super().__init__(message, hint=hint or (rebuild_hint(rebuild, ["PATH ..."]) if rebuild else ""))
        self.rebuild = rebuild
        """Name of the library, if rebuilding it would help; else empty."""


class CorruptLibraryError(LibraryError):
    """The file is damaged, or not an index."""


class MismatchedLibraryError(LibraryError):
    """The index was built by another version, embedder or chunker."""

    def __init__(self, message: str, *, hint: str = "", rebuild: str = "", chunks: str = "") -> None:
        super().__init__(message, hint=hint, rebuild=rebuild)
        self.chunks = chunks
        """Identity of the chunker that built it, if that is the only difference; else empty."""


class LibraryWriteError(LibraryError):
    """The index cannot be written: disk full, read-only, locked."""


class UnknownSourceError(LibraryError):
    """The library has no source with this name."""


class UnknownCourseError(LibraryError):
    """No course of the library matches a name. The hint lists the courses."""


class AmbiguousCourseError(LibraryError):
    """Several courses match a name. The hint lists them with what distinguishes them."""


class SessionError(OpenbookError):
    """Conversations cannot be kept or read."""


class SharedError(SessionError):
    """The shared store of several servers cannot be used. The message never contains a password."""


class ClusterError(OpenbookError):
    """A cluster cannot be reached, or cannot do the work. Committed work stays."""


class MissingExtraError(OpenbookError):
    """An optional package is not installed."""


class PluginError(OpenbookError):
    """A plugin from another package cannot be imported, or failed."""


class ToolError(OpenbookError):
    """A tool cannot do what the model asked for. Raised inside a tool, it is reported to the model."""


class NoDocumentError(ToolError):
    """No document has the path that a tool was called with."""


class ModelError(OpenbookError):
    """A model did not answer. The message never contains a key."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """HTTP status. None if there was no response."""
        self.retry_after_s = retry_after_s
        """Seconds to wait, as requested by the provider; None if it did not say."""


class KeyMissingError(ModelError):
    """No key is set."""


class KeyRefusedError(ModelError):
    """The provider rejects the key, or does not allow it for this model."""


class RateLimitedError(ModelError):
    """Too many requests or tokens."""


class OverloadedError(ModelError):
    """The provider has an error or is overloaded."""


class UnreachableError(ModelError):
    """No connection."""


class TimedOutError(ModelError):
    """No answer in time. Without a status, it was our own timeout, `Settings.model_timeout_s`."""


class BadRequestError(ModelError):
    """The provider rejects the request, such as an unknown model."""


class UnreadAttachmentError(BadRequestError):
    """The model does not support an attachment of the question. Nothing was sent."""


class BadResponseError(ModelError):
    """The response does not follow the protocol."""


class CutOffError(ModelError):
    """The stream was interrupted."""


_MAX_SUGGESTIONS = 3


def did_you_mean(word: str, known: Sequence[str], otherwise: str) -> str:
    """Return a hint with the known word most similar to a mistyped one, followed by `otherwise`.

    Example:
        >>> did_you_mean("shcool", ["school", "work"], "openbook sources lists them all")
        "did you mean 'school'? openbook sources lists them all"
    """
    from difflib import get_close_matches  # lazy: only needed after an error

    folded = {name.lower(): name for name in reversed(known)}
    wanted = word.lower()
    begun = [name for name in folded if wanted and name.startswith(wanted)]  # library names end with a hash
    close = list(dict.fromkeys(begun + get_close_matches(wanted, folded, n=_MAX_SUGGESTIONS)))[:_MAX_SUGGESTIONS]
    if not close:
        return otherwise
    return f"did you mean {' or '.join(repr(folded[name]) for name in close)}? {otherwise}"


def rebuild_hint(library: str, places: Sequence[str]) -> str:
    """Return the command that rebuilds a library. `places` are shown as they are."""
    return f"make it again with: openbook add --rebuild --library {shlex.quote(library)} {' '.join(places)}"


def check_positive(**limits: object) -> None:
    """Refuse limits of single calls that would allow nothing.

    Raises:
        TypeError: One is not a number.
        InvalidArgumentError: One is not above 0.
    """
    for name, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} is {value!r}, which is not a number")
        if not value > 0:  # NaN as well
            raise InvalidArgumentError(f"{name} is {value}", hint="give more than 0")


def _rebuild_source_error(cls: type[SourceError], location: str, reason: str, hint: str) -> SourceError:
    return cls(location, reason, hint=hint)
