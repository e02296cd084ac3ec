"""Recordings are read where it is asked for, with times as subtitles have them."""

from __future__ import annotations

import io
import math
import pickle
import struct
import sys
import wave
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from openbook.errors import MissingExtraError, SettingsError, SkippedFileError
from openbook.grounding.installed_models import fetch_model
from openbook.settings import Settings
from openbook.sources.documents import read_document
from openbook.sources.optional_readers import readers_of
from openbook.sources.reader_registry import ReaderRegistry
from openbook.sources.readers.recordings import REMARK, Whisper, read_recording
from openbook.sources.readers.subtitles import Cue
from tests.model_server import ModelServer

REPOSITORY = "Systran/faster-whisper-tiny"


def heard(raw: bytes) -> Iterator[Cue]:
    yield Cue(0.0, 2.0, (" Rye rests",))
    yield Cue(2.0, 4.5, (" for an hour.",))
    yield Cue(83.0, 85.0, (f" {len(raw)} bytes later.",))


def nothing(raw: bytes) -> Iterator[Cue]:
    return iter(())


def fails(raw: bytes, error: Exception) -> Iterator[Cue]:
    raise error


# Where the first three formants of a, i, u and e lie, in Hz: what tells vowels from each other, and from noise.
VOWELS = ((700, 1200, 2600), (300, 2300, 3000), (400, 800, 2500), (500, 1900, 2500))
RATE = 16_000


def wav(seconds: float = 2.0) -> bytes:
    """Make the sound of a voice that says four vowels a second: silence is not transcribed."""
    samples, phase = [], 0.0
    for number in range(int(RATE * seconds)):
        time = number / RATE
        pitch = 120 + 20 * math.sin(4.4 * time)
        phase += 2 * math.pi * pitch / RATE
        formants = list(zip(VOWELS[int(time * 4) % 4], (1, 0.5, 0.25), strict=True))
        loud = math.sqrt(max(0.0, math.sin(math.pi * (time * 4 % 1))))
        sample = 0.0
        for harmonic in range(1, 25):
            at = harmonic * pitch
            share = sum(weight / (1 + ((at - formant) / (80 + formant / 20)) ** 2) for formant, weight in formants)
            sample += 4_000 * loud * share * math.sin(harmonic * phase)
        samples.append(sample)
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(struct.pack(f"<{len(samples)}h", *map(int, samples)))
    return stream.getvalue()


def test_what_is_said_is_text_with_times_and_a_remark() -> None:
    reading = read_recording(b"12345", "a.mp3", heard)

    assert reading.text == "Rye rests for an hour.\n\n5 bytes later."
    assert [anchor.label for anchor in reading.anchors] == ["00:00:00", "00:01:23"]
    assert (reading.kind, reading.language, reading.remarks) == ("docs", "recording", (REMARK,))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModuleNotFoundError("faster_whisper"), "speech is not recognized; install 'openbook[audio]'"),
        (FileNotFoundError("whisper-small"), "speech is not recognized; openbook models add whisper-small"),
        (ValueError("no sound in it"), "damaged: no sound in it"),
    ],
)
def test_a_recording_that_cannot_be_read_is_skipped_with_the_reason(error: Exception, reason: str) -> None:
    with pytest.raises(SkippedFileError) as refused:
        read_recording(b"", "a.mp3", partial(fails, error=error))

    assert refused.value.reason == reason


def test_a_recording_in_which_nobody_speaks_is_skipped() -> None:
    with pytest.raises(SkippedFileError) as refused:
        read_recording(b"", "a.mp3", nothing)

    assert refused.value.reason == "no speech in it"


def test_recordings_are_covered_only_where_a_model_is_named_and_so_in_other_processes(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, audio="whisper-small")
    registry = pickle.loads(pickle.dumps(ReaderRegistry(own=readers_of(settings))))

    assert registry.covers("talk.MP3")
    assert not ReaderRegistry(own=readers_of(Settings(home=tmp_path))).covers("talk.mp3")
    with pytest.raises(SkippedFileError) as refused:
        read_document(b"x", source="s", path="talk.mp3", readers=registry)
    assert refused.value.reason == "speech is not recognized; openbook models add whisper-small"
    assert registry.may_read_now("talk.mp3", refused.value.reason)
    assert not registry.may_read_now("talk.mp3", "no speech in it")


def test_without_the_package_no_model_of_speech_is_fetched(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)

    with pytest.raises(MissingExtraError) as refused:
        fetch_model("whisper-tiny", Settings(home=tmp_path))

    assert refused.value.hint == "pip install 'openbook[audio]'"
    assert model_server.requests == []


@pytest.mark.llm
def test_a_model_that_was_fetched_hears_what_is_said(model_server: ModelServer, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    from tools.tiny_whisper import write

    made = write(tmp_path / "made")
    model_server.add(REPOSITORY, {file.name: file.read_bytes() for file in made.iterdir()})
    settings = Settings(home=tmp_path / "home", audio="whisper-tiny")
    folder = fetch_model("whisper-tiny", settings)
    registry = pickle.loads(pickle.dumps(ReaderRegistry(own=readers_of(settings))))
    document = read_document(wav(), source="s", path="talk.wav", readers=registry)

    assert {file.name for file in folder.iterdir()} > {"model.bin", "tokenizer.json", "fetched.json"}
    assert document.text == "Rye rests for an hour."
    assert [anchor.label for anchor in document.anchors] == ["00:00:00"]
    with pytest.raises(SkippedFileError, match="damaged"):
        read_document(b"no sound", source="s", path="talk.wav", readers=registry)


@pytest.mark.llm
def test_what_is_no_model_of_speech_is_not_installed(model_server: ModelServer, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    from tools.tiny_whisper import write

    files = {file.name: file.read_bytes() for file in write(tmp_path / "made").iterdir()}
    model_server.add(REPOSITORY, files | {"model.bin": b"\0" * 99})

    with pytest.raises(SettingsError, match="whisper-tiny was not installed"):
        fetch_model("whisper-tiny", Settings(home=tmp_path / "home"))
    assert not (tmp_path / "home" / "models" / "whisper-tiny").exists()
    with pytest.raises(FileNotFoundError):
        next(Whisper("whisper-tiny", tmp_path / "home")(b""))
