"""Reads what Notion and Confluence export: a zip of pages in Markdown or HTML."""

from __future__ import annotations

import posixpath
import re

from openbook.errors import SkippedFileError
from openbook.sources.readers.attachments import Attachments
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
_MOST_PAGES = 5_000
_INNER = ".zip"


def is_export(raw: bytes) -> bool:
    """Return whether a zip is an export of Notion or Confluence."""
    if _EXPORT.search(raw):
        return True
    return _CONFLUENCE.search(raw) is not None and b"/index.html" in raw


def read_export(raw: bytes, path: str, attached: Attachments) -> Reading:
    """Read the pages of an export, in the order of their paths. Anchors name the page: `Recipes/Bread`.

    Raises:
        SkippedFileError: It is damaged, expands to too much, or has no page.
    """
    parts = Parts()
    left_out = _add(parts, raw, path, attached, depth=0)
    if not len(parts):
        raise SkippedFileError(path, "an export without pages")
    more = (f"only the first {_MOST_PAGES:,} pages are read",) if left_out else ()
    return parts.reading("zip", (*more, *attached.remarks))


def _add(parts: Parts, raw: bytes, path: str, attached: Attachments, depth: int) -> bool:
    package = ZipPackage(raw, path)
    names = sorted(name for name in package.names() if not posixpath.basename(name).startswith("."))
    pages = [name for name in names if name.lower().endswith(_PAGES) and not name.endswith("/index.html")]
    for name in pages[:_MOST_PAGES]:
        attached.add(parts, package.read(name), name, title=page_title(name))
    left_out = len(pages) > _MOST_PAGES
    for name in names if depth == 0 else ():
        if name.lower().endswith(_INNER):
            left_out = _add(parts, package.read(name), path, attached, depth + 1) or left_out
    return left_out


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
