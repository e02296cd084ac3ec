"""Chooses between the versions of a documentation that lie side by side, as in `docs/v3.4/` and `docs/v3.5/`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from openbook.retrieval.roles import is_of_earlier_version, role_of
from openbook.types import Kind

# `v3`, `v3.4`, `3.4`, `3.x`, `version-2.0.0`. Plain numbers are chapters, exercises and years.
_FOLDER = re.compile(r"(?:version[-_]?|v)\d+(?:\.\d+)*(?:\.x)?|\d+(?:\.\d+)+(?:\.x)?|\d+\.x", re.IGNORECASE)
# `upgrading-to-12.md`, `UpgradingToJest30.md`, `upgrade_3_5.md`: guides to several versions, side by side. Some are
# called `migrating-to` and others `migrate-to`.
_GUIDE = re.compile(
    r"(?P<page>(?>\D*?(?:upgrad|migrat)))(?:e|ing|ion)?(?P<rest>\D*?)[-_ .]?v?(?P<version>\d+(?:[._]\d+)*)(?:[._]x)?",
    re.IGNORECASE,
)
_ASKED = re.compile(
    rf"(?<![\w.-])(?:{_FOLDER.pattern}|(?:version|release)\s+\d+(?:\.\d+)*|(?:upgrad|migrat)\w*\s+(?:to|from)\s+"
    r"(?:[^\W\d]+\s+)?v?\d+(?:\.\d+)*)(?!\w)",
    re.IGNORECASE,
)

# These are in every folder, so they tell nothing about copies.
_INDEXES = frozenset({"_index", "index", "readme"})

_CACHED_PATHS = 1 << 13

Folder = tuple[str, str]
"""Source and path of the folder that has the versions."""


class Edition(NamedTuple):
    """Where a page stands in a documentation with versions."""

    folder: str
    """The folder that has the versions."""
    version: str
    """The name of the version's folder."""
    page: str
    """The path of the page below."""


@lru_cache(maxsize=_CACHED_PATHS)
def edition_of(path: str) -> Edition | None:
    """Return the edition of a page; None if its path has no version.

    Guides that lead to several versions are editions of one page.

    Example:
        >>> edition_of("docs/v3.4/ops/install.md")
        Edition(folder='docs', version='v3.4', page='ops/install.md')
        >>> edition_of("docs/upgrading-to-12.md")
        Edition(folder='docs/upgrad-to', version='12', page='upgrad-to')
        >>> edition_of("lessons/3/install.md")
    """
    parts = path.split("/")
    at = next((n for n, part in enumerate(parts[:-1]) if _FOLDER.fullmatch(part)), None)
    if at is not None:
        return Edition("/".join(parts[:at]), parts[at], "/".join(parts[at + 1 :]))
    guide = _GUIDE.fullmatch(parts[-1].rpartition(".")[0])
    if guide is None:
        return None
    page = guide["page"] + guide["rest"]
    return Edition("/".join((*parts[:-1], page)), guide["version"], page)


class Choice(NamedTuple):
    """The versions of a documentation that a question means."""

    versions: frozenset[str]
    is_named: bool
    """The question names them; else it is the newest."""


def pages_in(files: Iterable[tuple[str, str, Kind]]) -> list[tuple[str, str]]:
    """Return the sources and paths of files that may belong to a documentation: no code, and no notes of a release."""
    return [
        (source, path)
        for source, path, kind in files
        if kind != "code" and (role_of(path, kind) != "changelog" or is_of_earlier_version(path))
    ]


def names_version(question: str) -> bool:
    """Return whether a question has a number that may be a version."""
    return _ASKED.search(question) is not None


def folders_with_editions(pages: Iterable[tuple[str, str]]) -> frozenset[Folder]:
    """Return the folders that have the same page in two versions; `pages` are sources and paths."""
    versions: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for source, path in pages:
        edition = edition_of(path)
        if edition is not None and _stem(edition.page) not in _INDEXES:
            versions[source, edition.folder, edition.page].add(edition.version)
    return frozenset((source, folder) for (source, folder, _), found in versions.items() if len(found) > 1)


def choose_editions(question: str, pages: Collection[tuple[str, str]]) -> dict[Folder, Choice]:
    """Return the versions that a question means for each folder with editions: those that it names, or the newest.

    In `versioned_docs`, all are earlier versions of a documentation elsewhere, so none is meant unless it is named.

    Example:
        >>> pages = [("", f"docs/{version}/install.md") for version in ("v3.9", "v3.10", "main")]
        >>> choose_editions("install it", pages)
        {('', 'docs'): Choice(versions=frozenset({'v3.10'}), is_named=False)}
        >>> choose_editions("install v3.9.2", pages)
        {('', 'docs'): Choice(versions=frozenset({'v3.9'}), is_named=True)}
    """
    folders = folders_with_editions(pages)
    versions: dict[Folder, set[str]] = defaultdict(set)
    for source, path in pages:
        edition = edition_of(path)
        if edition is not None and (source, edition.folder) in folders:
            versions[source, edition.folder].add(edition.version)
    asked = [_numbers(name[0]) for name in _ASKED.finditer(question)]
    chosen = {}
    for folder, found in versions.items():
        # `v3` is that of 3.4 as well, and `3.0.0` that of 3.
        named = {each for each in found if any(_begins(one, _numbers(each)) for one in asked)}
        if named or not is_of_earlier_version(f"{folder[1]}/"):
            newest = max(found, key=lambda each: (_numbers(each), each))
            chosen[folder] = Choice(frozenset(named or {newest}), bool(named))
    return chosen


def choice_of(source: str, path: str, chosen: Mapping[Folder, Choice]) -> tuple[Choice, bool] | None:
    """Return the choice for the documentation of a page, and whether the page is of a chosen version; None without."""
    edition = edition_of(path) if chosen else None
    choice = None if edition is None else chosen.get((source, edition.folder))
    return None if edition is None or choice is None else (choice, edition.version in choice.versions)


def _begins(asked: tuple[int, ...], version: tuple[int, ...]) -> bool:
    return asked[: len(version)] + (0,) * (len(version) - len(asked)) == version


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _stem(page: str) -> str:
    return page.rpartition("/")[2].partition(".")[0].lower()
