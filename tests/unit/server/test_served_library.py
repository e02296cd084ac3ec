"""The library that is served: ids that tell nothing, and a file that may be replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.index.files import remove_library_file
from openbook.library import Library
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from openbook.types import Span
from tests.support import write_tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "docs", {"a.md": "# A\n\nOne.\n"})


def opened(folder: Path, clock: list[float] | None = None) -> ServedLibrary:
    assistant = Library.of(folder, settings=Settings(home=folder.parent / "home", workers=1))
    now = clock or [0.0]
    return ServedLibrary(assistant, clock=lambda: now[0])


def test_an_id_is_the_same_on_every_run_and_tells_no_path(folder: Path) -> None:
    ids = set()
    for _ in range(2):
        library = opened(folder)
        ids.add(library.document_id("docs", "a.md"))
        library.close()

    (id_,) = ids
    again = opened(folder)
    found = again.document(id_)
    assert found is not None
    assert (found.path, len(id_)) == ("a.md", 32)
    again.close()


def test_ids_that_are_not_known_do_not_list_the_library_each_time(folder: Path) -> None:
    now = [100.0]
    library = opened(folder, now)
    new_id = library.document_id("docs", "b.md")
    library.document("0" * 32)
    write_tree(folder, {"c.md": "# C\n\nThree.\n"})
    with library.opened_anew() as another:
        another.add(folder)
    same = opened(folder)
    added = same.document_id("docs", "c.md")
    same.close()

    at_once = library.document(added)
    now[0] += 2
    later = library.document(added)

    assert (at_once, later is not None, library.document(new_id)) == (None, True, None)
    library.close()


def test_requests_finish_with_the_library_that_they_began_with(folder: Path) -> None:
    library = opened(folder)
    with library.in_use() as old:
        write_tree(folder, {"a.md": "# A\n\nTwo.\n"})
        remove_library_file(Path(library.location))
        with library.opened_anew() as another:
            another.add(folder)

        with library.in_use() as new:
            seen = [each.index.document("docs", "a.md") for each in (old, new)]

    assert [document.text for document in seen if document] == ["# A\n\nOne.\n", "# A\n\nTwo.\n"]
    library.close()


def test_the_old_library_answers_until_all_sources_are_in_the_new_one(folder: Path) -> None:
    now = [0.0]
    library, other = opened(folder, now), write_tree(folder.parent / "other", {"b.md": "# B\n\nTwo.\n"})
    seen = []

    def look() -> None:
        now[0] += 10
        with library.in_use() as used:
            seen.append([used.index.document(*place) is not None for place in (("docs", "a.md"), ("other", "b.md"))])

    remove_library_file(Path(library.location))
    with library.opened_anew() as another:
        look()
        another.register(folder)
        another.register(other)
        another.add(other)
        look()
        another.add(folder)
        look()

    assert seen == [[True, False], [True, False], [True, True]]
    library.close()


def test_a_folder_of_this_machine_has_no_address(folder: Path) -> None:
    library = opened(folder)

    assert library.link("docs", Span("a.md", 0, 3, 1, 1)) == ""
    library.close()
