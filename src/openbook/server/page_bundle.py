"""Joins the modules of a page into one file, when the server starts: one request in place of twenty.

The modules stay as they are, and can be read and debugged; there is no build step. Only the few forms of `import` and
`export` that the page uses are understood. Whatever else is met is an error; the page is served as its modules then.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from pathlib import Path

_logger = logging.getLogger(__name__)

_IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<names>[^{}]*)\}) from "\./(?P<file>[\w-]+\.js)";$', re.MULTILINE
)
_BARE_IMPORT = re.compile(r'^import "\./(?P<file>[\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?P<what>(?:async )?function\*?|const|class) (?P<name>\w+)", re.MULTILINE)
# Comments with lines of their own are a quarter of what is sent. No template literal of the page has such lines.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\.meta\b|^await\b.*", re.MULTILINE)


class NotJoinableError(Exception):
    """A module has a form of `import` or `export` that is not understood."""


def joined_or_nothing(folder: Path, entry: str, apart: Collection[str] = ()) -> str:
    """Return what `join_modules` returns; empty, with a line in the log, where the modules cannot be joined."""
    try:
        return join_modules(folder, entry, apart)
    except (NotJoinableError, OSError) as exc:
        _logger.warning("the page is served as its modules", extra={"reason": str(exc)})
        return ""


def join_modules(folder: Path, entry: str, apart: Collection[str] = ()) -> str:
    """Return one module that does what an entry and all that it imports do.

    Each module becomes a function that is called once, in the order in which they would run, and returns its exports.
    Comments are left out.

    Args:
        folder: Where the modules lie.
        entry: The one that the page names.
        apart: Modules that the page loads by themselves, and that are imported as such.

    Raises:
        NotJoinableError: A module imports itself in the end, or is written in another way.
        OSError: A module is missing.
    """
    joined: dict[str, str] = {}
    _join(folder, entry, apart, joined, ())
    return "".join(joined.values())


def _join(folder: Path, name: str, apart: Collection[str], joined: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise NotJoinableError(f"{' imports '.join((*above, name))}")
    if name in joined:
        return
    if name in apart:
        joined[name] = f'import * as {_variable(name)} from "./{name}";\n'
        return
    text = (folder / name).read_text(encoding="utf-8")
    needed = sorted((found.start(), found["file"]) for kind in (_IMPORT, _BARE_IMPORT) for found in kind.finditer(text))
    for _, file in needed:
        _join(folder, file, apart, joined, (*above, name))
    text = _COMMENT.sub("", text)
    exported = [found["name"] for found in _EXPORT.finditer(text)]
    body = _EXPORT.sub(r"\g<what> \g<name>", _BARE_IMPORT.sub("", _IMPORT.sub(_binding, text)))
    if other := _OTHER.search(body):
        raise NotJoinableError(f"{name}: {other[0]}")
    joined[name] = (
        f"\n// {name}\nconst {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"
    )


def _binding(found: re.Match[str]) -> str:
    """Return the `const` that has the names of an `import`."""
    module = _variable(found["file"])
    if found["all"]:
        return f"const {found['all']} = {module};"
    names = [name.strip() for name in found["names"].split(",") if name.strip()]
    return f"const {{ {', '.join(name.replace(' as ', ': ') for name in names)} }} = {module};"


def _variable(file: str) -> str:
    return "module_" + re.sub(r"\W", "_", file.removesuffix(".js"))
