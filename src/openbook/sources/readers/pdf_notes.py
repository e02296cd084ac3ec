"""What is written onto a page of a PDF rather than in it: notes of annotations, and filled fields of forms."""

from __future__ import annotations

import ctypes
from typing import Any

from openbook.sources.readers.reading import storable

_MOST_ANNOTATIONS = 2_000
_MOST_UNITS = 20_000

# A field that is not filled, and a box that is not ticked.
_EMPTY = frozenset({"", "Off"})


def notes_of(page: Any) -> tuple[str, ...]:
    """Return the notes of a page, in the order of its annotations: `Note: words`, and `name: value` for fields."""
    import pypdfium2.raw as pdfium

    found = []
    for index in range(min(max(0, pdfium.FPDFPage_GetAnnotCount(page.raw)), _MOST_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            kind = pdfium.FPDFAnnot_GetSubtype(annotation)
            if kind == pdfium.FPDF_ANNOT_WIDGET:
                found.append(_field(annotation))
            elif kind not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
                words = _string(annotation, b"Contents")
                found.append(f"Note: {words}" if words else "")
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)
    return tuple(filter(None, found))


def _field(annotation: Any) -> str:
    name, value = _string(annotation, b"T"), _string(annotation, b"V")
    return "" if value in _EMPTY else f"{name or 'Field'}: {value}"


def _string(annotation: Any, key: bytes) -> str:
    import pypdfium2.raw as pdfium

    buffer = (ctypes.c_ushort * _MOST_UNITS)()
    length = pdfium.FPDFAnnot_GetStringValue(annotation, key, buffer, ctypes.sizeof(buffer))
    if not 0 < length <= ctypes.sizeof(buffer):
        return ""
    text = bytes(buffer)[: length - 2].decode("utf-16-le", "replace")
    return " ".join(storable(text).split())
