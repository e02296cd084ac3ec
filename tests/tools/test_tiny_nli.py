"""The tiny model that tests run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from openbook.grounding.nli import open_nli
from openbook.grounding.protocol import CitedClaim
from tools.tiny_nli import write

ROOT = Path(__file__).parents[2]


def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a"), write(tmp_path / "b")

    names = sorted(file.name for file in first.iterdir())
    assert names == ["config.json", "model.onnx", "tokenizer.json"]
    assert [(first / name).read_bytes() for name in names] == [(second / name).read_bytes() for name in names]


@pytest.mark.slow
def test_script_writes_a_model_that_judges(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"

    done = subprocess.run(
        [sys.executable, "-m", "tools.tiny_nli", folder], cwd=ROOT, capture_output=True, check=True, encoding="utf-8"
    )

    judged = open_nli(folder).judge(
        [
            CitedClaim("The ferry sails at noon.", "The red ferry sails at noon."),
            CitedClaim("The ferry sails not at noon.", "The red ferry sails at noon."),
            CitedClaim("The ferry sails at night.", "The red ferry sails at noon."),
        ]
    )
    assert done.stdout == f"{folder}\n"
    assert [each.label for each in judged] == ["entailed", "contradicted", "not said"]
