"""How many tokens an agent reads until it holds the files that answer: `search` of the MCP server, or grep and reading.

    python -m benchmarks.agent_tokens --data FOLDER --checkouts FOLDER

The questions are those of `swe-qa` that name files, each with the lines that answer it. With Openbook, the
agent makes one call of `search` with the question as it is, and reads what comes. Without it, the
agent greps for the words of the question that are no stop words, and reads the files whole that hold
most of them, rarest words first, until as many of the right files have been read; what grep itself
prints is not counted. Tokens are estimated the same way for both (`openbook.costs.estimate_tokens`).
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openbook.costs import estimate_tokens
from openbook.library import Library
from openbook.mcp.tools import McpTools
from openbook.mcp.watched_library import WatchedLibrary
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings

# Calls that are compared: most results, most tokens, and whether all of them are shown whole.
CALLS = (
    (8, 2_000, False),
    (12, 2_000, False),
    (20, 2_000, False),
    (8, 2_000, True),
    (10, 4_000, True),
    (20, 8_000, True),
)

_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_NUMBERED = re.compile(r"^(\d+)\| ", re.MULTILINE)
_PLACE = re.compile(r"^(\S[^|]*):(\d+)-(\d+)(?:  | \(goes|$)", re.MULTILINE)

# Words that no programmer would grep for.
_STOP = frozenset(
    "the and for are what how does where which when why who with from that this into not can its use used using"
    " between during after before there their they them has have was were will would should could about than then"
    .split()
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Read:
    """What was read for one question."""

    tokens: int
    files: float
    """Share of the right files that were among it."""
    spans: float
    """Share of the right lines that were touched; 1 if the question names none."""


def by_search(tools: McpTools, item: dict[str, Any], limit: int, max_tokens: int, full: bool) -> Read:
    """Ask once, and read the answer. A passage of which one line is shown counts with all its lines."""
    result = tools.search(item["question"], limit=limit, max_tokens=max_tokens, full=full)
    lines = [(path, int(first), int(last)) for path, first, last in _PLACE.findall(result)]
    if not lines and (numbers := [int(number) for number in _NUMBERED.findall(result)]):
        lines = [(result.partition("\n")[0], number, number) for number in numbers]  # all of one file, named once
    return _read(estimate_tokens(result), item, lines)


def by_grep(files: dict[str, str], item: dict[str, Any], most: int) -> list[Read]:
    """Grep, and read files whole: what was read after one file, after two, and so on."""
    words = {word for word in _WORD.findall(item["question"]) if word.lower() not in _STOP}
    holding = {word: {path for path, text in files.items() if word.lower() in text.lower()} for word in words}
    weights = {word: math.log(len(files) / len(paths)) for word, paths in holding.items() if paths}
    score = {path: sum(weight for word, weight in weights.items() if path in holding[word]) for path in files}
    ranked = sorted((path for path in files if score[path] > 0), key=lambda path: (-score[path], path))[:most]
    tokens, lines, reads = 0, [], []
    for path in ranked:
        tokens += estimate_tokens(files[path])
        lines.append((path, 1, files[path].count("\n") + 1))
        reads.append(_read(tokens, item, lines))
    return reads


def _read(tokens: int, item: dict[str, Any], lines: list[tuple[str, int, int]]) -> Read:
    gold = item["gold"]
    spans = [(each["path"], first, last) for each in gold for first, last in each.get("spans", [])]
    files = sum(any(path == each["path"] for path, _, _ in lines) for each in gold) / len(gold)
    hit = sum(any(p == path and a <= last and b >= first for p, a, b in lines) for path, first, last in spans)
    return Read(tokens, files, hit / len(spans) if spans else 1.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """A way to read, over all questions."""

    name: str
    tokens: float
    files: float
    spans: float
    grep_tokens: float | None
    """What reading whole files takes until as many right files are held; None if it never gets there."""


def measure(data: Path, checkouts: Path, home: Path) -> list[Figure]:
    """Run all calls, and grep beside them."""
    items: dict[str, list[dict[str, Any]]] = {}
    for item in json.loads((data / "swe-qa" / "gold.json").read_text(encoding="utf-8")):
        if item["gold"]:
            items.setdefault(item["repo"], []).append(item)
    found: dict[tuple[int, int, bool], list[Read]] = {call: [] for call in CALLS}
    grepped: list[list[Read]] = []
    for repository, asked in sorted(items.items()):
        with Library.open(repository, settings=Settings(home=home)) as assistant:
            library = WatchedLibrary(assistant, [checkouts / repository], watch=False)
            tools = McpTools(library)
            for call in CALLS:
                found[call] += [by_search(tools, item, *call) for item in asked]
            documents = assistant.index.documents(EVERYTHING)
            known = [assistant.index.document(each.source, each.path) for each in documents]
            files = {document.path: document.text for document in known if document}
            grepped += [by_grep(files, item, len(files)) for item in asked]
    return [_figure(call, reads, grepped) for call, reads in found.items()]


def _figure(call: tuple[int, int, bool], reads: list[Read], grepped: list[list[Read]]) -> Figure:
    files = _mean([read.files for read in reads])
    needed = None
    for count in range(max(map(len, grepped))):
        after = [each[min(count, len(each) - 1)] for each in grepped if each]
        if _mean([read.files for read in after]) >= files:
            needed = _mean([read.tokens for read in after])
            break
    name = f"search(limit={call[0]}, max_tokens={call[1]}, full={call[2]})"
    return Figure(name, _mean([r.tokens for r in reads]), files, _mean([r.spans for r in reads]), needed)


def _mean(values: list[float] | list[int]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    arguments = parser.parse_args()
    print("| call | tokens read | file recall | span recall | grep and whole files, at that file recall | share |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        for row in measure(arguments.data, arguments.checkouts, Path(home)):
            beside = "never" if row.grep_tokens is None else f"{row.grep_tokens:,.0f}"
            share = "" if row.grep_tokens is None else f"{100 * row.tokens / row.grep_tokens:.1f} %"
            print(f"| `{row.name}` | {row.tokens:,.0f} | {row.files:.3f} | {row.spans:.3f} | {beside} | {share} |")


if __name__ == "__main__":
    main()
