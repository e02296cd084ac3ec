"""Everything that Openbook raises on purpose.

    OpenbookError
    ├── SettingsError          a setting is set but does not parse
    ├── QueryError             a question that cannot be asked (also a ValueError)
    ├── SourceError            a source cannot be read
    │   ├── SourceNotFoundError it does not exist
    │   ├── CourseFileError    a `course.toml` cannot be used
    │   ├── SkippedFileError   one file cannot be read; the rest of its source can
    │   └── FetchError         a repository cannot be fetched
    ├── LibraryError           an index cannot be used
    │   ├── CorruptLibraryError    the file is damaged, or is no index of ours
    │   ├── MismatchedLibraryError the index was made by another version, embedder or way of cutting
    │   ├── LibraryWriteError      the index cannot be written: disk full, read-only, locked
    │   ├── UnknownSourceError     the library has no source of that name
    │   ├── UnknownCourseError     the library has no course that a name can mean
    │   └── AmbiguousCourseError   a name can mean several courses
    ├── SessionError           conversations cannot be kept or read
    │   └── SharedError            where servers share them and their limits cannot be used
    ├── ClusterError           a cluster cannot be reached, or cannot do the work
    ├── MissingExtraError      an optional package is not installed
    ├── PluginError            a plugin cannot be imported, or failed
    ├── ToolError              a tool cannot do what a model wants of it; the model is told
    └── ModelError             a model did not answer
        ├── KeyMissingError        no key is set
        ├── KeyRefusedError        the provider does not accept the key, or not for this model
        ├── RateLimitedError       too many requests or tokens
        ├── OverloadedError        the provider has a fault or too much to do
        ├── UnreachableError       no connection
        ├── TimedOutError          no answer in time
        ├── BadRequestError        the provider refuses what was asked, such as an unknown model
        │   └── UnreadAttachmentError  the model does not read images or PDF; nothing was sent
        ├── BadResponseError       what came is not what the wire promises
        └── CutOffError            the stream broke off

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


class SourceError(OpenbookError):
    """A source cannot be read."""

    def __init__(self, location: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"cannot read {location!r}: {reason}", hint=hint)
        self.location = location
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders during ingest; the default would call with the message alone.
        return (_rebuild_source_error, (type(self), self.location, self.reason, self.hint))


class SourceNotFoundError(SourceError):
    """A source does not exist."""


class CourseFileError(SourceError):
    """A `course.toml` cannot be used; the reason names the line."""


class SkippedFileError(SourceError):
    """One file cannot be read; the rest of its source can."""


class FetchError(SourceError):
    """A repository cannot be fetched. No token ever stands in the message."""

    def __init__(self, location: str, reason: str, *, hint: str = "", status: int | None = None) -> None:
        super().__init__(location, reason, hint=hint)
        self.status = status
        """Of HTTP. None if there was no response."""


class LibraryError(OpenbookError):
    """An index cannot be used."""

    def __init__(self, message: str, *, hint: str = "", rebuild: str = "") -> None:
        super().__init__(message, hint=hint or (rebuild_hint(rebuild, ["PATH ..."]) if rebuild else ""))
        self.rebuild = rebuild
        """Name of the library, where making it again mends it; else empty."""


class CorruptLibraryError(LibraryError):
    """The file is damaged, or is no index of ours."""


class MismatchedLibraryError(LibraryError):
    """The index was made by another version, embedder or way of cutting."""

    def __init__(self, message: str, *, hint: str = "", rebuild: str = "", chunks: str = "") -> None:
        super().__init__(message, hint=hint, rebuild=rebuild)
        self.chunks = chunks
        """Identity of the rules that cut its chunks, where nothing else is different; else empty."""


class LibraryWriteError(LibraryError):
    """The index cannot be written: disk full, read-only, locked."""


class UnknownSourceError(LibraryError):
    """The library has no source of that name."""


class UnknownCourseError(LibraryError):
    """The library has no course that a name can mean. The hint lists what it has."""


class AmbiguousCourseError(LibraryError):
    """A name can mean several courses. The hint lists them by what tells them apart."""


class SessionError(OpenbookError):
    """Conversations cannot be kept or read."""


class SharedError(SessionError):
    """Where servers share conversations and limits cannot be used. No password ever stands in the message."""


class ClusterError(OpenbookError):
    """A cluster cannot be reached, or cannot do the work. What was committed stays."""


class MissingExtraError(OpenbookError):
    """An optional package is not installed."""


class PluginError(OpenbookError):
    """A plugin of another package cannot be imported, or failed."""


class ToolError(OpenbookError):
    """A tool cannot do what a model wants of it. Raised inside of a tool, it is shown to the model."""


class ModelError(OpenbookError):
    """A model did not answer. No key ever stands in the message."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        """Of HTTP. None if there was no response."""
        self.retry_after_s = retry_after_s
        """Seconds to wait, as the provider asks; None if it does not."""


class KeyMissingError(ModelError):
    """No key is set."""


class KeyRefusedError(ModelError):
    """The provider does not accept the key, or not for this model."""


class RateLimitedError(ModelError):
    """Too many requests or tokens."""


class OverloadedError(ModelError):
    """The provider has a fault or too much to do."""


class UnreachableError(ModelError):
    """No connection."""


class TimedOutError(ModelError):
    """No answer in time. Without a status it was our own deadline, `Settings.model_timeout_s`."""


class BadRequestError(ModelError):
    """The provider refuses what was asked, such as an unknown model."""


class UnreadAttachmentError(BadRequestError):
    """The model does not read what is attached to the question. Nothing was sent."""


class BadResponseError(ModelError):
    """What came is not what the wire promises."""


class CutOffError(ModelError):
    """The stream broke off."""


_MOST_MEANT = 3


def did_you_mean(word: str, known: Sequence[str], otherwise: str) -> str:
    """Return a hint that names what a mistyped word is most like, before `otherwise`.

    Example:
        >>> did_you_mean("shcool", ["school", "work"], "openbook sources lists them all")
        "did you mean 'school'? openbook sources lists them all"
    """
    from difflib import get_close_matches  # where something is wrong already, its import costs nobody

    folded = {name.lower(): name for name in reversed(known)}
    wanted = word.lower()
    begun = [name for name in folded if wanted and name.startswith(wanted)]  # a library's name ends with a hash
    close = list(dict.fromkeys(begun + get_close_matches(wanted, folded, n=_MOST_MEANT)))[:_MOST_MEANT]
    if not close:
        return otherwise
    return f"did you mean {' or '.join(repr(folded[name]) for name in close)}? {otherwise}"


def rebuild_hint(library: str, places: Sequence[str]) -> str:
    """Name the command that makes a library again. `places` are shown as they are."""
    return f"make it again with: openbook add --rebuild --library {shlex.quote(library)} {' '.join(places)}"


def _rebuild_source_error(cls: type[SourceError], location: str, reason: str, hint: str) -> SourceError:
    return cls(location, reason, hint=hint)
