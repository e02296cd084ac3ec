"""What the first screen of a library suggests to ask, and whether each question is answered from its place.

    python -m benchmarks.suggestions --checkouts FOLDER --home FOLDER PROJECT ...

A question counts as answered if it is not refused and its first citation lies in the section, definition or lesson that
the question was made from. `openbook.server.suggestions` shows no other ones, so each that fails is a fault of it.
Whether a question is worth asking, nothing counts: read the list.
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path

from openbook.library import Library
from openbook.server.suggestions import is_answered, suggest
from openbook.settings import Settings


def main() -> None:
    """Print the questions of each project, then a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with the projects")
    parser.add_argument("--home", type=Path, required=True, help="where the libraries are kept")
    parser.add_argument("projects", nargs="+", metavar="PROJECT")
    arguments = parser.parse_args()
    rows = []
    for project in arguments.projects:
        home = arguments.home / project
        home.mkdir(parents=True, exist_ok=True)
        with closing(Library(home / "library.sqlite", Settings(home=home))) as library:
            if not library.stats().chunks:
                library.add(arguments.checkouts / project)
            began = time.process_time()
            suggested = suggest(library)
            cpu_s = time.process_time() - began
            print(f"\n{project}")
            answered = 0
            for each in suggested:
                answered += (is_there := is_answered(library, each))
                print(f"  {'ok' if is_there else 'NO'}  {each.question}  ({each.form}, {each.path})", flush=True)
        rows.append(f"| {project} | {len(suggested)} | {answered} | {cpu_s:.1f} |")
    print("\n| project | suggested | answered from their place | CPU s |\n|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
