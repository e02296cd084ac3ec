"""`openbook migrate` and `openbook optimize`, and what a killed migration leaves."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from openbook.embedding.static import load_embedder
from openbook.errors import LibraryError
from openbook.libraries.catalog import LibraryCatalog
from openbook.libraries.migration import migrate
from openbook.library import Library
from openbook.settings import Settings
from tests.children import start_child, tell
from tests.integration.support_cli import assert_fails_clearly, copy_sample, run
from tests.integration.support_killing import make_tree
from tests.support import write_tree

QUESTION = "When does a parcel count as lost?"
FILES = 420  # three commits
KILLS = 3


@pytest.mark.slow
def test_a_library_moves_to_another_engine_and_back_with_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample, shared = copy_sample(tmp_path), f"lance:{tmp_path / 'shared'}"
    run(capsys, "add", sample, "--library", "team")
    asked = run(capsys, "ask", QUESTION, "--library", "team")
    found = run(capsys, "search", QUESTION, "--library", "team", "--json")

    there = run(capsys, "migrate", "team", "--to", shared)
    again = run(capsys, "migrate", "team", "--to", shared)
    run(capsys, "remove", "--library", "team")
    monkeypatch.setenv("OPENBOOK_STORAGE", shared)
    asked_there = run(capsys, "ask", QUESTION, "--library", "team")
    found_there = run(capsys, "search", QUESTION, "--library", "team", "--json")
    back = run(capsys, "migrate", "team", "--to", "sqlite")
    monkeypatch.delenv("OPENBOOK_STORAGE")

    assert there.err.startswith(f"copied team to {shared}/team: 20 documents and ")
    assert again.err.startswith(f"{shared}/team has all of team: 20 documents and ")
    assert asked_there.out == asked.out
    assert found_there.json["results"] == found.json["results"]
    assert back.err.startswith("copied team to ")
    assert run(capsys, "ask", QUESTION, "--library", "team").out == asked.out


@pytest.mark.slow
def test_added_texts_stay_until_no_copy_of_their_library_cites_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shared, home = f"lance:{tmp_path / 'shared'}", Settings.from_env().home
    with Library.open("team", settings=Settings.from_env()) as library:
        library.add_text("The owl hunts.", name="owl.md")
    run(capsys, "migrate", "team", "--to", shared)

    original = run(capsys, "remove", "--library", "team")
    text_is_kept = (home / "texts" / "team" / "texts" / "owl.md").exists()
    monkeypatch.setenv("OPENBOOK_STORAGE", shared)
    copy = run(capsys, "remove", "--library", "team")

    assert f"stay in {home / 'texts' / 'team'}: a copy of the library cites them" in original.err
    assert text_is_kept
    assert copy.err == "deleted the library team\n"
    assert not (home / "texts" / "team").exists()


def test_what_cannot_be_migrated_is_told_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "add", write_tree(tmp_path / "tree", {"a.md": "# A\n\nThe river flows.\n"}), "--library", "team")

    same = run(capsys, "migrate", "team", "--to", "sqlite")
    unknown = run(capsys, "migrate", "tean", "--to", "lance:/tmp")

    assert_fails_clearly(same, 2, "is already at 'sqlite'")
    assert_fails_clearly(unknown, 2, "there is no library 'tean'")
    assert "team" in unknown.err


def copy_in_child(home: str, to: str) -> None:
    tell("ready")
    migrate("team", to, Settings(home=Path(home)), embedder=load_embedder().identity)


@pytest.mark.slow
def test_a_migration_killed_at_any_moment_is_finished_by_the_next_one(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", make_tree(FILES))
    here, to = Settings(home=tmp_path / "home"), f"lance:{tmp_path / 'shared'}"
    there = Settings(home=tmp_path / "home", storage=to)
    with Library.open("team", settings=here) as library:
        library.add(tree)
        found = [(result.chunk, result.score) for result in library.search("the river")]
    started = time.monotonic()
    migrate("team", f"lance:{tmp_path / 'measure'}", here, embedder=load_embedder().identity)
    life_s = time.monotonic() - started
    chance = random.Random(7)

    for _ in range(KILLS):
        with start_child(copy_in_child, here.home, to) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0, life_s))
            child.kill()
        if LibraryCatalog(there).holds("team"):
            try:
                with Library.open("team", settings=there) as copy:
                    assert copy.stats().documents in (0, FILES)  # not begun, or complete
            except LibraryError as exc:
                assert "unfinished copy" in str(exc)  # noqa: PT017 - whether it is one depends on the moment
    migrate("team", to, here, embedder=load_embedder().identity)

    with Library.open("team", settings=there) as copy:
        assert copy.stats().documents == FILES
        assert [(result.chunk, result.score) for result in copy.search("the river")] == found


@pytest.mark.slow
def test_optimizing_a_library_changes_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = write_tree(tmp_path / "tree", make_tree(5))
    for number in range(6):  # each commit adds a segment of words
        write_tree(tree, {f"more-{number}.md": f"# More\n\nThe river number{number} flows.\n"})
        run(capsys, "add", tree, "--library", "team")
    before = run(capsys, "search", "river number3", "--library", "team", "--json").json["results"]

    outcome = run(capsys, "optimize", "team")

    assert outcome.err.startswith("optimized team: ")
    assert run(capsys, "search", "river number3", "--library", "team", "--json").json["results"] == before
