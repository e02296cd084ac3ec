"""Values that are given to names, against what a claim says of them."""

from __future__ import annotations

import pytest

from openbook.grounding.assignments import value_disagrees


@pytest.mark.parametrize(
    ("claim", "cited", "shown"),
    [
        ("`MAX_RETRIES` is 5.", ["MAX_RETRIES = 3", "TIMEOUT_S = 5"], "MAX_RETRIES = 3"),
        ("The default of `min_dims` is 1.", ["def f(self, min_dims=0, min_side=1):"], "min_dims=0"),
        ("The port is 30.", ["port: 8080", "timeout: 30"], "port: 8080"),
        ("`Client.retries` defaults to 4.", ["retries: int | None = 2", "limit = 4"], "retries: int | None = 2"),
        ("`limit`, which is set to 7, bounds it.", ['"limit": 9, "size": 7'], 'limit": 9'),
        ("It has `depth = 4`.", ["depth = 2  # of 4"], "depth = 2"),
        ("`timeout_ms` is 1500 seconds.", ["timeout_ms = 1500"], "timeout_ms = 1500"),
    ],
)
def test_another_value_of_a_name_is_told(claim: str, cited: list[str], shown: str) -> None:
    assert value_disagrees(claim, cited).rpartition(" say ")[2] == shown


@pytest.mark.parametrize(
    ("claim", "cited"),
    [
        ("`retries` is 3.", ["retries = 3", "timeout = 5"]),
        ("`retries` is 3 or 5.", ["retries = 4"]),
        ("`retries` is 5.", ["retries = 3", "if slow:", "    retries = 5"]),
        ("`timeout_s` is half a minute, 30 seconds.", ["timeout_s = 30"]),
        ("`timeout_ms` is 1.5 seconds.", ["timeout_ms = 1500"]),
        ("`size` is 4096 bytes.", ["size = 4 KiB"]),
        ("`share` is 50%.", ["share = 0.5"]),
        ("`retries` is not 5.", ["retries = 3"]),
        ("The retries of 5 clients wait.", ["retries = 3"]),
        ("`retries` is compared with 5.", ["if retries == 3 or retries >= 5:"]),
        ("`timeout_ms` is 1500.", ["timeout_ms = 1500"]),
        ("It waits.", ["retries = 3"]),
    ],
)
def test_the_same_value_or_none_agrees(claim: str, cited: list[str]) -> None:
    assert value_disagrees(claim, cited) == ""
