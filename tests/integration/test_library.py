"""Openbook as a Python library: one assistant, from a folder to checked citations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NoReturn

import pytest

from openbook.errors import (
    LibraryError,
    LibraryWriteError,
    QueryError,
    SettingsError,
    SourceError,
    UnknownSourceError,
)
from openbook.ingest.difference import Difference
from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Filter
from tests.integration.support_cli import copy_sample, settled
from tests.support import write_tree

QUESTION = "When does a parcel count as lost?"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copy_sample(tmp_path)


@pytest.fixture
def assistant(sample: Path) -> Iterator[Library]:
    with Library.of(settled(sample)) as made:
        yield made


def test_a_folder_is_asked_in_two_lines(sample: Path) -> None:
    with Library.of(sample) as assistant:
        answer = assistant.query(QUESTION)

    assert "LOST_AFTER_DAYS" in answer.answer
    assert answer.sources_cited[0].startswith("harbour/parcels.py:")
    assert answer.has_citations
    assert answer.quality_score == 1.0


@pytest.mark.slow
def test_every_result_and_every_citation_is_an_exact_slice_of_its_file(assistant: Library, sample: Path) -> None:
    results = assistant.search("parcel ferry storm door", limit=100)
    answer = assistant.query("Who lifts heavy parcels?")

    assert len(results) > 10
    places = [(result.chunk.span, result.chunk.text) for result in results]
    for span, text in places + [(citation.span, citation.quote) for citation in answer.citations]:
        # The text of a notebook is what its cells hold; in that of a page, blanks stand for the markup.
        if not span.path.endswith((".ipynb", ".html")):
            written = (sample / span.path).read_bytes().decode("utf-8")
            assert written[span.start_char : span.end_char] == text


def test_a_course_gives_its_lessons_beside_the_text(assistant: Library) -> None:
    result = assistant.search("wind of the last three hours", where=Filter(kinds=frozenset({"course"})))[0]

    lesson = result.chunk.lesson
    assert lesson is not None
    assert (lesson.course, lesson.number, lesson.title) == ("Working at the Quay", 2, "Storms")
    assert (lesson.instructor, lesson.course_link) == ("Runa Holm", "https://harbour.example/quay")
    assert "Working at the Quay" not in result.chunk.text


def test_a_lesson_numbered_zero_and_what_stands_before_it_are_found(assistant: Library) -> None:
    welcome = assistant.search("every one of the lessons ends with tea", view="passages")[0]
    boots = assistant.search("put on your boots", view="passages")[0]

    assert welcome.chunk.lesson is not None
    assert welcome.chunk.lesson.number == 0
    assert "boots" in boots.chunk.text


def test_filters_narrow_what_is_found(assistant: Library) -> None:
    only_go = assistant.search("parcel", where=Filter(globs=("*.go",)))
    only_docs = assistant.search("parcel", where=Filter(kinds=frozenset({"docs"})))
    nothing = assistant.search("parcel", where=Filter(globs=("elsewhere/*",)))

    assert {result.chunk.span.path for result in only_go} == {"scanner/scanner.go"}
    assert {result.chunk.kind for result in only_docs} == {"docs"}
    assert nothing == []


def test_equal_questions_get_equal_results(assistant: Library) -> None:
    assert assistant.search("parcel") == assistant.search("parcel")
    assert assistant.search("parcel", limit=3) == assistant.search("parcel")[:3]


def test_a_question_beside_the_topic_is_refused(assistant: Library) -> None:
    answer = assistant.query("What is the recipe for sourdough bread?")

    assert answer.refused
    assert answer.reason == "nothing relevant"
    assert answer.citations == ()
    assert answer.results
    assert "Nearest:" in answer.format_for_display()


@pytest.mark.parametrize("question", ["", "  ", "?!", "x" * 100_000])
def test_a_question_that_cannot_be_asked_is_an_error_with_a_hint(assistant: Library, question: str) -> None:
    with pytest.raises(QueryError) as caught:
        assistant.query(question)

    assert caught.value.hint


def test_a_citation_of_a_file_that_was_edited_since_is_stale(assistant: Library, sample: Path) -> None:
    file = sample / "docs" / "operations.md"
    file.write_text("# Moved\n\n" + file.read_text(encoding="utf-8").replace("ninety", "sixty"), encoding="utf-8")

    answer = assistant.query("How long are copies of the register kept?")

    verdicts = {citation.span.path: citation.verdict for citation in answer.citations}
    assert verdicts["docs/operations.md"] == "stale"
    assert "docs/operations.md" not in " ".join(answer.sources_cited)
    assert (answer.quality_score or 0.0) < 1.0


def test_a_citation_of_a_file_that_was_deleted_since_is_stale(assistant: Library, sample: Path) -> None:
    (sample / "docs" / "operations.md").unlink()

    answer = assistant.query("How long are copies of the register kept?")

    assert {c.verdict for c in answer.citations if c.span.path == "docs/operations.md"} == {"stale"}


def test_bringing_a_source_up_to_date_tells_what_was_done(assistant: Library, sample: Path) -> None:
    (sample / "docs" / "new.md").write_text("# New\n", encoding="utf-8")
    (sample / "docs" / "faq.md").write_text("# Other questions\n", encoding="utf-8")
    (sample / "README.md").rename(sample / "ABOUT.md")
    (sample / "web" / "tracking.ts").unlink()

    (report,) = assistant.sync()

    assert (report.added, report.changed, report.renamed, report.removed) == (1, 1, 1, 1)
    assert report.wrote
    assert report.skipped["secret"] == (".env", "id_rsa")


def test_an_unchanged_source_is_not_read_again(assistant: Library) -> None:
    (report,) = assistant.sync()

    assert (report.read, report.wrote) == (0, False)
    assert report.unchanged == 20


def test_what_is_pending_is_told_without_doing_it(assistant: Library, sample: Path) -> None:
    (sample / "docs" / "faq.md").unlink()

    pending = assistant.pending()["harbour"]

    assert isinstance(pending, Difference)
    assert pending.gone == {"docs/faq.md"}
    assert pending.todo == ()
    assert assistant.search("dog living animals")[0].chunk.span.path == "docs/faq.md"


def test_progress_counts_files_up_to_all_of_them(sample: Path) -> None:
    seen: list[tuple[int, int]] = []

    with Library.open() as assistant:
        assistant.add(sample, progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (20, 20)
    assert seen == sorted(seen)


def test_several_folders_share_a_library_and_one_can_go(sample: Path) -> None:
    with Library.open("island") as assistant:
        assistant.add(sample / "docs")
        assistant.add(sample / "scanner")
        assistant.remove("docs")

        names = [root.name for root in assistant.sources()]
        found = {result.chunk.source for result in assistant.search("label backup")}

    assert names == ["scanner"]
    assert found == {"scanner"}


def test_a_library_is_the_same_for_whoever_opens_it_next(sample: Path) -> None:
    with Library.open("island") as first:
        first.add(sample / "docs")
        expected = first.search("backup")

    with Library.open("island") as second:
        assert second.search("backup") == expected
        assert second.stats().documents == 3


def test_removing_an_unknown_source_is_an_error_that_names_the_known(assistant: Library) -> None:
    with pytest.raises(UnknownSourceError) as caught:
        assistant.remove("island")

    assert caught.value.hint == "it has: harbour"


@pytest.mark.parametrize("path", ["missing", "README.md/missing"])
def test_a_path_that_does_not_exist_is_an_error(sample: Path, path: str) -> None:
    with pytest.raises(SourceError, match="missing") as caught:
        Library.of(sample / path)

    assert caught.value.hint


def test_a_name_that_no_file_can_have_is_an_error() -> None:
    with pytest.raises(SettingsError):
        Library.open("../escape")


def test_a_home_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(LibraryWriteError) as caught:
        Library.open(settings=Settings(home=Path("/dev/null/home")))

    assert "OPENBOOK_HOME" in caught.value.hint


def test_a_closed_assistant_answers_with_an_error_of_ours(sample: Path) -> None:
    with Library.of(sample) as assistant:
        pass

    with pytest.raises(LibraryError):
        assistant.search("parcel")


def test_settings_reach_the_parts_they_are_for(sample: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", max_file_bytes=600, context_tokens=100, workers=1)

    with Library.of(sample, settings=settings) as assistant:
        answer = assistant.query(QUESTION)
        (report,) = assistant.sync()

    assert Path(assistant.location).is_relative_to(tmp_path / "home")
    assert "harbour/parcels.py" in report.skipped["too large"]
    assert len(answer.results) <= 3


@pytest.mark.slow
def test_threads_may_share_an_assistant(assistant: Library) -> None:
    questions = [QUESTION, "Who lifts heavy parcels?", "How do I restore a backup?"] * 4
    expected = {question: assistant.query(question).answer for question in questions}
    answers: list[tuple[str, str]] = []

    def ask(question: str) -> None:
        answers.append((question, assistant.query(question).answer))

    threads = [threading.Thread(target=ask, args=(question,)) for question in questions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == len(questions)
    assert all(answer == expected[question] for question, answer in answers)


def test_answers_from_results_at_hand_and_their_statistics(assistant: Library) -> None:
    generator = assistant.generator
    generator.reset_generation_stats()
    results = assistant.search(QUESTION)

    answer = generator.generate_answer(QUESTION, results)
    refusal = generator.generate_answer(QUESTION, [])
    none_good_enough = generator.generate_with_retrieval(QUESTION, 5, min_score=99.0)

    assert answer.has_citations
    assert (refusal.refused, none_good_enough.refused) == (True, True)
    stats = generator.get_generation_stats()
    assert (stats["total_generations"], stats["refused"], stats["with_citations"]) == (3, 2, 1)


class Unfillable(Library):
    """Takes nothing in, and remembers which of its kind were closed."""

    closed: ClassVar[list[Library]] = []

    def add(self, *_: object, **__: object) -> NoReturn:
        """Fail."""
        raise LibraryWriteError("the disk is full")

    def close(self) -> None:
        """Close, and remember it."""
        self.closed.append(self)
        super().close()


def test_a_library_that_cannot_be_filled_is_closed(sample: Path) -> None:
    with pytest.raises(LibraryWriteError):
        Unfillable.of(sample)

    assert len(Unfillable.closed) == 1


def test_a_library_of_nothing_is_not_made(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")

    with pytest.raises(ValueError, match="at least one folder"):
        Library.of(settings=settings)
    with pytest.raises(SourceError, match="does not exist"):
        Library.of(tmp_path / "gone", settings=settings)

    assert not settings.home.exists()


def test_the_answer_of_any_model_is_checked_against_what_it_was_shown(assistant: Library) -> None:
    results = assistant.search("How long are copies of the register kept?", view="passages", limit=3)
    shown = assistant.context(results)
    number = next(line.partition("|")[0] for line in shown.split("\n") if "Copies are kept for ninety days" in line)
    question = "How long are copies of the register kept?"

    right = assistant.check(question, f"Copies are kept for ninety days [1:{number}].", results)
    wrong = assistant.check(question, f"Copies are kept for 20 days [1:{number}].", results)

    assert shown.startswith('<source number="1" place="docs/operations.md:')
    assert right.sources_cited == ("docs/operations.md:5",)
    assert (right.quality_score, right.claims[0].verdict) == (1.0, "exact")
    assert (wrong.quality_score, wrong.claims[0].verdict) == (0.0, "conflict")
    assert (wrong.refused, wrong.sources_cited) == (False, ())
    assert wrong.answer.startswith("Copies are kept for 20 days")


@pytest.mark.parametrize("method", ["search", "retrieve", "query", "query_stream"])
def test_what_could_only_find_nothing_is_refused(assistant: Library, method: str) -> None:
    with pytest.raises(UnknownSourceError, match="no source 'nowhere'"):
        getattr(assistant, method)(QUESTION, where=Filter(sources=frozenset({"nowhere"})))
    with pytest.raises(ValueError, match="limit is 0"):
        getattr(assistant, method)(QUESTION, limit=0)


def test_an_answer_that_no_source_mentions_a_word_says_which_files_could_not_be_read(tmp_path: Path) -> None:
    files = {"a.md": "# Ropes\n\nThe bowline holds a rope.\n", "b.pdf": "no PDF", "c.png": "x", ".env": "KEY=1"}
    folder = write_tree(tmp_path / "a", {**files, "tests/d.pdf": "no PDF"})
    (folder / "talk.key").write_bytes(b"PK\x03\x04 slides")
    (folder / "server.key").write_text("0123", encoding="utf-8")

    with Library.open("knots") as library:
        report = library.add(folder)
        told = library.query("Who painted the Mona Lisa?").answer
        library.add(write_tree(tmp_path / "b", {"a.md": "# Wind\n"}))
        elsewhere = library.query("Who painted the Mona Lisa?", where=Filter(sources=frozenset({"b"}))).answer

    assert report.skipped["Keynote; save it as PDF or PPTX"] == ("talk.key",)
    assert report.skipped["secret"] == (".env", "server.key")
    assert "2 files could not be read, and may: b.pdf, talk.key." in told
    assert "No source mentions" in elsewhere
    assert "could not be read" not in elsewhere


def test_a_refusal_names_an_unread_file_whose_name_has_words_of_the_question(tmp_path: Path) -> None:
    files = {"a.md": "# Ropes\n\nThe bowline holds a rope. The average value is nine.\n"}
    folder = write_tree(tmp_path / "a", {**files, "harbour gauge.csv": "1,2\n" * 300_000})

    with Library.open("knots") as library:
        library.add(folder)
        told = library.query("What do the harbour gauges show in Tromso?").answer

    assert told.startswith("harbour gauge.csv was not read: too large; raise OPENBOOK_MAX_FILE_BYTES from 1048576")
    assert "could not be read, and may" not in told


def test_folders_are_not_walked_again_for_each_refusal_before_the_next_sync(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "a", {"a.md": "# Ships\n\nShips are moored at noon.\n", "b.pdf": "no PDF"})

    with Library.open("harbour") as library:
        library.add(folder)
        before = library.query("Where do kangaroos live?").answer
        (folder / "b.pdf").unlink()
        soon = library.query("Where do kangaroos live?").answer
        library.sync()
        synced = library.query("Where do kangaroos live?").answer

    assert "b.pdf" in before
    assert soon == before
    assert "b.pdf" not in synced


def test_a_refusal_names_no_unread_file_of_a_source_that_was_removed(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "a", {"a.md": "# Ships\n\nShips are moored at noon.\n", "b.pdf": "no PDF"})

    with Library.open("harbour") as library:
        library.add(folder)
        library.add(write_tree(tmp_path / "c", {"c.md": "# Wind\n\nWind blows from the west.\n"}))
        before = library.query("Where do kangaroos live?").answer
        library.remove("a")
        removed = library.query("Where do kangaroos live?").answer

    assert "b.pdf" in before
    assert "b.pdf" not in removed


@pytest.mark.slow
def test_an_answer_says_why_a_file_that_the_question_names_was_not_read(tmp_path: Path) -> None:
    said = "# Vault\n\nEach xlsx is password protected. What is in the vault is safe.\n"
    folder = write_tree(tmp_path / "a", {"a.md": said, "b/tides.pdf": "no PDF", "c/tides.pdf.md": "Tides.\n"})
    encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    (folder / "password_protected.xlsx").write_bytes(encrypted)
    unread = "password_protected.xlsx was not read: encrypted; save it without a password."

    with Library.open("vault") as library:
        library.add(folder)
        asked = [
            library.query(question)
            for question in ("What is in password_protected.xlsx?", "Fasse Password_Protected.xlsx zusammen")
        ]
        beside = library.query("Is the vault of password_protected.xlsx safe?")
        damaged = library.query("Summarize b/tides.pdf")
        other = library.query("What is in tides.pdf.md?")
        elsewhere = library.query("What is in xlsx files?")

    assert [(answer.answer, answer.reason) for answer in asked] == [(unread, "not read")] * 2
    assert beside.answer.startswith(f"{unread}\n\n")
    assert beside.citations
    assert beside.claims
    assert all(claim.text in beside.answer[claim.start_char : claim.end_char] for claim in beside.claims)
    assert damaged.answer == "b/tides.pdf was not read: not a PDF file."
    assert "was not read" not in other.answer + elsewhere.answer


def test_a_quote_of_a_page_has_no_blank_before_a_comma_and_is_as_exact(tmp_path: Path) -> None:
    page = "<h1>Ferries</h1>\n<p>The <b>ferry</b>, which (<i>they say</i>) is red, leaves the harbour at noon.</p>\n"
    told = "The ferry, which (they say) is red, leaves the harbour at noon."

    with Library.open("pages") as library:
        library.add(write_tree(tmp_path / "a", {"a.html": page}))
        answer = library.query("When does the ferry leave the harbour?")

    (citation,) = answer.citations
    assert f"> {told} [1" in answer.answer
    assert (citation.verdict, citation.span.start_line) == ("exact", 2)
    assert [claim.verdict for claim in answer.claims] == ["exact"]


@pytest.mark.slow
def test_a_question_for_callers_says_how_many_there_are_if_it_does_not_show_them_all(tmp_path: Path) -> None:
    quays = {
        f"quay{number}.py": f"def open_quay{number}(ship):\n    return moor_ship(ship, {number})\n"
        for number in range(24)
    }
    write_tree(tmp_path / "harbour", {"dock.py": "def moor_ship(ship, rope):\n    return ship.tie(rope)\n", **quays})
    write_tree(
        tmp_path / "pier",
        {"dock.py": "def moor_ship(ship, rope):\n    return ship.tie(rope)\n", "quay.py": quays["quay1.py"]},
    )

    with Library.of(tmp_path / "harbour") as harbour, Library.of(tmp_path / "pier") as pier:
        many, one = (library.query("Who calls moor_ship?").answer for library in (harbour, pier))
        other = harbour.query("What does moor_ship do?").answer

    assert many.endswith("\n\n24 functions call `moor_ship`; every line: `openbook references moor_ship`")
    assert "moor_ship(ship, 1)" in one
    assert "openbook references" not in one + other
