"""Readers of ours that are asked for by settings: of text in pictures, and of speech."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.settings import Settings

if TYPE_CHECKING:
    from openbook.sources.reader_registry import FileReader
    from openbook.sources.readers.ocr import Recognizer


def recognizer_of(settings: Settings) -> Recognizer | None:
    """Return what recognizes text in pictures; None where it is not asked for."""
    if not settings.ocr:
        return None
    from openbook.sources.readers.ocr import recognize  # most sources have no use for it

    return recognize


def readers_of(settings: Settings) -> Mapping[str, FileReader]:
    """Return the readers that the settings ask for, by suffix. They pickle."""
    readers: dict[str, FileReader] = {}
    recognizer = recognizer_of(settings)
    if recognizer is not None:
        from openbook.sources.readers.ocr import PICTURES, read_picture

        readers |= dict.fromkeys(PICTURES, partial(read_picture, recognizer=recognizer))
    if settings.audio:
        from openbook.sources.readers.recordings import RECORDINGS, Whisper, read_recording

        at_home = settings.models_folder / settings.audio
        folder = at_home if at_home.is_dir() else Path(settings.audio).expanduser().resolve()
        readers |= dict.fromkeys(RECORDINGS, partial(read_recording, transcriber=Whisper(settings.audio, folder)))
    return readers
