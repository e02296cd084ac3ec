"""What Openbook adds to an answer of a model: processor time for searching, filling the context and checking.

    python -m benchmarks.own_part

Asks this project's documentation. The model is a script that replies at once, with three searches and twelve claims;
no verifier is asked.
Compare two versions by running both in turn on one machine: `PYTHONPATH=OTHER/src python -m benchmarks.own_part`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from openbook import AnswerOptions, Library, Settings
from openbook.testing import ScriptedModel

_QUESTION = "How is a document split into chunks?"
_ANSWER = """\
A chunk is an exact slice of its document, so that the text can be cited [1:2-3].
A transcript is cut at its lessons [2].
Chunks of code begin at definitions [1].

- Long lines are cut inside [3:1-2].
- A heading belongs to what follows it [3:1].
- The overlap is about 100 characters [4:1].
- Chunks have about 800 characters [5:1-3].
- Tables stay whole where they fit [2:1].

Prose is cut at its headings, and between sentences where a section is longer [1:1-4].
Words are counted by blanks [4:1-2].
Lists stay with the sentence that leads to them [2:1-3]. Notebook cells are documents of their own [5:1]."""
_SEARCHES = "chunk boundaries headings definitions\nsemantic chunking strategy\nmaximum chunk characters overlap"
_WARM_UP, _ROUNDS = 3, 15


def main() -> None:
    """Print the median of some rounds."""
    pages = Path(__file__).resolve().parents[1] / "docs"
    with tempfile.TemporaryDirectory() as home, Library.of(pages, settings=Settings(home=Path(home))) as assistant:
        for expands_query in (False, True):
            took_ms = []
            for _ in range(_WARM_UP + _ROUNDS):
                script = [_SEARCHES] * expands_query + [_ANSWER]
                options = AnswerOptions(model=ScriptedModel(*script), verifier="off", expands_query=expands_query)
                started = time.process_time()  # other work on the machine does not count
                assistant.query(_QUESTION, options=options)
                took_ms.append((time.process_time() - started) * 1000)
            found = "with other searches" if expands_query else "without other searches"
            median = statistics.median(took_ms[_WARM_UP:])
            print(f"{median:.0f} CPU ms of our own for an answer with twelve claims, {found}")


if __name__ == "__main__":
    main()
