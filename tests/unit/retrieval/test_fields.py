from __future__ import annotations

from openbook.retrieval.fields import embedding_text, terms_of
from openbook.tokens import tokenize
from tests.unit.retrieval.material import chunk_of

METHOD = chunk_of(
    "def send(self, request): ...",
    "a/b/c/d/http_client.py",
    kind="code",
    symbol="Client.send",
    defines=("send",),
    context=("Client", "Transport layer"),
)


def test_each_field_holds_the_words_of_its_part_of_a_chunk() -> None:
    terms = terms_of(METHOD)

    assert terms.body == tuple(tokenize("def send(self, request): ..."))
    assert terms.names == ("send", "client", "send")
    assert terms.context == ("client", "transport", "layer")


def test_the_name_of_a_file_counts_twice_and_its_last_three_folders_once() -> None:
    terms = terms_of(METHOD)

    assert terms.path == ("http", "client", "httpclient") * 2 + ("b", "c", "d")


def test_the_ending_of_a_file_is_no_word_of_its_path() -> None:
    assert "py" not in terms_of(METHOD).path


def test_what_is_embedded_begins_with_the_place_and_ends_with_the_text() -> None:
    assert embedding_text(METHOD) == "b c d http_client Client Transport layer send\ndef send(self, request): ..."


def test_only_the_first_names_of_a_long_list_are_embedded() -> None:
    many = chunk_of("x = 1", "a.py", kind="code", defines=tuple(f"name{n}" for n in range(40)))

    text = embedding_text(many)

    assert "name0" in text
    assert "name39" not in text


def test_a_file_in_no_folder_with_nothing_around_it_is_embedded_under_its_name() -> None:
    assert embedding_text(chunk_of("Hello there.", "readme.md")) == "readme\nHello there."
