"""Finds the files that an issue is about, by searches for its title and names, and by the places in its tracebacks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from openbook.answering.references import chunks_defining, chunks_naming
from openbook.errors import QueryError
from openbook.index.protocol import DocumentSummary, Index
from openbook.questions.names import identifiers, name_parts
from openbook.questions.question import Question, read_question
from openbook.retrieval.roles import role_of
from openbook.types import Chunk, Filter, Kind, RetrievalResult

# Shorter texts are questions. No question that rankings are fitted on is as long and has several lines.
_MIN_CHARS = 200

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_URL = re.compile(r"https?://\S+")

# Sections of issue templates about the environment.
_ENVIRONMENT = re.compile(
    r"^(?:#+[ \t]*|\*\*)?(?:your )?(?:environment|versions?|configuration|system info\w*|output of `?[\w.]+|setup"
    r"|package versions|os(?: / environment)?|python version|pylint version|additional dependencies|are you willing\b"
    r"|code of conduct|installed versions|env info\w*|extra tools|os info)\b[^\n]*\n(?:(?!^#|^\*\*)[^\n]*(?:\n|\Z))*",
    re.IGNORECASE | re.MULTILINE,
)

# The limit of paths on Windows. Without a bound, many frames without a line would take quadratic time.
_MAX_PATH_CHARS = 260

# Stack frames of Python, then those of compilers, Go, Rust and test runners.
_FRAMES = (
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),
    re.compile(r"^[ \t]*(?:-->[ \t]*)?(?P<path>[\w./\\@+~-]+\.[A-Za-z]\w{0,7}):(?P<line>\d+)(?P<name>)", re.MULTILINE),
)
# Stack frames of Java and JavaScript, C#, and PHP, which print the innermost frame first. PHP names the callee.
_FRAMES_INNER_FIRST = (
    re.compile(r"\bat (?P<name>[\w.$<>]+) ?\((?P<path>[^():\n]+):(?P<line>\d+)"),
    re.compile(
        r"\bat (?>(?:[\w`<>]+\.)*(?P<name>\w++))[^()\s]*+\([^()\n]*+\) in "
        rf"(?P<path>(?:[A-Za-z]:)?[^:\n]{{1,{_MAX_PATH_CHARS}}}+):line (?P<line>\d+)"
    ),
    re.compile(r"^[ \t]*#\d+ (?P<path>[^(\n]+)\((?P<line>\d+)\):(?P<name>)", re.MULTILINE),
)
_PATH = re.compile(
    r"(?<![\w:/.+-])(?:[\w.+-]+/)+[\w.+-]+\.[A-Za-z]\w{0,5}\b|\b[a-z_]\w+\.(?:py|js|ts|go|rs|rb|java|c|cpp|h)\b"
)
_MODULE = re.compile(r"(?<![\w./])[a-z_]\w*(?:\.[a-z_]\w*){1,6}(?![\w(/])")


@dataclass(frozen=True, slots=True)
class Frame:
    """A stack frame."""

    path: str
    """As written: absolute, relative, or of another machine."""
    line: int = 0
    """0 if unknown."""
    name: str = ""
    """The name of the function, if known."""


@dataclass(frozen=True, slots=True)
class Issue:
    """A parsed issue."""

    title: str
    """Its first line."""
    frames: tuple[Frame, ...]
    """The distinct stack frames, innermost first."""
    paths: tuple[str, ...]
    """Files and modules outside of tracebacks, in order."""
    names: tuple[str, ...]
    """Unqualified code names: those in prose, then those in code."""
    spoken: frozenset[str]
    """The names in prose."""


def read_issue(text: str) -> Issue | None:
    r"""Parse an issue; None for a question.

    Example:
        >>> text = "Send fails\n\nSince 2.0 `send` fails:\n\n" + "It worked before. " * 12
        >>> issue = read_issue(f'{text}\n```\n  File "a/box.py", line 3, in send\nValueError: no\n```')
        >>> issue.title, issue.names[0], issue.frames
        ('Send fails', 'send', (Frame(path='a/box.py', line=3, name='send'),))
    """
    text = text.strip()
    if len(text) < _MIN_CHARS or "\n" not in text:
        return None
    text = _COMMENT.sub("", text).replace("\r", "")
    title = next((line.strip("# \t*") for line in text.splitlines() if line.strip("# \t*")), "")
    code = "\n".join(found[2] for found in _FENCE.finditer(text))
    prose, loose = _without_output(_ENVIRONMENT.sub("", _FENCE.sub("\n", text)))
    frames = _frames(text)
    told = _URL.sub(" ", prose)
    paths = tuple(dict.fromkeys(found[0] for pattern in (_PATH, _MODULE) for found in pattern.finditer(told)))
    spelled = [*identifiers(told), *(frame.name for frame in frames if frame.name), *identifiers(f"{code}\n{loose}")]
    spoken = frozenset(part for name in identifiers(told) for part in name_parts(name)[-1:])
    names = tuple(dict.fromkeys(part for name in spelled for part in name_parts(name)[-1:]))
    return Issue(title, frames, paths, names, spoken)


def _without_output(text: str) -> tuple[str, str]:
    """Separate prose from code and output without a fence."""
    prose, output = list[str](), list[str]()
    for line in text.split("\n"):
        is_output = re.match(r"\s{4,}\S|\t|\s*(?:>>>|\.\.\.|\$|In \[|Out\[|File \"|Traceback|E\s{2,})", line)
        (output if is_output else prose).append(line)
    return "\n".join(prose), "\n".join(output)


def _frames(text: str) -> tuple[Frame, ...]:
    """Return the stack frames, innermost first."""
    found = [
        (match.start(), Frame(match["path"].replace("\\", "/"), int(match["line"]), match["name"] or ""))
        for pattern in _FRAMES
        for match in pattern.finditer(text)
    ]
    frames = [frame for _, frame in sorted(found, key=lambda each: each[0], reverse=True)]
    inner_first = [_frame_at(match) for pattern in _FRAMES_INNER_FIRST for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(frames + inner_first))


def _frame_at(match: re.Match[str]) -> Frame:
    """Return a stack frame of Java or JavaScript. In Java, only the name contains the package of the file."""
    *package, _, name = ["", *match["name"].split(".")] if "." in match["name"] else ["", match["name"]]
    path = match["path"].replace("\\", "/")
    is_bare = path.endswith((".java", ".kt", ".scala", ".groovy"))
    return Frame("/".join([*filter(None, package), path]) if is_bare else path, int(match["line"]), name)


class IssueWeights(NamedTuple):
    """The weights of the rankings that are fused. The defaults are fitted by `python -m benchmarks.issue_texts`."""

    whole: float = 0.5
    """A search for the whole text."""
    title: float = 1.0
    names: float = 0.5
    frames: float = 0.5
    """The files of stack frames, innermost first."""
    paths: float = 0.5
    definitions: float = 0.25
    no_source: float = 0.3
    """A factor for tests, examples and documentation, which have the same words but are rarely to be fixed."""


WEIGHTS = IssueWeights()
"""The weights in use."""

# Rank n counts k / (k + n). Named places are few and reliable, results of a search are many.
_K_OF_SEARCH, _K_OF_PLACES = 10, 3

# Results of a search, names in a query, names that are looked up, files that define one, and files of all names.
_DEPTH = 30
_MAX_NAMES = 12
_MAX_LOOKUPS = 20
_MAX_PLACES = 3
_MAX_DEFINING = 5

# How fast the weights of names decrease.
_FADING = 0.3

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
    """Rank files for an issue, each with its most relevant chunk, best first.

    Args:
        issue: The parsed issue.
        question: The whole text.
        search: Ranks passages for a question.
        index: The library.
        limit: The maximum number of files.
        where: The filter of documents.
    """
    found = gather(issue, question, search, index, where)
    scores = fuse(found, WEIGHTS)
    ranked = sorted(scores, key=lambda file: (-scores[file], file))[:limit]
    telling = ((file, _chunk_in(file, issue, index) or found.chunks.get(file)) for file in ranked)
    return [RetrievalResult(chunk, scores[file]) for file, chunk in telling if chunk is not None]


def gather(issue: Issue, question: Question, search: Search, index: Index, where: Filter) -> IssueFindings:
    """Return all rankings. Arguments are those of `find_for_issue`."""
    documents = _Documents(index.documents(where))
    files: dict[str, Sequence[IssueFile]] = {
        "frames": [file for frame in issue.frames for file in documents.of_path(frame.path)],
        "paths": [file for path in issue.paths for file in documents.named(path)],
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
        k = _K_OF_PLACES if way in ("frames", "paths", "definitions") else _K_OF_SEARCH
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
    """Return the source files that define names of an issue, weighted by the order of the names."""
    worth: dict[IssueFile, float] = defaultdict(float)
    for place, name in enumerate(names[:_MAX_LOOKUPS]):
        outlines = chunks_defining(chunks_naming(index, [name], where), name, ())
        files = {(each.source, each.span.path) for each in outlines if role_of(each.span.path, each.kind) == "source"}
        if 0 < len(files) <= _MAX_PLACES:
            for file in files:
                worth[file] += 1 / len(files) / (1 + _FADING * place)
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
    """Return the chunk of a file that a stack frame or the first name refers to; None if there is none.

    Functions that the prose mentions come first.
    """
    chunks = index.chunks(*file)
    name = file[1].rpartition("/")[2]
    frames = [frame for frame in issue.frames if frame.path.rpartition("/")[2] == name]
    frames.sort(key=lambda frame: frame.name not in issue.spoken)
    named = [(frame.name, frame.line) for frame in frames if frame.name]
    for wanted, line in named or [(each, 0) for each in issue.names[:_MAX_NAMES]]:
        if defining := [chunk for chunk in chunks if wanted in chunk.defines]:
            return min(defining, key=lambda chunk: abs(chunk.span.start_line - line) if line else 0)
    lines = [frame.line for frame in frames if frame.line]
    return next((c for line in lines for c in chunks if c.span.start_line <= line <= c.span.end_line), None)
