"""Reads what is said in audio and video, with a transcriber that is given: Whisper, on this machine."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from openbook.errors import SkippedFileError
from openbook.sources.readers.reading import Reading
from openbook.sources.readers.subtitles import Cue, spoken
from openbook.types import SkipReason

RECORDINGS = frozenset({"aac", "flac", "m4a", "mkv", "mov", "mp3", "mp4", "oga", "ogg", "opus", "wav", "webm"})
"""Suffixes of recordings that are read."""

MODEL_FILE = "model.bin"

REMARK = "speech was recognized, which makes mistakes"

_MISSING = f"{SkipReason.NO_TRANSCRIBER}; install 'openbook[audio]'"

Transcriber = Callable[[bytes], "Iterable[Cue]"]
"""Takes the bytes of a recording, and yields what is said, in order. Picklable. Raises `ModuleNotFoundError` where it
is not installed, `FileNotFoundError` without its model, and `ValueError` for what is no recording."""


@dataclass(frozen=True, slots=True)
class Whisper:
    """Transcribes with faster-whisper and a model of a folder. Nothing is fetched."""

    name: str
    folder: Path

    def __call__(self, raw: bytes) -> Iterator[Cue]:
        """Yield the segments that are said, in whatever language it is."""
        if not (self.folder / MODEL_FILE).is_file():
            raise FileNotFoundError(self.name)
        from av.error import FFmpegError

        try:
            # Each part is heard by itself, so that no mistake is carried on, and silence, which becomes words, is not.
            segments, _ = load_whisper(self.folder).transcribe(
                io.BytesIO(raw), vad_filter=True, condition_on_previous_text=False
            )
            for segment in segments:
                yield Cue(segment.start, segment.end, (segment.text,))
        except (FFmpegError, IndexError) as exc:  # the latter: a video without sound
            raise ValueError("no sound in it") from exc


@lru_cache(maxsize=1)
def load_whisper(folder: Path) -> Any:
    """Load a model of Whisper as CTranslate2 keeps it.

    Raises:
        ModuleNotFoundError: faster-whisper is not installed.
        RuntimeError, ValueError: The files are no such model.
    """
    from faster_whisper import WhisperModel

    return WhisperModel(str(folder), device="auto", compute_type="int8", local_files_only=True)


def read_recording(raw: bytes, path: str, transcriber: Transcriber) -> Reading:
    """Read what is said in a recording, as subtitles are read: anchors are times such as `00:12:05`."""
    try:
        reading = spoken(transcriber(raw), "recording", [REMARK])
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, _MISSING) from exc
    except FileNotFoundError as exc:
        raise SkippedFileError(path, f"{SkipReason.NO_TRANSCRIBER}; openbook models add {exc}") from exc
    except (RuntimeError, ValueError) as exc:
        raise SkippedFileError(path, f"{SkipReason.DAMAGED}: {exc}"[:200]) from exc
    if not reading.text:
        raise SkippedFileError(path, "nobody speaks in it")
    return reading
