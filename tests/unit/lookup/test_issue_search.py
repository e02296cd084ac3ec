"""Which files an issue is about: those that it names, and those that its title and names find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.chunking.dispatch import chunk_document
from openbook.lookup.issue_search import find_for_issue, read_issue
from openbook.questions.question import read_question
from openbook.types import Document, Filter
from tests.unit.retrieval.material import Library, chunk_of

PADDING = "It was fine before, and nothing else has changed on this machine since then. " * 4


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    made.put("src/depot/scales.py", "def weigh(): ...", kind="code", defines=("weigh",))
    made.put("src/depot/ports.py", "def open_port(): ...", kind="code", defines=("open_port",))
    made.put("src/depot/labels.py", "class Label: ...", kind="code", defines=("Label",))
    made.put("tests/test_scales.py", "machine fine changed weigh parcels twice", kind="code")
    made.put("docs/guide.md", "Parcels are weighed twice.")
    yield made
    made.close()


def found(library: Library, text: str, where: Filter | None = None) -> list[str]:
    issue = read_issue(text)
    assert issue is not None
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    results = find_for_issue(issue, read_question(text), finder.search, library.index, 5, where or Filter())
    return [f"{each.chunk.span.path}:{each.chunk.span.start_line}" for each in results]


def test_the_innermost_file_of_a_traceback_that_is_ours_comes_first(library: Library) -> None:
    trace = (
        'File "/v/depot/scales.py", line 3, in weigh\nFile "/v/depot/ports.py", line 1, in open_port'
        '\nFile "/usr/lib/python3.11/socket.py", line 9, in connect\n'
    )

    assert found(library, f"It fails\n\n{PADDING}\n\n{trace}")[:2] == ["src/depot/ports.py:1", "src/depot/scales.py:1"]


def test_of_a_traceback_within_one_file_the_function_that_people_speak_of_is_shown(library: Library) -> None:
    texts, path = ("void fail() {}", "void weigh() {}"), "src/shop/Box.java"
    fail = chunk_of(texts[0], path, kind="code", defines=("fail",))
    weigh = chunk_of(texts[1], path, before=f"{texts[0]}\n\n", kind="code", defines=("weigh",))
    library.put_chunks("\n\n".join(texts), [fail, weigh])
    trace = "    at shop.Box.fail(Box.java:70)\n    at shop.Box.weigh(Box.java:90)\n"

    assert found(library, f"It fails\n\n{PADDING}\n\n{trace}")[0] == "src/shop/Box.java:1"
    assert found(library, f"`Box.weigh` fails\n\n{PADDING}\n\n{trace}")[0] == "src/shop/Box.java:3"


def three_functions(library: Library) -> None:
    texts, path = ["void run() {}", "void moor() {}", "void lift() {}"], "src/shop/Box.java"
    chunks, before = [], ""
    for text, names in zip(texts, (("run",), ("moor", "haul"), ("lift",)), strict=True):
        chunks.append(chunk_of(text, path, before=before, kind="code", symbol=names[0], defines=names))
        before += f"{text}\n\n"
    library.put_chunks("\n\n".join(texts), chunks)
    library.put("src/shop/Runner.java", *["run();"] * 3, kind="code")


def test_of_the_names_that_a_file_defines_the_rarest_is_shown(library: Library) -> None:
    three_functions(library)

    text = f"It fails in Box.java\n\n{PADDING}\nI think that `run` calls `lift` then.\n\n    haul()\n"
    assert found(library, text)[0] == "src/shop/Box.java:5"


def test_a_part_of_a_file_is_called_by_the_name_for_which_it_is_shown(library: Library) -> None:
    three_functions(library)

    issue = read_issue(f"It fails in Box.java\n\n{PADDING}\nI think that `run` calls `haul` then.")
    assert issue is not None
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    (first, *_) = find_for_issue(issue, read_question("fails"), finder.search, library.index, 5, Filter())

    assert first.chunk.span.start_line == 3
    assert first.symbol == "haul"


def test_the_line_of_a_stack_frame_comes_before_names(library: Library) -> None:
    three_functions(library)
    trace = "#0 src/shop/Box.java(3): Label->print()\n#1 src/shop/Box.java(1): Box->moor()\n"

    assert found(library, f"`run` and `lift` fail\n\n{PADDING}\n\n{trace}")[0] == "src/shop/Box.java:3"


def test_a_line_of_a_stack_frame_counts_if_the_issue_names_what_is_there_now(library: Library) -> None:
    three_functions(library)
    trace = "#0 src/shop/Box.java(3): Label->print()\n"  # of an earlier version, in which `lift` was there

    assert found(library, f"`lift` fails\n\n{PADDING}\n\n{trace}")[0] == "src/shop/Box.java:5"


def test_of_a_long_function_the_part_with_the_line_of_the_stack_frame_is_shown(library: Library) -> None:
    text = "def lift():\n" + "\n".join(f"    print({number}, 'of a function')" for number in range(260))
    chunks = chunk_document(Document("src", "src/depot/crane.py", "code", "python", text, ""))
    library.put_chunks(text, chunks)
    trace = 'Traceback (most recent call last):\n  File "/v/depot/crane.py", line 200, in lift\n'

    (meant,) = [each.span.start_line for each in chunks if each.span.start_line <= 200 <= each.span.end_line]
    assert meant > 1
    assert found(library, f"It fails\n\n{PADDING}\n\n{trace}")[0] == f"src/depot/crane.py:{meant}"


def test_a_dotted_name_means_the_file_of_its_module(library: Library) -> None:
    assert found(library, f"It fails\n\n{PADDING}\nSee depot.labels.missing there.")[0] == "src/depot/labels.py:1"


def test_sources_come_before_tests_and_pages_that_say_the_same(library: Library) -> None:
    assert (
        found(library, f"Parcels are weighed twice\n\n{PADDING}\nCalling `weigh` does it.")[0]
        == "src/depot/scales.py:1"
    )


def test_a_filter_holds_for_files_that_are_named_too(library: Library) -> None:
    text = f'It fails\n\n{PADDING}\n\nFile "depot/ports.py", line 1, in x\n'

    assert all(path.startswith("docs/") for path in found(library, text, Filter(globs=("docs/",))))
