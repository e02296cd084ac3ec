"""Reads old Word and PowerPoint documents (before 2007), which LibreOffice converts."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from openbook.errors import SkippedFileError
from openbook.sources.optional_readers import office_program
from openbook.sources.readers.docx import read_docx
from openbook.sources.readers.pptx import read_pptx
from openbook.sources.readers.reading import Reading
from openbook.types import SkipReason

# Below the file timeout of 60 s, so that the program does not outlive the waiting process.
_TIMEOUT_S = 45

_SUCCESSORS = {"doc": "docx", "ppt": "pptx"}


def read_legacy(raw: bytes, path: str, language: Literal["doc", "ppt"]) -> Reading:
    """Read a document as converted by LibreOffice. Macros are not run, and nothing is fetched."""
    program = office_program()
    if program is None:
        successor = _SUCCESSORS[language]
        raise SkippedFileError(path, f"{SkipReason.OLD_OFFICE}; save it as .{successor}, or install LibreOffice")
    converted = _converted(raw, path, program, language)
    read = read_docx if language == "doc" else read_pptx
    return replace(read(converted, path), language=language)


def _converted(raw: bytes, path: str, program: str, language: str) -> bytes:
    successor = _SUCCESSORS[language]
    with TemporaryDirectory(prefix="openbook-") as name:
        folder = Path(name)
        file = folder / f"document.{language}"
        file.write_bytes(raw)
        profile = (folder / "profile").as_uri()  # a separate one: two runs with the same profile block each other
        command = [program, "--headless", "--norestore", f"-env:UserInstallation={profile}"]
        command += ["--convert-to", successor, "--outdir", str(folder), str(file)]
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL)
            return (folder / f"document.{successor}").read_bytes()
        except subprocess.TimeoutExpired as exc:
            raise SkippedFileError(path, f"LibreOffice took longer than {_TIMEOUT_S} s") from exc
        except (subprocess.CalledProcessError, OSError) as exc:
            raise SkippedFileError(path, "LibreOffice cannot read it") from exc
