"""A library opened with parts of somebody else: each is used, as an object and by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from openbook import AnswerOptions, CitedClaim, Entailment, Filter, Library, Settings
from openbook.chunking.identity import chunks_identity
from openbook.embedding.static import load_embedder
from openbook.errors import LibraryWriteError, MismatchedLibraryError, PluginError, SettingsError, SourceError
from openbook.index.protocol import IndexIdentity
from openbook.index.sqlite import SqliteIndex
from openbook.libraries.texts import TextStore
from openbook.llm.messages import ToolCall
from openbook.sources.readers import Reading
from openbook.testing import HashEmbedder, ScriptedModel, ScriptedReply
from openbook.tokens import tokens_identity
from openbook.types import Anchor, Block
from tests.support import write_tree

PAGE = "# Herons\n\nThe heron waits at the pier.\n\nIt eats eels.\n"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "pages", {"heron.md": PAGE, "ferry.ini": "[ferry]\nleaves = 08:40\n"})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", workers=1)


def test_questions_to_many_chunks_of_another_embedder_are_answered_or_refused(
    tmp_path: Path, settings: Settings
) -> None:
    birds = {f"bird{n}.md": f"# Bird {n}\n\nBird {n} waits at pier {n} for {n} eels.\n" for n in range(40)}
    pages = write_tree(tmp_path / "birds", birds | {"heron.md": PAGE})

    with Library.open("b", embedder=HashEmbedder(), settings=settings) as library:
        library.add(pages)
        answered = library.query("Where does the heron wait?")
        refused = library.query("How do I rotate the encryption keys of the mainframe?")

    assert "The heron waits at the pier." in answered.answer
    assert refused.refused


class Astray(HashEmbedder):
    """Returns what a function makes of its vectors."""

    def __init__(self, bend: Callable[[NDArray[np.float32]], Any]) -> None:
        super().__init__()
        self.bend = bend

    def embed(self, texts: Sequence[str]) -> Any:
        return self.bend(super().embed(texts))


@pytest.mark.parametrize(
    ("bend", "told"),
    [
        (lambda vectors: vectors * np.nan, "NaN or infinity for 1 texts"),
        (lambda vectors: vectors[:-1], r"the shape \(0, 64\) for 1 texts"),
        (lambda vectors: np.vstack([vectors, vectors]), r"the shape \(2, 64\) for 1 texts"),
        (lambda vectors: vectors.ravel(), r"the shape \(64,\) for 1 texts"),
        (lambda vectors: ["heron"], "no array of numbers"),
        (lambda vectors: None, r"the shape \(\)"),
    ],
)
def test_vectors_that_are_not_one_finite_row_for_each_text_are_not_stored(
    bend: Callable[[NDArray[np.float32]], Any], told: str, tmp_path: Path, settings: Settings
) -> None:
    pages = write_tree(tmp_path / "pages", {"heron.md": PAGE})

    with (
        Library.open("b", embedder=Astray(bend), settings=settings) as library,
        pytest.raises(PluginError, match=f"the embedder 'hash-64' returned .*{told}") as error,
    ):
        library.add(pages)

    assert "docs/extending.md" in error.value.hint


def test_vectors_may_be_lists_of_numbers(pages: Path, settings: Settings) -> None:
    with Library.open("b", embedder=Astray(lambda vectors: vectors.tolist()), settings=settings) as library:
        library.add(pages)

        assert library.search("heron")[0].chunk.span.path == "heron.md"


@pytest.mark.parametrize("wrong", [{"embedder": object()}, {"embedder": HashEmbedder}, {"reranker": object()}])
def test_what_is_no_part_of_a_library_is_refused_when_it_is_opened(
    wrong: Mapping[str, Any], pages: Path, settings: Settings
) -> None:
    with pytest.raises(TypeError, match=r"is no (embedder|reranker); it needs"):
        Library.open("b", settings=settings, **wrong)
    with pytest.raises(TypeError, match=r"is no (embedder|reranker); it needs"):
        Library.of(pages, settings=settings, **wrong)


def test_an_embedder_makes_the_vectors_and_its_identity_is_remembered(pages: Path, settings: Settings) -> None:
    with Library.open("b", embedder=HashEmbedder(), settings=settings) as library:
        library.add(pages)
        assert library.search("heron")[0].chunk.span.path == "heron.md"

    with pytest.raises(MismatchedLibraryError):
        Library.open("b", settings=settings)
    Library.open("b", embedder=HashEmbedder(), settings=settings).close()


def test_an_index_that_is_open_is_filled_and_searched(pages: Path, settings: Settings, tmp_path: Path) -> None:
    identity = IndexIdentity(load_embedder().identity, tokens_identity(), chunks_identity(settings))
    index = SqliteIndex(tmp_path / "own.sqlite", identity)

    with Library.open("b", index=index, settings=settings) as library:
        library.add(pages)

        assert library.index is index
        assert index.stats().documents == 2
    assert not (settings.home / "libraries" / "b.sqlite").exists()


class Sour:
    name = "sour"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float("ferry" in text) for text in texts]


def test_a_reranker_orders_the_results(pages: Path, settings: Settings) -> None:
    with Library.open("b", reranker=Sour(), settings=settings) as library:
        library.add(pages)

        assert library.search("heron waits ferry")[0].chunk.span.path == "ferry.ini"


def test_a_reranker_by_name_that_means_nothing_is_an_error(pages: Path, settings: Settings) -> None:
    with Library.open("b", reranker="nobody:x", settings=settings) as library:
        library.add(pages)
        with pytest.raises(SettingsError, match="reranker is 'nobody:x'"):
            library.search("heron")


class Agreeing:
    name = "agreeing"

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment | None]:
        return [Entailment("entailed", "eats eels") for _ in claims]


def test_a_judge_checks_the_claims_of_models(pages: Path, settings: Settings) -> None:
    said = "Eels are what herons live on. [1:3]"
    with (
        ScriptedModel(said, said) as model,
        Library.open("b", judge=Agreeing(), settings=settings) as library,
    ):
        library.add(pages)
        judged = library.query("What does the heron eat?", options=AnswerOptions(model=model))
        unjudged = library.query("What does the heron eat?", options=AnswerOptions(model=model, verifier="off"))

    assert judged.verifier == "agreeing"
    assert unjudged.verifier == ""


def read_ini(raw: bytes, path: str) -> Reading:
    return Reading(raw.decode().upper(), "docs", "ini")


def test_a_reader_of_the_program_goes_before_that_of_openbook(pages: Path, settings: Settings) -> None:
    with Library.open("b", readers={".INI": read_ini}, settings=settings) as library:
        library.add(pages)
        found = library.search("ferry leaves", where=Filter(globs=("*.ini",)))
        answer = library.query("When does the ferry leave?")

    assert found[0].chunk.text.rstrip() == "[FERRY]\nLEAVES = 08:40"
    assert found[0].chunk.language == "ini"
    assert {citation.verdict for citation in answer.citations} == {"exact"}


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (lambda raw, path: raw[0] / 0, "reader of .ini failed: ZeroDivisionError: division by zero"),
        (lambda raw, path: raw, "reader of .ini returned bytes, not str or Reading"),
        (lambda raw, path: None, "reader of .ini returned NoneType, not str or Reading"),
        (
            lambda raw, path: Reading("a", "docs", None),  # type: ignore[arg-type]
            "reader of .ini failed: TypeError: text and language of a Reading are strings",
        ),
        (
            lambda raw, path: Reading("a", "prose", "ini"),  # type: ignore[arg-type]
            "reader of .ini failed: ValueError: there is no kind 'prose'; kinds are code, docs, course, config, data",
        ),
        (
            lambda raw, path: Reading("a", "docs", "ini", blocks=(Block(0, 2),)),
            "reader of .ini failed: ValueError: a block or an anchor is outside of the text, which has 1 characters",
        ),
        (
            lambda raw, path: Reading("a", "docs", "ini", anchors=(Anchor(2, "page 1"),)),
            "reader of .ini failed: ValueError: a block or an anchor is outside of the text, which has 1 characters",
        ),
    ],
)
def test_a_file_whose_reader_fails_is_skipped_with_the_reason(
    pages: Path, settings: Settings, reader: object, reason: str
) -> None:
    with Library.open("b", readers={"ini": reader}, settings=settings) as library:  # type: ignore[dict-item]
        report = library.add(pages)
        library.add(pages)

        assert report.added == 1
        assert report.skipped == {reason: ("ferry.ini",)}


def test_blocks_and_anchors_of_a_reader_may_come_in_any_order(tmp_path: Path, settings: Settings) -> None:
    text = "Herons\n\n" + "The heron waits. " * 60 + "\n\nOwls\n\n" + "The owl sleeps. " * 60
    owls = text.index("Owls")
    blocks = (Block(owls, owls + 4, "heading", 1, "Owls"), Block(0, 6, "heading", 1, "Herons"))
    anchors = (Anchor(owls, "page 2"), Anchor(0, "page 1"))
    birds = write_tree(tmp_path / "birds", {"birds.ini": "as the reader has it"})

    with Library.open(
        "b", readers={"ini": lambda raw, path: Reading(text, "docs", "ini", blocks, anchors)}, settings=settings
    ) as library:
        library.add(birds)
        found = [result.chunk for result in library.search("heron owl", view="passages")]
        places = {(*chunk.context, chunk.anchor) for chunk in found}

    assert places == {("Herons", "page 1"), ("Owls", "page 2")}


def test_what_is_no_function_is_no_reader(settings: Settings) -> None:
    with pytest.raises(TypeError, match="the reader of 'ini'"):
        Library.open("b", readers={"ini": "utf-8"}, settings=settings)  # type: ignore[dict-item]


def test_an_added_text_is_cited_and_checked_like_a_file(settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        library.add_text(PAGE, name="birds/heron.md", metadata={"author": "Ada", "year": 2026})
        answer = library.query("Where does the heron wait?")

        assert answer.citations[0].span.path == "birds/heron.md"
        assert answer.citations[0].verdict == "exact"
        assert library.metadata("birds/heron.md") == {"author": "Ada", "year": 2026}
        assert library.sources()[0].name == "texts"


def test_an_added_text_takes_the_place_of_the_one_of_its_name(settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        library.add_text("The owl hunts.", name="owl.md", metadata={"author": "Ada"})
        report = library.add_text("The owl sleeps.", name="owl.md")

        assert report.changed == 1
        assert library.search("owl")[0].chunk.text == "The owl sleeps."
        assert library.metadata("owl.md") == {}


def test_removing_the_added_texts_deletes_them_for_good(settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        library.add_text("The owl hunts.", name="owl.md", metadata={"author": "Ada"})
        library.remove("texts")
        library.add_text("The heron waits.", name="heron.md")

        assert [each.path for each in library.index.documents(Filter())] == ["heron.md"]
        assert library.metadata("owl.md") == {}


def test_a_text_that_cannot_be_written_leaves_the_one_of_its_name(settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        library.add_text("The owl hunts.", name="owl.md", metadata={"author": "Ada"})
        with pytest.raises(LibraryWriteError):
            library.add_text("\ud800", name="owl.md")
        with pytest.raises(LibraryWriteError):
            library.add_text("A folder.", name="owl.md/more.md")
        library.add_text("The owl waits.", name="more.md", metadata={"sign": "\ud800"})

        assert {hit.chunk.text for hit in library.search("owl")} == {"The owl hunts.", "The owl waits."}
        assert library.metadata("owl.md") == {"author": "Ada"}


def test_texts_of_several_threads_all_keep_their_metadata(settings: Settings) -> None:
    store = TextStore(settings.home, "b")
    names = [f"{number}.md" for number in range(20)]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda name: store.write("Words.", name, {"name": name}), names))

    assert [store.metadata(name) for name in names] == [{"name": name} for name in names]


@pytest.mark.parametrize(
    "name", ["", "/etc/x", "../x", "a/../b", ".hidden", "a\\b", ".ssh/key", "id_rsa", "x.png", "a\0b"]
)
def test_a_text_needs_the_name_of_a_file(settings: Settings, name: str) -> None:
    with Library.open("b", settings=settings) as library, pytest.raises((SourceError, LibraryWriteError)) as caught:
        library.add_text("Some words.", name=name)

    assert caught.value.hint


def test_a_blank_text_and_metadata_that_json_does_not_take_are_refused(settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        with pytest.raises(ValueError, match="blank"):
            library.add_text(" \n", name="a.md")
        with pytest.raises(TypeError, match="JSON"):
            library.add_text("Words.", name="a.md", metadata={"at": object()})
        assert library.sources() == []


def test_models_and_verifiers_may_be_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-1")

    options = AnswerOptions(model="groq:some-model", verifier="groq:other-model")

    assert options.writer is not None
    assert options.writer.name == "groq:some-model"
    assert options.other_verifier is not None
    assert options.other_verifier.name == "groq:other-model"
    assert AnswerOptions(model="extractive").writer is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"model": "nobody:x"}, SettingsError),
        ({"verifier": "nobody:x"}, SettingsError),
        ({"policy": "ignore"}, ValueError),
        ({"tools": "search"}, TypeError),
        ({"tools": ["search"]}, TypeError),
        ({"tools": [None]}, TypeError),
        ({"tools": print}, ValueError),
    ],
)
def test_options_that_mean_nothing_are_refused(arguments: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        AnswerOptions(**arguments)  # type: ignore[arg-type]


def tide(harbour: str) -> str:
    """Tell when the water is high.

    Args:
        harbour: Its name.
    """
    return f"High water at {harbour}: 11:32."


def test_tools_of_the_program_join_those_of_the_library(pages: Path, settings: Settings) -> None:
    call = ScriptedReply(ToolCall("1", "tide", '{"harbour": "Brest"}'))
    with ScriptedModel(call, "High water is at 11:32.") as model, Library.open("b", settings=settings) as library:
        library.add(pages)
        library.query("When is high water at Brest?", options=AnswerOptions(model=model, tools=[tide], verifier="off"))

    names = {tool.name for tool in model.requests[0].tools}
    assert {"tide", "search"} <= names
    assert "11:32" in str(model.requests[1].messages[-1])


class Gauge:
    """Defines itself as a tool."""

    def get_tool_definition(self) -> dict[str, object]:
        return {"name": "gauge", "description": "Read the gauge.", "input_schema": {"type": "object"}}

    def execute(self) -> str:
        return "3 m"


@pytest.mark.parametrize("is_async", [False, True])
def test_tools_of_a_question_and_of_a_library_join_those_of_the_options(
    pages: Path, settings: Settings, is_async: bool
) -> None:
    def moon() -> str:
        """Return the phase of the moon."""
        return "full"

    with ScriptedModel("It is full.") as model, Library.open("b", settings=settings) as library:
        library.add(pages)
        library.register_tool(Gauge())
        options = AnswerOptions(model=model, tools=tide, verifier="off")
        if is_async:
            asyncio.run(library.aquery("What is the moon like?", options=options, tools=[moon]))
        else:
            library.query("What is the moon like?", options=options, tools=[moon])

    assert [tool.name for tool in model.requests[0].tools][-3:] == ["tide", "moon", "gauge"]


def test_a_tool_needs_a_model_unless_the_library_offers_it(pages: Path, settings: Settings) -> None:
    with Library.open("b", settings=settings) as library:
        library.add(pages)
        library.register_tool(tide)

        with pytest.raises(ValueError, match="tools need a model"):
            library.query("When is high water?", tools=[tide])
        assert library.query("When do herons fish?").model == "extractive"


def test_what_cannot_become_a_tool_is_refused_where_it_is_registered(settings: Settings) -> None:
    def untold(harbour: str) -> str:
        return harbour

    with Library.open("b", settings=settings) as library, pytest.raises(TypeError, match="docstring"):
        library.register_tool(untold)


def test_a_library_keeps_the_chunk_strategy_that_it_was_made_with(tmp_path: Path) -> None:
    words = write_tree(tmp_path / "words", {"a.md": "# One\n\n" + "heron " * 90 + "\n\n# Two\n\n" + "pier " * 90})
    home = tmp_path / "home"
    fixed = Settings(home=home, workers=1, chunk_strategy="fixed-size", chunk_words=40, chunk_overlap_words=5)
    with Library.open("b", settings=fixed) as library:
        library.add(words)
        chunks = library.stats().chunks

    with Library.open("b", settings=Settings(home=tmp_path / "home", workers=1)) as library:
        write_tree(words, {"b.md": (words / "a.md").read_text(encoding="utf-8")})
        library.sync()

        assert library.settings.chunk_strategy == "fixed-size"
        assert library.stats().chunks == 2 * chunks


def test_a_library_keeps_the_chunk_size_of_courses_that_it_was_made_with(tmp_path: Path) -> None:
    spoken = "".join(f"Herons wait for fish number {n}. " for n in range(60))
    talks = write_tree(tmp_path / "talks", {"a.txt": f"Course Title: Herons\n\nLesson 1: Waiting\n{spoken}\n"})
    home = tmp_path / "home"
    short = Settings(home=home, workers=1, course_chunk_chars=200, course_overlap_chars=0)
    with Library.open("b", settings=short) as library:
        library.add(talks, course=True)
        chunks = library.index.chunks("talks", "a.txt")

    with Library.open("b", settings=Settings(home=home, workers=1)) as library:
        write_tree(talks, {"b.txt": (talks / "a.txt").read_text(encoding="utf-8").replace("Herons", "Storks")})
        library.sync()

        assert max(len(chunk.text) for chunk in chunks) <= 300
        assert len(library.index.chunks("talks", "b.txt")) == len(chunks) > 8


def test_a_library_of_folders_takes_the_same_parts(pages: Path, settings: Settings) -> None:
    def shouted(raw: bytes, path: str) -> str:
        return raw.decode().upper()

    readers = {"ini": shouted}
    with Library.of(pages, settings=settings, embedder=HashEmbedder(), reranker=Sour(), readers=readers) as library:
        best = library.search("heron waits ferry")[0].chunk

    assert (best.span.path, best.text.splitlines()[0]) == ("ferry.ini", "[FERRY]")


def test_a_library_of_folders_has_a_file_for_each_embedder(pages: Path, settings: Settings) -> None:
    def location(embedder: HashEmbedder | None) -> object:
        with Library.of(pages, settings=settings, embedder=embedder) as library:
            assert library.search("heron")
            return library.location

    shipped, hashed, shipped_again = location(None), location(HashEmbedder()), location(None)

    assert shipped == shipped_again != hashed


def test_a_judge_of_a_library_of_folders_checks_claims(pages: Path, settings: Settings) -> None:
    model = ScriptedModel("The heron stands by the water [1:3].")
    options = AnswerOptions(model=model, expands_query=False)
    with Library.of(pages, settings=settings, judge=Lenient()) as library:
        answer = library.query("Where does the heron wait?", options=options)

    assert answer.verifier == "lenient"


class Lenient:
    name = "lenient"

    def judge(self, claims: Sequence[CitedClaim]) -> list[Entailment]:
        return [Entailment("entailed", "The heron waits at the pier") for _ in claims]
