"""Joins the modules of a page into one file, when the server starts: one request in place of twenty.

What a module names in `import("./x.js")` comes later, when it is wanted, as a file of its own. What that one needs and
the page has is taken from the page, so it exists once.

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
# Comments with lines of their own are a quarter of what is sent, and indents cost a kilobyte when compressed.
# No template literal of the page has lines that begin with either.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
# Types and words at the end of a line, which none of our texts has: `/** @type {Event} */` and `; // why`.
_ASIDE = re.compile(r"/\*\*(?:[^*\n]|\*(?!/))*\*/ ?|(?<=[;{,)\]}]) // .*$", re.MULTILINE)
_LATER = re.compile(r'\bimport\("\./(?P<name>[\w-]+)\.js"\)')
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\.meta\b|^await\b.*", re.MULTILINE)


class NotJoinableError(Exception):
    """A module has a form of `import` or `export` that is not understood."""


def joined_or_nothing(folder: Path, entry: str, apart: Collection[str] = (), *, later: str = "") -> str:
    """Return what `join_modules` or `join_later` returns; empty, and a line in the log, where that fails."""
    try:
        return join_later(folder, entry, later, apart) if later else join_modules(folder, entry, apart)
    except (NotJoinableError, OSError) as exc:
        _logger.warning("the page is served as its modules", extra={"reason": str(exc)})
        return ""


def join_modules(folder: Path, entry: str, apart: Collection[str] = ()) -> str:
    """Return one module that does what an entry and all that it imports do.

    Each module becomes a function that is called once, in the order in which they would run, and returns its exports.
    What comes later can import them. Comments and indents are left out.

    Modules in `apart` are loaded by the page itself, and imported as such.

    Raises:
        NotJoinableError: A module imports itself in the end, or is written in another way.
        OSError: A module is missing.
    """
    joined: dict[str, str] = {}
    _join(folder, entry, apart, joined, ())
    exported = ", ".join(_variable(name) for name in joined)
    text = "".join(joined.values()) + f"export {{ {exported} }};\n"
    return _LATER.sub(lambda found: f'import("./{later_name(entry, found["name"])}")', text)


def join_later(folder: Path, entry: str, name: str, apart: Collection[str] = ()) -> str:
    """Return one module that does what a module and all of its imports do that the page of an entry does not have.

    Raises:
        NotJoinableError: As for `join_modules`.
        OSError: A module is missing.
    """
    there: dict[str, str] = {}
    _join(folder, entry, apart, there, ())
    joined = dict(there)
    _join(folder, f"{name}.js", apart, joined, ())
    own = {file: text for file, text in joined.items() if file not in there}
    used = ", ".join(_variable(file) for file in there)
    exported = ", ".join(_exports((folder / f"{name}.js").read_text(encoding="utf-8")))
    return (
        f'import {{ {used} }} from "./{entry.removesuffix(".js")}.bundle.js";\n'
        + "".join(own.values())
        + f"export const {{ {exported} }} = {_variable(name)};\n"
    )


def later_name(entry: str, name: str) -> str:
    """Return what the file of a module that comes later is called."""
    return f"{entry.removesuffix('.js')}.{name}.bundle.js"


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
    exported = _exports(text)
    body = _EXPORT.sub(r"\g<what> \g<name>", _BARE_IMPORT.sub("", _IMPORT.sub(_binding, text)))
    if other := _OTHER.search(body):
        raise NotJoinableError(f"{name}: {other[0]}")
    body = _INDENT.sub("", _ASIDE.sub("", body))
    joined[name] = (
        f"\n// {name}\nconst {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"
    )


def _exports(text: str) -> list[str]:
    return [found["name"] for found in _EXPORT.finditer(text)]


def _binding(found: re.Match[str]) -> str:
    """Return the `const` that has the names of an `import`."""
    module = _variable(found["file"])
    if found["all"]:
        return f"const {found['all']} = {module};"
    names = [name.strip() for name in found["names"].split(",") if name.strip()]
    return f"const {{ {', '.join(name.replace(' as ', ': ') for name in names)} }} = {module};"


def _variable(file: str) -> str:
    return "module_" + re.sub(r"\W", "_", file.removesuffix(".js"))
