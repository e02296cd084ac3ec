"""What answers are written from: the best passages, documentation and definitions among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.answering.evidence import EvidenceFinder
from openbook.answering.followups import standalone
from openbook.questions.question import read_question
from openbook.types import Filter
from tests.unit.retrieval.material import Library, chunk_of


@pytest.fixture
def mixed(tmp_path: Path) -> EvidenceFinder:
    library = Library(tmp_path / "mixed.db")
    for number in range(20):
        library.put(f"quay{number}.py", f"def quay{number}(): quay = moor(quay, {number})", kind="code")
    library.put("notes.md", *(f"The quay number {number} in {number * 7} lists of the quay." for number in range(80)))
    library.put("README.md", "Welcome, and mind the gap.\n\nQuay is a server that ships moor at.")
    return EvidenceFinder(library.index, library.embedder, library.text_now)


def test_what_defines_a_thing_is_found_before_what_only_names_it(mixed: EvidenceFinder) -> None:
    assert mixed.find(read_question("What is a quay?"), 10, Filter())[0].chunk.span.path == "README.md"


def test_a_name_that_stands_nowhere_is_no_question_to_the_sources(mixed: EvidenceFinder) -> None:
    asked = standalone("What is QUAY_LIMIT set to?", ())
    both = standalone("Is QUAY_LIMIT the same as quay3_moor?", ())

    unknown = mixed.judge(asked, mixed.find(asked.question, 3, Filter()), mixed.weigh(asked.asked), Filter())

    assert unknown.fault == "nothing relevant"
    assert mixed.weigh(both.asked).missing[0] == "QUAY_LIMIT"


def test_what_describes_a_setting_answers_whatever_words_are_around_it(tmp_path: Path) -> None:
    library = Library(tmp_path / "flags.db")
    for number in range(100):
        library.put(f"tides/{number}.py", f"tides.read(tides, tides[{number}])", kind="code")
    told = " ".join(f"Ships of kind {number} moor as well." for number in range(20))
    library.put("moor.py", f'add_argument(\n    "--tides",\n    help="Reads them. {told}",\n)', kind="code")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def judged(question: str, step: int = 1) -> tuple[str, bool, str]:
        asked = standalone(question, ())
        results = finder.find(asked.question, 3, Filter())[::step]
        relevance = finder.judge(asked, results, finder.weigh(asked.asked), Filter())
        return relevance.fault, relevance.is_doubtful, results[0].chunk.span.path

    assert judged("What does the --tides flag do?") == ("", False, "moor.py")
    assert judged("What does the --tides flag do?", -1)[:2] == ("", False)  # another one ranks before it
    assert judged("What does the --gulls flag do?")[0] == "nothing relevant"


def test_a_question_for_uses_finds_what_has_the_name(tmp_path: Path) -> None:
    library = Library(tmp_path / "uses.db")
    for number in range(20):
        library.put(f"calls{number}.py", f"def calls{number}(): who_calls(calls, {number})", kind="code")
    library.put("dock.py", "if storm: pass\nship.tie_up(ropes)", kind="code")
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    found = finder.find(read_question("Who calls `tie_up`?"), 3, Filter())

    assert found[0].chunk.span.path == "dock.py"


def test_a_question_in_another_language_is_weighed_by_what_it_asks_for(tmp_path: Path) -> None:
    library = Library(tmp_path / "words.db")
    library.put("a.md", "The option cycle scrolls round.", *(f"Text number {number}." for number in range(9)))
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)
    asked = standalone("Was macht denn die Option cycle?", ())

    results = finder.find(asked.question, 3, Filter())
    weighed = finder.weigh(asked.asked)

    assert finder.judge(asked, results, weighed, Filter()).fault == ""
    assert weighed.missing == ("denn",)


def test_a_question_for_parameters_finds_the_whole_docstring(tmp_path: Path) -> None:
    library = Library(tmp_path / "crane.db")
    head, rest = 'def lift_all(load):\n    """Lifts all.\n\n    Args:\n', '        load (int): Tonnes.\n    """'
    library.put_chunks(
        head + rest,
        [
            chunk_of(head, "crane.py", kind="code", symbol="lift_all", defines=("lift_all",)),
            chunk_of(rest, "crane.py", before=head, kind="code", symbol="lift_all"),
        ],
    )
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def texts(question: str) -> list[str]:
        return [result.chunk.text for result in finder.find(read_question(question), 3, Filter())]

    assert texts("Which arguments does lift_all take?") == [head + rest]
    assert head in texts("Where is lift_all?")


def test_a_question_for_a_setting_finds_its_whole_entry(tmp_path: Path) -> None:
    library = Library(tmp_path / "crane.db")
    head, rest = "max_load:\n  description:\n    - Tonnes that it lifts.\n", "  default: 7\n"
    chunks = [chunk_of(head, "crane.py", kind="code"), chunk_of(rest, "crane.py", before=head, kind="code")]
    library.put_chunks(head + rest, chunks)
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    found = finder.find(read_question("What does max_load do?"), 3, Filter())

    assert [result.chunk.text for result in found] == [head + rest]


def test_a_question_for_parameters_finds_the_section_on_them_in_the_page_on_a_thing(tmp_path: Path) -> None:
    library = Library(tmp_path / "crane.db")
    opening, section = "# lift_all\n\nIt lifts all.\n\n", "## Arguments\n\n- `load`: Tonnes.\n"
    context = ("lift_all",)
    chunks = [
        chunk_of(opening, "a.md", language="markdown", context=context),
        chunk_of(section, "a.md", before=opening, language="markdown", context=(*context, "Arguments")),
    ]
    library.put_chunks(opening + section, chunks)
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    found = finder.find(read_question("Which arguments does lift_all take?"), 3, Filter())

    assert found[0].chunk.text == section


@pytest.fixture
def gulls(tmp_path: Path) -> EvidenceFinder:
    library = Library(tmp_path / "gulls.db")
    library.put("gulls.md", *(f"The gull number {number} nests." for number in range(120)))
    for number in range(12):
        told = " ".join(f"Rope {n} of pier {number} holds ship {n}." for n in range(30))
        library.put(f"pier{number:02}.md", f"{told} A gull sat there.")
    library.put("seagull.md", "Seagulls and gullible people are others.")
    return EvidenceFinder(library.index, library.embedder, library.text_now)


def test_a_question_for_documents_finds_those_that_only_mention_the_topic(gulls: EvidenceFinder) -> None:
    found = [each.chunk.span.path for each in gulls.find(read_question("Which pages mention gull?"), 10, Filter())]

    assert found.count("gulls.md") == 2
    assert len(set(found)) > 10


def test_a_document_that_has_the_topic_answers_a_question_for_documents(tmp_path: Path) -> None:
    library = Library(tmp_path / "piers.db")
    for number in range(60):
        told = " ".join(f"Rope {n} of pier {number} holds ship {n}." for n in range(30))
        library.put(f"pier{number:02}.md", f"{told} A gull sat there." if number == 3 else told)
    finder = EvidenceFinder(library.index, library.embedder, library.text_now)

    def judged(question: str) -> tuple[str, bool]:
        asked = standalone(question, ())
        relevance = finder.judge(asked, finder.find(asked.question, 3, Filter()), finder.weigh(asked.asked), Filter())
        return relevance.fault, relevance.is_doubtful

    assert judged("Which pages mention a gull?") == ("", False)
    assert judged("What does a gull do?") == ("", True)
