"""Extracts the code of Markdown pages: fences at any depth, and indented blocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = {
    page.relative_to(ROOT).as_posix(): page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
}

# What the code of the pages runs in.
PROJECT = {
    "docs/sessions.md": "# Sessions\n\nSessions end after one hour. A token is valid for five minutes.\n",
    "docs/chunking.md": "# Chunking\n\nA document is split into chunks at its headings.\n",
    "src/orders.py": '"""Orders of the shop."""\n\nFREE_SHIPPING_FROM = 50\n\n\n'
    "def shipping(total: float) -> float:\n"
    '    """Return what shipping costs: nothing from FREE_SHIPPING_FROM crowns on."""\n'
    "    return 0 if total >= FREE_SHIPPING_FROM else 4.5\n",
    "src/retry.py": '"""Retries."""\n\n\ndef retry_policy(attempt: int) -> float:\n'
    '    """Tell how long to wait: the retry policy."""\n    return 2.0**attempt\n\n\n'
    "def fetch() -> float:\n    return retry_policy(1)\n",
    "tests/test_retry.py": "from retry import retry_policy\n\n\ndef test_the_retry_policy() -> None:\n"
    "    assert retry_policy(1) == 2.0\n",
}

NOT_RUN = re.compile(r"<!-- not run: (?P<reason>\S.*\S) -->\s*")
_PYTHON = {"python", "py", "pycon", "python3"}
_STATEMENTS = (ast.Import, ast.ImportFrom, ast.With, ast.FunctionDef, ast.ClassDef, ast.Assign)

# Lines of a code block, in a fence or indented, and code within a sentence.
_BLOCK_LINE = re.compile(r"^ *(?:\$ )?(?:[A-Z_]+=\S+ )*openbook (?P<line>\S.*)$")
_INLINE = re.compile(r"`openbook (?P<line>[^`]+)`")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")


@dataclass(frozen=True)
class Snippet:
    """A block of Python on a page."""

    page: str
    line: int
    code: str
    not_run: str
    """Why it cannot run here, from the comment before it; empty if it can."""

    def run(self, names: dict[str, object]) -> None:
        """Run it with the names of the page. A traceback shows the line of the page."""
        exec(compile("\n" * self.line + self.code, self.page, "exec"), names)


def snippets(page: str) -> Iterator[Snippet]:
    """Yield the fenced Python of a page, in order."""
    reason = ""
    for token in _blocks(page):
        if token.type == "fence" and token.info.split(" ")[0].lower() in _PYTHON:
            yield Snippet(page, token.map[0] + 1, token.content, reason)
        found = NOT_RUN.fullmatch(token.content) if token.type == "html_block" else None
        reason = found["reason"] if found else ""


def unfenced(page: str) -> Iterator[str]:
    """Yield indented blocks that are Python, which are neither highlighted nor run."""
    for token in _blocks(page):
        if token.type == "code_block" and _is_python(token.content):
            yield f"{page}:{token.map[0] + 1}"


def commands(text: str) -> list[str]:
    """Return the commands in the code blocks of a page, in order, without `openbook`."""
    return [match["line"] for line in _code_lines(text) if (match := _BLOCK_LINE.match(line))]


def command_lines(text: str) -> list[str]:
    """Return all commands on a page, including those within a sentence, without `openbook`."""
    return commands(text) + [match["line"] for match in _INLINE.finditer(text)]


def _code_lines(text: str) -> Iterator[str]:
    """Yield the lines of code blocks, joining lines that end in a backslash."""
    fenced = False
    for line in text.replace("\\\n", " ").split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield line


def _blocks(page: str) -> Iterator[Any]:
    text = PAGES[page].read_text(encoding="utf-8")
    return (
        token for token in MarkdownIt("commonmark").parse(text) if token.type in ("fence", "code_block", "html_block")
    )


def _is_python(code: str) -> bool:
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return False
    return any(isinstance(node, _STATEMENTS) or _is_call(node) for node in tree.body)


def _is_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await)
