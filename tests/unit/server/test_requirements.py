"""What the server needs is asked for before it starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from openbook.cli import main
from openbook.cli.serving import check_installed
from openbook.errors import MissingExtraError
from tests.children import run_child


def test_missing_packages_are_named_with_the_install_command() -> None:
    check_installed()

    with pytest.raises(MissingExtraError, match="needs no_such_package") as caught:
        check_installed(("fastapi", "no_such_package"))

    assert "openbook[server]" in caught.value.hint


def what_commands_say_without_extras(home: str) -> list[int]:
    """Run commands where none of the packages of the extras is installed, and return their exit codes."""
    for name in ("fastapi", "lancedb", "mcp", "redis", "starlette", "uvicorn"):
        sys.modules[name] = None  # type: ignore[assignment]
    os.environ["OPENBOOK_HOME"] = home
    return [main(command) for command in (["keys", "add", "ada"], ["keys", "remove", "ada"], ["serve"], ["mcp"])]


@pytest.mark.slow
def test_without_extras_keys_are_made_and_what_needs_them_says_so(tmp_path: Path) -> None:
    told = run_child(what_commands_say_without_extras, str(tmp_path))

    assert told.endswith("[0, 0, 3, 3]")
