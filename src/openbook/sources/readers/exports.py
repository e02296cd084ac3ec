"""Reads exports of Notion and Confluence: a zip of pages in Markdown or HTML."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from openbook.errors import SkippedFileError
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.reading import AttachedFile, Reading
from openbook.sources.readers.zipped import ZipPackage

# Notion appends an identifier to each name, and puts large exports into nested zips. Confluence appends the page
# number. Names in a zip are not compressed, so searching its bytes suffices.
_NOTION_PAGE = rb"[ /_-][0-9a-f]{32}\.(?:md|html)"
_NOTION_PART = rb"Export-?(?:Block-)?[0-9a-f-]{36}-Part-\d+\.zip"
_CONFLUENCE_PAGE = rb"[_/]\d{5,}\.html"
_EXPORT = re.compile(rb"|".join((_NOTION_PAGE, _NOTION_PART)))
_CONFLUENCE = re.compile(_CONFLUENCE_PAGE)

_IDENTIFIER = re.compile(r"[ _-]?(?:[0-9a-f]{32}|(?<=_)\d{5,})$")
_PAGES = (".md", ".html", ".htm", ".csv", ".pdf", ".docx", ".pptx", ".xlsx", ".txt")
_INNER = ".zip"


def is_export(raw: bytes) -> bool:
    """Return whether a zip is an export of Notion or Confluence."""
    if _EXPORT.search(raw):
        return True
    return _CONFLUENCE.search(raw) is not None and b"/index.html" in raw


def read_export(raw: bytes, path: str) -> Reading:
    """Read the list of files in an export. Its pages and other files are attachments, in the order of their paths."""
    files = tuple(AttachedFile(page_name(name), content) for name, content in _pages(ZipPackage(raw, path), path))
    if not files:
        raise SkippedFileError(path, "an export without pages")
    composer = Composer()
    composer.text("\n".join(file.name for file in files))
    return replace(composer.reading("zip"), attached=files)


def _pages(package: ZipPackage, path: str, *, is_inner: bool = False) -> Iterator[tuple[str, bytes]]:
    names = sorted(name for name in package.names() if not posixpath.basename(name).startswith("."))
    for name in names:
        if (
            name.lower().endswith(_PAGES)
            and not name.endswith("/index.html")
            and (content := package.read(name)).strip()
        ):
            yield name, content
    for name in () if is_inner else names:
        if name.lower().endswith(_INNER):
            yield from _pages(ZipPackage(package.read(name), path), path, is_inner=True)


def page_name(name: str) -> str:
    """Return the path of a page without identifiers.

    Example:
        >>> page_name("Recipes 0123456789abcdef0123456789abcdef/Rye bread 00112233445566778899aabbccddeeff.md")
        'Recipes/Rye bread.md'
        >>> page_name("SPACE/Rye-bread_1234567.html")
        'SPACE/Rye-bread.html'
    """
    stem, suffix = posixpath.splitext(name)
    return "/".join(_IDENTIFIER.sub("", part).strip(" _") or part for part in stem.split("/")) + suffix
