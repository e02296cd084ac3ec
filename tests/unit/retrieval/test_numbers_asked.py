"""Questions for a number find the line that states it."""

from __future__ import annotations

from pathlib import Path

from openbook.questions.question import read_question
from openbook.retrieval.search import Retriever
from tests.unit.retrieval.material import Library


def test_what_states_the_number_comes_before_what_only_speaks_of_it(tmp_path: Path) -> None:
    library = Library(tmp_path / "numbers.db")
    for number in range(60):
        library.put(
            f"quay{'abcdef'[number % 6] * (number // 6 + 1)}.md", "The tide is read again, and the tide is read."
        )
    others = "\n".join(f"    rope_{name} = pier_{name}(ship, gull)" for name in "abcdefghijklmnopqrstuvwxyz")
    library.put("tide.py", f"class Tides:\n{others}\n    tide_read_again_interval_s = 60", kind="code")
    retriever = Retriever(library.index, library.embedder)

    def first(question: str) -> str:
        return retriever.search(read_question(question), limit=3, view="passages")[0].chunk.span.path

    assert first("How often is the tide read again?") == "tide.py"
    assert first("How is the tide read again?") != "tide.py"
