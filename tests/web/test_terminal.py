"""What a terminal of 80 columns and 24 lines shows. `make test-browser` keeps a picture of each."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.integration.support_cli import run_alone, run_on_terminal

ROOT = Path(__file__).parents[2]
COLUMNS = 80

PAGE = "<html><body style='margin:12px;background:{background};color:{foreground}'>{code}</body></html>"
CODE = "<pre style='font:14px/1.25 monospace'>{code}</pre>"

pytestmark = pytest.mark.browser

COMMANDS = {
    "help": ["--help"],
    "ask": ["ask", "How are transcripts split into chunks?", "docs"],
    "search": ["search", "rate limit", "docs", "-n", "4"],
    "status": ["status", "docs"],
    "refusal": ["ask", "What is the capital of Mongolia?", "docs"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_fits_a_terminal(
    name: str, tmp_path: Path, chromium: Browser, shoot: Callable[[Page, str], None]
) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shown = on_terminal(COMMANDS[name], tmp_path)

    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(shown), soft_wrap=True)
    page = chromium.new_page(viewport={"width": 720, "height": 480})
    page.set_content(console.export_html(theme=MONOKAI, inline_styles=True, code_format=PAGE.replace("{code}", CODE)))
    shoot(page, f"terminal-{name}")
    page.close()

    lines = Text.from_ansi(shown).plain.splitlines()
    assert [
        line for line in lines if len(line) > COLUMNS and not line.startswith((" ", "source ", "library "))
    ] == []  # not code and paths


def on_terminal(arguments: list[str], cwd: Path) -> str:
    """Return what a command shows, styles included, after its folder is indexed."""
    run_alone("search", "x", "docs", cwd=cwd)
    shown = run_on_terminal(*arguments, cwd=cwd, columns=COLUMNS).out
    return f"$ openbook {' '.join(arguments)}\n{shown}".replace("\r\n", "\n")
