"""Runs all measurements and prints their tables.

python -m benchmarks --data ../shared/data
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
from pathlib import Path

_HERE = Path(__file__).parent


def main() -> int:
    """Run one measurement after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with the measuring data")
    data = ("--data", str(parser.parse_args().data))
    commands = {
        "Speed": ("-m", "benchmarks.speed", str(_HERE.parent), sysconfig.get_path("purelib")),
        "Extractive answers": ("-m", "benchmarks.extractive", *data),
        "Refusal": ("-m", "benchmarks.refusal", *data),
        "Dense leg alone": (str(_HERE / "dense.py"), *data),
    }
    for title, command in commands.items():
        print(f"\n## {title}\n", flush=True)
        subprocess.run([sys.executable, *command], check=True, cwd=_HERE.parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())
