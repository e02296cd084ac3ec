"""Readers that need a package or a program that may not be there, and what to do about that."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from openbook.types import SkipReason


@dataclass(frozen=True, slots=True)
class OptionalReader:
    """What reads some formats if it is there."""

    suffixes: tuple[str, ...]
    name: str
    remedy: str
    reason: SkipReason
    """Why files are skipped without it."""
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
    """Return whether a file that was skipped for a missing package or program could be read now."""
    return any(SkipReason.of(reason) is one.reason and one.is_there() for one in OPTIONAL_READERS)
