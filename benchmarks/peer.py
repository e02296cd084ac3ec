"""semble, measured beside Openbook: in an environment of its own, with the same static model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from benchmarks.ours import Answers, Ranked
from openbook.evals.metrics import ExpectedSpan

VERSION = "0.7.0"

SHIPPED_MODEL = Path(__file__).resolve().parents[1] / "src" / "openbook" / "embedding" / "model"

_SCRIPT = Path(__file__).with_name("ask_semble.py")


def environment(cache: Path) -> Path:
    """Return the Python of an environment that has semble, made in the cache if it is not there."""
    folder = cache / f"semble-{VERSION}"
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.is_file():
        venv.create(folder, clear=True)
        pip = (sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input")
        subprocess.run((*pip, "install", "--quiet", f"semble=={VERSION}"), check=True)
        ready.touch()
    return python


def model_folder(shipped: Path, cache: Path) -> Path:
    """Return the static model in the layout that semble loads: written once, the same rows and the same tokenizer.

    A folder that has this layout already is given as it is.
    """
    if (shipped / "model.safetensors").is_file():
        return shipped
    rows = np.load(shipped / "matrix.npy")
    tokenizer = (shipped / "tokenizer.json").read_bytes()
    stamp = (shipped / "matrix.npy").stat()
    folder = cache / f"semble-model-{stamp.st_size}-{stamp.st_mtime_ns}"
    if not (folder / "model.safetensors").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_bytes(tokenizer)
        config = {"model_type": "model2vec", "normalize": True, "hidden_dim": rows.shape[1]}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (folder / "model.safetensors").write_bytes(_safetensors(rows.astype("<f4")))
    return folder


def _safetensors(rows: np.ndarray) -> bytes:
    """Write one matrix in the safetensors format: size of the header, header, rows."""
    entry = {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.nbytes]}
    header = json.dumps({"embeddings": entry}).encode()
    header += b" " * (-len(header) % 8)  # the format wants the rows aligned
    return len(header).to_bytes(8, "little") + header + rows.tobytes()


@dataclass(frozen=True, slots=True)
class Semble:
    """Where semble is, and what it is given."""

    python: Path
    model: Path
    cache: Path
    """Where semble keeps indexes and statistics, so that nothing of the user's is touched or used."""

    def command_environment(self) -> dict[str, str]:
        """Return the environment that every command of semble is started with."""
        return {
            **os.environ,
            "SEMBLE_CACHE_LOCATION": str(self.cache / "semble-indexes"),
            "SEMBLE_MODEL_NAME": str(self.model),
            "SEMBLE_INDEX_WORKERS": "4",  # what its command line sets
            "HF_HUB_OFFLINE": "1",
        }


class Asker:
    """A running semble that indexes and answers. Use it as a context manager."""

    def __init__(self, semble: Semble) -> None:
        self._model = str(semble.model)
        self._child = subprocess.Popen(
            (semble.python, "-I", _SCRIPT),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=semble.command_environment(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.communicate()

    def search_folder(self, folder: Path, content: str, questions: list[str], *, limit: int = 10) -> Answers:
        """Index a folder from nothing and ask it."""
        job = {
            "model": self._model,
            "folders": [str(folder)],
            "content": content,
            "questions": questions,
            "limit": limit,
        }
        assert self._child.stdin
        assert self._child.stdout
        print(json.dumps(job), file=self._child.stdin, flush=True)
        answer = json.loads(self._child.stdout.readline())
        ranked = tuple(
            Ranked(tuple(ExpectedSpan(*found) for found in asked["found"]), asked["seconds"])
            for asked in answer["asked"]
        )
        return Answers(ranked, answer["index_seconds"], answer["chunks"])
