"""The folder that citations refer to: resolves paths in it, and never outside of it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePosixPath

from openbook.errors import SkippedFileError, SourceError, SourceNotFoundError
from openbook.sources.decode import decode
from openbook.sources.documents import attached_bytes, read_document
from openbook.sources.walk import is_inside, refuse_by_name, scan_folder
from openbook.types import SkipReason, shown_text
from openbook.verify.git import Git
from openbook.verify.meant_paths import is_short_for, leads_out
from openbook.verify.relocation import DISTINCTIVE_CHARS, ComparedText

# A generated source file can have several megabytes; a larger "text" is data, and no one cites its lines.
MAX_FILE_BYTES = 16 * 1024 * 1024

# Size of the files that are searched for lines that have left their file: .3 s for each such citation, and 3 s once to
# read them.
_MAX_SEARCHED_BYTES = 64 * 1024 * 1024

# A file that was renamed keeps most of its lines; two that only share their beginnings do not.
_SAME_FILE = 0.5
_LEAD = 0.2

# From 0 to 1: `reader.py` is a typo of `readers.py`, but `test_b.py` is not one of `test_a.py`.
_SAME_NAME = 0.88

OUTSIDE, SECRET = "it leads out of the root", "secret"
_OF_GIT = "it belongs to git"


@dataclass(frozen=True, slots=True)
class Target:
    """What a path in a text resolves to."""

    path: str = ""
    """POSIX path relative to the root; empty if there is no such file."""
    refused: str = ""
    """Why it is not read; empty if it may be."""
    tried: tuple[str, ...] = ()
    """Paths within the root that it could have meant, likeliest first."""
    namesakes: tuple[str, ...] = ()
    """Files elsewhere in the root whose path ends like this."""


def _refusal(path: str) -> str:
    """Return why a path is not read. Binary files are known by what they contain: `.mo` is also a language."""
    reason = _OF_GIT if ".git" in path.split("/") else refuse_by_name(path)
    return "" if reason == SkipReason.BINARY_NAME else reason


def read_file(path: Path, location: str) -> bytes:
    """Read a file of limited size."""
    try:
        if not path.is_file():
            if path.is_dir():
                raise SourceError(location, "is a folder", hint="name its files, such as docs/*.md")
            raise SourceNotFoundError(location, "does not exist", hint="give the path of a file on this machine")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise SourceError(
                location, f"larger than {MAX_FILE_BYTES // 1024 // 1024} MiB", hint="split the file, or leave it out"
            )
        return path.read_bytes()
    except OSError as exc:
        raise SourceError(location, exc.strerror or "unreadable", hint="check its permissions") from exc


def _is_typo_in_folder(path: str, other: str) -> bool:
    """Return whether two paths differ in the spelling of one folder, and not in its number.

    Example:
        >>> [_is_typo_in_folder(path, "lib/v1beta1/config/a.go") for path in ("lib/v1beta1/configs/a.go", "lib/a.go")]
        [True, False]
    """
    parts, others = path.split("/"), other.split("/")
    if len(parts) != len(others):
        return False
    differing = [pair for pair in zip(parts, others, strict=True) if pair[0] != pair[1]]
    if len(differing) != 1:
        return False
    ((written, there),) = differing
    is_same_number = [*filter(str.isdigit, written)] == [*filter(str.isdigit, there)]
    return is_same_number and bool(get_close_matches(written, [there], 1, _SAME_NAME))


class CitedFolder:
    """A folder whose files are read on demand, each once."""

    def __init__(self, folder: Path) -> None:
        """Take a folder."""
        if not folder.is_dir():
            raise SourceNotFoundError(str(folder), "does not exist", hint="give the folder that paths are relative to")
        self.folder: Path = folder.resolve()
        self._pages: dict[str, ComparedText | SourceError] = {}

    def relative(self, path: Path) -> str | None:
        """Return the path of a file within the root, None for one elsewhere."""
        try:
            found = path.resolve()
        except (OSError, RuntimeError):  # RuntimeError: a loop of links, until Python 3.13
            return None
        return found.relative_to(self.folder).as_posix() if found.is_relative_to(self.folder) else None

    def find(self, written: str, citing: str | None, *, is_link: bool = False) -> Target:
        """Resolve a path as written to a file.

        A link is relative to the file it stands in, then to the root, and the other way around for other
        paths. What is found at neither place may be short for the path of one file.

        `citing`: path of the file it stands in, relative to the root; None if that lies elsewhere.
        """
        tried = self._meant(written, citing, is_link=is_link)
        inside = tuple(path for path in tried if path and not path.startswith("../") and path != "..")
        for path in inside:
            kind = self._kind(path)
            if kind == "file":
                real = self.relative(self.folder / path) or path  # behind a symbolic link, which has no lines
                return Target(real, _refusal(path) or _refusal(real), inside)
            if kind == "outside":
                return Target(refused=OUTSIDE, tried=inside)
        if not inside:
            return Target(refused=OUTSIDE)
        if _refusal(inside[0]) in {SECRET, _OF_GIT}:  # do not reveal whether such a file exists
            return Target(refused=_refusal(inside[0]), tried=inside)
        short = written.removeprefix("./").lstrip("/")
        names = self._by_name.get(posixpath.basename(short), ())
        namesakes = tuple(path for path in names if is_short_for(short, path))
        return Target(namesakes[0] if len(namesakes) == 1 and not is_link else "", "", inside, namesakes)

    def _meant(self, written: str, citing: str | None, *, is_link: bool) -> list[str]:
        written = written.replace("\0", "")
        if written.startswith("/"):
            there = self.relative(Path(written))
            below = posixpath.normpath(written.lstrip("/"))
            is_meant = is_link or (there is None and (not leads_out(written) or self._kind(below) == "file"))
            return [below if is_meant else there if there is not None else ".."]
        from_root = posixpath.normpath(written)
        if citing is None:
            return [from_root]
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(citing), written))
        return list(dict.fromkeys([beside, from_root] if is_link else [from_root, beside]))

    def _kind(self, path: str) -> str:
        full = self.folder / path
        try:
            if not full.exists():
                return "file" if self._attached(path) is not None else "missing"
            if not is_inside(full, self.folder):
                return "outside"
            return "file" if full.is_file() else "folder"
        except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no file can have
            return "missing"

    def _attached(self, path: str) -> bytes | None:
        """Return what is attached to mail, or is a page of an export; None if there is nothing of that path."""
        parents = [str(parent) for parent in PurePosixPath(path).parents if parent.name]
        holder = next((parent for parent in parents if (self.folder / parent).is_file()), "")
        if not holder or not is_inside(self.folder / holder, self.folder) or _refusal(holder):
            return None
        try:
            return attached_bytes(read_file(self.folder / holder, holder), holder, path)
        except (SourceError, SkippedFileError):
            return None

    def _bytes(self, path: str) -> bytes:
        attached = self._attached(path)
        return read_file(self.folder / path, path) if attached is None else attached

    def has_file(self, path: str) -> bool:
        """Return whether there is a file of that path relative to the root."""
        return bool(self.find("/" + path, None, is_link=True).path)

    def has_folder(self, path: str) -> bool:
        """Return whether the first part of a path is a folder of the root."""
        first = path.removeprefix("./").partition("/")[0]
        return first not in {"", ".", ".."} and self._kind(first) == "folder"

    def is_absent(self, path: str) -> bool:
        """Return whether git has a path that is not checked out: in a submodule, or left out of a sparse checkout."""
        return not self._absent.isdisjoint((path, *map(str, PurePosixPath(path).parents)))

    @cached_property
    def _absent(self) -> frozenset[str]:
        listed = Git(self.folder).ask("ls-files", "-t", "--stage", "-z").split("\0")
        entries = [(about.split(" "), path) for about, _, path in (entry.partition("\t") for entry in listed) if path]
        left_out = {path for (tag, *_), path in entries if tag == "S"}
        submodules = {path for (_, mode, *_), path in entries if mode == "160000"}
        return frozenset(left_out.union(path for path in submodules if not (self.folder / path / ".git").exists()))

    def page(self, path: str) -> ComparedText:
        if path not in self._pages:
            try:
                self._pages[path] = ComparedText(decode(self._bytes(path), path))
            except SourceError as exc:
                self._pages[path] = exc
        found = self._pages[path]
        if isinstance(found, SourceError):
            raise found
        return found

    def document_text(self, path: str) -> str:
        """Return the text of a file as a library holds it: offsets of answers count in this."""
        return shown_text(read_document(self._bytes(path), source="", path=path, mask=False).text)

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return tuple(file.path for file in scan_folder(self.folder, MAX_FILE_BYTES).files)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._listed:
            found[posixpath.basename(path)].append(path)
        return found

    @cached_property
    def _by_lower_case(self) -> dict[str, str]:
        return {path.casefold(): path for path in self._listed}

    def spelled_like(self, paths: Sequence[str]) -> str:
        """Return the file that a path is a typo of: in case, in its name, or in one of its folders; else empty."""
        for path in paths:
            if other := self._by_lower_case.get(path.casefold()):
                return other
            folder, _, name = path.rpartition("/")
            suffix = posixpath.splitext(name)[1]
            beside = (posixpath.split(other) for other in self._listed if folder and other.endswith(suffix))
            names = [other for where, other in beside if where == folder]
            for similar in get_close_matches(name, names, 1, _SAME_NAME):
                return f"{folder}/{similar}"
            for other in self._by_name.get(name, ()):
                if _is_typo_in_folder(path, other):
                    return other
        return ""

    def same_format(self, path: str, citing: str | None = None) -> Iterator[tuple[str, ComparedText]]:
        """Yield the other files with the ending of a path, in order of paths, up to 64 MiB of them.

        The citing file is left out: it contains the words that it says about the lines.
        """
        suffix = posixpath.splitext(path)[1]
        left = _MAX_SEARCHED_BYTES
        for other in self._listed:
            if other in (path, citing) or posixpath.splitext(other)[1] != suffix:
                continue
            try:
                page = self.page(other)
            except SourceError:
                continue
            left -= len(page.text)
            if left < 0:
                return
            known = vars(page).keys() | {"squeezed", "hashes"}
            yield other, page
            for name in vars(page).keys() - known:  # the lines take four times the memory of the text
                delattr(page, name)

    def holding(self, block: str, path: str, citing: str | None = None) -> str:
        """Return the only other file of the same format that contains a block without white space once; else empty."""
        if len(block) < DISTINCTIVE_CHARS:
            return ""
        found = [(other, page.squeezed.count(block)) for other, page in self.same_format(path, citing)]
        found = [(other, count) for other, count in found if count]
        return found[0][0] if len(found) == 1 and found[0][1] == 1 else ""

    def like(self, old: ComparedText, path: str, citing: str | None = None) -> str:
        """Return the file that has most lines of an older text, as after a rename; empty if it is not clear which."""
        keys = {hash(key) for key in old.keys if len(key) >= DISTINCTIVE_CHARS // 2}
        if not keys:
            return ""
        ranked = sorted(
            (
                (len(keys.intersection(page.hashes)) / len(keys), other)
                for other, page in self.same_format(path, citing)
            ),
            reverse=True,
        )
        if not ranked or ranked[0][0] < _SAME_FILE or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _LEAD):
            return ""
        return ranked[0][1]
