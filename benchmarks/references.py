"""How many call sites `find_references` finds, and how much text it takes, beside grep.

    python -m benchmarks.references

The names are functions, methods and classes of installed packages that are called at least three times in
their package. What a call is says Python's own `ast`: a call or a decorator whose function ends in the name.
Text is what the MCP tool returns with room for all of it, and what `grep -rnw NAME` prints: each line that
holds the name as a word, behind its path and number.
"""

from __future__ import annotations

import argparse
import ast
import re
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from openbook.library import Library
from openbook.mcp.tools import MAX_TOKENS, McpTools
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

PACKAGES = ("jinja2", "rich", "werkzeug")

# Names of each package, spread evenly over those that qualify.
NAMES = 40
MIN_CALLS = 3

Site = tuple[str, int]


# What is measured is what is found when all is read.
PATIENCE_S = 600.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A package."""

    package: str
    names: int
    sites: int
    """Calls that `ast` finds."""
    found: int
    """Of them, by `find_references`."""
    called: int
    """What `find_references` calls a call, right or wrong."""
    chars: int
    call_chars: int
    """With `use="call"`."""
    grep_chars: int


def calls_in(files: dict[str, str]) -> tuple[dict[str, set[Site]], set[str]]:
    """Return where each name is called, and the names that the files define."""
    sites: dict[str, set[Site]] = defaultdict(set)
    defined: set[str] = set()
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            functions = [node.func] if isinstance(node, ast.Call) else []
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.add(node.name)
                functions = node.decorator_list
            for function in functions:
                if isinstance(function, ast.Name):
                    sites[function.id].add((path, function.lineno))
                elif isinstance(function, ast.Attribute) and function.end_lineno is not None:
                    sites[function.attr].add((path, function.end_lineno))
    return sites, defined


def measure(package: str, home: Path) -> Figure:
    """Index an installed package, and ask for the references of its names.

    Raises:
        LookupError: It is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"{package} is not installed; requirements/dev.txt has it")
    folder = Path(spec.submodule_search_locations[0])
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    sites, defined = calls_in(files)
    names = sorted(name for name in defined if len(sites[name]) >= MIN_CALLS and not name.startswith("__"))
    names = names[:: max(1, len(names) // NAMES)][:NAMES]
    expected = found = called = chars = call_chars = grep_chars = 0
    with Library.open(package, settings=Settings(home=home)) as assistant:
        tools = McpTools(WatchedLibrary(assistant, [folder], watch=False, patience_s=PATIENCE_S))
        for name in names:
            text = tools.find_references(name, max_tokens=MAX_TOKENS)
            calls = {(each.path, each.line) for each in assistant.references(name).places if each.use == "call"}
            expected += len(sites[name])
            found += len(sites[name] & calls)
            called += len(calls)
            chars += len(text)
            call_chars += len(tools.find_references(name, use="call", max_tokens=MAX_TOKENS))
            grep_chars += sum(map(len, grepped(files, name)))
    return Figure(package, len(names), expected, found, called, chars, call_chars, grep_chars)


def grepped(files: dict[str, str], name: str) -> list[str]:
    """Return the lines that grep would print."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [
        f"{path}:{number}:{line}\n"
        for path, text in sorted(files.items())
        for number, line in enumerate(text.split("\n"), 1)
        if word.search(line)
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES)
    packages = parser.parse_args().packages
    print("| package | names | call sites | found | of what is listed as calls, right | text: all | text: calls |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        for package in packages:
            row = measure(package, Path(home))
            shares = (row.found / row.sites, row.found / row.called, row.chars / row.grep_chars)
            told = " | ".join(f"{100 * share:.1f} %" for share in (*shares, row.call_chars / row.grep_chars))
            print(f"| {row.package} | {row.names} | {row.sites} | {told} |")


if __name__ == "__main__":
    main()
