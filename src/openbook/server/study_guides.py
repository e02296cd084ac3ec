"""Study guides, made in a separate process, because a long lesson takes seconds and must not block questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from anyio import CapacityLimiter

from openbook.errors import OpenbookError
from openbook.libraries.catalog import Location
from openbook.library import Library
from openbook.process_pool import JobFailure, SharedProcess
from openbook.server.failures import RequestRefusedError
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from openbook.types import Filter

# Reading 200 passages of a long document takes seconds, and starting the process about one.
_TIMEOUT_S = 60.0

# Includes waiting for other guides.
_MAX_WAIT_S = 60.0

# Threads that wait for the process, separate from those of other routes.
_MAX_THREADS = 32

_HINT = "make it by the command openbook study, which has no limit"


@dataclass(frozen=True, slots=True)
class GuideJob:
    """A guide to make."""

    where: Filter
    count: int
    """Maximum number of terms, and of questions."""


Make = Callable[[GuideJob], str | OpenbookError]
"""Runs in the process, and returns a guide in Markdown. Picklable."""


class StudyGuides:
    """Makes guides to lessons of one library, one at a time. Thread-safe. The process starts with the first guide."""

    def __init__(
        self,
        library: ServedLibrary,
        *,
        timeout_s: float = _TIMEOUT_S,
        max_wait_s: float = _MAX_WAIT_S,
        make: Make | None = None,
    ) -> None:
        self.threads = CapacityLimiter(_MAX_THREADS)
        self._process = SharedProcess(
            make or partial(make_guide, library.location, library.settings),
            timeout_s=timeout_s,
            max_wait_s=max_wait_s,
        )

    def make(self, where: Filter, count: int) -> str:
        made = self._process.ask(GuideJob(where, count))
        if made is None:
            raise RequestRefusedError(503, "other study guides are being made", hint="try again in a minute")
        if isinstance(made, JobFailure):
            raise RequestRefusedError(503, f"this study guide cannot be made: {made.reason}", hint=_HINT)
        if isinstance(made, OpenbookError):
            raise made
        return made

    def close(self) -> None:
        """Stop the process. The next guide starts another one."""
        self._process.close()


def make_guide(location: Location, settings: Settings, job: GuideJob) -> str | OpenbookError:
    """Make a guide of quotes. Errors are returned, not raised, to keep their hints across the process boundary."""
    try:
        with Library(location, settings) as library:
            return library.study(where=job.where, count=job.count).to_markdown()
    except OpenbookError as exc:
        return exc
