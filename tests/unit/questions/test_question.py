from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.errors import QueryError
from openbook.questions.question import MAX_QUERY_CHARS, read_question
from openbook.questions.words import STOP_WORDS
from openbook.tokens import tokenize


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000"], ids=["empty", "space", "white-space"])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="the question is empty") as caught:
        read_question(text)

    assert caught.value.hint


@pytest.mark.parametrize("text", ["?", "?!...", "--- ___ ---", "🎉"], ids=["mark", "marks", "lines", "emoji"])
def test_a_question_without_a_word_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="contains no word to search for") as caught:
        read_question(text)

    assert repr(text) in str(caught.value)
    assert caught.value.hint


def test_the_message_about_a_wordless_question_stays_short() -> None:
    with pytest.raises(QueryError) as caught:
        read_question("?" * 1_000)

    assert len(str(caught.value)) < 100


def test_a_question_of_20000_characters_is_read_and_a_longer_one_is_refused() -> None:
    longest = "word " * (MAX_QUERY_CHARS // 5 - 1) + "words"

    assert read_question(longest).tokens == ("word",)
    with pytest.raises(QueryError, match=r"20,001 characters long; at most 20,000") as caught:
        read_question(longest + "s")
    assert caught.value.hint


def test_white_space_around_a_question_does_not_count() -> None:
    query = read_question("\n  retry policy " + " " * MAX_QUERY_CHARS)

    assert query.text == "retry policy"


def test_a_question_that_cannot_be_asked_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="empty"):
        read_question("")


def test_words_of_asking_are_left_out() -> None:
    query = read_question("How does the retry policy work, and where is it?")

    assert query.tokens == ("retri", "polici")


@pytest.mark.parametrize("text", ["how is it so then", "the of a", "why is it so"])
def test_a_question_of_nothing_but_words_of_asking_asks_for_nothing(text: str) -> None:
    with pytest.raises(QueryError, match="no word to search for"):
        read_question(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What does `with` do?", ("with",)),
        ("What does it() do?", ("it",)),
        ("what does &to do", ("to",)),
        ("What is @if?", ("if",)),
        ("What does -i do?", ("i",)),
        ("Why does `knot use` fail?", ("knot", "fail", "use")),
        ("&to", ("to",)),
    ],
)
def test_a_word_of_asking_that_is_written_as_code_is_searched_for(text: str, tokens: tuple[str, ...]) -> None:
    assert read_question(text).tokens == tokens


def test_words_of_asking_in_a_longer_piece_of_code_are_left_out() -> None:
    assert read_question("Why is `ropes are for sails` printed?").tokens == ("rope", "sail", "print")


def test_a_word_of_asking_is_one_in_any_case() -> None:
    assert read_question("WHERE IS the Retry").tokens == ("retri",)


@pytest.mark.parametrize("text", ["Client.get", "Router::use", "find"])
def test_a_symbol_holds_no_words_of_asking(text: str) -> None:
    query = read_question(text)

    assert query.is_symbol
    assert query.tokens == tuple(tokenize(text))


def test_tokens_are_distinct_and_in_the_order_of_the_question() -> None:
    query = read_question("session store, store session, lock")

    assert query.tokens == ("session", "store", "lock")
    assert query.content_words == 3


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        pytest.param("where is `send` called", ["send"], id="backticks"),
        pytest.param("where is `Client.send()` called", ["send"], id="backticks-with-a-call"),
        pytest.param("what does `two words` mean", [], id="backticks-around-prose"),
        pytest.param("where is send() called", ["send"], id="call"),
        pytest.param("what does client.send(x) do", ["send"], id="dotted-call"),
        pytest.param("how is get_user cached", ["get_user"], id="snake-case"),
        pytest.param("how is _cache filled", ["_cache"], id="leading-underscore"),
        pytest.param("how is UserCache filled", ["UserCache"], id="pascal-case"),
        pytest.param("how is userCache filled", ["userCache"], id="camel-case"),
        pytest.param("when is http.client.HTTPError raised", ["HTTPError"], id="dotted"),
        pytest.param("when does std::vector grow", ["vector"], id="colons"),
        pytest.param("when does Array#push copy", ["push"], id="hash"),
        pytest.param("when is node->next read", ["next"], id="arrow"),
        pytest.param("why does foo_b call barA", ["foo_b", "barA"], id="in-order"),
        pytest.param("is `get_user` the get_user() of users.get_user", ["get_user"], id="each-once"),
        pytest.param("What does the Error class store?", ["Error"], id="before-its-kind"),
        pytest.param("what does class Error store", ["Error"], id="behind-its-kind"),
        pytest.param("how does the Save function of the UserCache class work", ["Save", "UserCache"], id="two-kinds"),
        pytest.param("what type of Lord is it, and which Method", [], id="not-right-beside"),
        pytest.param("a class of Python, the base class and the Python exception class", [], id="kinds-without-a-name"),
        pytest.param("How do sessions end in Berlin", [], id="prose"),
        pytest.param("wo steht die Größe", [], id="german"),
    ],
)
def test_identifiers_are_what_a_question_spells_as_code(text: str, identifiers: list[str]) -> None:
    query = read_question(text)

    assert list(query.identifiers) == identifiers
    assert not query.is_symbol


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("send", "send"),
        ("HTTPError", "HTTPError"),
        ("Client.send", "send"),
        ("std::vector", "vector"),
        ("Array#push", "push"),
        ("node->next", "next"),
        ("  __init__  ", "__init__"),
    ],
)
def test_a_question_that_is_one_name_is_a_symbol(text: str, name: str) -> None:
    query = read_question(text)

    assert query.is_symbol
    assert query.identifiers == (name,)


@pytest.mark.parametrize("text", ["send it", "send?", "`send`", "404", "a.b.", "größe über"])
def test_anything_else_is_no_symbol(text: str) -> None:
    assert not read_question(text).is_symbol


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Which lessons talk about retries?", ("retri",)),
        ("which of the lessons do we discuss embeddings", ("embed",)),
        ("In which documents do retries fail?", ("retri", "fail")),
        ("List all files about retries", ("retri",)),
        ("list the pages that mention retries", ("retri",)),
        ("Name all chapters on retries", ("retri",)),
        ("What courses cover retries?", ("retri",)),
        ("all sections which explain retries", ("retri",)),
        ("In which files is the tug mentioned?", ("tug",)),
        ("Which notes are about retries?", ("retri",)),
    ],
)
def test_a_question_for_places_is_about_what_stands_behind_its_phrase(text: str, tokens: tuple[str, ...]) -> None:
    query = read_question(text)

    assert query.asks_for_places
    assert query.tokens == tokens


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Which files mention the retry Policy?", "retry Policy"),
        ('List all pages about "an\n old  tug".', "old tug"),
        ("List all files", ""),
        ("Who mentions the tug?", None),
    ],
)
def test_the_topic_of_places_is_in_one_line_without_marks_and_article(text: str, topic: str | None) -> None:
    assert read_question(text).topic_of_places == topic


@pytest.mark.parametrize(
    "text",
    [
        "What is a file?",
        "Which files are never read?",
        "Which files are mentioned when retries fail?",
        "which retries are in the files",
        "how are files listed",
        "list comprehension of files",
        "listing files",
        "files",
    ],
)
def test_a_question_that_only_speaks_of_files_asks_for_no_places(text: str) -> None:
    query = read_question(text)

    assert not query.asks_for_places
    assert set(query.tokens) & {"file", "retri"}


def test_a_question_for_places_alone_keeps_its_words() -> None:
    query = read_question("list all files")

    assert query.asks_for_places
    assert query.tokens == ("list", "all", "file")


def test_an_identifier_is_also_found_in_a_question_for_places() -> None:
    assert read_question("which files mention get_user").identifiers == ("get_user",)


@pytest.mark.slow
@given(st.text(min_size=1, max_size=60))
def test_a_question_is_read_or_refused_and_its_tokens_are_distinct(text: str) -> None:
    try:
        query = read_question(text)
    except QueryError:
        assert {word.lower() for word in re.findall(r"\w+", text) if tokenize(word)} <= STOP_WORDS
        return

    assert query.tokens
    assert len(set(query.tokens)) == len(query.tokens)
    # A scheme is no word of an address, but may be all that is asked for.
    assert set(query.tokens) <= {*tokenize(text), "http"}


def test_words_of_asking_are_single_lower_case_words() -> None:
    assert [word for word in STOP_WORDS if word != word.lower() or not re.fullmatch(r"\w+", word)] == []


@pytest.mark.parametrize("text", ["I'm", "don't", "isn't it", "let's"])
def test_short_forms_of_words_of_asking_leave_no_letter_behind(text: str) -> None:
    assert read_question(f"retries {text}").tokens == ("retri",)


@pytest.mark.parametrize(
    "text",
    ["Who sends cookies?", "谁发送饼干？", "كيف تعمل الشبكة؟", "send?  \n"],
    ids=["latin", "han", "arabic", "symbol"],
)
def test_what_ends_in_a_question_mark_is_answered_by_passages(text: str) -> None:
    assert read_question(text).view == "passages"


@pytest.mark.parametrize("text", ["cookie handling", "send_all", "Client.get", "饼干", "cookies? handling"])
def test_a_topic_or_a_name_is_answered_by_files(text: str) -> None:
    assert read_question(text).view == "files"


def test_a_topic_has_at_most_14_words() -> None:
    views = [read_question(" ".join(["moorings"] * size)).view for size in (14, 15)]

    assert views == ["files", "passages"]


@pytest.mark.parametrize("text", ["list all files on cookies", "Which lessons talk about cookies"])
def test_a_question_for_places_is_answered_by_passages(text: str) -> None:
    assert read_question(text).view == "passages"


@pytest.mark.slow
@given(st.text(alphabet="ab _.?？؟\n", min_size=1, max_size=40))
def test_a_view_is_chosen_for_whatever_can_be_read(text: str) -> None:
    try:
        query = read_question(text)
    except QueryError:
        return

    assert query.view in ("files", "passages")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Wie lange wartet der Client bei einem Fehler?", True, id="german"),
        pytest.param("Was ist der Unterschied zwischen timeout und deadline?", True, id="a-word-of-both-languages"),
        pytest.param("Combien de temps le client attend-il ?", True, id="french"),
        pytest.param("客户端等待多久？", True, id="chinese"),
        pytest.param("Which timeout has the client?", False, id="english"),
        pytest.param("Default connection timeout value?", False, id="catchwords"),
    ],
)
def test_a_sentence_without_english_words_is_in_another_language(text: str, expected: bool) -> None:
    assert read_question(text).in_other_language is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Wie beende ich Vim?", True, id="short-german"),
        pytest.param("¿Cómo salgo de Vim?", True, id="short-spanish"),
        pytest.param("Onde fica o arquivo de log?", True, id="portuguese"),
        pytest.param("Hogyan lehet megváltoztatni a jelszót?", True, id="letters"),
        pytest.param("客户端等待多久？", True, id="chinese"),
        pytest.param("Vim beenden", False, id="keywords"),
        pytest.param("Restart a pod on demand", False, id="shared-words"),
        pytest.param("snooze a message until monday morning", False, id="a-phrase"),
        pytest.param("man page of du?", False, id="commands"),
        pytest.param("comment on a selected sentence inside a page", False, id="one-word-of-its-own"),
    ],
)
def test_a_question_that_is_surely_not_english_is_foreign(text: str, expected: bool) -> None:
    assert read_question(text).is_foreign is expected


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("message-delay-limit", "message-delay-limit"),
        ("`MaxClients`", "MaxClients"),
        ("Client.send()", "Client.send"),
        ("--no-color", "--no-color"),
        ("how do I use --no-color?", "--no-color"),
        ("What does --no-color do?", "--no-color"),
        ("What does the --no-color flag do?", "--no-color"),
        ("What does the pager-mode setting do?", "pager-mode"),
        ("What is pager-mode for?", "pager-mode"),
        ("What does --no-color do to pagers?", ""),
        ("What does pager-mode do to colors?", ""),
        ("What are the command-line options?", ""),
        ("Which built-in keys are there?", ""),
        ("How do --no-color and --color differ?", ""),
    ],
)
def test_a_question_for_one_name_alone_keeps_it_as_it_is_written(question: str, name: str) -> None:
    assert read_question(question).name == name


@pytest.mark.parametrize(
    "text",
    [
        "Does harbour moor ships?",
        "does Harbour work with tides",
        "Is harbour fast?",
        "Which databases does harbour support?",
        "Under which circumstances does harbour drop a ship?",
        "What are harbour's rate limits?",
        "Welche Datenbanken unterstützt Harbour?",
        "What does Context.Delete do?",
        "What does `moor_ship` do?",
        "What is harbour tree?",
        "What's harbour mooring for?",
        "What is `harbour rope`?",
        "What does harbour install do?",
        "what's ~hq",
    ],
)
def test_what_asks_one_thing_of_a_project_by_name_is_no_question_for_the_whole(text: str) -> None:
    assert not read_question(text).asks_for_whole(["harbour"])


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("What does the mouse option do?", ("mouse",)),
        ("What does the -l option of moor do?", ("-l",)),
        ("What is the default of split-view-height?", ("split-view-height",)),
        ("What is kept in keys/ of a harbour?", ("keys/",)),
        ("Does `moor` read MOOR_PATH?", ("moor", "MOOR_PATH")),
        ("What does the option of a pier do?", ()),
        ("How are ships moored?", ()),
        ('Why do I get "--moor needs the option rope"?', ()),
        ("How do I use -i?", ("-i",)),
    ],
)
def test_what_an_entry_of_a_list_may_be_about_is_read_from_the_words_beside_it(
    text: str, terms: tuple[str, ...]
) -> None:
    assert read_question(text).terms == terms


@pytest.mark.parametrize(
    "text",
    [
        "What does harbour do?",
        "What does harbour solve?",
        "What is harbour good for?",
        "What's harbour, and why would I want it?",
        "C'est quoi, harbour ?",
    ],
)
def test_what_a_project_is_by_name_is_a_question_for_the_whole(text: str) -> None:
    assert read_question(text).asks_for_whole(["harbour"])


def test_of_a_comparison_the_two_things_are_looked_for_and_not_their_difference() -> None:
    question = read_question("What is the difference between a chain and `apply_async`?")

    assert question.compared == ("chain", "`apply_async`")
    assert question.tokens == read_question("chain `apply_async`").tokens
    assert question.identifiers == ("apply_async",)


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("what is a fender", "passages"),
        ("what's a fender", "passages"),
        ("which knots and ropes are supported", "passages"),
        ("can ropes be tied twice", "passages"),
        ("how can I tie a fender twice", "passages"),
        ("How do we moor", "passages"),
        ("where does the rope go", "passages"),
        ("where are ropes kept", "passages"),
        ("which code drops a line that is too old", "passages"),
        ("set a longer timeout instead of the default one", "passages"),
        ("retry a job until my server answers", "passages"),
        ("how to tie fenders", "passages"),
        ("fenders vs ropes", "passages"),
        ("how does mooring work", "files"),
        ("how fenders are tied", "files"),
        ("how are fenders tied", "files"),
        ("where ropes lie", "files"),
        ("did you mean hint for an unknown rope", "files"),
        ("is_tied", "files"),
    ],
)
def test_a_question_needs_no_question_mark(text: str, view: str) -> None:
    assert read_question(text).view == view


@pytest.mark.parametrize(
    ("entry", "is_told"),
    [
        (".. glossary::\n\n   fender\n      Hangs between ship and quay.", True),
        ("fender\n: Hangs between ship and quay.", True),
        ("fender\nrope\nknot", False),
        ("the old fender\n   hangs there", False),
    ],
)
def test_an_entry_of_a_glossary_defines(entry: str, *, is_told: bool) -> None:
    term = read_question("What is a fender?").term

    assert term is not None
    assert term.is_defined_in(entry) is is_told


@pytest.mark.parametrize(
    ("text", "looks_for_code"),
    [
        ("Where in the code are ropes spliced?", False),
        ("How do I set the timeout in code?", True),
        ("Which colours may stand in the code of a ship?", True),
    ],
)
def test_who_asks_where_in_the_code_something_is_does_not_look_for_code(text: str, *, looks_for_code: bool) -> None:
    assert ("code" in read_question(text).tokens) is looks_for_code


@pytest.mark.parametrize(
    ("text", "asks_for_default"),
    [
        ("Which rope is taken when none is configured?", True),
        ("Which rope does a ship take if I choose none?", True),
        ("Which rope is taken when I do not choose one?", True),
        ("Which rope is taken if you don't set it?", True),
        ("Which rope is taken when none is wet?", False),
        ("Which rope is taken when I do not moor one?", False),
        ("How do I see that nothing is set if nothing is set?", False),
        ("How do I check if it is not set?", False),
    ],
)
def test_what_is_taken_where_nothing_is_chosen_is_the_default(text: str, *, asks_for_default: bool) -> None:
    assert ("default" in read_question(text).tokens) is asks_for_default
