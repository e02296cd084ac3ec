"""Readers that need an optional package or program, and readers that settings enable."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.errors import MissingExtraError, SettingsError
from openbook.settings import Settings
from openbook.types import SkipReason

if TYPE_CHECKING:
    from openbook.sources.reader_registry import FileReader
    from openbook.sources.readers.ocr import Recognizer


@dataclass(frozen=True, slots=True)
class OptionalReader:
    """A reader of some formats that needs a package or program."""

    suffixes: tuple[str, ...]
    name: str
    remedy: str
    reason: SkipReason
    """Skip reason of files if it is missing."""
    is_there: Callable[[], bool]


def office_program() -> str | None:
    """Return the path of LibreOffice; None if it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


OPTIONAL_READERS = (
    OptionalReader(
        ("msg",),
        "python-oxmsg",
        "`pip install 'openbook[msg]'`, or save the message as EML",
        SkipReason.OUTLOOK_MESSAGE,
        lambda: find_spec("oxmsg") is not None,
    ),
    OptionalReader(
        ("doc", "ppt"),
        "LibreOffice",
        "install LibreOffice, or save it as DOCX or PPTX",
        SkipReason.OLD_OFFICE,
        lambda: office_program() is not None,
    ),
)


def optional_reader(suffix: str) -> OptionalReader | None:
    """Return the optional reader of a format; None if it has none."""
    return next((one for one in OPTIONAL_READERS if suffix in one.suffixes), None)


def may_be_read_now(reason: str) -> bool:
    """Return whether a file skipped for a missing package or program can be read now."""
    return any(SkipReason.of(reason) is one.reason and one.is_there() for one in OPTIONAL_READERS)


def recognizer_of(settings: Settings) -> Recognizer | None:
    """Return the OCR function; None if OCR is off."""
    if not settings.ocr:
        return None
    from openbook.sources.readers.ocr import recognize  # lazy: most sources need no OCR

    return recognize


def check_recognition(settings: Settings) -> None:
    """Check that what settings want recognized, text in pictures and speech, can be. Loads no model.

    Raises:
        SettingsError: The speech model is not there.
        MissingExtraError: A package or program is not installed.
    """
    if settings.ocr:
        from openbook.sources.readers import ocr

        if not ocr.is_there():
            raise MissingExtraError(
                "OPENBOOK_OCR is on, and nothing recognizes text", hint="install 'openbook[ocr]' or Tesseract"
            )
    if settings.audio:
        from openbook.sources.readers.recordings import MODEL_FILE

        if not (_speech_folder(settings) / MODEL_FILE).is_file():
            raise SettingsError(
                f"OPENBOOK_AUDIO is {settings.audio!r}, and there is no such model",
                hint="openbook models list names those that are known; openbook models add NAME fetches one",
            )
        if find_spec("faster_whisper") is None:
            raise MissingExtraError(
                "OPENBOOK_AUDIO is set, and nothing recognizes speech", hint="pip install 'openbook[audio]'"
            )


def _speech_folder(settings: Settings) -> Path:
    at_home = settings.models_folder / settings.audio
    return at_home if at_home.is_dir() else Path(settings.audio).expanduser().resolve()


def readers_of(settings: Settings) -> Mapping[str, FileReader]:
    """Return the readers that settings enable, by suffix. They can be pickled."""
    readers: dict[str, FileReader] = {}
    recognizer = recognizer_of(settings)
    if recognizer is not None:
        from openbook.sources.readers.ocr import PICTURES, read_picture

        readers |= dict.fromkeys(PICTURES, partial(read_picture, recognizer=recognizer))
    if settings.audio:
        from openbook.sources.readers.recordings import RECORDINGS, Whisper, read_recording

        transcriber = Whisper(settings.audio, _speech_folder(settings))
        readers |= dict.fromkeys(RECORDINGS, partial(read_recording, transcriber=transcriber))
    return readers
