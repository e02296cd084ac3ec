"""Transcribes audio and video with Whisper, on this machine, or another transcriber."""

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
"""Suffixes of supported recordings."""

MODEL_FILE = "model.bin"

REMARK = "speech was recognized, which makes mistakes"

_MISSING = f"{SkipReason.NO_TRANSCRIBER}; install 'openbook[audio]'"

Transcriber = Callable[[bytes], "Iterable[Cue]"]
"""Takes the content of a recording, and yields cues in order. Picklable. Raises `ModuleNotFoundError` if its package is
missing, `FileNotFoundError` if its model is missing, and `ValueError` for an invalid recording."""


@dataclass(frozen=True, slots=True)
class Whisper:
    """Transcribes with faster-whisper and a local model folder. Nothing is fetched."""

    name: str
    folder: Path

    def __call__(self, raw: bytes) -> Iterator[Cue]:
        """Yield the spoken segments, in their own language."""
        if not (self.folder / MODEL_FILE).is_file():
            raise FileNotFoundError(self.name)
        from av.error import FFmpegError

        try:
            # Segments are transcribed without the previous text, so that errors do not propagate. Silence is skipped,
            # since Whisper hallucinates words in it.
            segments, _ = load_whisper(self.folder).transcribe(
                io.BytesIO(raw), vad_filter=True, condition_on_previous_text=False
            )
            for segment in segments:
                yield Cue(segment.start, segment.end, (segment.text,))
        except (FFmpegError, IndexError) as exc:  # IndexError: a video without sound
            raise ValueError("no sound in it") from exc


@lru_cache(maxsize=1)
def load_whisper(folder: Path) -> Any:
    """Load a Whisper model in CTranslate2 format.

    Raises:
        ModuleNotFoundError: faster-whisper is not installed.
        RuntimeError, ValueError: The files are not such a model.
    """
    from faster_whisper import WhisperModel

    return WhisperModel(str(folder), device="auto", compute_type="int8", local_files_only=True)


def read_recording(raw: bytes, path: str, transcriber: Transcriber) -> Reading:
    """Transcribe a recording, and read the transcript like subtitles: anchors are times such as `00:12:05`."""
    try:
        reading = spoken(transcriber(raw), "recording", [REMARK])
    except ModuleNotFoundError as exc:
        raise SkippedFileError(path, _MISSING) from exc
    except FileNotFoundError as exc:
        raise SkippedFileError(path, f"{SkipReason.NO_TRANSCRIBER}; openbook models add {exc}") from exc
    except (RuntimeError, ValueError) as exc:
        raise SkippedFileError(path, f"{SkipReason.DAMAGED}: {exc}"[:200]) from exc
    if not reading.text:
        raise SkippedFileError(path, "no speech in it")
    return reading
