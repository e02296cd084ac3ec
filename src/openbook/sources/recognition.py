"""Whether text in pictures is recognized, as the settings say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbook.settings import Settings

if TYPE_CHECKING:
    from openbook.sources.readers.ocr import Recognizer


def recognizer_of(settings: Settings) -> Recognizer | None:
    """Return what recognizes text in pictures; None where it is not asked for."""
    if not settings.ocr:
        return None
    from openbook.sources.readers.ocr import recognize  # most sources have no use for it

    return recognize
