"""Finds the files that an issue is about, by searches for its title and names, and by the places in its tracebacks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary, Index
from openbook.lookup.references import chunks_defining, chunks_naming
from openbook.questions.names import identifiers, name_parts
from openbook.questions.question import Question, read_question
from openbook.retrieval.roles import role_of
from openbook.tokens import tokenize
from openbook.types import Chunk, Filter, Kind, RetrievalResult

# Shorter texts are questions. No question that rankings are fitted on is as long and has several lines.
_MIN_CHARS = 200

# Sections of issue templates about the environment.
_ENVIRONMENT = re.compile(
    r"^(?:#+ |\*\*)[^\n]{0,40}\b(?:environment|versions?)(?: info\w*)?[^\w\n]*\n(?:(?!#|\*\*)[^\n]*(?:\n|\Z))*",
    re.IGNORECASE | re.MULTILINE,
)

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
# A line of code or output without a fence.
_OUTPUT = re.compile(r"\s{4,}\S|\t|\s*(?:>>>|\.\.\.|\$|In \[|Out\[|File \"|Traceback|E\s{2,})")

# A path or a dotted name, with the line behind it if it is of a stack frame: Python's `File "a.py", line 3, in send`,
# `a.cs:line 3` of C#, `a.php(3)`, and `a.js:3` of most others. Java has the folders in the name of the method:
# `com.shop.Box.send(Box.java:3)`. Matches only at the start of a word, else long texts would take quadratic time.
_PLACE = re.compile(
    r"(?<![\w./\\@+~-])(?:(?P<package>\w+(?:\.\w+)*)\.[\w$]+\.[\w$<>]+\((?=\w+\.\w+:\d))?"
    r"(?P<path>(?:[A-Za-z]:)?[\w./\\@+~-]*\w\.[A-Za-z_]\w*)"
    r"(?:(?:\", line |:line |:|\()(?P<line>\d+)(?:, in (?P<name>\w+))?)?"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A file or module that an issue names, or a stack frame."""

    path: str
    """As written: absolute, relative, of another machine, or a dotted name."""
    line: int = 0
    """0 if unknown."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A parsed issue."""

    title: str
    """Its first line."""
    places: tuple[Place, ...]
    """The distinct stack frames, innermost first, then other files and modules in prose."""
    names: tuple[str, ...]
    """Unqualified code names: those in prose, then those in code."""
    in_prose: int = 0
    """How many of the names are in prose."""


def read_issue(text: str) -> Issue | None:
    r"""Parse an issue; None for a question.

    Example:
        >>> text = "Send fails\n\nSince 2.0 `send` fails:\n\n" + "It worked before. " * 12
        >>> issue = read_issue(f'{text}\n```\n  File "a/box.py", line 3, in send\nValueError: no\n```')
        >>> issue.title, issue.names[0], issue.places
        ('Send fails', 'send', (Place(path='a/box.py', line=3),))
    """
    text = text.strip()
    if len(text) < _MIN_CHARS or "\n" not in text:
        return None
    title = next(filter(None, (line.strip("# \t*") for line in text.splitlines())), "")
    text = _ENVIRONMENT.sub("", text.replace("\r", ""))
    prose = "\n".join(line for line in _FENCE.sub("\n", text).split("\n") if not _OUTPUT.match(line))
    frames = [match for match in _PLACE.finditer(text) if match["line"]]
    if 'File "' in text:  # Python prints the innermost frame last
        frames.reverse()
    told = [*frames, *(match for match in _PLACE.finditer(prose) if not match["line"])]
    places = dict.fromkeys(Place(_path_of(match), int(match["line"] or 0)) for match in told)
    told_of = _unqualified(identifiers(prose))
    names = _unqualified([*told_of, *identifiers(text), *(match["name"] for match in frames if match["name"])])
    return Issue(title, tuple(places), tuple(names), len(told_of))


def _unqualified(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(part for name in names for part in name_parts(name)[-1:]))


def _path_of(place: re.Match[str]) -> str:
    package = place["package"].replace(".", "/") + "/" if place["package"] else ""
    return package + place["path"].replace("\\", "/")


class IssueWeights(NamedTuple):
    """The weights of the rankings that are fused. The defaults are fitted by `python -m benchmarks.issue_texts`."""

    whole: float = 0.5
    """A search for the whole text."""
    title: float = 1.0
    names: float = 0.5
    places: float = 0.5
    """Files of stack frames, innermost first, and other files and modules."""
    definitions: float = 0.25
    no_source: float = 0.3
    """A factor for tests, examples and documentation, which have the same words but are rarely to be fixed."""


WEIGHTS = IssueWeights()
"""The weights in use."""

# Rank n counts k / (k + n). Named places are few and reliable, results of a search are many.
_K_OF_SEARCH, _K_OF_PLACES = 10, 3

# Results of a search, names that are searched for, and files that define them.
_DEPTH = 30
_MAX_NAMES = 12
_MAX_DEFINING = 5

# Paths and names that match more files are ambiguous.
_MAX_MATCHES = 2

Search = Callable[[Question, int, Filter], list[RetrievalResult]]
"""Ranks passages for a question, with a limit and a filter."""

IssueFile = tuple[str, str]
"""Source and path."""


@dataclass(frozen=True, slots=True)
class IssueFindings:
    """The rankings of files for an issue."""

    files: Mapping[str, Sequence[IssueFile]]
    """The rankings by the names of their weights, best first."""
    chunks: Mapping[IssueFile, Chunk]
    """The best chunk of each file that a search found."""
    kinds: Mapping[IssueFile, Kind]
    """The kinds of all documents."""


def find_for_issue(
    issue: Issue, question: Question, search: Search, index: Index, limit: int, where: Filter
) -> list[RetrievalResult]:
    """Rank files for an issue, each with its most relevant chunk, best first. `question` is the whole text."""
    found = gather(issue, question, search, index, where)
    scores = fuse(found, WEIGHTS)
    ranked = sorted(scores, key=lambda file: (-scores[file], file))[:limit]
    telling = ((file, _chunk_in(file, issue, index) or found.chunks.get(file)) for file in ranked)
    return [RetrievalResult(chunk, scores[file]) for file, chunk in telling if chunk is not None]


def gather(issue: Issue, question: Question, search: Search, index: Index, where: Filter) -> IssueFindings:
    """Return all rankings. Arguments are those of `find_for_issue`."""
    documents = _Documents(index.documents(where))
    files: dict[str, Sequence[IssueFile]] = {
        "places": [file for place in issue.places for file in documents.named(place.path)],
        "definitions": _defining(issue.names, index, where),
    }
    chunks: dict[IssueFile, Chunk] = {}
    for way, text in (("title", issue.title), ("names", " ".join(issue.names[:_MAX_NAMES])), ("whole", question.text)):
        found = [result.chunk for result in _searched(text, question, search, where)]
        files[way] = [_file_of(chunk) for chunk in found]
        for chunk in found:
            chunks.setdefault(_file_of(chunk), chunk)
    return IssueFindings(files, chunks, documents.kinds)


def fuse(found: IssueFindings, weights: IssueWeights) -> dict[IssueFile, float]:
    """Return the score of each file."""
    scores: dict[IssueFile, float] = defaultdict(float)
    for way, files in found.files.items():
        k = _K_OF_PLACES if way in ("places", "definitions") else _K_OF_SEARCH
        for place, file in enumerate(dict.fromkeys(files), 1):
            scores[file] += getattr(weights, way) * k / (k + place)
    return {
        file: score if role_of(file[1], found.kinds[file]) == "source" else score * weights.no_source
        for file, score in scores.items()
    }


class _Documents:
    """The documents of a library by the names that issues use."""

    def __init__(self, documents: Iterable[DocumentSummary]) -> None:
        self.kinds = {(each.source, each.path): each.kind for each in documents}
        self._by_name: dict[str, list[IssueFile]] = defaultdict(list)
        for file in self.kinds:
            self._by_name[file[1].rpartition("/")[2]].append(file)

    def of_path(self, path: str) -> list[IssueFile]:
        """Return the files with the longest common suffix with a path, which may be of another machine."""
        *folders, name = path.split("/")
        shared = {file: _shared(folders, file[1].split("/")[:-1]) for file in self._by_name.get(name, ())}
        most = max(shared.values(), default=0)
        if not shared or (folders and not most):
            return []
        meant = [file for file, count in shared.items() if count == most]
        return meant if len(meant) <= _MAX_MATCHES else []

    def named(self, name: str) -> list[IssueFile]:
        """Return the files of a path, of a dotted module, or of a name in a module."""
        if "/" in name or (found := self.of_path(name)):
            return self.of_path(name) if "/" in name else found
        parts = name.split(".")
        while len(parts) > 1:
            for path in ("/".join(parts) + ".py", "/".join([*parts, "__init__.py"])):
                if meant := [file for file in self.of_path(path) if f"/{file[1]}".endswith(f"/{path}")]:
                    return meant
            parts.pop()
        return []


def _shared(folders: Sequence[str], others: Sequence[str]) -> int:
    count = 0
    for one, other in zip(reversed(folders), reversed(others), strict=False):
        if one != other:
            break
        count += 1
    return count


def _defining(names: Sequence[str], index: Index, where: Filter) -> list[IssueFile]:
    """Return the source files that define most names of an issue."""
    worth: dict[IssueFile, float] = defaultdict(float)
    for name in names[:_MAX_NAMES]:
        outlines = chunks_defining(chunks_naming(index, [name], where), name, ())
        files = {(each.source, each.span.path) for each in outlines if role_of(each.span.path, each.kind) == "source"}
        for file in files if len(files) <= _MAX_MATCHES else ():
            worth[file] += 1 / len(files)
    return sorted(worth, key=lambda file: (-worth[file], file))[:_MAX_DEFINING]


def _searched(text: str, question: Question, search: Search, where: Filter) -> list[RetrievalResult]:
    if not text:
        return []
    try:
        return search(question if text == question.text else read_question(text), _DEPTH, where)
    except QueryError:  # a title can be without a word
        return []


def _file_of(chunk: Chunk) -> IssueFile:
    return chunk.source, chunk.span.path


def _chunk_in(file: IssueFile, issue: Issue, index: Index) -> Chunk | None:
    """Return the chunk of a file that a stack frame, or else the rarest name, refers to; None if there is none.

    Names in prose come before those in code. The file may have changed since the frame was printed, so the issue must
    name the definition in that line too.
    Of a definition in several chunks, it is the one with the line of a stack frame, if any.
    """
    chunks = index.chunks(*file)
    lines = [place.line for place in issue.places if place.path.rpartition("/")[2] == file[1].rpartition("/")[2]]
    framed = [c for line in lines for c in chunks if c.span.start_line <= line <= c.span.end_line]
    defined = {name for chunk in chunks for name in chunk.defines}
    spoken = set(issue.names[: issue.in_prose])
    rarest = _rarest_first([name for name in issue.names if name in defined], index)
    names = sorted(rarest, key=lambda name: name not in spoken)
    for chunk in framed:
        if name := next((name for name in names if name in (*chunk.defines, _last_part(chunk.symbol))), ""):
            return _called(chunk, name)
    if not names:
        return next(iter(framed), None)
    return _called(next(chunk for chunk in chunks if names[0] in chunk.defines), names[0])


def _rarest_first(names: Sequence[str], index: Index) -> list[str]:
    """Return names by the number of chunks that contain them; of equals, the one that is mentioned first."""
    tokens = {name: tokenize(name)[-1:] for name in names}  # the last one stands for the whole name
    counts = index.frequencies([token for held in tokens.values() for token in held])
    return sorted(names, key=lambda name: sum(counts.get(token, 0) for token in tokens[name]))


def _called(chunk: Chunk, name: str) -> Chunk:
    """Return a chunk with the symbol that the issue names, which may not be its first one."""
    is_first = _last_part(chunk.symbol) == name or name not in chunk.defines
    return chunk if is_first else replace(chunk, symbol=".".join((*chunk.context, name)))


def _last_part(symbol: str) -> str:
    return symbol.rpartition(".")[2]
