"""Reads EPUB books: their chapters in reading order, with one anchor per chapter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from xml.etree.ElementTree import Element

from openbook.errors import SkippedFileError
from openbook.sources.decode import decode
from openbook.sources.readers.composing import Composer
from openbook.sources.readers.html import read_chapter
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.zipped import ZipPackage, resolved, short_name

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"

# Font obfuscation, which unprotected books also use.
_FONT_SCRAMBLING = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})

_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})

_MAX_LABEL_CHARS = 80
_MAX_TITLE_CHARS = 200
_NO_TITLES = frozenset({"unknown", "untitled"})
_SAYS_CHAPTER = re.compile(r"(?:chapter|appendix|part|kapitel|anhang|teil|chapitre)\b", re.IGNORECASE)

# Share of linked letters in a page that is only a table of contents; the others are page numbers.
_LINKED_SHARE = 0.6
_LINK = re.compile(r"<a\b[^<>]*\bhref\b[^<>]*>(.{0,500}?)</a>", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")

# How many chapters that were left out a remark names.
_MAX_NAMED = 5

# Deeper indentation is layout, not structure.
_LONG_INDENT_CHARS = 120


def read_epub(raw: bytes, path: str) -> Reading:
    """Read a book.

    The title of the book is a heading above the first chapter, unless that begins with it. Chapters are in the order of
    the book, without its table of contents. Anchors are `ch. ` and the first heading of
    each file, else its title, else its name; `ch. ` is omitted if the heading already says so. Remarks name files that
    are missing or cannot be read, and count files after the cover without text.
    """
    package = ZipPackage(raw, path)
    if _CONTAINER not in package:
        package.refuse("not an EPUB book")
    if _is_locked(package):
        package.refuse("protected by DRM")
    where = next((root.get("full-path", "") for root in package.xml(_CONTAINER).iter("rootfile")), "")
    if not where:
        package.refuse("not an EPUB book")
    book, composer = package.xml(where), Composer()
    left_out, silent = dict[str, str](), 0
    for position, (name, is_contents) in enumerate(_chapters(book, where.rpartition("/")[0])):
        if name not in package:
            left_out[name] = "missing"
            continue
        try:
            page = decode(package.read(name), path)
        except SkippedFileError as exc:
            left_out[name] = exc.reason
            continue
        if is_contents and _is_mostly_links(page):
            continue
        before = len(composer)
        _add(composer, page, name, "" if before else _title(book))
        silent += position > 0 and len(composer) == before  # the first page is a cover, an image
    unread = [reason for reason in left_out.values() if reason != "missing"]
    if unread and not len(composer):
        package.refuse(unread[0])
    remarks = [f"not read: {_listed(left_out)}"] if left_out else []
    return composer.reading("epub", [*remarks, *([f"{silent} of its files without text"] if silent else [])])


def _listed(left_out: Mapping[str, str]) -> str:
    named = [f"{short_name(name)} ({reason})" for name, reason in list(left_out.items())[:_MAX_NAMED]]
    more = len(left_out) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _is_locked(package: ZipPackage) -> bool:
    if _ENCRYPTION not in package:
        return False
    methods = (method.get("Algorithm", "") for method in package.xml(_ENCRYPTION).iter("EncryptionMethod"))
    return not _FONT_SCRAMBLING.issuperset(methods)


def _is_mostly_links(page: str) -> bool:
    # A file labelled as the contents may be the first chapter with a list of the others.
    linked, whole = "".join(_LINK.findall(page)), page[max(0, page.find("<body")) :]
    return _letters(linked) > _LINKED_SHARE * _letters(whole)


def _letters(markup: str) -> int:
    return sum(map(len, _TAG.sub(" ", markup).split()))


def _title(book: Element) -> str:
    """Return the title of a book; empty for one that a program has put in place of a missing one."""
    title = next((" ".join((each.text or "").split()) for each in book.iter("title")), "")
    return "" if title.casefold() in _NO_TITLES else title[:_MAX_TITLE_CHARS]


def _chapters(root: Element, folder: str) -> Iterator[tuple[str, bool]]:
    """Yield the chapters, each once, in reading order, and whether each is labelled as the contents."""
    items = {item.get("id", ""): item for item in root.iter("item")}
    names: dict[str, None] = {}
    for reference in root.iter("itemref"):
        item = items.get(reference.get("idref", ""))
        if item is not None and item.get("media-type") in _PAGES and "nav" not in item.get("properties", "").split():
            names[resolved(folder, item.get("href", ""))] = None
    contents = {resolved(folder, part.get("href", "")) for part in root.iter("reference") if part.get("type") == "toc"}
    for name in names:
        yield name, name in contents


def _add(composer: Composer, page: str, name: str, book: str) -> None:
    title, chapter = read_chapter(page)
    first = next((block.title for block in chapter.blocks if block.level), "")
    label = first or title or name.rpartition("/")[2]
    mark = "" if _SAYS_CHAPTER.match(label) else "ch. "
    composer.anchor(f"{mark}{label[:_MAX_LABEL_CHARS].rstrip()}")
    if chapter.blocks and book.casefold() != first.casefold():
        composer.heading(book, 1)
    for block in chapter.blocks:
        text = chapter.text[block.start_char : block.end_char]
        if block.level:
            composer.heading(block.title, block.level)
        elif block.kind == "code":
            before = chapter.text[max(0, block.start_char - _LONG_INDENT_CHARS) : block.start_char]
            indent = before[len(before.rstrip(" \t")) :]
            composer.code(dedent(indent + text.replace("\f", " ")))
            composer.part()
        else:
            # Only form feeds are line breaks; other line ends of the file are spaces.
            lines = (" ".join(line.split()).removeprefix("| ") for line in text.split("\f"))
            composer.text("\n".join(lines))
