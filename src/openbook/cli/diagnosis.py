"""What `openbook doctor` looks at. Opens no connection and changes nothing but a file it removes."""

from __future__ import annotations

import platform
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from openbook.assistant import Assistant
from openbook.chunking.grammars import load_parser
from openbook.cli import installed_version
from openbook.embedding.static import load_embedder
from openbook.errors import OpenbookError
from openbook.libraries import library_names
from openbook.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the diagnosis."""

    text: str
    healthy: bool = True


def diagnosis() -> Iterator[Finding]:
    """Check one part after the other.

    Raises:
        SettingsError: A setting does not parse; nothing else can be checked then.
    """
    settings = Settings.from_env()
    yield Finding(f"openbook {installed_version()}, Python {platform.python_version()}, {platform.platform()}")
    yield Finding(f"SQLite {sqlite3.sqlite_version}")
    yield _embedder()
    grammar = load_parser("python") is not None
    yield Finding("grammars: loaded" if grammar else "grammars: none; code is cut by lines", grammar)
    yield _home(settings.home)
    yield from _broken_libraries(settings)
    for name, value, origin in settings.origins():
        yield Finding(f"{name} = {value}  ({origin})")


def _embedder() -> Finding:
    try:
        embedder = load_embedder()
    except OpenbookError as exc:
        return Finding(f"embedder: {exc}; {exc.hint}", healthy=False)
    return Finding(f"embedder {embedder.identity}, {embedder.dim} dimensions")


def _broken_libraries(settings: Settings) -> Iterator[Finding]:
    for name in library_names(settings.home):
        try:
            Assistant.open(name, settings=settings).close()
        except OpenbookError as exc:
            yield Finding(f"{exc}; {exc.hint}", healthy=False)


def _home(home: Path) -> Finding:
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as exc:
        return Finding(f"home {home} cannot be written: {exc.strerror}; set OPENBOOK_HOME", healthy=False)
    return Finding(f"home {home}, {len(library_names(home))} libraries")
