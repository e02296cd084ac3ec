"""What defines a term is found where everything uses it."""

from __future__ import annotations

from typing import Any

import pytest

from openbook.types import Filter, Kind
from tests.unit.retrieval.material import Library

_LONG = " ".join(f"Ropes of kind {number} hold ships." for number in range(40))


@pytest.mark.parametrize(
    ("path", "kind", "text", "fields"),
    [
        ("docs/harbour.md", "docs", f"{_LONG} This worker is called a porter.", {}),
        ("docs/porter.md", "docs", f"# Porters\n\n{_LONG} Each porter has a name.", {}),
        ("porter.py", "code", f"# A porter is a worker. {_LONG}\nclass Porter: ...", {"symbol": "Porter"}),
    ],
)
def test_what_defines_a_term_is_found_where_everything_uses_it(
    library: Library, path: str, kind: Kind, text: str, fields: dict[str, Any]
) -> None:
    for number in range(200):
        library.put(f"porters/night_porter_{number}.py", f"porter.call(porter, porter[{number}])", kind="code")
    library.put(path, text, kind=kind, **fields)

    found = [each.chunk.span.path for each in library.search("What is a porter?")]
    within = library.search("What is a porter?", limit=3, where=Filter(globs=("porters/",)))

    assert path in found
    assert path not in {each.chunk.span.path for each in within}


def test_what_defines_a_term_in_another_kind_of_files_is_left_out(library: Library) -> None:
    library.put("uses.py", *(f"porter.call(porter, porter[{number}])" for number in range(200)), kind="code")
    library.put("docs/harbour.md", "A porter is a worker.")

    found = library.search("What is a porter?", where=Filter(kinds=frozenset({"code"})))

    assert {each.chunk.kind for each in found} == {"code"}
