"""Makes the embedding model from nothing but the registries: fetch, mine, ask the teacher, train twice.

python -m tools.static_model --work FOLDER --never-train FILE --keep-away PATH ...
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run the five steps, each in a process of its own; pairs and teacher that are there are taken as they are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for 2 GB of archives and what comes of them")
    parser.add_argument("--never-train", type=Path, required=True, help="names of projects to refuse, one a line")
    parser.add_argument(
        "--keep-away", nargs="*", default=[], help="texts that are measured with: what is near is dropped"
    )
    parser.add_argument("--output", help="folder for the model, instead of the shipped one")
    arguments = parser.parse_args()

    archives, pairs, teacher = (arguments.work / name for name in ("archives", "pairs.jsonl", "teacher.npz"))
    archives.mkdir(parents=True, exist_ok=True)
    steps = []
    if not pairs.exists():
        steps.append(["tools.static_model.packages", "--archives", archives])
        mine = ["tools.static_model.mine", "--archives", archives, "--never-train", arguments.never_train]
        steps.append([*mine, "--output", pairs, "--keep-away", *arguments.keep_away])
    if not teacher.exists():
        steps.append(["tools.static_model.teacher", "--pairs", pairs, "--output", teacher])
    start = arguments.work / "start"
    where = ["--output", arguments.output] if arguments.output else []
    steps.append(["tools.train_static_model", "--pairs", pairs, "--teacher", teacher, "--output", start])
    steps.append(["tools.train_on_questions", "--start", start, "--pairs", pairs, *where])
    for step in steps:
        if status := subprocess.run([sys.executable, "-m", *map(str, step)], check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
