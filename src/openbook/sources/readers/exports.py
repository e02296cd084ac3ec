"""Reads what Notion and Confluence export: a zip of pages in Markdown or HTML."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from itertools import islice

from openbook.errors import SkippedFileError
from openbook.sources.readers.parts import Parts
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage

# Notion puts an identifier behind each name, and large exports into zips of their own. Confluence puts the number of a
# page there. Names are not compressed, so that bytes tell.
_NOTION_PAGE = rb"[ /_-][0-9a-f]{32}\.(?:md|html)"
_NOTION_PART = rb"Export-?(?:Block-)?[0-9a-f-]{36}-Part-\d+\.zip"
_CONFLUENCE_PAGE = rb"[_/]\d{5,}\.html"
_EXPORT = re.compile(rb"|".join((_NOTION_PAGE, _NOTION_PART)))
_CONFLUENCE = re.compile(_CONFLUENCE_PAGE)

_IDENTIFIER = re.compile(r"[ _-]?(?:[0-9a-f]{32}|(?<=_)\d{5,})$")
_PAGES = (".md", ".html", ".htm", ".csv")
_MOST_PAGES, _MOST_LISTED = 5_000, 5
_INNER = ".zip"

ReadFile = Callable[[bytes, str], Reading]
"""Reads the bytes of a page by its path. Raises `SkippedFileError`."""


def is_export(raw: bytes) -> bool:
    """Return whether a zip is an export of Notion or Confluence."""
    if _EXPORT.search(raw):
        return True
    return _CONFLUENCE.search(raw) is not None and b"/index.html" in raw


def read_export(raw: bytes, path: str, read: ReadFile) -> Reading:
    """Read the pages of an export, in the order of their paths. Anchors name the page: `Recipes/Bread`.

    Raises:
        SkippedFileError: It is damaged, expands to too much, or has no page.
    """
    pages = _pages(ZipPackage(raw, path), path)
    parts = Parts()
    unread: list[str] = []
    remarks: list[str] = []
    for name, content in islice(pages, _MOST_PAGES):
        try:
            reading = read(content, name)
        except SkippedFileError as exc:
            unread.append(f"{name} ({exc.reason})")
            continue
        title = page_title(name)
        parts.add(reading, title, title=title, level=2)
        remarks += (f"{name}: {remark}" for remark in reading.remarks)
    if not len(parts):
        raise SkippedFileError(path, "an export without pages")
    if unread:
        rest = len(unread) - _MOST_LISTED
        remarks.insert(0, f"not read: {', '.join(unread[:_MOST_LISTED])}{f' and {rest} more' if rest > 0 else ''}")
    if next(pages, None) is not None:
        remarks.insert(0, f"only the first {_MOST_PAGES:,} pages are read")
    return parts.reading("zip", tuple(remarks))


def _pages(package: ZipPackage, path: str, *, is_inner: bool = False) -> Iterator[tuple[str, bytes]]:
    names = sorted(name for name in package.names() if not posixpath.basename(name).startswith("."))
    for name in names:
        if name.lower().endswith(_PAGES) and not name.endswith("/index.html"):
            yield name, package.read(name)
    for name in () if is_inner else names:
        if name.lower().endswith(_INNER):
            yield from _pages(ZipPackage(package.read(name), path), path, is_inner=True)


def page_title(name: str) -> str:
    """Return the path of a page as people know it, without identifiers.

    Example:
        >>> page_title("Recipes 0123456789abcdef0123456789abcdef/Rye bread 00112233445566778899aabbccddeeff.md")
        'Recipes/Rye bread'
        >>> page_title("SPACE/Rye-bread_1234567.html")
        'SPACE/Rye-bread'
    """
    folder, base = posixpath.split(name)
    parts = [*folder.split("/"), posixpath.splitext(base)[0]] if folder else [posixpath.splitext(base)[0]]
    return "/".join(_IDENTIFIER.sub("", part).strip(" _") or part for part in parts)
