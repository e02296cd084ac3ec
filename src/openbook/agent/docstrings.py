"""Google-style docstrings: what a function does, and what each argument means."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"^(Args|Arguments|Attributes|Examples?|Note|Notes|Raises|Returns|Warns|Yields):\s*$")
_ARGUMENT = re.compile(r"^(?P<name>\*{0,2}\w+)\s*(?:\([^)]*\))?:(?:\s+(?P<text>.*))?$")


def read_docstring(docstring: str) -> tuple[str, dict[str, str]]:
    r"""Return the text before the first section, and the arguments' descriptions in order, each in one line.

    Any text can be read; without an `Args:` section there are no descriptions.

    Example:
        >>> read_docstring("Find a symbol.\n\nArgs:\n    name: Exact name,\n        without module.")
        ('Find a symbol.', {'name': 'Exact name, without module.'})
    """
    summary: list[str] = []
    arguments: dict[str, str] = {}
    section = name = ""
    depth = 0
    for line in inspect.cleandoc(docstring).splitlines():
        header = _SECTION.match(line)
        if header is not None:
            section, depth, name = header[1], 0, ""
        elif not section:
            summary.append(line)
        elif section in ("Args", "Arguments") and line.strip():
            indent = len(line) - len(line.lstrip())
            # The first line says how deep arguments stand; what stands deeper goes on with the one before.
            depth = depth or indent
            match = _ARGUMENT.match(line.strip()) if indent <= depth else None
            if match is not None:
                name = match["name"].lstrip("*")
                arguments[name] = match["text"] or ""
            elif name:
                arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return "\n".join(summary).strip(), arguments
