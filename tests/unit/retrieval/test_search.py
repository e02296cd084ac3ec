from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from openbook.embedding.static import load_embedder
from openbook.errors import QueryError
from openbook.index.sqlite import SqliteIndex
from openbook.questions.question import read_question
from openbook.retrieval.search import Retriever
from openbook.types import Filter, Lesson, RetrievalResult, View
from tests.unit.retrieval.material import Library

if TYPE_CHECKING:
    from openbook.index.protocol import Matches, Vector


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

    results = library.search("how long does the retry policy wait?")

    assert places(results)[:2] == ["a.md:3-3", "a.md:5-5"]
    assert [result.score for result in results] == sorted((result.score for result in results), reverse=True)


def test_the_signals_of_a_result_sum_to_its_score(library: Library) -> None:
    library.put("tests/a.md", "The retry policy waits.", "The policy of the house.")
    library.put("b.md", "Another policy.")

    files, passages = (library.search("retry policy", view=view) for view in ("files", "passages"))

    assert {name for result in files for name in result.signals} >= {"lexical", "dense", "file", "role"}
    assert "proximity" in passages[0].signals
    for result in [*files, *passages]:
        assert sum(result.signals.values()) == result.score


def test_equal_scores_are_ordered_by_source_and_span_in_whatever_order_documents_came(tmp_path: Path) -> None:
    # The same words throughout, and no text twice.
    texts = {"a": ("red fox?", "Red fox"), "b": ("red Fox", "red fox"), "c": ("red FOX", "red fox!")}
    found = []
    for number, order in enumerate(itertools.permutations(texts)):
        library = Library(tmp_path / f"{number}.db")
        for source in order:
            library.put("x.md", *texts[source], source=source)
        found.append([result.chunk.key for result in library.search("red fox", view="passages")])
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


@pytest.mark.parametrize("view", ["files", "passages"])
@pytest.mark.parametrize("limit", [0, 1, 3, 50])
def test_at_most_limit_results_are_given(library: Library, limit: int, view: View) -> None:
    for number in range(5):
        library.put(f"{number}.md", f"The retry policy {number}.")

    assert len(library.search("retry policy", limit=limit, view=view)) == min(limit, 5)


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

    assert len(question) <= 20_000

    (rare,) = (result for result in results if result.chunk.span.path == "rare.md")
    assert "lexical" in rare.signals


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
    assert first.signals.keys() == {"dense", "role", "size"}
    assert all("lexical" not in result.signals for result in meaningful.search("doctor", view="passages"))


def test_a_topic_finds_files_whose_paths_mean_it_without_a_word_in_common(meaningful: Library) -> None:
    for path in ("lib/banana.py", "lib/authentication.py"):
        meaningful.put(path, f"def run(value): return sign_in(value)  # {len(path)}", kind="code")

    first, second = meaningful.search("password login", view="files")

    assert first.chunk.span.path == "lib/authentication.py"
    assert first.signals["place"] > second.signals.get("place", 0.0)
    assert all("place" not in each.signals for each in meaningful.search("password login", view="passages"))


def test_a_symbol_finds_its_definition_before_all_that_mention_it(library: Library) -> None:
    library.put("uses.py", *(f"send_all(); send_all({n}); send_all({n}, {n})" for n in range(20)), kind="code")
    library.put("guide.md", "Call send_all to send_all of them: send_all.")
    library.put("net.py", "def send_all(): ...", kind="code", defines=("send_all",), symbol="send_all")

    for question in ("send_all", "net.send_all", "where is `send_all` defined?"):
        assert places(library.search(question))[0] == "net.py:1-1"


def test_a_name_with_signs_is_one_name_if_code_defines_it(library: Library) -> None:
    library.put("trie.java", "Ship path(Ship ship) {}", kind="code", defines=("path",), symbol="ship.path")
    library.put("ropes.clj", "(defn ship->path [ship])", kind="code", defines=("ship->path",), symbol="ship->path")

    found = library.search("what does ship->path do")

    assert [("definition" in each.signals, each.chunk.span.path) for each in found] == [
        (True, "ropes.clj"),
        (False, "trie.java"),
    ]


@pytest.mark.parametrize("view", ["files", "passages"])
def test_translations_step_back_behind_all_others(library: Library, view: View) -> None:
    library.put("locale/fr.po", 'msgid "Index"\nmsgstr "comment les sessions sont produites"', kind="data")
    library.put("docs/fr.md", "Le guide dit comment les sessions sont produites.")

    results = library.search("comment les sessions sont produites", view=view)
    shares = {result.chunk.span.path: result.signals.get("role", 0.0) for result in results}

    assert shares["locale/fr.po"] == 0.0 < shares["docs/fr.md"]


def test_a_result_is_an_exact_slice_of_what_was_put(library: Library) -> None:
    text = "Über alles.\r\n\r\nThe retry policy waits. 🎉\r\nTwice.\r\n"
    library.put("a.md", text.rstrip())

    (result,) = library.search("retry")

    span = result.chunk.span
    assert library.texts["src", "a.md"][span.start_char : span.end_char] == result.chunk.text == text.rstrip()
    assert str(span) == "a.md:1-4"


def test_settings_with_comments_are_ranked_as_documentation_before_the_best_are_read(library: Library) -> None:
    pages = ["The depth of the harbour is told at its quay."] * 2 + ["How deep the harbour is."] * 58
    library.put("docs/depth.md", *(f"{text} ({n})" for n, text in enumerate(pages)))
    library.put("harbour.conf", "# How deep the harbour is, in metres.\ndepth = 3", kind="config")
    library.put("other.conf", "deep = harbour", kind="config")

    found = {each.chunk.span.path: each for each in library.search("How deep is the harbour?", limit=70)}

    page, told, untold = (found[path].signals["role"] for path in ("docs/depth.md", "harbour.conf", "other.conf"))
    assert page - told < 0.5 * (page - untold)


class InterruptedIndex(SqliteIndex):
    """Another process writes to the library between two reads of a search."""

    def __init__(self, library: Library) -> None:
        super().__init__(library.path, library.identity)
        self._library = library

    def match(self, tokens: Sequence[str], vector: Vector | None, k: int, where: Filter) -> Matches:
        matches = super().match(tokens, vector, k, where)
        with closing(SqliteIndex(self._library.path, self._library.identity)) as other:
            other.delete("src", "a.md")
        return matches


@pytest.mark.parametrize("view", ["files", "passages"])
def test_a_search_sees_one_state_of_the_library_whatever_others_write_meanwhile(library: Library, view: View) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.md", "Another policy.")

    with closing(InterruptedIndex(library)) as index:
        retriever = Retriever(index, library.embedder)
        during = retriever.search("retry policy", view=view)
        after = retriever.search("retry policy", view=view)

    assert places(during) == ["a.md:1-1", "b.md:1-1"]
    assert during[0].signals.keys() >= {"lexical", "dense"}
    assert places(after) == ["b.md:1-1"]


def test_no_result_is_given_for_a_limit_of_none(library: Library) -> None:
    library.put("a.md", "The retry policy waits.", "The retry policy ends.")

    assert library.search("retry policy", limit=0) == library.search("retry policy", limit=-1) == []


def test_files_lists_each_file_once_and_passages_as_many_as_fit(library: Library) -> None:
    library.put("a.md", "The retry policy waits.", "The retry policy ends.", "A retry starts.")
    library.put("b.md", "Another policy.")

    files, passages = (library.search("retry policy", view=view) for view in ("files", "passages"))

    assert [result.chunk.span.path for result in files] == ["a.md", "b.md"]
    assert sorted(places(passages)) == ["a.md:1-1", "a.md:3-3", "a.md:5-5", "b.md:1-1"]


@pytest.mark.parametrize(
    ("question", "view"),
    [
        ("retry policy", "files"),
        ("send_all", "files"),
        ("how does the retry policy wait?", "passages"),
        ("list all files on the retry policy", "passages"),
        (" ".join(["retry", *"abcdefghijklmn"]), "passages"),
    ],
)
def test_unless_told_the_question_decides_on_the_view(library: Library, question: str, view: View) -> None:
    library.put("a.md", "The retry policy waits.", "The retry policy ends: send_all.")

    assert library.search(question) == library.search(question, view="auto") == library.search(question, view=view)
    assert len(library.search(question)) == (1 if view == "files" else 2)


@pytest.mark.parametrize("where", [Filter(courses=frozenset({("src", "a.txt")})), Filter(lesson=1)])
def test_unless_told_a_course_gives_passages(library: Library, where: Filter) -> None:
    lesson = Lesson("Waiting", 1)
    library.put("a.txt", "The retry policy waits.", "The retry policy ends: send_all.", kind="course", lesson=lesson)
    library.put("b.md", "The retry policy is old.")

    assert places(library.search("retry policy", where=where)) == ["a.txt:1-1", "a.txt:3-3"]
    assert len(library.search("retry policy", where=where, view="files")) == 1


BODY = [f"step_{number}(retry, policy)" for number in range(20)]


def test_a_copy_with_another_header_does_not_fill_the_list(library: Library) -> None:
    library.put("net/retry.py", "\n".join(["# Ours.", *BODY]), kind="code")
    for number in range(3):
        library.put(f"vendor/x{number}/retry.py", "\n".join([f"# Copied, {number}.", *BODY]), kind="code")
    library.put("z.py", "policy = retry(1)", kind="code")

    for view in ("files", "passages"):
        results = library.search("retry policy", limit=2, view=view)
        assert [result.chunk.span.path for result in results] == ["net/retry.py", "z.py"]


def test_a_copy_that_is_indented_or_in_another_order_is_the_same(library: Library) -> None:
    library.put("a.py", "\n".join(BODY), kind="code")
    library.put("b.py", "\n\n".join(f"    {line}" for line in reversed(BODY)), kind="code")

    assert len(library.search("retry policy")) == 1


def test_chunks_that_share_most_but_not_nearly_all_of_their_lines_both_stay(library: Library) -> None:
    library.put("a.py", "\n".join(BODY), kind="code")
    library.put("b.py", "\n".join([*BODY[:15], "other(retry)"]), kind="code")

    assert len(library.search("retry policy")) == 2


def test_short_chunks_that_differ_in_a_line_both_stay(library: Library) -> None:
    library.put("a.py", "retry = 1\npolicy = 2\nwait = 3", kind="code")
    library.put("b.py", "retry = 1\npolicy = 2\nwait = 4", kind="code")
    library.put("c.py", "  retry = 1\n\npolicy = 2\nwait = 3  ", kind="code")

    results = library.search("retry policy")

    assert len(results) == 2
    assert "b.py" in {result.chunk.span.path for result in results}


def test_a_short_chunk_is_no_copy_of_a_long_one_that_holds_it(library: Library) -> None:
    library.put("a.py", "\n".join(BODY[:4]), kind="code")
    library.put("b.py", "\n".join(BODY[:3]), kind="code")

    assert len(library.search("retry policy")) == 2


def test_passages_beyond_those_that_are_read_follow_in_their_order(library: Library) -> None:
    library.put("a.md", *(f"The retry policy {number}." for number in range(40)))

    results = library.search("retry policy", limit=50, view="passages")

    assert len(results) == 40
    order = [(-result.score, result.chunk.key) for result in results]
    assert order == sorted(order)
    read = ["proximity" in result.signals for result in results]
    assert read == sorted(read, reverse=True)
    assert 0 < sum(read) < 40


def test_the_passage_with_the_words_side_by_side_comes_first(library: Library) -> None:
    between = " ".join(f"word{chr(97 + number)}" for number in range(20))
    library.put("a.md", f"The policy {between} and {between} and {between} of a retry.")
    library.put("b.md", f"{between} and {between} and {between}: the retry policy.")

    assert places(library.search("retry policy", view="passages"))[0] == "b.md:1-1"


def test_the_nearest_sentence_counts(meaningful: Library) -> None:
    meaningful.put("a.md", "Bread is baked at dawn. The physician cured patients. Tax law changed.")

    assert "sentence" in meaningful.search("Who heals sick people?")[0].signals


def test_words_that_stand_nowhere_leave_the_nearest_in_meaning(meaningful: Library) -> None:
    meaningful.put("a.md", "Bread is baked at dawn.", "The physician cured patients.")
    meaningful.put("b.md", "Tax law changed.")

    for question in ("doctor", "Doctors and nurses?"):
        results = meaningful.search(question)
        assert results[0].chunk.text == "The physician cured patients."
        assert all("lexical" not in result.signals for result in results)


@pytest.mark.parametrize("view", ["files", "passages"])
def test_a_question_on_an_empty_library_gives_nothing_in_any_view(library: Library, view: View) -> None:
    assert library.search("How long does it wait?", view=view) == []


@pytest.mark.parametrize("name", ["message-delay-limit", "MaxClients"])
@pytest.mark.parametrize("view", ["files", "passages"])
def test_a_name_alone_finds_what_holds_it_as_it_is_written_before_what_holds_its_words(
    library: Library, name: str, view: View
) -> None:
    library.put("near.md", "The delay limit of a message: message limit, delay limit, max clients, clients max.")
    library.put("other.md", "maxclients message-delay-limits")
    library.put("right.md", f"Among many other words of no concern, {name} is set here to a number of seconds.")

    assert library.search(name, view=view)[0].chunk.span.path == "right.md"


def test_a_question_for_an_option_finds_it_as_it_is_written_before_what_holds_its_words(library: Library) -> None:
    for number in range(5):
        library.put(
            f"cache{number}.py", f"def cache(cache): return cache[{number}]  # what the cache does", kind="code"
        )
    library.put("right.md", "Among many other words of no concern, --cache keeps results for a number of seconds.")

    assert library.search("What does --cache do?")[0].chunk.span.path == "right.md"


def test_what_the_index_says_of_a_question_is_told_by_filter(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    library.put("b.md", "Another policy.")
    asked, retriever = read_question("retry policy"), Retriever(library.index, library.embedder)

    retriever.search(asked, where=Filter(globs=("b.md",)))

    assert len(retriever.matches_of(asked, Filter(globs=("b.md",))).evidence) == 1
    assert len(retriever.matches_of(asked, Filter()).evidence) == 2


def test_the_index_is_asked_anew_for_each_search_and_not_for_what_it_said_of_it(library: Library) -> None:
    library.put("a.md", "The retry policy waits.")
    asked, retriever = read_question("retry policy"), Retriever(library.index, library.embedder)

    retriever.search(asked)
    before = retriever.matches_of(asked, Filter())
    library.put("b.md", "Another policy.")
    results = retriever.search(asked)
    after = retriever.matches_of(asked, Filter())

    assert len(results) == len(after.evidence) == 2
    assert len(before.evidence) == 1
    assert retriever.matches_of(asked, Filter()) is after


FUNCTION = 'def max_load(crane):\n    """Return how many tonnes a crane lifts."""\n    return crane.limit'


def test_a_function_comes_before_notes_that_name_it_unless_a_setting_is_asked_for(library: Library) -> None:
    library.put("crane.py", FUNCTION, kind="code", symbol="max_load", defines=("max_load",))
    library.put("docs/port.md", "- `max_load`: tonnes that the crane of the port lifts.")

    found = [library.search(f"What does {asked} do?")[0] for asked in ("max_load", "the max_load setting")]

    assert [result.chunk.span.path for result in found] == ["crane.py", "docs/port.md"]


def test_what_describes_a_setting_is_found_behind_everything_that_names_it(library: Library) -> None:
    for number in range(30):
        library.put(f"use{number}.md", f"Ship {number} needs more max_load.")
    library.put("port.toml", "# Tonnes.\nreach = 1\nwidth = 2\n# Tonnes that it lifts.\nmax_load = 4", kind="config")

    assert library.search("What does max_load do?")[0].chunk.span.path == "port.toml"


def test_as_many_passages_are_found_as_are_wanted(library: Library) -> None:
    for number in range(200):
        library.put(f"ropes{number}.md", f"Rope {number} holds ship {number * 7}, {number * 11} and {number * 13}.")

    assert len(library.search("Which ropes hold a ship?", limit=150, view="passages")) == 150


@pytest.mark.parametrize(
    ("question", "first"), [("How do I moor my ship?", "src/api.rs"), ("Where is the ship moored?", "src/engine.rs")]
)
def test_documented_code_answers_how_to_and_other_code_answers_where(
    library: Library, question: str, first: str
) -> None:
    library.put("src/api.rs", "/// To moor my ship, throw a rope.\n/// It holds all day.", kind="code")
    library.put("src/engine.rs", "moor(ship) // to moor my ship, throw a rope, holds all day", kind="code")

    found = library.search(question, view="passages")

    assert found[0].chunk.span.path == first
    assert all(sum(each.signals.values()) == pytest.approx(each.score) for each in found)
