"""Zipped files for tests, small enough to read."""

from __future__ import annotations

import io
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile

_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(parts: Mapping[str, str | bytes], compression: int = ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def changed(raw: bytes, parts: Mapping[str, str | bytes | None]) -> bytes:
    """Return a zip with parts put in; those that are None are taken out."""
    with ZipFile(io.BytesIO(raw)) as archive:
        before: dict[str, str | bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    return zipped({name: content for name, content in {**before, **parts}.items() if content is not None})


def part_of(raw: bytes, name: str) -> str:
    with ZipFile(io.BytesIO(raw)) as archive:
        return archive.read(name).decode()


def relations(**targets: str) -> str:
    """List relations: kind and target, with ids `r1`, `r2` ..."""
    listed = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), start=1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{listed}</Relationships>'


def docx_of(body: str, **parts: str) -> bytes:
    """Make a Word document of the XML of its body, and of other parts by the kind of their relation."""
    return zipped(
        {
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/_rels/document.xml.rels": relations(**{kind: f"{kind}.xml" for kind in parts}),
            "word/document.xml": _word("document", f"<w:body>{body}</w:body>"),
            **{f"word/{kind}.xml": _word(kind, content) for kind, content in parts.items()},
        }
    )


def _word(root: str, content: str) -> str:
    return f'<w:{root} xmlns:w="w" xmlns:r="{_OFFICE}">{content}</w:{root}>'


def odt_of(body: str, styles: str = "", manifest: str = "<manifest/>") -> bytes:
    spaces = 'xmlns:o="o" xmlns:t="text" xmlns:tb="table" xmlns:d="draw"'
    content = f"<o:document-content {spaces}>{styles}<o:body><o:text>{body}</o:text></o:body></o:document-content>"
    return zipped({"content.xml": content, "META-INF/manifest.xml": manifest})


def epub_of(pages: Mapping[str, str], compression: int = ZIP_DEFLATED, title: str = "") -> bytes:
    """Make a book of pages in order, by their names."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in pages)
    order = "".join(f'<itemref idref="{name}"/>' for name in pages)
    return zipped(
        {
            "META-INF/container.xml": '<container><rootfile full-path="b/book.opf"/></container>',
            "b/book.opf": f"<package><metadata><title>{title}</title></metadata>"
            f"<manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"b/{name}": page for name, page in pages.items()},
        },
        compression,
    )
