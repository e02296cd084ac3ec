from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.lookup.references import find_references
from openbook.types import Filter
from tests.unit.retrieval.material import Library

FILES = {
    "src/client.py": "class Client:\n    def get(self, url):\n        return send(url)\n",
    "src/other.py": "class Other:\n    def get(self):\n        return Client().get('/')\n",
    "tests/test_client.py": "def test_get():\n    client.get('/')\n",
    "guide.py": "# get is slow\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    for path, text in FILES.items():
        made.put(path, text.rstrip(), kind="code", language="python")
    yield made
    made.close()


def test_places_come_by_use_and_tests_last(library: Library) -> None:
    found = find_references("get", library.index)

    assert [(each.use, each.path, each.line, each.within) for each in found.places] == [
        ("definition", "src/client.py", 2, "Client.get"),
        ("definition", "src/other.py", 2, "Other.get"),
        ("call", "src/other.py", 3, "Other.get"),
        ("call", "tests/test_client.py", 2, "test_get"),
        ("mention", "guide.py", 1, ""),
    ]


def test_the_definition_of_an_owner_is_its_own(library: Library) -> None:
    found = find_references("Client.get", library.index, uses=("definition",))

    assert [(each.path, each.text) for each in found.places] == [("src/client.py", "def get(self, url):")]


def test_a_filter_leaves_documents_out(library: Library) -> None:
    found = find_references("get", library.index, Filter(globs=("tests/",)), is_meant=lambda path: "client" in path)

    assert {each.path for each in found.places} == {"tests/test_client.py"}


def test_a_name_that_no_document_holds_has_no_places(library: Library) -> None:
    assert find_references("gotten", library.index).places == ()
    assert find_references(" ", library.index).places == ()


def test_a_long_line_is_kept_around_the_name(library: Library) -> None:
    library.put(
        "src/long.py", f"{' or '.join(f'is_ready({n})' for n in range(40))} or fetch(1)", kind="code", language="python"
    )

    [place] = find_references("fetch", library.index).places

    assert "fetch(1)" in place.text
    assert len(place.text) <= 200


def test_a_long_line_is_kept_around_the_name_and_not_around_a_word_that_holds_it(library: Library) -> None:
    library.put("src/widths.js", f"const widths = [{'1,' * 150}]; id(3)", kind="code", language="javascript")

    [place] = find_references("id", library.index).places

    assert "id(3)" in place.text
