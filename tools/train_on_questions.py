"""Train the embedding model further on how people ask, which names, comments and headings do not teach.

    python -m tools.train_on_questions --start FOLDER --pairs pairs.jsonl

Half of each batch comes from `training_questions/`, which a language model wrote, and half from the pairs that
`tools.static_model.mine` found, so that what was learned from those is kept. tools/README.md has the whole order.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from tools.distill_static_model import MODEL_FILES, SHIPPED, report, undocumented, write_model
from tools.static_model.questions import BATCH, QUESTIONS, read_batches, read_questions
from tools.static_model.tokens import MAX_QUERY_PIECES, pieces_of

_RATE = 0.001
# The mean of both models, weighed so, keeps more of what the first one knew of code and pages (Wortsman et al., CVPR
# 2022): docs/static-model.md has what other shares come to.
_SHARE = 0.7


def main() -> int:
    """Train, write, and print what came out. 1 if the result is not the documented one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--start", type=Path, required=True, help="folder of a model from tools.train_static_model")
    parser.add_argument("--pairs", type=Path, required=True, help="from python -m tools.static_model.mine")
    parser.add_argument("--output", type=Path, default=SHIPPED, help="folder to write to (default: %(default)s)")
    arguments = parser.parse_args()

    from tools.static_model.train import Recipe, train

    start = {name: arguments.start / name for name in MODEL_FILES}
    report("input", start | {"pairs": arguments.pairs})
    tokenizer = Tokenizer.from_file(str(start["tokenizer.json"]))
    rows = np.load(start["matrix.npy"]).astype(np.float32)
    batches = read_batches(tokenizer, list(read_questions(QUESTIONS)), arguments.pairs)
    recipe = Recipe(batch=BATCH, steps=len(batches.order) // BATCH, rate=_RATE, stem_share=0.0, imitation=0.0)
    none = pieces_of(tokenizer, [""], MAX_QUERY_PIECES)
    trained = train(rows, batches.queries, batches.texts, none, batches.order, None, recipe)
    before = rows / np.linalg.norm(rows, axis=1).mean()  # as long as training has them
    mixed = _SHARE * trained + (1 - _SHARE) * before
    read = json.loads(start["tokenizer.json"].read_text(encoding="utf-8"))
    return undocumented(write_model(arguments.output, mixed, read))


if __name__ == "__main__":
    sys.exit(main())
