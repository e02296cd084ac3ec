"""Where a name is defined, by chunks and by syntax trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.lookup.definitions import Definitions, find_definitions
from openbook.questions.names import read_name
from openbook.types import Document, Filter
from tests.unit.retrieval.material import Library

FILES = {
    "src/geometry.rs": (
        "pub enum Val {\n    Auto,\n    Px(f32),\n}\n\npub fn px(value: f32) -> Val {\n    Val::Px(value)\n}\n"
    ),
    "src/world/related.rs": (
        "pub struct RelatedSpawner<'w, R> {\n    world: &'w R,\n}\n\n"
        "impl<'w, R> RelatedSpawner<'w, R> {\n    pub fn spawn(&self) {}\n}\n"
    ),
    "src/zone.rs": "pub struct World {\n    pub px: u8,\n}\n\nimpl World {\n    pub fn spawn(&self) {}\n}\n",
    "src/retry.py": "def backoff():\n    limit = 1\n\n\ndef wait():\n    limit = 2\n",
    "src/options.ts": "export interface Options {\n  readonly maxTime?: number\n}\n",
    "src/runner.ts": "export class Runner {\n  run() {\n    const maxTime = this.options.maxTime\n  }\n}\n",
    "tests/max.py": "def maxTime():\n    pass\n",
}
LANGUAGES = {"rs": "rust", "py": "python", "ts": "typescript"}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    for path, text in FILES.items():
        language = LANGUAGES[path.rpartition(".")[2]]
        made.put_chunks(text, chunk_document(Document("src", path, "code", language, text, "")))
    yield made
    made.close()


def defined(library: Library, name: str, **limits: int) -> Definitions:
    return find_definitions(read_name(name), library.index, Filter(), lambda _: True, **limits)


def symbols(library: Library, name: str) -> list[tuple[str, str]]:
    return [(each.path, each.symbol) for each in defined(library, name).places]


def test_a_value_of_an_enumeration_is_found_and_not_a_function_in_another_case(library: Library) -> None:
    found = defined(library, "Val::Px")

    assert [(each.symbol, each.line) for each in found.places] == [("Val.Px", 3)]
    assert not found.is_other_case
    assert not found.is_other_owner


def test_functions_come_before_members_and_members_before_what_is_local(library: Library) -> None:
    assert symbols(library, "px") == [("src/geometry.rs", "px"), ("src/zone.rs", "World.px")]
    assert symbols(library, "maxTime") == [
        ("src/options.ts", "Options.maxTime"),
        ("src/runner.ts", "Runner.run.maxTime"),
        ("tests/max.py", "maxTime"),
    ]


def test_the_definition_around_decides_before_the_path(library: Library) -> None:
    assert symbols(library, "World::spawn") == [("src/zone.rs", "World.spawn")]
    assert symbols(library, "RelatedSpawner<'w, R>::spawn") == [("src/world/related.rs", "RelatedSpawner.spawn")]
    assert symbols(library, "retry.backoff") == [("src/retry.py", "backoff")]
    assert symbols(library, "crate::zone::World::spawn") == [("src/zone.rs", "World.spawn")]


def test_it_is_said_if_the_owner_or_the_case_is_another_one(library: Library) -> None:
    other_owner, other_case = defined(library, "Quay::spawn"), defined(library, "WAIT")

    assert (other_owner.is_other_owner, other_owner.is_other_case) == (True, False)
    assert {each.symbol for each in other_owner.places} == {"World.spawn", "RelatedSpawner.spawn"}
    assert (other_case.is_other_owner, other_case.is_other_case) == (False, True)
    assert [each.symbol for each in other_case.places] == ["wait"]


def test_documents_beyond_the_limit_are_counted_and_their_chunks_still_found(library: Library) -> None:
    found = defined(library, "px", max_chars=1)

    assert [each.symbol for each in found.places] == ["px"]
    assert found.unread == 1
    assert [each.symbol for each in defined(library, "px", max_chars=0).places] == ["px"]
