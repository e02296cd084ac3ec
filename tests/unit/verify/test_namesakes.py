"""Of several files whose paths end as a citation is written, the page tells which one is meant."""

from __future__ import annotations

from tests.repositories import Repository
from tests.unit.verify.checks import CODE, PUSHED, checked, told

OTHER = "".join(f"step_{number} = {number}\n" for number in range(20))


def test_the_file_whose_lines_are_what_the_sentence_names_is_meant(repository: Repository) -> None:
    page = "`retry` (app.py:14-16)\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": OTHER, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED})

    (found,) = checked(repository.folder, page)

    assert told(found) == ("moved", "history", "src/app.py:16-18")
    assert found.doubt


def test_a_page_means_the_same_file_by_a_name_in_all_its_sentences(repository: Repository) -> None:
    page = "`retry` (app.py:14-16)\n\nIt waits (app.py:5).\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": OTHER, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED})

    assert [str(found.now) for found in checked(repository.folder, page)] == ["src/app.py:16-18", "src/app.py:7"]


def test_files_that_fit_the_sentence_as_well_as_each_other_are_told(repository: Repository) -> None:
    page = "`retry` (`app.py:14-16`)\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": CODE, "docs/a.md": page})

    (found,) = checked(repository.folder, page)

    assert found.verdict == "unknown"


def test_the_only_file_that_has_a_name_of_the_sentence_is_meant(repository: Repository) -> None:
    page = "As `timeout_s` says (app.py:14-16).\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": OTHER, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED})

    assert [str(found.now) for found in checked(repository.folder, page)] == ["src/app.py:16-18"]
