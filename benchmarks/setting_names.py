"""Whether "What does NAME do?" is answered from the part of the documentation that begins with the name.

    python -m benchmarks.setting_names --checkouts FOLDER --home FOLDER [--most N] [WHAT] PROJECT ...

The headings of Markdown and reStructuredText that are one name with an underscore (`server_idle_timeout`) are asked
for, in each project the first N in alphabetical order. Others are asked for in an order drawn once: with `--options`
headings that begin with an option (`-c, --checksum`, `--bail[=<n>]`); with `--items` the items of Markdown lists that
begin with a name in bold or as code (`- **edit-url-template:** ...`); with `--parameters` the parameters of several
words that a comment of code describes (`:param retry_limit: ...`); with `--functions` functions of Python whose names
have several words and are defined once outside of tests. An answer is right if its first citation, or any, lies in a
section with that heading, in such an item, or has such a line of a comment; for a function, also the first result of a
search, if it has the line that defines it. Nobody chose these questions,
and no two of them are worded differently: they show whether a name is found where it is described, and nothing else.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from openbook.evals.metrics import ExpectedSpan, mean
from openbook.library import Library
from openbook.retrieval.roles import is_aside, role_of
from openbook.settings import Settings
from openbook.types import Span

_NAME = re.compile(r"[`\"]*([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)[`\"]*")
_OPTION = re.compile(r"[`\"]*(?:-\w[`,\s]+)?`?(--[a-z][a-z\d-]+)(?![\w-]).*")
_ITEM = re.compile(r"(\s*)[-*+]\s+[*`_]{1,3}([a-z][a-z0-9]*(?:-[a-z0-9]+)+)[:*`_].*")
# With a tag before the name, or with its type behind it; and at least three words that say what it is.
_PARAMETER = re.compile(
    r"[\s*/]*(?::param (?:[\w.\[\]]+ )?(?P<sphinx>\w+):|[@\\]param\s+(?:\{[^}]*\}\s*)?(?P<tag>\w+)(?=\s)"
    r"|(?P<typed>\w+) \([^)]*\):)\s*(?:[-–]\s*)?\S+\s+\S+\s+\S.*"
)
_OF_WORDS = re.compile(r"[a-z]+\d*(?:_[a-z\d]+)+|[a-z]+\d*(?:[A-Z][a-z\d]+)+")
_WITH_COMMENTS = ("py", "js", "ts", "tsx", "java", "kt", "c", "h", "cpp", "php")
_FUNCTION = re.compile(r"\s*(?:async )?def ([a-z]\w*_\w+)\(.*")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}")
_MIN_LINES = 3


def headings(lines: list[str], *, is_rst: bool) -> Iterator[tuple[int, str]]:
    """Yield the headings of a page with their lines, from 1."""
    for number, line in enumerate(lines, start=1):
        if is_rst:
            if number < len(lines) and line.strip() and _UNDERLINE.fullmatch(lines[number].strip()):
                yield number, line.strip()
        elif found := re.match(r"#{1,6}\s+(.*)", line):
            yield number, found[1].strip()


def sections(checkout: Path, heading: re.Pattern[str] = _NAME) -> Mapping[str, list[ExpectedSpan]]:
    """Return where each name is the heading of a section."""
    found: defaultdict[str, list[ExpectedSpan]] = defaultdict(list)
    pages = sorted(page for suffix in ("md", "rst") for page in checkout.rglob(f"*.{suffix}"))
    for page in pages:
        lines = page.read_text(encoding="utf-8", errors="replace").split("\n")
        begun = list(headings(lines, is_rst=page.suffix == ".rst"))
        ends = [*(first - 1 for first, _ in begun[1:]), len(lines)][: len(begun)]
        for (first, title), end in zip(begun, ends, strict=True):
            name = heading.fullmatch(title)
            if name and end - first >= _MIN_LINES:
                found[name[1]].append(ExpectedSpan(page.relative_to(checkout).as_posix(), first + 1, end))
    return found


def items(checkout: Path) -> Mapping[str, list[ExpectedSpan]]:
    """Return where each name begins an item of a list, with the lines up to the next item or blank line."""
    found: defaultdict[str, list[ExpectedSpan]] = defaultdict(list)
    for page in sorted(checkout.rglob("*.md")):
        if is_aside(page.relative_to(checkout).as_posix()):  # release notes name what has changed
            continue
        lines = page.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, start=1):
            if not (item := _ITEM.fullmatch(line)):
                continue
            last = number
            while last < len(lines) and lines[last].strip() and not re.match(r"\s*[-*+]\s|#", lines[last]):
                last += 1
            found[item[2]].append(ExpectedSpan(page.relative_to(checkout).as_posix(), number, last))
    return found


def parameters(checkout: Path) -> Mapping[str, list[ExpectedSpan]]:
    """Return the lines of comments that say what a parameter is, but for those of tests and examples."""
    found: defaultdict[str, list[ExpectedSpan]] = defaultdict(list)
    for path in sorted(path for suffix in _WITH_COMMENTS for path in checkout.rglob(f"*.{suffix}") if path.is_file()):
        name = path.relative_to(checkout).as_posix()
        if role_of(name, "code") != "source":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
            if told := _PARAMETER.fullmatch(line):
                parameter = told["sphinx"] or told["tag"] or told["typed"]
                if _OF_WORDS.fullmatch(parameter):
                    found[parameter].append(ExpectedSpan(name, number, number))
    return found


def functions(checkout: Path) -> Mapping[str, list[ExpectedSpan]]:
    """Return the line that defines each function of Python, but for those of tests and examples and for namesakes."""
    found: defaultdict[str, list[ExpectedSpan]] = defaultdict(list)
    for path in sorted(checkout.rglob("*.py")):
        name = path.relative_to(checkout).as_posix()
        if role_of(name, "code") != "source":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").split("\n"), start=1):
            if defined := _FUNCTION.fullmatch(line):
                found[defined[1]].append(ExpectedSpan(name, number, number))
    return {name: places for name, places in found.items() if len(places) == 1}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with the projects")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("--most", type=int, default=60, help="names of a project")
    parser.add_argument("--options", action="store_true", help="ask for options instead")
    parser.add_argument("--items", action="store_true", help="ask for items of lists instead")
    parser.add_argument("--parameters", action="store_true", help="ask for parameters instead")
    parser.add_argument("--functions", action="store_true", help="ask for functions instead")
    parser.add_argument("projects", nargs="+", metavar="PROJECT")
    arguments = parser.parse_args()
    print("| project | names | first citation right | any right | refused | first result right |")
    print("|---|---|---|---|---|---|")
    for project in arguments.projects:
        home = arguments.home / project
        home.mkdir(parents=True, exist_ok=True)
        checkout = arguments.checkouts / project
        if arguments.parameters or arguments.functions:
            places = parameters(checkout) if arguments.parameters else functions(checkout)
        else:
            places = items(checkout) if arguments.items else sections(checkout, _OPTION if arguments.options else _NAME)
        names = sorted(places)
        if arguments.options or arguments.items or arguments.parameters or arguments.functions:
            random.Random(1).shuffle(names)
        outcomes = []
        with closing(Library(home / "library.sqlite", Settings(home=home))) as library:
            if not library.stats().chunks:
                library.add(checkout)
            for name in names[: arguments.most]:
                question = f"What does {name} do?"
                answer, results = library.query(question), library.search(question, limit=1)
                cited, found = (
                    [any(place.overlaps(_expected(each.span)) for place in places[name]) for each in shown]
                    for shown in (answer.citations, [each.chunk for each in results])
                )
                right = (cited[:1] == [True], any(cited), answer.refused, found == [True])
                outcomes.append(tuple(map(float, right)))
        figures = " | ".join(f"{mean([each[n] for each in outcomes]):.3f}" for n in range(4))
        print(f"| {project} | {len(outcomes)} | {figures} |", flush=True)


def _expected(span: Span) -> ExpectedSpan:
    return ExpectedSpan(span.path, span.start_line, span.end_line)


if __name__ == "__main__":
    main()
