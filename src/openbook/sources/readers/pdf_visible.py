"""Visibility of PDF characters: rotation and clipping."""

from __future__ import annotations

import ctypes
import math
from typing import Any

Box = tuple[float, float, float, float]
"""Left, bottom, right and top, in points from the lower left corner of the page."""

# Tolerance in points, because a clipped shape may leave a thin line.
_TOLERANCE = 1.0

# Text runs horizontally or vertically; watermarks do not.
_QUARTER, _MAX_DEGREES = 90, 5


class Shown:
    """Visibility of the text of one page, by character index."""

    def __init__(self, text_page: Any) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = text_page.raw
        self._area: Box = text_page.page.get_bbox()
        self._clips: dict[int, Box | None] = {}

    def angle(self, index: int) -> int:
        """Return the rotation of a character in degrees, from 0 to 359."""
        radians = self._pdfium.FPDFText_GetCharAngle(self._page, index)
        return round(math.degrees(radians)) % 360 if radians >= 0 else 0

    def is_cut_off(self, index: int, box: Box) -> bool:
        """Return whether a character is outside of the page or its clipping area."""
        return not _meet(box, self._area) or ((clip := self._clip(index, box)) is not None and not _meet(box, clip))

    def _clip(self, index: int, box: Box) -> Box | None:
        """Return the clipping area of a character; None without one, or if it is unknown."""
        text = self._pdfium.FPDFText_GetTextObject(self._page, index)
        key = ctypes.cast(text, ctypes.c_void_p).value or 0
        if key not in self._clips:
            edges = tuple(ctypes.c_float() for _ in range(4))
            has_bounds = key and self._pdfium.FPDFPageObj_GetBounds(text, *edges)
            bounds = tuple(edge.value for edge in edges)
            # Form XObjects have their own coordinates.
            is_of_page = has_bounds and _meet(box, bounds)  # type: ignore[arg-type]  # four edges
            self._clips[key] = self._common(self._pdfium.FPDFPageObj_GetClipPath(text)) if is_of_page else None
        return self._clips[key]

    def _common(self, clip: Any) -> Box | None:
        """Return the intersection of all paths of a clip."""
        pdfium = self._pdfium
        boxes = []
        x, y = ctypes.c_float(), ctypes.c_float()
        for path in range(max(0, pdfium.FPDFClipPath_CountPaths(clip))):
            points = []
            for number in range(max(0, pdfium.FPDFClipPath_CountPathSegments(clip, path))):
                pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(clip, path, number), x, y)
                points.append((x.value, y.value))
            if points:
                boxes.append((*map(min, zip(*points, strict=True)), *map(max, zip(*points, strict=True))))
        if not boxes:
            return None
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        return max(lefts), max(bottoms), min(rights), min(tops)


def _meet(one: Box, other: Box) -> bool:
    return (
        one[0] < other[2] + _TOLERANCE
        and other[0] < one[2] + _TOLERANCE
        and one[1] < other[3] + _TOLERANCE
        and other[1] < one[3] + _TOLERANCE
    )


def is_across(angle: int) -> bool:
    """Return whether text is rotated, neither horizontal nor vertical.

    Example:
        >>> [is_across(angle) for angle in (0, 92, 45, 358)]
        [False, False, True, False]
    """
    return (angle + _MAX_DEGREES) % _QUARTER > 2 * _MAX_DEGREES
