"""Formats lists of lines and paths for coding agents: each location once, within a token budget."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby

from openbook.costs import estimate_tokens
from openbook.courses.catalog import PlacedLesson
from openbook.courses.names import course_key_text
from openbook.lookup.matching_lines import MatchingLines
from openbook.lookup.references import Reference, References
from openbook.mcp.listing import Places, part_of_line
from openbook.retrieval.roles import role_of
from openbook.text import LineIndex, counted
from openbook.types import USES, Course, Use

# Of `find_references` with the code: a call with its arguments, which may stand on the next lines.
_MAX_CODE_CHARS = 200
_MAX_CALL_LINES = 5
_MAX_CALL_CHARS = 1_000
_CALLED = re.compile(r"[^\S\n]{0,9}(?:::)?(?:<[^()\n]{0,99}>)?[!?]?\(")
_BRACKET = re.compile(r"[()\[\]{}]")

TextOf = Callable[[str, str], str]
"""Returns the text of a document by source and path."""

# Names of tests are long. If more tests of a file call a name, only their lines are listed.
_MAX_NAMED_TESTS = 3

# With more definitions, their names would be most of the text, so only lines are listed.
_MAX_NAMED = 30

# Lines end at a line feed; these would look like further ones.
_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")

# A few mentions in code, such as `connect(send)`, are likely to pass the name on, like callers. If there are more, most
# are other things of the same name: `func` in Jinja is 64 variables.
_MAX_VALUES = 5


def references_text(
    found: References,
    place_of: Places,
    max_tokens: int,
    *,
    asked: str = "",
    mentions: bool = False,
    code: bool = False,
    text_of: TextOf = lambda *_: "",
) -> str:
    """Format references by file, or with their code, which `text_of` has in full, by use and file.

    `asked` is the name as it was asked for: if only a part of it was looked for, the text says so.
    Mentions are counted; they are listed if `mentions` is set, or if they are in code and few.
    """
    # If there is nothing else, as for a field, list the mentions. Without a heading, they would look like calls.
    is_headed = not mentions and all(place.use == "mention" for place in found.places)
    mentions = mentions or is_headed
    values = [place for place in found.places if place.use == "mention" and place.is_code]
    handed_on = values if len(values) <= _MAX_VALUES else []
    listed = [place for place in found.places if mentions or place.use != "mention" or place in handed_on]
    notes = _notes(
        found,
        counted_ones=sum(place.use == "mention" for place in found.places if place not in listed),
        advice=", listed with use=mention" if len(values) > _MAX_VALUES else "",
    )
    if asked and asked.strip().rstrip("()") != found.name:
        notes.insert(0, f"lines with {found.name}")
    if code:
        return _fitted(_with_code(listed, found.name, place_of, text_of), notes, max_tokens)
    is_named = len({(place.source, place.path, place.within) for place in listed if place.use == "call"}) <= _MAX_NAMED
    if not is_named:
        notes.append("too many to name" if found.unread else "too many to name; narrow the path")
    heads = ["mentions:"] if is_headed else []
    return _fitted([*heads, *_by_file(listed, place_of, is_named=is_named)], notes, max_tokens, heads=heads)


def nothing_text(found: References, use: Use | None, path: str) -> str:
    """Tell that there are no references of a use in some paths, and where others are."""
    nothing = found.text_of_nothing((use,) if use else USES, path)
    notes = _notes(found, counted_ones=0)
    return f"{nothing}\n({'; '.join(notes)})" if notes else nothing


def grep_text(found: MatchingLines, place_of: Places, max_tokens: int) -> str:
    """Format matching lines by file."""
    blocks, heads = list[str](), set[str]()
    for file, lines in groupby(found.lines, key=lambda line: (line.source, line.path)):
        heads.add(place_of(*file))
        blocks += [place_of(*file), *(f"{line.line}| {_BREAKS.sub(' ', line.text).strip()}" for line in lines)]
    notes = [found.summary]
    if found.unread:
        notes.append(f"{counted(found.unread, 'document')} left unread, because it takes too long; narrow the path")
    return _fitted(blocks, notes, max_tokens, heads=heads)


def paths_text(paths: Sequence[str], max_tokens: int) -> str:
    """Format paths; if they do not fit, folders with the number of documents below them."""
    note = counted(len(paths), "document")
    if estimate_tokens("\n".join(paths)) <= max_tokens:
        return "\n".join([*paths, f"({note})"])
    told = next(
        (folders for depth in (4, 3, 2) if estimate_tokens("\n".join(folders := _folders(paths, depth))) <= max_tokens),
        _folders(paths, 1),
    )
    return _fitted(told, [f"{note}; name a folder as path to see what is in it"], max_tokens)


def courses_text(courses: Sequence[Course], max_tokens: int) -> str:
    """Format one line for each course: its key, title, number of lessons, instructor and link."""
    told = [
        "  ".join(filter(None, (course_key_text(one), _line(one.title), _line(_facts(one)), one.link)))
        for one in courses
    ]
    return _fitted(told, [counted(len(courses), "course")], max_tokens, advice="raise max_tokens")


def lessons_text(course: Course, lessons: Sequence[PlacedLesson], place_of: Places, max_tokens: int) -> str:
    """Format the title of a course, then one line for each lesson, in order: number, title and locations."""
    told = [f"{_line(course.title)}  {_line(_facts(course))}"]
    for one in lessons:
        places = [
            f"{place_of(course.source, place.span.path)}:{place.span.start_line}-{place.span.end_line}"
            for place in one.places
        ]
        told.append("  ".join(filter(None, (one.lesson.label, _line(one.lesson.title), ", ".join(places)))))
    notes = [] if lessons else ["no numbered lesson; outline shows what one of its documents holds"]
    return _fitted(told, notes, max_tokens, advice="raise max_tokens")


def _facts(course: Course) -> str:
    return ", ".join(filter(None, (counted(len(course.lessons), "lesson"), course.instructor)))


def _line(text: str) -> str:
    return " ".join(text.split())


def _folders(paths: Sequence[str], depth: int) -> list[str]:
    """Return the folders at a depth with the number of documents below each, and the documents above that depth."""
    tops = Counter("/".join(path.split("/")[:depth]) + ("/" if path.count("/") >= depth else "") for path in paths)
    return [f"{top} ({count})" if top.endswith("/") else top for top, count in sorted(tops.items())]


def _notes(found: References, *, counted_ones: int, advice: str = "") -> list[str]:
    notes = []
    if counted_ones:
        notes.append(f"{counted(counted_ones, 'mention')}{advice}")
    if found.unread:
        notes.append(f"{counted(found.unread, 'document')} left unread, because it takes too long; narrow the path")
    return notes


def _with_code(places: Sequence[Reference], name: str, place_of: Places, text_of: TextOf) -> list[str]:
    """Format one line for each location, grouped by use."""
    lines = list[str]()
    named = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    texts: dict[tuple[str, str], tuple[str, LineIndex]] = {}
    for use, of_use in groupby(places, key=lambda place: place.use):
        lines.append(f"{use}:")
        for each in of_use:
            file = each.source, each.path
            if file not in texts:
                text = text_of(*file)
                texts[file] = text, LineIndex(text)
            code = _code_at(each, named, *texts[file])
            calls = [(found.start(), _end_of_call(code, found.end(), len(code))) for found in named.finditer(code)]
            within = f" in {each.within}" if each.within else ""
            lines.append(f"{place_of(*file)}:{each.line}{within}: {part_of_line(code, calls, _MAX_CODE_CHARS)}")
    return lines


def _code_at(place: Reference, named: re.Pattern[str], text: str, lines: LineIndex) -> str:
    """Return the line of a reference, with single spaces; of a call or a definition, to the end of its arguments."""
    found = None
    if place.line <= len(lines):
        found = named.search(text, lines.start_of(place.line), lines.end_of(place.line))
    if found is None:  # it has changed since
        return place.text
    start, end = max(lines.start_of(place.line), found.start() - _MAX_CODE_CHARS), lines.end_of(place.line)
    behind = min(lines.end_of(min(place.line + _MAX_CALL_LINES - 1, len(lines))), found.end() + _MAX_CALL_CHARS)
    last = end = min(end, behind)
    if place.use in ("call", "definition"):
        last = max(end, *(_end_of_call(text, each.end(), behind) for each in named.finditer(text, start, end)))
    is_cut = last == behind > end and text[last - 1] != ")"
    return " ".join(text[start:last].split()) + (" ..." if is_cut else "")


def _end_of_call(text: str, at: int, most: int) -> int:
    """Return the end of the arguments behind a name, at most `most`; `at` if there are none."""
    called = _CALLED.match(text, at)
    depth = 0
    for bracket in _BRACKET.finditer(text, called.end() - 1, most) if called else ():
        depth += 1 if bracket[0] in "([{" else -1
        if depth == 0:
            return bracket.end()
    return most if called else at


def _by_file(places: Sequence[Reference], place_of: Places, *, is_named: bool) -> list[str]:
    """Format one line for each file, those with definitions first: `a.py def 3 Client.get 12,18-20 .post 40 import 1`.

    A leading dot stands for the class before it. If a folder has several files, they are indented below it, and files
    with equal lines share one. Files that only import share a line too.
    """
    of_file: dict[str, list[Reference]] = {}
    for place in places:
        of_file.setdefault(place_of(place.source, place.path), []).append(place)
    is_mixed = any(place.use != "mention" for place in places)
    importing = {path for path, held in of_file.items() if all(place.use == "import" for place in held)}
    folders: dict[str, dict[str, list[str]]] = {}
    for path, held in of_file.items():
        if path not in importing:
            folder, slash, name = path.rpartition("/")
            uses = " ".join(_within(held, is_named=is_named and not _is_of_many_tests(held), is_mixed=is_mixed))
            folders.setdefault(folder + slash, {}).setdefault(uses, []).append(name)
    lines = list[str]()
    for folder, said in folders.items():
        files = [f"{','.join(names)} {uses}" for uses, names in said.items()]
        is_head = folder and sum(map(len, said.values())) > 1
        lines += [folder, *(f" {file}" for file in files)] if is_head else [f"{folder}{file}" for file in files]
    told = [f"{path} {_ranges(place.line for place in of_file[path])}" for path in of_file if path in importing]
    return [*lines, *([f"import: {'; '.join(told)}"] if told else [])]


def _is_of_many_tests(places: Sequence[Reference]) -> bool:
    """Return whether many tests of a file call the name."""
    callers = {place.within for place in places if place.use == "call"}
    return len(callers) > _MAX_NAMED_TESTS and role_of(places[0].path, "code") == "test"


def _within(places: Sequence[Reference], *, is_named: bool, is_mixed: bool) -> list[str]:
    """Format the uses in each definition of a file, in line order; values and imports come last."""
    last = {"mention": "value", "import": "import"} if is_mixed else {"import": "import"}
    lines: dict[tuple[str, str, str], list[int]] = {}
    for place in sorted(
        places, key=lambda place: (list(last).index(place.use) if place.use in last else -1, place.line)
    ):
        owner, _, name = place.within.rpartition(".")
        if place.use == "definition":
            name = "def"
        elif place.use in last or not is_named or not name:
            owner, name = "", last.get(place.use, "")
        # Of nested definitions, the two innermost are enough beside the line.
        lines.setdefault((last.get(place.use, ""), owner.rpartition(".")[2], name), []).append(place.line)
    told, before = list[str](), ""
    for (_, owner, name), numbers in lines.items():
        shown = f".{name}" if owner and owner == before else f"{owner}.{name}" if owner else name
        # Without a word, these numbers would look like part of those before them.
        told.append(f"{shown or ('call' if told else '')} {_ranges(numbers)}".strip())
        before = owner
    return told


def _ranges(lines: Iterable[int]) -> str:
    """Format line numbers: `3,8-10`."""
    runs: list[list[int]] = []
    for line in sorted(set(lines)):
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _fitted(
    blocks: Sequence[str],
    notes: Sequence[str],
    max_tokens: int,
    *,
    heads: Collection[str] = (),
    advice: str = "raise max_tokens, or narrow the path",
) -> str:
    """Join as many lines as the budget allows, and count the rest, except `heads`."""
    left, kept = max_tokens, list[str]()
    for line in blocks:
        left -= estimate_tokens(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    missing = sum(line not in heads for line in blocks[len(kept) :])
    cut = [f"cut: {counted(missing, 'more line')}; {advice}"] if missing else []
    told = [*notes, *cut]
    return "\n".join([*kept, *([f"({'; '.join(told)})"] if told else [])])
