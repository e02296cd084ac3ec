"""What the shipped embedder is worth with nothing beside it: quality, speed and cold start.

    python -m benchmarks.dense --data FOLDER [--model FOLDER ...] [--halves]

FOLDER holds `codebase-qa`, `span-qa` and `docs-qa`; docs/static-model.md says what they are.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from openbook.embedding.protocol import Embedder
from openbook.embedding.static import MATRIX_FILE, TOKENIZER_FILE, StaticEmbedder, load_embedder

MODEL = Path(__file__).resolve().parents[1] / "src" / "openbook" / "embedding" / "model"


@dataclass(frozen=True, slots=True)
class Task:
    """Texts, questions, and for each question the positions of the texts that answer it."""

    name: str
    texts: list[str]
    questions: list[str]
    gold: list[set[int]]


def main() -> None:
    """Measure the shipped model, and with `--float32` what splitting and rounding do to it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the question sets")
    parser.add_argument("--float32", type=Path, help="rows before rounding, from tools/train_static_model.py")
    parser.add_argument("--model", type=Path, nargs="*", default=[], help="folders of other models to set beside it")
    parser.add_argument("--halves", action="store_true", help="also every second question alone, and the others")
    arguments = parser.parse_args()

    codebase = read_codebase(arguments.data / "codebase-qa")
    prose = [read_xquad(arguments.data / "span-qa" / f"xquad-{language}.json") for language in ("en", "de", "zh")]
    docs = read_docs(arguments.data / "docs-qa")

    print("| model | codebase-qa Pass@5/10/20 | XQuAD en/de/zh P@1 | docs-qa R@3 / MRR |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, embedder in variants(Path(folder), arguments.float32, arguments.model):
            print(row(name, embedder, codebase, prose, docs))
            for half in (0, 1) if arguments.halves else ():
                parts = [every_second(task, half) for task in (codebase, *prose, docs)]
                print(row(f"{name}, half {half + 1}", embedder, parts[0], parts[1:-1], parts[-1]))
    print(f"\n{speed(load_embedder(), codebase.texts)}\n{cold_start()}")


def row(name: str, embedder: Embedder, codebase: Task, prose: Sequence[Task], docs: Task) -> str:
    """Measure a model on all tasks, as one row of the table."""
    ranked = rank(embedder, codebase)
    passes = "/".join(f"{100 * recall(ranked, codebase, k):.1f}" for k in (5, 10, 20))
    firsts = "/".join(f"{recall(rank(embedder, task), task, 1):.3f}" for task in prose)
    ranked = rank(embedder, docs)
    return f"| {name} | {passes} | {firsts} | {recall(ranked, docs, 3):.3f} / {reciprocal(ranked, docs):.3f} |"


def every_second(task: Task, first: int) -> Task:
    """Keep every second question, from the first or the second on, and all texts."""
    return Task(task.name, task.texts, task.questions[first::2], task.gold[first::2])


def variants(folder: Path, float32: Path | None, others: Sequence[Path] = ()) -> Iterable[tuple[str, Embedder]]:
    """Yield the shipped model, other models, then those that differ from the shipped one in one thing."""
    yield "shipped", load_embedder()
    for other in others:
        yield other.name, StaticEmbedder(other)
    yield "without the camelCase split", StaticEmbedder(without_split(folder))
    if float32:
        rows = np.load(float32)
        scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9) / 127
        yield "float32", FloatEmbedder(rows)
        yield "int8, one scale a row", FloatEmbedder(np.round(rows / scales) * scales)


class FloatEmbedder:
    """The shipped tokenizer with other rows."""

    identity = "float32"

    def __init__(self, rows: np.ndarray) -> None:
        self._tokenizer = Tokenizer.from_file(str(MODEL / TOKENIZER_FILE))
        self._rows = rows
        self.dim = rows.shape[1]

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (len(texts), dim), of unit length."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        sums = np.stack([self._rows[encoding.ids].sum(axis=0) for encoding in encodings])
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True), dtype=np.float32)


def without_split(folder: Path) -> Path:
    """Copy the shipped model, leaving its tokenizer only the second of its two normalizers."""
    tokenizer = json.loads((MODEL / TOKENIZER_FILE).read_text(encoding="utf-8"))
    tokenizer["normalizer"] = tokenizer["normalizer"]["normalizers"][1]
    (folder / TOKENIZER_FILE).write_text(json.dumps(tokenizer), encoding="utf-8")
    shutil.copy(MODEL / MATRIX_FILE, folder)
    return folder


def read_codebase(folder: Path) -> Task:
    """Read 737 chunks of 90 source files, as they are given, and 124 questions."""
    documents = read_json(folder / "codebase_chunks.json")
    chunks = [(document["original_uuid"], chunk) for document in documents for chunk in document["chunks"]]
    place = {(uuid, chunk["original_index"]): n for n, (uuid, chunk) in enumerate(chunks)}
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines if line.strip()]
    gold = [{place[uuid, index] for uuid, index in query["golden_chunks"]} for query in queries]
    return Task("codebase-qa", [chunk["content"] for _, chunk in chunks], [query["query"] for query in queries], gold)


def read_xquad(path: Path) -> Task:
    """Read paragraphs and their questions. The answer to a question is its own paragraph."""
    paragraphs = [paragraph for article in read_json(path)["data"] for paragraph in article["paragraphs"]]
    asked = [(n, qa["question"]) for n, paragraph in enumerate(paragraphs) for qa in paragraph["qas"]]
    texts = [paragraph["context"] for paragraph in paragraphs]
    return Task(path.stem, texts, [question for _, question in asked], [{n} for n, _ in asked])


def read_docs(folder: Path) -> Task:
    """Read 232 sections of documentation and 50 questions."""
    sections = read_json(folder / "docs.json")
    place = {section["chunk_link"]: n for n, section in enumerate(sections)}
    questions = read_json(folder / "questions.json")
    gold = [{place[link] for link in question["correct_chunks"] if link in place} for question in questions]
    return Task("docs-qa", [section["text"] for section in sections], [q["question"] for q in questions], gold)


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def rank(embedder: Embedder, task: Task) -> np.ndarray:
    """Order the texts for each question by cosine; equal ones keep their order."""
    scores = embedder.embed(task.questions) @ embedder.embed(task.texts).T
    return np.argsort(-scores, axis=1, kind="stable")


def recall(ranked: np.ndarray, task: Task, k: int) -> float:
    """Return the share of gold texts among the first `k`, averaged over questions (Pass@k, R@k, P@1)."""
    pairs = zip(ranked, task.gold, strict=True)
    return float(np.mean([len(gold & set(row[:k].tolist())) / len(gold) for row, gold in pairs]))


def reciprocal(ranked: np.ndarray, task: Task) -> float:
    """Return the mean of 1 / rank of the first gold text (MRR)."""
    pairs = zip(ranked, task.gold, strict=True)
    return float(np.mean([1 / (1 + np.isin(row, list(gold)).argmax()) for row, gold in pairs]))


def speed(embedder: Embedder, texts: list[str]) -> str:
    """Return how many chunks are embedded in a second: the best of five rounds over all texts."""
    rounds = []
    for _ in range(5):
        started = time.perf_counter()
        embedder.embed(texts)
        rounds.append(time.perf_counter() - started)
    characters = sum(map(len, texts)) / len(texts)
    return f"{len(texts) / min(rounds):,.0f} chunks a second, {characters:.0f} characters each on average"


def cold_start() -> str:
    """Return how long a fresh process takes to load the model: the median of nine."""
    code = (
        "import time, numpy, tokenizers; from openbook.embedding.static import load_embedder; a = time.perf_counter(); "
        "load_embedder().embed(['warm']); print(time.perf_counter() - a)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(9)]
    return f"{1000 * float(np.median([float(run.stdout) for run in runs])):.0f} ms from NumPy to the first vector"


if __name__ == "__main__":
    main()
