from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openbook.chunking.identity import chunks_identity
from openbook.embedding.static import load_embedder
from openbook.errors import LibraryError, MismatchedLibraryError, SettingsError
from openbook.index.protocol import IndexIdentity
from openbook.libraries.catalog import LibraryCatalog, open_index
from openbook.libraries.migration import migrate
from openbook.library import Library
from openbook.settings import Settings
from openbook.tokens import tokens_identity
from tests.integration.support_cli import copy_sample
from tests.support import everything

QUESTIONS = ["When does a parcel count as lost?", "parcels.py", "How is a refund booked?", "LOST_AFTER_DAYS"]
FILES = 230  # two commits
EMBEDDER = load_embedder().identity


def here(folder: Path) -> Settings:
    return Settings(home=folder / "home", workers=1)


def there(folder: Path) -> Settings:
    return replace(here(folder), storage=f"lance:{folder / 'shared'}")


def opened(settings: Settings) -> Library:
    return Library.open("team", settings=settings)


def told(settings: Settings) -> list[Any]:
    with opened(settings) as library:
        found = [
            [(result.chunk, result.score, result.signals) for result in library.search(question)]
            for question in QUESTIONS
        ]
        answers = [library.query(question) for question in QUESTIONS]
        return [found, [answer.answer for answer in answers], [answer.citations for answer in answers]]


def fill(settings: Settings, tree: Path) -> None:
    with opened(settings) as library:
        library.add(tree)


def many_files(folder: Path, word: str = "river") -> Path:
    folder.mkdir(exist_ok=True)
    for number in range(FILES):
        (folder / f"{number}.md").write_text(f"# Part {number}\n\nThe {word} {number} flows.\n", encoding="utf-8")
    return folder


def copy(settings: Settings, to: str, **options: Any) -> int:
    return migrate("team", to, settings, embedder=EMBEDDER, **options).copied


def interrupt(done: int, total: int) -> None:
    if done < total:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_copy_in_another_engine_and_one_back_find_and_cite_the_same(tmp_path: Path) -> None:
    tree = copy_sample(tmp_path)
    (tree / "empty.md").write_text("\n", encoding="utf-8")
    (tree / "broken.pdf").write_bytes(b"%PDF-1.4 of nothing")
    fill(here(tmp_path), tree)
    before = told(here(tmp_path))

    there_report = migrate("team", there(tmp_path).storage, here(tmp_path), embedder=EMBEDDER)
    copied = told(there(tmp_path))
    LibraryCatalog(here(tmp_path)).remove("team")
    copy(there(tmp_path), "sqlite")

    assert before[0][0]
    assert copied == before
    assert told(here(tmp_path)) == before
    with opened(here(tmp_path)) as back, opened(there(tmp_path)) as shared:
        stats = shared.stats()
        assert (there_report.documents, there_report.chunks) == (stats.documents, stats.chunks)
        names = ["lost", "parcel", "refund"]
        query = load_embedder().embed(["parcel"])[0]
        one, other = (everything(library.index, names, query) for library in (back, shared))
        assert one["roots"] == [replace(root, owner="") for root in other["roots"]]
        for kind in ("records", "documents", "frequencies", "chunks"):
            assert one[kind] == other[kind]
        assert any(record.skipped for record in one["records"]["harbour"].values())


def test_a_copy_for_several_machines_belongs_to_the_one_that_made_it(tmp_path: Path) -> None:
    fill(here(tmp_path), many_files(tmp_path / "tree"))
    copy(here(tmp_path), there(tmp_path).storage)
    copy(there(tmp_path), f"lance:{tmp_path / 'other'}")

    for settings in (there(tmp_path), replace(there(tmp_path), storage=f"lance:{tmp_path / 'other'}")):
        with opened(settings) as library:
            assert [root.owner for root in library.sources()] == [(tmp_path / "home" / "id").read_text("ascii")]


@pytest.mark.slow
def test_an_interrupted_copy_cannot_be_asked_and_is_continued_where_it_ended(tmp_path: Path) -> None:
    fill(here(tmp_path), many_files(tmp_path / "tree"))
    to = there(tmp_path).storage

    with pytest.raises(KeyboardInterrupt):
        copy(here(tmp_path), to, progress=interrupt)
    with pytest.raises(LibraryError, match="is an unfinished copy of") as caught:
        opened(there(tmp_path))
    assert LibraryCatalog(there(tmp_path)).roots("team") == []
    copied = copy(here(tmp_path), to)

    assert "openbook migrate team" in caught.value.hint
    assert 0 < copied < FILES
    with opened(there(tmp_path)) as library:
        assert library.stats().documents == FILES
    assert copy(here(tmp_path), to) == 0


@pytest.mark.slow
def test_what_has_changed_between_two_runs_is_copied_as_it_is_now(tmp_path: Path) -> None:
    tree = many_files(tmp_path / "tree")
    fill(here(tmp_path), tree)
    with pytest.raises(KeyboardInterrupt):
        copy(here(tmp_path), there(tmp_path).storage, progress=interrupt)
    (tree / "0.md").unlink()
    (tree / "1.md").write_text("# Other\n\nA heron waits.\n", encoding="utf-8")
    fill(here(tmp_path), tree)

    copy(here(tmp_path), there(tmp_path).storage)

    assert told(there(tmp_path)) == told(here(tmp_path))
    with opened(there(tmp_path)) as library:
        assert library.index.document("tree", "0.md") is None
        assert library.index.frequencies(["heron"]) == {"heron": 1}


@pytest.mark.slow
def test_a_document_that_differs_at_the_end_is_copied_again(tmp_path: Path) -> None:
    fill(here(tmp_path), many_files(tmp_path / "tree"))
    with pytest.raises(KeyboardInterrupt):
        copy(here(tmp_path), there(tmp_path).storage, progress=interrupt)
    identity = IndexIdentity(EMBEDDER, tokens_identity(), chunks_identity(here(tmp_path)))
    location = LibraryCatalog(there(tmp_path)).location("team")
    with contextlib.closing(open_index(location, identity, there(tmp_path))) as index:
        document, record = index.document("tree", "0.md"), index.records("tree")["0.md"]
        assert document is not None
        index.put(document, [], record.stamp)

    copy(here(tmp_path), there(tmp_path).storage)

    assert told(there(tmp_path)) == told(here(tmp_path))


@pytest.mark.slow
def test_another_library_at_the_target_is_left_as_it_is(tmp_path: Path) -> None:
    for settings, word in ((here(tmp_path), "river"), (there(tmp_path), "canal")):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "a.md").write_text(f"# A\n\nThe {word} flows.\n", encoding="utf-8")
        fill(settings, folder)

    with pytest.raises(LibraryError, match="there is another library 'team' at 'lance:") as caught:
        copy(here(tmp_path), there(tmp_path).storage)

    assert caught.value.hint.startswith("to delete that one: OPENBOOK_STORAGE=lance:")
    with opened(there(tmp_path)) as library:
        assert library.index.frequencies(["canal", "river"]) == {"canal": 1}


def test_the_same_place_an_unknown_engine_and_another_embedder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe river flows.\n", encoding="utf-8")
    fill(here(tmp_path), tmp_path / "a.md")

    with pytest.raises(SettingsError, match="is already at 'sqlite'"):
        copy(here(tmp_path), "sqlite")
    with pytest.raises(SettingsError, match="there is no engine 'lanse'"):
        copy(here(tmp_path), "lanse:/tmp")
    with pytest.raises(MismatchedLibraryError, match="was made with embedder") as caught:
        migrate("team", there(tmp_path).storage, here(tmp_path), embedder="another-1")

    assert "OPENBOOK_EMBEDDER" in caught.value.hint
    assert not (tmp_path / "shared").exists()
