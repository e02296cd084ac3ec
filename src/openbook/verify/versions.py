"""Tells lines that differ in nothing but versions."""

from __future__ import annotations

import re

# Of three parts, behind a `v`, or that of Go in `go.mod`. Any other number, such as a timeout, is a value.
_VERSION = re.compile(
    r"(?:(?<![\w.-])(?:v|(?=\d+\.\d+\.\d))|(?<=\bgo ))\d+(?:\.\d+){1,2}"
    r"(?:[-+][\w.+-]*\w|\.?(?:dev|a|b|rc|post)\d*)?(?!\.?\w)"
)


def differ_in_versions(then: str, now: str) -> bool:
    """Return whether two texts are the same but for versions.

    Example:
        >>> differ_in_versions("lib v1.2.0-rc1", "lib v1.3.14"), differ_in_versions("wait 0.5", "wait 3.5")
        (True, False)
    """
    return _VERSION.sub("0", then) == _VERSION.sub("0", now)
