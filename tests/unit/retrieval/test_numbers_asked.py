"""Questions for a number find the line that states it."""

from __future__ import annotations

from pathlib import Path

from openbook.questions.question import read_question
from openbook.retrieval.search import Retriever
from tests.unit.retrieval.material import Library


def test_what_states_the_number_is_found_beside_many_that_only_speak_of_it(tmp_path: Path) -> None:
    library = Library(tmp_path / "numbers.db")
    for number in range(60):
        name = "abcdef"[number % 6] * (number // 6 + 1)
        library.put(f"quay/{name}.py", f"tide = read(tide, {name})\nagain = read(tide)", kind="code")
    others = "\n".join(f"    rope_{name} = pier_{name}(ship, gull)" for name in "abcdefghijklmnopqrstuvwxyz")
    library.put("tide.py", f"class Tides:\n{others}\n    tide_read_again_interval_s = 60", kind="code")
    retriever = Retriever(library.index, library.embedder)

    often, how = (
        retriever.search(read_question(question), limit=24, view="passages")
        for question in ("How often is the tide read again?", "How is the tide read again?")
    )

    assert "tide.py" in [result.chunk.span.path for result in often[:2]]
    assert "tide.py" not in [result.chunk.span.path for result in how]
    assert not any("number" in result.signals for result in retriever.search(read_question("tide interval 60")))
