"""Resolves the paths and patterns of models to documents, with suggestions if there are none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from urllib.parse import unquote

from openbook.errors import NoDocumentError, ToolError
from openbook.index.filters import filter_predicate
from openbook.index.protocol import DocumentSummary, Index
from openbook.types import Filter, Kind

# Untrusted names outside of a fence must be too short for an instruction.
PLAIN_NAME = re.compile(r"[\w./-]{1,40}")
_PLAIN_PATH = re.compile(r"[\w./-]{1,100}")


class NamedDocuments:
    """The visible documents of a library by path."""

    def __init__(self, index: Index, where: Filter) -> None:
        """Take a library, and the filter of visible documents."""
        self._index = index
        self._where = where

    def find(self, path: str) -> tuple[DocumentSummary, int, int]:
        """Resolve a path as agents, stack traces and editors write it, and the lines after it, 0 if there are none.

        It may have its source in front. If no document has it, it means the only one that ends so.

        Raises:
            NoDocumentError: No document matches.
            ToolError: Several do.
        """
        documents = self._index.documents(self._where)

        def named(wanted: str) -> list[DocumentSummary]:
            return [one for one in documents if wanted in (one.path, f"{one.source}/{one.path}")]

        def is_named(wanted: str) -> bool:
            return bool(named(wanted))

        wanted, first, last = split_lines(unwrapped(path, is_named), is_named)
        slashed = wanted.replace("\\", "/")
        found = named(wanted) or named(slashed)
        if not found:
            ending = [one for one in documents if slashed and one.path.endswith(f"/{slashed}")]
            found = ending if len(ending) == 1 else []
        if not found:
            told = told_instead(wanted, [one.path for one in documents])
            raise NoDocumentError(f"the library has no document of that path; {told}")
        if len(found) > 1:
            sources = ", ".join(one.source for one in found if PLAIN_NAME.fullmatch(one.source))
            raise ToolError(f"several sources have that path; put the name of one in front, with a slash: {sources}")
        return found[0], first, last

    def like(self, pattern: str = "", kind: Kind | None = None) -> list[DocumentSummary]:
        """Return the documents with a matching path, of a kind, by source and path.

        Raises:
            NoDocumentError: No path matches.
        """
        check = filter_predicate(Filter(frozenset({kind} if kind else ()), (pattern,) if pattern else ()))
        listed = self._index.documents(self._where)
        found = [one for one in listed if check is None or check(*one)]
        if not found:
            self.check(pattern)
        return found

    def check(self, pattern: str) -> None:
        """Check that a path matches, or that there are no documents.

        Raises:
            NoDocumentError: No path matches; the message has suggestions.
        """
        is_meant = path_check(pattern)
        paths = [one.path for one in self._index.documents(self._where)]
        if paths and not any(map(is_meant, paths)):
            raise NoDocumentError(f"no document has a path like that; {told_of_pattern(pattern, paths)}")


def path_check(pattern: str) -> Callable[[str], bool]:
    """Return a predicate for paths that match a pattern; the empty pattern matches all."""
    check = filter_predicate(Filter(globs=(pattern,))) if pattern else None
    return lambda path: check is None or check("", path, "")


# Limits of suggestions.
_MAX_SUGGESTIONS = 3
_MAX_FOLDERS = 8

# `src/a.py:12-18`, and `src/a.py:12-18,20-31` as in results, which is read as one range; `src/a.py:12:5` of compilers;
# `a.cs:line 12` of .NET; `a.cs(12,5)` of MSBuild and tsc; `src/a.py#L12-L18` of GitHub; `a.py", line 12` of Python.
_LINES = re.compile(
    r"(.+?)(?:"
    r":(?:lines? )?(\d{1,9})(?:(?:[-\u2013]\d{1,9}, ?\d{1,9})*[-\u2013](\d{1,9})|,(\d{1,9})|:\d{1,9}(?:-\d{1,9})?)?"
    r"|#L(\d{1,9})(?:C\d{1,9})?(?:-L?(\d{1,9})(?:C\d{1,9})?)?"
    r"|\((\d{1,9})(?:[,:]\d{1,9})*\)"
    r"|,? lines? (\d{1,9})(?:[-\u2013](\d{1,9}))?"
    r"):?"
)
_OF_PYTHON = re.compile(r"File (\".+?\", line \d{1,9})(?:, in .*)?")
_QUOTED = re.compile(r"([`'\"])([^`'\"]+)\1(.*)", re.DOTALL)


def split_lines(path: str, is_document: Callable[[str], bool]) -> tuple[str, int, int]:
    """Split lines from a path, unless a document has the whole as its path. They are 0 if there are none.

    Example:
        >>> split_lines("src/a.py:12-18", lambda path: False), split_lines("src/a.py#L3", lambda path: False)
        (('src/a.py', 12, 18), ('src/a.py', 3, 3))
    """
    path = path.strip()
    named = _LINES.fullmatch(path)
    if named is None or is_document(path):
        return path, 0, 0
    first = int(named[2] or named[5] or named[7] or named[8])
    last = int(named[3] or named[6] or named[9] or first)
    # Behind a comma is a second line, or a column, which may be any number.
    return named[1], first, max(last, int(named[4] or 0))


def unwrapped(path: str, is_document: Callable[[str], bool] = lambda _: False) -> str:
    """Return a path without what stands around it in texts: quotation marks, `file://`, or `File` of Python.

    They stay if a document has them in its path.

    Example:
        >>> unwrapped('File "./a b.py", line 12, in send'), unwrapped("`src/a.py`:3"), unwrapped("file:///a%20b.md")
        ('a b.py, line 12', 'src/a.py:3', '/a b.md')
    """
    path = written = path.strip().removeprefix("./")
    if of_python := _OF_PYTHON.fullmatch(path):
        path = of_python[1]
    if quoted := _QUOTED.fullmatch(path):
        path = f"{quoted[2]}{quoted[3]}"
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
    path = path.removeprefix("./")
    return written if path != written and is_document(split_lines(written, is_document)[0]) else path


def told_instead(wanted: str, paths: Sequence[str]) -> str:
    """Return a hint for an agent that used an unknown path.

    Example:
        >>> told_instead("main.rs", ["src/main.rs", "src/cli.rs"])
        'did you mean src/main.rs?'
        >>> told_instead("src", ["src/main.rs", "src/cli.rs"])
        'that is a folder; list_files shows what is in it'
    """
    asked = wanted.replace("\\", "/").strip("/")
    if asked and any(path.startswith(f"{asked}/") for path in paths):
        return "that is a folder; list_files shows what is in it"
    if meant := nearest_paths(asked, paths):
        return f"did you mean {' or '.join(meant)}?"
    return "search shows paths as they are"


def nearest_paths(wanted: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that may be meant by one that no document has, at most three, best first.

    Example:
        >>> nearest_paths("lib/main.rs", ["src/main.rs", "src/cli.rs"])
        ['src/main.rs']
    """
    return _meant(wanted, [path for path in paths if _PLAIN_PATH.fullmatch(path)])


def told_of_pattern(pattern: str, paths: Sequence[str]) -> str:
    """Return a hint for an agent whose path pattern matches no document.

    Example:
        >>> [told_of_pattern(pattern, ["command.go", "doc/a.md"]) for pattern in ("commands.go", "*.rs", "src/")]
        ['did you mean command.go?', 'paths end in .go, .md', 'the folders are doc/']
    """
    asked, _, _ = split_lines(pattern.replace("\\", "/").strip().removeprefix("./").strip("/"), lambda _: False)
    plain = [path for path in paths if _PLAIN_PATH.fullmatch(path)]
    if not plain:
        return "search shows paths as they are"
    name = asked.rpartition("/")[2]
    ending = PurePosixPath(name).suffix
    if "*" in name and ending and not any(path.endswith(ending) for path in paths):
        endings = Counter(found for path in plain if (found := PurePosixPath(path).suffix))
        most = sorted(endings, key=lambda each: (-endings[each], each))[:_MAX_FOLDERS]
        return f"paths end in {', '.join(most)}"
    folders = sorted({path[: at + 1] for path in plain for at, char in enumerate(path) if char == "/"})
    meant = _meant(asked.replace("*", ""), [*plain, *folders])
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    tops = [folder for folder in folders if folder.count("/") == 1]
    more = f" and {len(tops) - _MAX_FOLDERS} more" if len(tops) > _MAX_FOLDERS else ""
    return f"the folders are {', '.join(tops[:_MAX_FOLDERS])}{more}" if tops else "list_files shows what is there"


def _meant(asked: str, places: Sequence[str]) -> list[str]:
    """Return the paths and folders that are most similar to a path, ignoring case."""
    wanted = asked.casefold().strip("/")
    if not wanted:
        return []
    told = {place: place.casefold().strip("/") for place in places}
    name = wanted.rpartition("/")[2]
    names = {place: full.rpartition("/")[2] for place, full in told.items()}
    found = [place for place, full in told.items() if f"/{full}".endswith(f"/{wanted}")]
    found = found or [place for place, its in names.items() if its == name]
    if not found:
        near = get_close_matches(name, sorted(set(names.values())), _MAX_SUGGESTIONS, 0.8)
        found = [place for each in near for place, its in names.items() if its == each]
    return sorted(found, key=lambda place: (place.count("/"), place))[:_MAX_SUGGESTIONS]
