"""Decides whether text that looks like a path, and names no existing file, is meant as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openbook.sources.languages import BY_NAME, BY_SUFFIX
from openbook.verify.mentions import Mention

# Suffixes that products and hosts have as well: `Node.js:18`, `crates.rs:443`. Without a folder, such text is a
# citation only in code or with `#L`.
_AMBIGUOUS_SUFFIXES = frozenset(
    {"app", "cc", "io", "js", "md", "pl", "rs", "sh", "sc", "so", "st", "net", "com", "org"}
)

# Examples in documentation: `path/to/file.py:12`.
_PLACEHOLDER_PATH = re.compile(
    r"(?:.*/)?(?:path/to.*|(?:your|my|some)[-_]\w+\.\w+|(?:file|filename|foo|bar|baz|qux|example|path|name)\d*(?:\.\w+)?)",
    re.IGNORECASE,
)

# System folders. In prose, other words can follow a slash, as in `/s:1`.
_SYSTEM_PATH = re.compile(
    r"/(?:bin|boot|dev|etc|home|lib\w*|mnt|opt|private|proc|root|run|s?bin|srv|sys|tmp|usr|var|Users|Volumes)/"
)

_MAX_LISTED = 3


def leads_out(path: str) -> bool:
    """Return whether a path leads out of the root: above it, or into a system folder."""
    return path.startswith("../") or "/../" in path or _SYSTEM_PATH.match(path) is not None


def is_short_for(short: str, path: str) -> bool:
    """Return whether a path is the end of another one, or with `/.../` a part and the end of it.

    Example:
        >>> [is_short_for(short, "core/src/io/read.rs") for short in ("io/read.rs", "src/.../read.rs", "d.rs")]
        [True, True, False]
    """
    part, elided, end = short.rpartition("/.../")
    is_end = f"/{path}".endswith(f"/{end}")
    return is_end and (not elided or f"/{part}/" in f"/{path.removesuffix(end)}")


def last_named(text: str, paths: Sequence[str], now: Mapping[str, str]) -> str:
    """Return the file that a text names last; empty if it names none of them.

    Args:
        text: The text before a citation.
        paths: The files to choose from.
        now: The current path of each path in the text, which may be from before a rename.

    Example:
        >>> last_named("Of `old/hooks.py` and `src/app.py`", ["src/app.py", "src/hooks.py"], {})
        'src/app.py'
        >>> last_named("Of `old/hooks.py`", ["src/app.py", "src/hooks.py"], {"old/hooks.py": "src/hooks.py"})
        'src/hooks.py'
    """
    written = {path: path for path in paths} | {old: path for old, path in now.items() if path in paths}
    at, path = max((text.rfind(name), path) for name, path in written.items())
    return path if at >= 0 else ""


def is_meant_as_file(text: str, mention: Mention, *, is_name_known: bool) -> bool:
    """Return whether text that looks like a citation is one, by its wording.

    `is_name_known`: whether some file has that name.
    """
    if _PLACEHOLDER_PATH.fullmatch(mention.path):
        return False
    if mention.form != "plain":
        return True
    name = mention.path.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if name not in BY_NAME and suffix not in BY_SUFFIX:
        return False
    if "/" in mention.path or text[mention.lines_chars[0]] == "L":
        return True
    in_code = text[mention.start_char - 1 : mention.start_char] == "`"
    return in_code or (not is_name_known and suffix not in _AMBIGUOUS_SUFFIXES and bool(suffix))


def listed(paths: Sequence[str]) -> str:
    """Return the first few paths, and how many more there are."""
    more = len(paths) - _MAX_LISTED
    return ", ".join(paths[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
