"""Lists the supported formats with their readers, and the unsupported ones with hints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from openbook.plugins import plugins
from openbook.settings import Settings
from openbook.sources.formats import BINARY_FORMATS
from openbook.sources.languages import BY_SUFFIX
from openbook.sources.optional_readers import OPTIONAL_READERS, optional_reader
from openbook.types import KINDS

# Libraries that extract the text of a format.
_LIBRARIES = {
    "pdf": "pypdfium2",
    "rtf": "striprtf",
    "xls": "python-calamine",
    "xlsx": "python-calamine",
    "ods": "python-calamine",
    "markdown": "markdown-it-py",
}

_UNREAD = {
    "key pages numbers": "export it as PDF, PPTX, DOCX or XLSX",
    "djvu mobi ps": "convert it to PDF or EPUB",
    "fodt fods fodp": "save it as ODT, ODS or ODP",
    "png jpg jpeg tif tiff webp": (
        "`pip install 'openbook[ocr]'`, or install Tesseract, and set OPENBOOK_OCR=on; or make a PDF with a text layer"
    ),
    "mp3 wav m4a flac ogg mp4 mov mkv webm": (
        "`pip install 'openbook[audio]'`, `openbook models add whisper-small`, and set OPENBOOK_AUDIO=whisper-small;"
        " or add a transcript as VTT or SRT"
    ),
}


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A supported format."""

    name: str
    kind: str
    suffixes: tuple[str, ...]
    reader: str
    """The library or package that reads it; `openbook` for built-in readers."""


@dataclass(frozen=True, slots=True)
class UnreadFormat:
    """Suffixes of unsupported formats, with a hint."""

    suffixes: tuple[str, ...]
    remedy: str


def known_formats(settings: Settings | None = None) -> list[KnownFormat]:
    """List the supported formats by kind and name. Readers of plugins take precedence over built-in ones."""
    installed = {name.lower(): plugin.package for name, plugin in plugins("readers").items()}
    found: dict[tuple[str, str], list[str]] = {("docs", name): [name] for name in BINARY_FORMATS if _is_read(name)}
    for suffix, (kind, language) in BY_SUFFIX.items():
        found.setdefault((kind, language), []).append(suffix)
    formats = [
        KnownFormat(name, kind, kept, _reader_of(name))
        for (kind, name), suffixes in found.items()
        if (kept := tuple(sorted(suffix for suffix in suffixes if suffix not in installed)))
    ]
    formats += [KnownFormat(suffix, "docs", (suffix,), package) for suffix, package in installed.items()]
    formats += [
        KnownFormat(name, "docs", tuple(sorted(suffixes - installed.keys())), reader)
        for name, suffixes, reader in _asked_for(settings)
    ]
    return sorted(formats, key=lambda one: (KINDS.index(one.kind), one.name))


def _is_read(name: str) -> bool:
    optional = optional_reader(name)
    return optional is None or optional.is_there()


def _reader_of(name: str) -> str:
    optional = optional_reader(name)
    return optional.name if optional else _LIBRARIES.get(name, "openbook")


def _asked_for(settings: Settings | None) -> Iterator[tuple[str, frozenset[str], str]]:
    """Yield name, suffixes and reader of formats that are enabled in the settings and whose packages are installed."""
    if settings and settings.ocr:
        from openbook.sources.readers.ocr import PICTURES, is_there

        if is_there():
            yield "picture", PICTURES, "RapidOCR" if find_spec("rapidocr") else "Tesseract"
    if settings and settings.audio:
        from openbook.sources.readers.recordings import RECORDINGS

        if find_spec("faster_whisper"):
            yield "recording", RECORDINGS, f"faster-whisper, {settings.audio}"


def unread_formats(settings: Settings | None = None) -> list[UnreadFormat]:
    """List the unsupported formats with hints, without those that a plugin or the settings make readable."""
    installed = {name.lower() for name in plugins("readers")}
    for _, suffixes, _ in _asked_for(settings):
        installed |= suffixes
    missing = [(one.suffixes, one.remedy) for one in OPTIONAL_READERS if not one.is_there()]
    unread = [*missing, *((tuple(suffixes.split()), remedy) for suffixes, remedy in _UNREAD.items())]
    left = ((tuple(one for one in suffixes if one not in installed), remedy) for suffixes, remedy in unread)
    return [UnreadFormat(suffixes, remedy) for suffixes, remedy in left if suffixes]
