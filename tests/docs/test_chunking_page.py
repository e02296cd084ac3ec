"""The languages in `docs/chunking.md` are those with rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openbook.chunking.lines import LINE_RULES, chunk_lines
from openbook.chunking.rules import RULES
from openbook.types import Document

ROWS = re.findall(
    r"^\| (`[^|]+`) \| by (?:their|lines)",
    (Path(__file__).parents[2] / "docs" / "chunking.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_every_language_with_rules_is_listed_and_no_other() -> None:
    by_grammar, by_line = (row.replace("`", "").split() for row in ROWS)

    assert by_grammar == sorted(RULES)
    assert by_line == sorted(LINE_RULES)


@pytest.mark.parametrize(
    ("language", "text", "symbol"),
    [
        ("julia", "function weigh(parcel)\n", "weigh"),
        ("nim", "proc weigh(parcel: Parcel) =\n", "weigh"),
        ("ocaml", "module Scales = struct\n", "Scales"),
        ("fsharp", "module Scales\n", "Scales"),
        ("dart", "class Scales extends Tool {\n", "Scales"),
        ("clojure", "(defn weigh [parcel]\n", "weigh"),
        ("vue", "<template><p>weigh</p></template>\n", ""),
    ],
)
def test_other_languages_have_the_names_that_the_page_says(language: str, text: str, symbol: str) -> None:
    (chunk,) = chunk_lines(Document("s", "a", "code", language, text, ""))

    assert chunk.symbol == symbol
