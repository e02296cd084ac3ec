"""Writes docs/cli.md from the commands themselves: `python tools/write_cli_reference.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from openbook.cli import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_NOTHING, EXIT_USAGE
from openbook.cli.app import app

REFERENCE = Path(__file__).parents[1] / "docs" / "cli.md"

_EXIT_CODES = {
    0: "answered, found, or done",
    EXIT_NOTHING: "nothing found, no answer in the sources, or a check that failed",
    EXIT_USAGE: "wrong usage: an option, a path, a name or a setting",
    EXIT_FAILURE: "a failure: the disk, a permission, a damaged library",
    EXIT_INTERRUPTED: "Ctrl-C; what was indexed is kept",
}


def reference() -> str:
    """Return the whole page as Markdown, the same on every machine."""
    group: Any = get_command(app)
    lines = [
        "# Commands",
        "",
        "<!-- Written by tools/write_cli_reference.py from src/openbook/cli/app.py: change the texts there. -->",
        "",
        _sentence(group.help),
        "",
        "Results go to standard output, everything else to standard error: each failure as one line and a hint.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        *(f"| {code} | {meaning} |" for code, meaning in _EXIT_CODES.items()),
        "",
        "| option before a command | what it does |",
        "|---|---|",
        *_rows(group, "option"),
    ]
    for name, command in _commands(group):
        lines += ["", f"## openbook {name}", "", f"    openbook {name} [OPTIONS]{_places(command)}", ""]
        lines.append(_sentence(command.help))
        for kind in ("argument", "option"):
            rows = list(_rows(command, kind))
            if rows:
                lines += ["", f"| {kind} | what it {'is' if kind == 'argument' else 'does'} |", "|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its name, those of a group behind the group."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")


def _places(command: Any) -> str:
    return "".join(f" {_argument(parameter)}" for parameter in command.params if _kind(parameter) == "argument")


def _rows(command: Any, kind: str) -> Iterator[str]:
    for parameter in command.params:
        if _kind(parameter) == kind:
            name = _argument(parameter) if kind == "argument" else _option(parameter)
            yield f"| `{name}` | {_cell(parameter.help)}{_limits(parameter)} |"
    if kind == "option" and all("--help" not in parameter.opts for parameter in command.params):
        yield "| `--help` | Show this message and exit. |"


def _kind(parameter: Any) -> str:
    return str(parameter.param_type_name)


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    if "[" in name:  # says itself what may be left out
        return str(name)
    name = name if parameter.required else f"[{name}]"
    return f"{name}..." if parameter.nargs == -1 else str(name)


def _option(parameter: Any) -> str:
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    return f"{', '.join(parameter.opts)}{value}"


def _limits(parameter: Any) -> str:
    """Tell range, default and whether an option may be repeated, as sentences."""
    said = []
    text = parameter.help or ""
    lowest, most = (getattr(parameter.type, end, None) for end in ("min", "max"))  # only numbers have a range
    if lowest is not None:
        said.append(f"From {lowest} {'up' if most is None else f'to {most}'}.")
    if parameter.multiple and "repeated" not in text:
        said.append("Can be repeated.")
    if parameter.default and "Default:" not in text:
        said.append(f"Default: `{parameter.default}`.")
    return "".join(f" {sentence}" for sentence in said)


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str | None) -> str:
    return _sentence(text).replace("|", "\\|")


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
