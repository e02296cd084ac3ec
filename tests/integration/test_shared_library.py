"""Libraries in LanceDB: what several machines write and read, in a folder and on object storage."""

from __future__ import annotations

import contextlib
import random
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.index.protocol import Source
from openbook.ingest.sync import sync
from openbook.integrations.lance import LanceIndex
from openbook.libraries.catalog import LibraryCatalog
from openbook.library import Library
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from tests.children import start_child, tell
from tests.integration.support_cli import copy_sample, run
from tests.integration.support_killing import make_tree, run_and_kill
from tests.object_storage import served_bucket
from tests.support import IDENTITY, hit_ids, put, vector, write_tree

QUESTION = "When does a parcel count as lost?"
FILES = 120
KILLS = 4
_START_S = 60.0


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copy_sample(tmp_path / "sample")


def settings(folder: Path, machine: str = "here", uri: str = "") -> Settings:
    return Settings(home=folder / machine, storage=f"lance:{uri or folder / 'shared'}")


def told(assistant: Library, question: str) -> list[tuple[Any, ...]]:
    return [(result.chunk, result.score, result.signals) for result in assistant.search(question)]


@pytest.mark.slow
def test_both_engines_give_the_same_results_and_answers(sample: Path, tmp_path: Path) -> None:
    questions = [QUESTION, "parcels.py", "How is a refund booked?", "LOST_AFTER_DAYS", "weight limit of a letter"]

    with Library.of(sample, settings=settings(tmp_path)) as shared, Library.of(sample) as own:
        assert shared.is_shared
        assert not own.is_shared
        for question in questions:
            assert told(shared, question) == told(own, question)
            assert shared.query(question).answer == own.query(question).answer
        (shared_counts, own_counts) = (assistant.stats() for assistant in (shared, own))

    assert (shared_counts.documents, shared_counts.chunks) == (own_counts.documents, own_counts.chunks)


@pytest.mark.slow
def test_a_machine_without_the_files_quotes_what_another_one_has_read(sample: Path, tmp_path: Path) -> None:
    with Library.open("team", settings=settings(tmp_path)) as there:
        there.add(sample)
    sample.rename(tmp_path / "elsewhere")

    with Library.open("team", settings=settings(tmp_path, "there")) as here:
        answer = here.query(QUESTION)

    assert "LOST_AFTER_DAYS" in answer.answer
    assert {citation.verdict for citation in answer.citations} == {"exact"}


@pytest.mark.slow
def test_a_folder_under_the_path_of_another_machines_folder_is_not_taken_for_it(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENBOOK_STORAGE", f"lance:{tmp_path / 'shared'}")
    run(capsys, "add", str(sample), "--library", "team")
    shutil.rmtree(sample)
    write_tree(sample, {"other.md": "# Other\n\nNothing of parcels.\n"})

    asked = run(capsys, "ask", QUESTION, "--library", "team")

    assert "parcels.py" in asked.out
    assert "stale" in asked.out
    with Library.open("team") as assistant:
        assert assistant.index.document(sample.name, "other.md") is None


@pytest.mark.slow
def test_a_machine_with_the_same_path_is_told_of_the_other_one_whose_documents_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_tree(tmp_path / "docs", {"ferry.md": "# Ferry\n\nThe ferry sails at nine.\n"})
    with Library.open("team", settings=settings(tmp_path, "there")) as there:
        there.add(folder, course=True)
    monkeypatch.setenv("OPENBOOK_STORAGE", f"lance:{tmp_path / 'shared'}")

    added = run(capsys, "add", str(folder), "--library", "team")
    again = run(capsys, "add", str(folder), "--library", "team")
    remade = run(capsys, "add", "--rebuild", "--library", "team")
    listed = run(capsys, "sources").out.splitlines()
    run(capsys, "add", "--rebuild", str(folder), "--library", "team")

    assert "is new as 'docs-2': 'docs' is the folder of another machine with that path" in added.err
    assert "run: openbook remove docs --library team\n" in added.err
    assert "another machine" not in again.err
    assert "has sources of other machines: docs\nhint: name the folders of this machine" in remade.err
    assert listed[1:] == [f"  docs  {folder}  (another machine)", f"  docs-2  {folder}"]
    with Library.open("team", settings=settings(tmp_path, "there")) as there:
        assert [root.kind for root in there.sources()] == ["folder"]


@pytest.mark.slow
def test_the_commands_list_fill_remake_and_empty_libraries(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENBOOK_STORAGE", f"lance:{tmp_path / 'shared'}")

    assert "no libraries" in run(capsys, "sources").err
    assert "there is no library 'team'" in run(capsys, "ask", QUESTION, "--library", "team").err
    assert "added" in run(capsys, "add", str(sample), "--library", "team").err
    assert "LOST_AFTER_DAYS" in run(capsys, "ask", QUESTION, "--library", "team").out
    assert "added" in run(capsys, "add", "--rebuild", "--library", "team").err
    listed = run(capsys, "sources").out
    assert listed.startswith("team: ")
    assert str(sample) in listed
    assert str(tmp_path / "shared" / "team") in run(capsys, "status", "--library", "team").out
    assert f"libraries in lance:{tmp_path / 'shared'}" in run(capsys, "doctor").out
    assert run(capsys, "remove", sample.name).err == f"removed {sample.name}\n"
    assert run(capsys, "sources").out == "team: 0 documents, 0.0 MB, updated never\n"


@pytest.mark.slow
def test_a_library_keeps_its_chunk_strategy_until_it_is_made_again(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENBOOK_STORAGE", f"lance:{tmp_path / 'shared'}")
    run(capsys, "add", str(sample), "--library", "team")
    monkeypatch.setenv("OPENBOOK_CHUNK_STRATEGY", "fixed-size")
    monkeypatch.setenv("OPENBOOK_CHUNK_WORDS", "100")  # else both make the same number of chunks

    answer = run(capsys, "ask", QUESTION, "--library", "team")
    before = run(capsys, "status", "--library", "team").out
    run(capsys, "add", "--rebuild", str(sample), "--library", "team")
    after = run(capsys, "status", "--library", "team").out

    assert "LOST_AFTER_DAYS" in answer.out
    assert _chunks(before) != _chunks(after)


def _chunks(status: str) -> str:
    return next(line for line in status.splitlines() if line.startswith("chunks"))


def bring(tree: str, uri: str, *, speak: bool = False) -> None:
    """Sync a folder and, if asked to, tell after each commit how many documents are in."""
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        known = len(index.records("s"))
        sync(
            Source("s", "folder", tree),
            index,
            settings=Settings(workers=1),
            load_embedder=HashEmbedder,
            progress=(lambda done, _: tell(known + done)) if speak else None,
            now=lambda: 4e9,
        )


def bring_when_told(tree: str, uri: str) -> None:
    tell("ready")
    sys.stdin.readline()
    bring(tree, uri, speak=True)


def check_consistent(index: LanceIndex) -> None:
    """Check that whatever documents a library has, it has them whole, with all of their words."""
    for path, record in index.records("s").items():
        stored = index.document("s", path)
        assert stored is not None
        assert stored.content_hash == record.content_hash
        assert "".join(chunk.text for chunk in index.chunks("s", path)).strip()
    assert index.frequencies(["river"]).get("river", 0) == index.stats().chunks


@pytest.mark.slow
def test_a_process_killed_at_any_moment_loses_nothing_that_it_committed(tmp_path: Path) -> None:
    files = make_tree(FILES)
    tree = write_tree(tmp_path / "tree", files)
    started = time.monotonic()
    bring(str(tree), str(tmp_path / "measure"))
    life_s = time.monotonic() - started
    chance = random.Random(20)

    for number in range(KILLS):
        uri = str(tmp_path / f"library-{number // 2}")  # two processes in a row work, and die, on one library
        reported = run_and_kill(bring_when_told, tree, uri, chance.uniform(0, life_s))

        with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
            assert len(index.records("s")) >= reported
            check_consistent(index)

    for uri in (str(tmp_path / f"library-{number}") for number in range(KILLS // 2)):
        bring(str(tree), uri)
        with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
            assert set(index.records("s")) == set(files)
            check_consistent(index)


def write_and_tidy(uri: str, name: str, count: int) -> None:
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        for number in range(count):
            put(index, f"{name}-{number}.md", f"word {name}x{number}", vector=vector(1, number))
            if number % 5 == 3:
                index.optimize(every=True)


def write_at_once(uri: str, *, writers: int, documents: int) -> None:
    """Let several processes write to one library, and check that it has all of it."""
    LanceIndex(uri, IDENTITY).close()
    with contextlib.ExitStack() as stack:
        names = [f"writer{number}" for number in range(writers)]
        children = [stack.enter_context(start_child(write_and_tidy, uri, name, documents)) for name in names]
        for child in children:
            _, errors = child.communicate()
            assert child.returncode == 0, errors
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        for _ in range(2):
            assert index.stats().documents == writers * documents
            assert index.frequencies(["word"]) == {"word": writers * documents}
            assert all(hit_ids(index, f"{name}x{number}") for name in names for number in range(documents))
            index.optimize(every=True)


@pytest.mark.slow
def test_machines_that_write_and_tidy_at_once_lose_nothing(tmp_path: Path) -> None:
    write_at_once(str(tmp_path / "library"), writers=3, documents=8)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served_bucket(monkeypatch) as address:
        yield address


@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_object_storage_holds_a_library_for_machines_that_write_at_once(
    bucket: str, sample: Path, tmp_path: Path
) -> None:
    with Library.open("team", settings=settings(tmp_path, uri=bucket)) as there:
        there.add(sample)
    with Library.open("team", settings=settings(tmp_path, "there", uri=bucket)) as here, Library.of(sample) as own:
        assert told(here, QUESTION) == told(own, QUESTION)
    write_at_once(f"{bucket}/busy", writers=2, documents=4)


@pytest.mark.slow
def test_who_has_a_library_open_goes_on_with_the_one_that_takes_its_place(sample: Path, tmp_path: Path) -> None:
    with Library.open("team", settings=settings(tmp_path)) as reader:
        reader.add(sample)
        before = told(reader, QUESTION)
        other = write_tree(tmp_path / "other", {"ferry.md": "# Ferry\n\nThe ferry sails at nine.\n"})
        LibraryCatalog(settings(tmp_path)).remove("team")
        with Library.open("team", settings=settings(tmp_path)) as writer:
            writer.add(other)

            assert told(reader, QUESTION) == told(writer, QUESTION) != before
            assert [chunk.text for chunk in reader.index.chunks("other", "ferry.md")] == [
                "# Ferry\n\nThe ferry sails at nine."
            ]
            assert reader.stats() == writer.stats()
