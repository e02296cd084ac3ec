"""What a coding agent reads for a task until it has the lines: the tools of the MCP server, or grep and reading.

    python -m benchmarks.agent_tasks --checkouts FOLDER [--cases agent_tasks_fresh.jsonl] [--home FOLDER] [--show]

Each case of `benchmarks/cases/agent_tasks.jsonl` is a task, the calls of the tools and the patterns for grep that an
agent makes for it, and the lines that it has to see. Calls and patterns were chosen from the text of the task alone.

Openbook: the calls of the case in their order. If a result names right lines without showing all of them, the next
call is `read_lines` with its place, of a single line with 40 lines on both sides. grep: the patterns in their order,
shown as agents show them (`path:line:text`, by path, at most 250 lines of at most 500 characters, or as many as the
case says). If a hit is near
right lines that it does not show, the next call reads 40 lines on both sides of it. Both open the right result at
once, as if they knew it, read on to the end of what they need, and stop when they have seen all lines of every place
that the task needs. Tasks that ask for places, such as callers, need no reading.

`in order`: the agent does not know which result is right, and opens them one by one as they are listed; grep's
by file, those with most hits first.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from openbook.errors import OpenbookError
from openbook.library import Library
from openbook.mcp.tools import McpTools
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

CASES = Path(__file__).parent / "cases"

# What is measured is what is found when all is read.
PATIENCE_S = 600.0

# What agents show of the output of grep, and read around a line of it.
MAX_HITS = 250
MAX_HIT = 500
AROUND = 40

_NUMBERED = re.compile(r"(\d+)\| ")
_NAMED = re.compile(r"(?:(\S.*?):| )(\d+-\d+(?:,\d+-\d+)*)(?: \(goes on to line \d+\))?(?:$| )")
_NAMED_TOO = re.compile(r", (\d+-\d+(?:,\d+-\d+)*)(?=$| |, )")
_BRIEF = re.compile(r"  (\d+)\| ")
_LINES = re.compile(r"(?<![\w.])\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*(?![\w.])")


@dataclass(frozen=True, slots=True)
class Seen:
    """Lines that a reply names or shows."""

    path: str
    first: int
    last: int
    is_shown: bool
    """Whether they were shown, not only named."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one way to work took for one task."""

    named: bool
    """Whether the first reply named every place."""
    characters: int
    calls: int
    is_done: bool
    """Whether the lines were seen in the end."""


@dataclass(frozen=True, slots=True)
class Row:
    """A task."""

    case: dict[str, Any]
    ours: Work
    ours_in_order: Work
    grep: Work
    grep_in_order: Work


def seen_in(reply: str) -> list[Seen]:
    """Return the lines that a reply of a tool names or shows."""
    seen: list[Seen] = []
    path = folder = ""
    for line in reply.split("\n"):
        if numbered := _NUMBERED.match(line):
            number = int(numbered[1])
            seen.append(Seen(path, number, number, is_shown=True))
        elif head := _NAMED.match(line):
            path = head[1] or path
            seen += _named(path, head, line)
        elif line.startswith("import: "):
            for told in line.removeprefix("import: ").split("; "):
                seen += _referenced(told, "")
        elif line.endswith("/") and " " not in line:
            folder = line
        elif line and not line.startswith("("):
            path = line.strip()
            seen += _referenced(path, folder if line.startswith(" ") else "")
    return seen


def _named(path: str, head: re.Match[str], line: str) -> Iterator[Seen]:
    """Read a line of `search`: where results stand, and one of their lines or further results."""
    brief = _BRIEF.search(line, head.end() - 1)
    for ranges in [head[2], *([] if brief else _NAMED_TOO.findall(line))]:
        for first, _, last in (lines.partition("-") for lines in ranges.split(",")):
            yield Seen(path, int(first), int(last), is_shown=False)
    if brief:
        yield Seen(path, int(brief[1]), int(brief[1]), is_shown=True)


def _referenced(told: str, folder: str) -> Iterator[Seen]:
    """Read a line of `find_references`: files, and numbers of lines behind what they do."""
    names, _, uses = told.partition(" ")
    for numbers in _LINES.findall(uses):
        for run in numbers.split(","):
            first, _, last = run.partition("-")
            for name in names.split(","):
                yield Seen(folder + name, int(first), int(last or first), is_shown=False)


class Task:
    """What a task still needs."""

    def __init__(self, case: dict[str, Any], files: dict[str, list[str]]) -> None:
        self.gold = [Seen(each["path"], each["lines"][0], each["lines"][1], is_shown=True) for each in case["gold"]]
        self._needs_all: bool = case["needs_all"]
        self._needs_lines = case["asks_for"] == "lines"
        self._unseen = {
            place: {n for n in range(place.first, place.last + 1) if files[place.path][n - 1].strip()}
            for place in self.gold
        }

    @property
    def is_done(self) -> bool:
        """Whether enough was seen."""
        lines = self._unseen.values()
        return not any(lines) if self._needs_all else not all(lines)

    @property
    def left(self) -> list[Seen]:
        """Places of which lines are still needed."""
        return [] if self.is_done else [place for place, lines in self._unseen.items() if lines]

    def see(self, seen: Iterable[Seen]) -> None:
        """Take note of what a reply tells."""
        for each in seen:
            for place, lines in self._unseen.items():
                if not self._needs_lines and overlap(place, each):
                    lines.clear()
                elif each.is_shown and each.path == place.path:
                    lines -= set(range(each.first, each.last + 1))

    def names(self, seen: Sequence[Seen]) -> bool:
        """Return whether a reply names every place that is needed."""
        named = [any(overlap(place, each) for each in seen) for place in self.gold]
        return (all if self._needs_all else any)(named)


def overlap(one: Seen, other: Seen) -> bool:
    """Return whether two ranges share a line."""
    return one.path == other.path and one.first <= other.last and other.first <= one.last


def with_tools(
    tools: McpTools,
    files: dict[str, list[str]],
    case: dict[str, Any],
    *,
    in_order: bool,
    show: Callable[[str], None] = lambda _: None,
) -> Work:
    """Work on a task with the calls of its case."""
    task, characters, calls, named = Task(case, files), 0, 0, False
    for call in case["calls"]:
        reply = _reply(tools, call["tool"], call["arguments"])
        show(f"{call['tool']} {json.dumps(call['arguments'], ensure_ascii=False)}\n{reply}\n")
        seen = seen_in(reply)
        named = named or (not calls and task.names(seen))
        characters, calls = characters + len(reply), calls + 1
        task.see(seen)
        shown = {(each.path, each.first) for each in seen if each.is_shown}
        for place in dict.fromkeys(each for each in seen if not each.is_shown):
            if task.is_done:
                break
            is_whole = {(place.path, place.first), (place.path, place.last)} <= shown
            around = AROUND if place.first == place.last else 0
            near = Seen(place.path, max(1, place.first - around), place.last + around, is_shown=False)
            needed = [each for each in task.left if overlap(each, near)]
            if needed or (in_order and not is_whole):
                last = max([near.last, *(each.last for each in needed)])
                reply = _reply(tools, "read_lines", {"path": f"{place.path}:{near.first}-{last}"})
                show(f"read_lines {place.path}:{near.first}-{last}\n{reply}\n")
                characters, calls = characters + len(reply), calls + 1
                task.see(seen_in(reply))
        if task.is_done:
            break
    return Work(named, characters, calls, task.is_done)


def _reply(tools: McpTools, tool: str, arguments: dict[str, Any]) -> str:
    try:
        reply: str = getattr(tools, tool)(**arguments)
    except OpenbookError as exc:
        return f"{exc}; {exc.hint}"
    return reply


def with_grep(files: dict[str, list[str]], case: dict[str, Any], *, in_order: bool) -> Work:
    """Work on a task with grep, and reading around its hits."""
    task, characters, calls, named = Task(case, files), 0, 0, False
    for grep in case["greps"]:
        hits = list(grepped(files, grep))[: grep.get("most", MAX_HITS)]
        named = named or (not calls and task.names(hits))
        characters += sum(len(f"{hit.path}:{hit.first}:{files[hit.path][hit.first - 1][:MAX_HIT]}\n") for hit in hits)
        calls += 1
        task.see(hits)
        by_file: dict[str, list[Seen]] = {}
        for hit in hits:
            by_file.setdefault(hit.path, []).append(hit)
        for path in sorted(by_file, key=lambda path: (-len(by_file[path]), path)):
            if task.is_done:
                break
            windows = _windows(by_file[path], len(files[path]))
            needed = [[place for place in task.left if overlap(place, each)] for each in windows]
            windows = [
                replace(each, last=max([each.last, *(place.last for place in right)]))
                for each, right in zip(windows, needed, strict=True)
                if in_order or right
            ]
            if windows:
                calls += 1
                characters += sum(_read_length(files[path], each) for each in windows)
                task.see(windows)
        if task.is_done:
            break
    return Work(named, characters, calls, task.is_done)


def grepped(files: dict[str, list[str]], grep: dict[str, Any]) -> Iterator[Seen]:
    """Yield the lines that match, by path."""
    pattern = re.compile(grep["pattern"], re.IGNORECASE if grep.get("any_case") else 0)
    within = grep.get("path", "*")
    for path, lines in sorted(files.items()):
        if path.startswith(within) if within.endswith("/") else fnmatch(path.rpartition("/")[2], within):
            for number, line in enumerate(lines, 1):
                if pattern.search(line):
                    yield Seen(path, number, number, is_shown=True)


def _windows(hits: Sequence[Seen], length: int) -> list[Seen]:
    """Return the lines around hits of one file, those that touch as one."""
    windows: list[Seen] = []
    for hit in hits:
        first, last = max(1, hit.first - AROUND), min(length, hit.last + AROUND)
        if windows and first <= windows[-1].last + 1:
            first = windows.pop().first
        windows.append(Seen(hit.path, first, last, is_shown=True))
    return windows


def _read_length(lines: Sequence[str], window: Seen) -> int:
    """Return how many characters reading takes, with the numbers of lines, as agents show them."""
    return sum(len(f"{number}\t{lines[number - 1][:MAX_HIT]}\n") for number in range(window.first, window.last + 1))


def read_files(folder: Path) -> dict[str, list[str]]:
    """Return the lines of the text files of a checkout."""
    files: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if ".git" not in relative.parts and path.is_file() and b"\0" not in (content := path.read_bytes()):
            files[relative.as_posix()] = content.decode("utf-8", errors="replace").split("\n")
    return files


def measure(cases: Sequence[dict[str, Any]], checkouts: Path, home: Path, show: Callable[[str], None]) -> list[Row]:
    """Work on all tasks, both ways."""
    rows: list[Row] = []
    for repository in dict.fromkeys(case["repository"] for case in cases):
        files = read_files(checkouts / repository)
        with ExitStack() as stack:
            assistant = stack.enter_context(Library.open(repository, settings=Settings(home=home)))
            library = WatchedLibrary(assistant, [checkouts / repository], watch=False, patience_s=PATIENCE_S)
            stack.callback(library.close)
            tools = McpTools(library)
            for case in cases:
                if case["repository"] == repository:
                    show(f"== {case['id']}: {case['task']}\n")
                    rows.append(
                        Row(
                            case,
                            with_tools(tools, files, case, in_order=False, show=show),
                            with_tools(tools, files, case, in_order=True),
                            with_grep(files, case, in_order=False),
                            with_grep(files, case, in_order=True),
                        )
                    )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with checkouts of the repositories")
    parser.add_argument("--cases", default="agent_tasks.jsonl", help="a file in benchmarks/cases")
    parser.add_argument("--home", type=Path, help="where libraries are kept; otherwise they are made and deleted")
    parser.add_argument("--show", action="store_true", help="print what the tools reply, too")
    arguments = parser.parse_args()
    cases = [json.loads(line) for line in (CASES / arguments.cases).read_text(encoding="utf-8").splitlines()]
    show: Callable[[str], None] = print if arguments.show else lambda _: None
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure(cases, arguments.checkouts, arguments.home or Path(temporary), show)
    _print_rows(rows)
    _print_sums(rows)


def _print_rows(rows: Sequence[Row]) -> None:
    print("| task | asks for | first call | named by it | characters | calls | grep: named | characters | calls |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        first = f"`{row.case['calls'][0]['tool']}`"
        told = " | ".join(_told(work) for work in (row.ours, row.grep))
        print(f"| {row.case['id']} | {row.case['kind']} | {first} | {told} |")


def _told(work: Work) -> str:
    calls = f"{work.calls}" if work.is_done else f"{work.calls}, not seen"
    return f"{'yes' if work.named else 'no'} | {work.characters:,} | {calls}"


def _print_sums(rows: Sequence[Row]) -> None:
    print(
        "\n| | first call names the place | seen in one call | seen in the end | calls | characters | share of grep's |"
    )
    print("|---|---|---|---|---|---|---|")
    ways: list[tuple[str, list[Work], list[Work]]] = [
        ("Openbook", [row.ours for row in rows], [row.grep for row in rows]),
        ("grep", [row.grep for row in rows], [row.grep for row in rows]),
        ("Openbook, in order", [row.ours_in_order for row in rows], [row.grep_in_order for row in rows]),
        ("grep, in order", [row.grep_in_order for row in rows], [row.grep_in_order for row in rows]),
    ]
    for name, works, beside in ways:
        characters = sum(work.characters for work in works)
        counts = [
            sum(work.named for work in works),
            sum(work.is_done and work.calls == 1 for work in works),
            sum(work.is_done for work in works),
            sum(work.calls for work in works),
        ]
        share = f"{100 * characters / sum(work.characters for work in beside):.1f} %"
        print(f"| {name} | {' | '.join(map(str, counts))} | {characters:,} | {share} |")


if __name__ == "__main__":
    main()
