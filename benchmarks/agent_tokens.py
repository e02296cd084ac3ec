"""How many tokens an agent reads until it holds the files that answer: `search` of the MCP server, or grep and reading.

    python -m benchmarks.agent_tokens --data FOLDER --checkouts FOLDER
    python -m benchmarks.agent_tokens --data FOLDER --checkouts FOLDER --replies REPLIES.jsonl

The questions are those of `swe-qa` that name files, each with the lines that answer it. With Openbook, the
agent makes one call of `search` with the question as it is, and reads what comes. Without it, the
agent greps for the words of the question that are no stop words, and reads the files whole that hold
most of them, rarest words first, until as many of the right files have been read; what grep itself
prints is not counted. Tokens are estimated the same way for both (`openbook.costs.estimate_tokens`).

With replies, such as `benchmarks/cases/expansion_replies.jsonl`, the questions are those of `real-questions`, and the
agent gives the searches that a model wrote for each as `also`. `two of three`, `one of three`: the rest are those of
another question of the same project. `scattered`: each is that of another question. `strangers`: all are those of one
other question, as the worst that an agent can do. `at 1`: a place that answers is in the first result, the only
one that is shown whole.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.agent_tasks import seen_in
from openbook.answering.expansion import read_searches
from openbook.costs import estimate_tokens
from openbook.library import Library
from openbook.mcp.tools import McpTools
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings
from openbook.watched_library import WatchedLibrary

# Calls that are compared: most results, most tokens, and whether all of them are shown whole.
CALLS = (
    (8, 2_000, False),
    (12, 2_000, False),
    (20, 2_000, False),
    (8, 2_000, True),
    (10, 4_000, True),
    (20, 8_000, True),
)

# What is measured is what is found when all is read.
PATIENCE_S = 600.0

# That an agent makes if it names nothing.
DEFAULT_CALL = (12, 2_000, False)

_WORD = re.compile(r"[A-Za-z_]\w{2,}")

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
    is_first: bool = False
    """Whether the first lines of it were right."""


def by_search(
    tools: McpTools, item: dict[str, Any], limit: int, max_tokens: int, full: bool, also: Sequence[str] = ()
) -> Read:
    """Ask once, and read the answer. A passage of which one line is shown counts with all its lines."""
    result = tools.search(item["question"], also=[*also], limit=limit, max_tokens=max_tokens, full=full)
    return _read(estimate_tokens(result), item, [(each.path, each.first, each.last) for each in seen_in(result)])


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
    hits = [[p == path and a <= last and b >= first for p, a, b in lines] for path, first, last in spans]
    is_first = any(hit[:1] == [True] for hit in hits)
    return Read(tokens, files, sum(map(any, hits)) / len(spans) if spans else 1.0, is_first)


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
            library = WatchedLibrary(assistant, [checkouts / repository], watch=False, patience_s=PATIENCE_S)
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


def measure_replies(data: Path, checkouts: Path, replies: Path, home: Path) -> dict[tuple[str, str], list[Read]]:
    """Return what each kind of search reads, by the type of the questions, `every one` among them."""
    searches = {each["id"]: [one.text for one in read_searches(each["reply"])] for each in _rows(replies)}
    items: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(data / "real-questions" / "questions.jsonl"):
        if row["id"] in searches:
            gold = [{"path": each["path"], "spans": [each["lines"]]} for each in row["gold"]]
            items.setdefault(row["repo"].rpartition("/")[2], []).append({**row, "gold": gold})
    found: dict[tuple[str, str], list[Read]] = {}
    for repository, asked in sorted(items.items()):
        with Library.open(repository, settings=Settings(home=home)) as assistant:
            tools = McpTools(WatchedLibrary(assistant, [checkouts / repository], watch=False, patience_s=PATIENCE_S))
            for position, item in enumerate(asked):
                for name, also in _others(asked, position, searches).items():
                    read = by_search(tools, item, *DEFAULT_CALL, also=also)
                    found.setdefault(("every one", name), []).append(_of_any(item, read))
                    found.setdefault((item["type"], name), []).append(_of_any(item, read))
    return found


def _others(asked: Sequence[dict[str, Any]], position: int, searches: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return what an agent may give beside a question: searches for it, and for others of the project."""

    def of(share: int) -> list[str]:
        return searches[asked[(position + len(asked) // share) % len(asked)]["id"]]

    own, strange = searches[asked[position]["id"]], of(2)
    return {
        "alone": [],
        "also": own,
        "two of three": [*own[:2], *strange[:1]],
        "one of three": [*own[:1], *strange[:2]],
        "scattered": [*of(2)[:1], *of(3)[1:2], *of(4)[2:3]],
        "strangers": strange,
    }


def _of_any(item: dict[str, Any], read: Read) -> Read:
    """Count one of several right places as all, unless the question needs all of them."""
    return read if item["needs_all"] else replace(read, files=math.ceil(read.files), spans=math.ceil(read.spans))


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--replies", type=Path, help="searches that a model wrote for `real-questions`")
    parser.add_argument("--home", type=Path, help="where libraries are kept; otherwise they are made and deleted")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        if arguments.replies:
            _print_replies(arguments.data, arguments.checkouts, arguments.replies, home)
            return
        print("| call | tokens read | file recall | span recall | grep and whole files, at that file recall | share |")
        print("|---|---|---|---|---|---|")
        for row in measure(arguments.data, arguments.checkouts, home):
            beside = "never" if row.grep_tokens is None else f"{row.grep_tokens:,.0f}"
            share = "" if row.grep_tokens is None else f"{100 * row.tokens / row.grep_tokens:.1f} %"
            print(f"| `{row.name}` | {row.tokens:,.0f} | {row.files:.3f} | {row.spans:.3f} | {beside} | {share} |")


def _print_replies(data: Path, checkouts: Path, replies: Path, home: Path) -> None:
    print("| questions | number | searches | tokens read | at 1 | file recall | span recall |")
    print("|---|---|---|---|---|---|---|")
    for (kind, name), reads in sorted(measure_replies(data, checkouts, replies, home).items()):
        shares = [_mean([r.is_first for r in reads]), _mean([r.files for r in reads]), _mean([r.spans for r in reads])]
        told = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {kind} | {len(reads)} | {name} | {_mean([r.tokens for r in reads]):,.0f} | {told} |")


if __name__ == "__main__":
    main()
