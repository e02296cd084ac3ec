"""Registry of external readers: those of plugins, and those passed to `Library.open`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from openbook.errors import PluginError, SkippedFileError
from openbook.plugins import load_plugin, plugins
from openbook.sources.formats import HOLDER_SUFFIXES
from openbook.types import KINDS, SkipReason

if TYPE_CHECKING:
    from openbook.sources.readers.reading import Reading

FileReader = Callable[[bytes, str], "Reading | str"]
"""Takes the content and path of a file, and returns a `Reading` or only its text. Any exception skips the file and
becomes the skip reason."""

# Skip reasons of built-in readers that are disabled or not installed.
_BUILT_IN_REASONS = frozenset(
    {SkipReason.BINARY, SkipReason.BINARY_NAME, SkipReason.NO_RECOGNIZER, SkipReason.NO_TRANSCRIBER}
)

# Skip reasons of external readers that were tried.
_EXTERNAL_REASONS = frozenset({SkipReason.READER_FAILED, SkipReason.TOOK_LONGER})


class ReaderRegistry:
    """Readers by suffix: those passed by the caller, and those of installed packages.

    Pickles without the caller's readers, whose module may be missing in another process.
    """

    def __init__(
        self,
        readers: Mapping[str, FileReader] = MappingProxyType({}),
        own: Mapping[str, FileReader] = MappingProxyType({}),
    ) -> None:
        """Create a registry.

        Args:
            readers: The caller's readers: suffixes with or without a leading dot, in any case.
            own: Built-in readers that settings enable, by lower-case suffix. They can be pickled.

        Raises:
            TypeError: A reader cannot be called.
        """
        for suffix, reader in readers.items():
            if not callable(reader):
                raise TypeError(f"the reader of {suffix!r} is {reader!r}, which cannot be called")
        self._given = {suffix.lower().lstrip("."): reader for suffix, reader in readers.items()}
        self._installed = frozenset(name.lower() for name in plugins("readers"))
        self._own = {suffix: own[suffix] for suffix in own if suffix not in {*self._given, *self._installed}}

    def __getstate__(self) -> Any:
        return self._installed, self._own

    def __setstate__(self, state: Any) -> None:
        self._given = {}
        self._installed, self._own = state

    def covers(self, path: str) -> bool:
        """Return whether an external reader reads files of that name."""
        suffix = _suffix(path)
        return suffix in self._given or suffix in self._installed or suffix in self._own

    def is_given(self, path: str) -> bool:
        """Return whether a reader of the caller reads a file, or may read its attachments.

        Such readers work only in this process.
        """
        suffix = _suffix(path)
        return suffix in self._given or (bool(self._given) and suffix in HOLDER_SUFFIXES)

    def read(self, raw: bytes, path: str) -> Reading:
        """Read a file for which `covers` is true.

        Raises:
            SkippedFileError: The reader failed; the reason names it.
        """
        # Lazy: most searches read no files.
        from openbook.sources.readers.course import is_course, read_course
        from openbook.sources.readers.reading import storable

        reading = self._call(raw, path)
        text = storable(reading.text)
        if reading.kind == "docs" and not reading.blocks and is_course(text):
            return read_course(text, path)
        return replace(reading, text=text)

    def may_read_now(self, path: str, reason: str) -> bool:
        """Return whether a file that was skipped for a reason can be read now."""
        known = SkipReason.of(reason)
        if _suffix(path) in self._own:
            return known in _BUILT_IN_REASONS
        return self.covers(path) and known not in _EXTERNAL_REASONS

    def _call(self, raw: bytes, path: str) -> Reading:
        from openbook.sources.readers.reading import Reading

        suffix = _suffix(path)
        try:
            reader = self._given.get(suffix) or self._own.get(suffix) or load_plugin("readers", suffix)
            found = reader(raw, path) if reader else None
            if isinstance(found, Reading):
                return _sound(found)
        except SkippedFileError:
            raise
        except PluginError as exc:
            raise SkippedFileError(path, str(exc)) from exc
        except (Exception, SystemExit) as exc:  # external readers may raise anything
            raise SkippedFileError(
                path, f"{SkipReason.READER_FAILED} .{suffix} failed: {type(exc).__name__}: {exc}"
            ) from exc
        if isinstance(found, str):
            return Reading(found, "docs", suffix)
        wrong = f"returned {type(found).__name__}, not str or Reading"
        raise SkippedFileError(path, f"{SkipReason.READER_FAILED} .{suffix} {wrong}")


def _sound(reading: Reading) -> Reading:
    """Return the reading with its blocks and anchors in order; otherwise text gets the heading of another section.

    Raises:
        TypeError: Text or language is no string.
        ValueError: The kind is unknown, or a block or an anchor is outside of the text.
    """
    strings: tuple[object, ...] = (reading.text, reading.language)
    if not all(isinstance(each, str) for each in strings):
        raise TypeError("text and language of a Reading are strings")
    if reading.kind not in KINDS:
        raise ValueError(f"there is no kind {reading.kind!r}; kinds are {', '.join(KINDS)}")
    size = len(reading.text)
    blocks = sorted(reading.blocks, key=attrgetter("start_char", "end_char"))
    anchors = sorted(reading.anchors)
    if any(block.end_char > size for block in blocks) or any(not 0 <= each.start_char <= size for each in anchors):
        raise ValueError(f"a block or an anchor is outside of the text, which has {size} characters")
    return replace(reading, blocks=tuple(blocks), anchors=tuple(anchors))


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""
