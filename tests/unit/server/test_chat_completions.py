"""Lists of sources in the format of OpenAI's chat completions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from openbook.library import Library
from openbook.server.chat_completions import NumberedText, source_list
from openbook.server.presenting import present
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from tests.support import write_tree


@pytest.mark.parametrize("name", ["![x](http:", "a](http:", "[id]"])
def test_the_path_of_a_source_is_shown_as_it_is_in_the_text_of_its_link(tmp_path: Path, name: str) -> None:
    path = f"{name}/a.test/tide.md"
    folder = write_tree(tmp_path / "docs", {path: "Ferries leave the harbour at six."})
    with Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)) as library:
        answer = library.query("When do ferries leave the harbour?")
        linked = replace(answer, citations=tuple(replace(each, url="https://b.test/1") for each in answer.citations))
        written = NumberedText()
        written.feed(linked.answer)

        listed = source_list(written, linked, present(linked, ServedLibrary(library), ""))

    html = MarkdownIt().render(listed)
    assert f'<a href="https://b.test/1"><code>{path}:1</code></a>' in html
    assert html.count("<a ") == 1
    assert "<img" not in html
