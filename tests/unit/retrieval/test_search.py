from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openbook.embedding.static import load_embedder
from openbook.errors import QueryError
from openbook.index.sqlite import SqliteIndex
from openbook.retrieval.search import _LEXICAL_TOKENS, Retriever
from openbook.testing import HashEmbedder
from openbook.types import Filter, RetrievalResult
from tests.unit.retrieval.material import Library

if TYPE_CHECKING:
    from openbook.embedding.protocol import Vectors


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db")
    yield made
    made.close()


@pytest.fixture
def meaningful(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db", load_embedder())
    yield made
    made.close()


def places(results: Sequence[RetrievalResult]) -> list[str]:
    return [str(result.chunk.span) for result in results]


def test_an_empty_library_gives_nothing(library: Library) -> None:
    assert library.search("retry policy") == []


def test_what_speaks_most_of_the_question_comes_first(library: Library) -> None:
    library.put("a.md", "Roses need clay and sun.", "The retry policy waits longer each time.", "Policy of the house.")

    results = library.search("how long does the retry policy wait")

    assert places(results)[:2] == ["a.md:3-3", "a.md:5-5"]
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)


def test_the_signals_of_a_result_sum_to_its_score(library: Library) -> None:
    library.put("tests/a.md", "The retry policy waits.", "The policy of the house.")
    library.put("b.md", "Another policy.")

    results = library.search("retry policy")

    assert {name for result in results for name in result.signals} >= {"lexical", "dense", "role"}
    for result in results:
        assert sum(result.signals.values()) == result.score


def test_equal_scores_are_ordered_by_source_and_span_in_whatever_order_documents_came(tmp_path: Path) -> None:
    # The same words throughout, and no text twice.
    texts = {"a": ("red fox?", "Red fox"), "b": ("red Fox", "red fox"), "c": ("red FOX", "red fox!")}
    found = []
    for number, order in enumerate(itertools.permutations(texts)):
        library = Library(tmp_path / f"{number}.db")
        for source in order:
            library.put("x.md", *texts[source], source=source)
        found.append([result.chunk.key for result in library.search("red fox")])
        library.close()

    assert found[0] == sorted(found[0])
    assert len(found[0]) == 6
    assert found == [found[0]] * 6


def test_the_same_text_is_found_once_at_its_best_place(library: Library) -> None:
    for source, path in (("b", "x.md"), ("a", "x.md"), ("a", "tests/x.md")):
        library.put(path, "The retry policy waits.", source=source)
    library.put("y.md", "Another policy.")

    results = library.search("retry policy")

    assert places(results) == ["x.md:1-1", "y.md:1-1"]
    assert results[0].chunk.source == "a"


def test_repeats_do_not_use_up_the_limit(library: Library) -> None:
    for number in range(5):
        library.put(f"{number}.md", "The retry policy waits.")
    library.put("z.md", "Another policy.")

    assert places(library.search("retry policy", limit=2)) == ["0.md:1-1", "z.md:1-1"]


@pytest.mark.parametrize("limit", [0, 1, 3, 50])
def test_at_most_limit_results_are_given(library: Library, limit: int) -> None:
    library.put("a.md", *(f"The retry policy {number}." for number in range(5)))

    assert len(library.search("retry policy", limit=limit)) == min(limit, 5)


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(Filter(kinds=frozenset({"code"})), id="kind"),
        pytest.param(Filter(globs=("*.py",)), id="glob"),
        pytest.param(Filter(sources=frozenset({"other"})), id="source"),
    ],
)
def test_a_filter_applies_before_the_best_are_cut_off(library: Library, where: Filter) -> None:
    library.put("a.md", *(f"The retry policy number {number}." for number in range(130)))
    library.put("b.py", "wait = policy(0)", kind="code", source="other")

    results = library.search("retry policy", where=where)

    assert places(results) == ["b.py:1-1"]
    assert results[0].signals.keys() >= {"lexical"}


def test_a_filter_that_nothing_passes_gives_nothing(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")

    assert library.search("retry policy", where=Filter(globs=("*.rs",))) == []


def test_a_question_of_20000_characters_is_answered_by_its_rarest_words(library: Library) -> None:
    crowd = [f"word{chr(97 + a)}{chr(97 + b)}" for a in range(10) for b in range(20)]
    library.put("crowd.md", *(f"{' '.join(crowd)} {number}" for number in range(3)))
    library.put("rare.md", "The zanzibar setting.")
    question = (" ".join(crowd) * 20)[:19_980] + " zanzibar"

    results = library.search(question, limit=50)

    (rare,) = (result for result in results if result.chunk.span.path == "rare.md")
    assert "lexical" in rare.signals


def test_the_commonest_words_of_a_long_question_are_not_looked_up(library: Library) -> None:
    rare = [f"{a}o{b}o{c}k" for a, b, c in itertools.product("bdfgkm", repeat=3)][:_LEXICAL_TOKENS]
    library.put("rare.md", " ".join(rare))
    library.put("common.md", "Common.", "common!")

    results = library.search("common " + " ".join(rare))

    assert {result.chunk.span.path for result in results if "lexical" in result.signals} == {"rare.md"}


def test_a_longer_question_is_refused(library: Library) -> None:
    with pytest.raises(QueryError, match="at most 20,000"):
        library.search("x " * 10_001 + "y")


@pytest.mark.parametrize(
    ("question", "path"),
    [
        pytest.param("Wo werden die Zugriffsschlüssel gespeichert?", "de.md", id="german"),
        pytest.param("wie groß ist die größte datei", "de2.md", id="german-lower-case"),
        pytest.param("向量索引存在哪里？", "zh.md", id="chinese"),
        pytest.param("缓存", "zh2.md", id="chinese-word"),
        pytest.param("세션은 어디에", "ko.md", id="korean"),
    ],
)
def test_questions_in_other_languages_find_their_paragraph(meaningful: Library, question: str, path: str) -> None:
    meaningful.put("de.md", "Die Zugriffsschlüssel werden im Tresor gespeichert.")
    meaningful.put("de2.md", "Die größte Datei, die gelesen wird, ist ein Megabyte groß.")
    meaningful.put("zh.md", "我们把向量索引存在一个文件里。")
    meaningful.put("zh2.md", "查询结果会放进缓存。")
    meaningful.put("ko.md", "세션을 데이터베이스에 저장합니다.")
    meaningful.put("en.md", "Keys are kept in the vault, and sessions in the database.")

    assert meaningful.search(question)[0].chunk.span.path == path


def test_a_chunk_without_a_word_in_common_is_found_by_its_meaning(meaningful: Library) -> None:
    meaningful.put("a.md", "Bread is baked at dawn.", "The physician cured patients.", "Tax law changed.")

    first, *_ = meaningful.search("doctor")

    assert first.chunk.text == "The physician cured patients."
    assert first.signals.keys() == {"dense"}


def test_a_symbol_finds_its_definition_before_all_that_mention_it(library: Library) -> None:
    library.put("uses.py", *(f"send_all(); send_all({n}); send_all({n}, {n})" for n in range(20)), kind="code")
    library.put("guide.md", "Call send_all to send_all of them: send_all.")
    library.put("net.py", "def send_all(): ...", kind="code", defines=("send_all",), symbol="send_all")

    for question in ("send_all", "net.send_all", "where is `send_all` defined?"):
        assert places(library.search(question))[0] == "net.py:1-1"


def test_relevance_tells_what_a_library_answers_from_what_it_does_not(meaningful: Library) -> None:
    meaningful.put("a.md", "The retry policy waits longer each time.", "Sessions end after an hour.")

    own, foreign = (
        max(result.relevance or 0.0 for result in meaningful.search(question))
        for question in ("how does the retry policy wait", "who painted the Mona Lisa")
    )

    assert 0 <= foreign < own <= 1


def test_a_result_is_an_exact_slice_of_what_was_put(library: Library) -> None:
    text = "Über alles.\r\n\r\nThe retry policy waits. 🎉\r\nTwice.\r\n"
    library.put("a.md", text.rstrip())

    (result,) = library.search("retry")

    span = result.chunk.span
    assert library.texts["src", "a.md"][span.start_char : span.end_char] == result.chunk.text == text.rstrip()
    assert str(span) == "a.md:1-4"


class Interrupting:
    """Embeds, and lets another process write to the library at that moment."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._inner = HashEmbedder()
        self.identity = self._inner.identity
        self.dim = self._inner.dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        other = SqliteIndex(self._library.path, self._library.identity)
        other.delete("src", "a.md")
        other.close()
        return self._inner.embed(texts)


def test_a_search_sees_one_state_of_the_library_whatever_others_write_meanwhile(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.md", "Another policy.")
    retriever = Retriever(library.index, Interrupting(library))

    during = retriever.search("retry policy")
    after = retriever.search("retry policy")

    assert places(during) == ["a.md:1-1", "b.md:1-1"]
    assert during[0].signals.keys() >= {"lexical", "dense"}
    assert places(after) == ["b.md:1-1"]


def test_no_result_is_given_for_a_limit_of_none(library: Library) -> None:
    library.put("a.md", "The retry policy waits.", "The retry policy ends.")

    assert library.search("retry policy", limit=0) == library.search("retry policy", limit=-1) == []
