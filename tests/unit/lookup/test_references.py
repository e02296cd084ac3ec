from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.index.protocol import IndexEntry
from openbook.lookup.references import find_references
from openbook.retrieval.fields import terms_of
from openbook.types import Document, Filter, Stamp
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


@pytest.mark.parametrize("name", ["client.get(url)", "`Client::get`", r"App\Client\get", "self.get", "get<T>(a, b)"])
def test_a_name_is_found_as_it_stands_in_code(library: Library, name: str) -> None:
    found = find_references(name, library.index)

    assert found.name == "get"
    assert found.places[0].within == "Client.get"


def test_a_macro_is_found_with_its_sign_and_a_method_of_ruby_is_another_one(library: Library) -> None:
    library.put("src/a.rs", "macro_rules! tie { () => {} }\nfn f() { tie!(); }", kind="code", language="rust")
    library.put("src/b.rb", "def tie; end\ndef tie!; end\ntie\n", kind="code", language="ruby")

    found = find_references("tie!", library.index)

    assert [(each.use, each.path, each.line) for each in found.places] == [
        ("definition", "src/a.rs", 1),
        ("definition", "src/b.rb", 2),
        ("call", "src/a.rs", 2),
    ]


def test_members_come_before_what_is_local(library: Library) -> None:
    local = "class Run {\n  go() { const limit = this.options.limit }\n}"
    library.put("src/a.ts", local, kind="code", language="typescript")
    library.put("src/z.ts", "interface Options { limit?: number }", kind="code", language="typescript")

    found = find_references("limit", library.index).of_use(["definition"])

    assert [(each.path, each.within) for each in found.places] == [
        ("src/z.ts", "Options.limit"),
        ("src/a.ts", "Run.go.limit"),
    ]


def test_a_definition_of_an_owner_comes_before_those_in_a_folder_of_that_name(library: Library) -> None:
    library.put("client/base.py", "class Base:\n    def get(self): ...", kind="code", language="python")

    within = [each.within for each in find_references("Client.get", library.index, uses=["definition"]).places]
    in_folder = find_references("base.get", library.index, uses=["definition"]).places

    assert within == ["Client.get"]
    assert [each.path for each in in_folder] == ["client/base.py"]


@pytest.mark.parametrize(("content_hash", "line"), [("new", 2), ("old", 1)])
def test_a_document_is_parsed_again_only_if_its_hash_has_changed(
    library: Library, content_hash: str, line: int
) -> None:
    for text, hashed in (("def moor(): ...\n", "old"), ("\ndef moor(): ...\n", content_hash)):
        document = Document("src", "src/quay.py", "code", "python", text, hashed)
        vectors = library.embedder.embed([text])
        entry = IndexEntry(chunk := chunk_document(document)[0], terms_of(chunk), vectors[0])
        library.index.put(document, [entry], Stamp(0, 0, 0))
        find_references("moor", library.index)

    assert [each.line for each in find_references("moor", library.index).places] == [line]
