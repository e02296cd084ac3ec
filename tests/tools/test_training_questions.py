"""The questions that the embedding model is trained on: complete, and none of those that it is measured with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from tools.static_model.questions import QUESTIONS, read_batches, read_questions

MODEL = Path(str(files("openbook.embedding") / "model"))
CASES = Path(__file__).parents[2] / "benchmarks" / "cases"


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _measured() -> Iterator[str]:
    for file in CASES.glob("*questions*.jsonl"):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            yield _plain(record.get("question") or record["query"])


def test_every_question_has_a_text_and_is_asked_once() -> None:
    pairs = list(read_questions(QUESTIONS))

    assert len(pairs) > 10_000
    assert all(question.strip() and text.strip() for question, text in pairs)
    assert len({_plain(question) for question, _ in pairs}) == len(pairs)


@pytest.mark.slow
def test_no_question_is_one_that_is_measured_with() -> None:
    measured = set(_measured())

    assert len(measured) > 1_000
    assert not measured & {_plain(question) for question, _ in read_questions(QUESTIONS)}


def test_half_of_each_batch_is_questions_and_each_is_used_equally_often(tmp_path: Path) -> None:
    mined = tmp_path / "pairs.jsonl"
    lines = [json.dumps(["heading", "app", f"heading {n}", f"section {n}"]) for n in range(700)]
    mined.write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = [(f"how do I do {n}", f"doing {n}") for n in range(256)]

    batches = read_batches(Tokenizer.from_file(str(MODEL / "tokenizer.json")), asked, mined)

    halves = batches.order.reshape(-1, 2, 256)
    assert len(batches.queries) == len(batches.texts)
    assert set(np.bincount(halves[:, 0].ravel()).tolist()) == {len(halves)}
    assert (halves[:, 1] >= len(asked)).all()
    assert halves[:, 1].max() < len(batches.queries)
