from __future__ import annotations

import copy
import pickle

import pytest

from openbook.errors import (
    FetchError,
    InvalidArgumentError,
    LibraryError,
    OpenbookError,
    RateLimitedError,
    SkippedFileError,
)


@pytest.mark.parametrize(
    "error",
    [
        FetchError("https://git.example/a", "refused", hint="ask for access", status=403),
        SkippedFileError("a.pdf", "encrypted"),
        LibraryError("no", rebuild="notes"),
        RateLimitedError("slowly", hint="try again in 7 s", retry_after_s=7.0),
        InvalidArgumentError("limit is 0", hint="ask for at least 1 result"),
    ],
)
def test_an_error_comes_whole_from_another_process(error: OpenbookError) -> None:
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(same), str(same), vars(same)) == (type(error), str(error), vars(error))
