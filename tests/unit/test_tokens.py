from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openbook.tokens import ABBREVIATIONS, tokenize, tokens_identity

TEXTS = st.text(max_size=80) | st.text(alphabet="aZ_9 -\"'.\n\u00e4\u4e2d\ud55c\u0e01", max_size=80)


@pytest.mark.parametrize(
    ("word", "tokens"),
    [
        pytest.param("getUserName", ["get", "user", "name", "getusernam"], id="camel-case"),
        pytest.param("get_user_name", ["get", "user", "name", "getusernam"], id="snake-case"),
        pytest.param("GET_USER", ["get", "user", "getus"], id="capitals"),
        pytest.param("sha256", ["sha", "256", "sha256"], id="digits"),
        pytest.param("HTTPServer2", ["http", "server", "2", "httpserver2"], id="acronym-word-digit"),
        pytest.param("see https://wait.example/Tide", ["see", "wait", "exampl", "tide"], id="scheme-of-an-address"),
        pytest.param("HTTPS, https: a scheme", ["https", "https", "a", "scheme"], id="scheme-that-is-spoken-of"),
        pytest.param("parseHTTP", ["pars", "http", "parsehttp"], id="acronym-last"),
        pytest.param("HTTP", ["http"], id="acronym-alone"),
        pytest.param("LLMs", ["llm"], id="plural-acronym"),
        pytest.param("parseURLs", ["pars", "url", "parseurl"], id="plural-acronym-last"),
        pytest.param("CSSselector", ["cs", "sselector", "cssselector"], id="acronym-before-an-s-word"),
        pytest.param("As", ["as"], id="one-capital-is-no-acronym"),
        pytest.param("__len__", ["len"], id="dunder"),
        pytest.param("___", [], id="underscores-alone"),
        pytest.param("user", ["user"], id="one-part-has-no-joined-form"),
        pytest.param("404", ["404"], id="number"),
    ],
)
def test_an_identifier_gives_its_parts_and_then_its_joined_form(word: str, tokens: list[str]) -> None:
    assert tokenize(word) == tokens


@pytest.mark.parametrize("spelling", ["getUserName", "GetUserName", "get_user_name", "GET_USER_NAME", "_getUserName"])
def test_all_spellings_of_a_name_meet_in_the_joined_form(spelling: str) -> None:
    assert tokenize(spelling)[-1] == "getusernam"


def test_a_name_written_in_one_word_meets_its_joined_form() -> None:
    assert tokenize("getuser") == [tokenize("getUser")[-1]]


def test_accents_that_are_spelled_apart_meet_those_that_are_not() -> None:
    assert tokenize("u\u0308ber") == tokenize("\u00fcber")


@given(st.text(st.characters(max_codepoint=127), max_size=80))
@example("".join(f"a{chr(code)}" for code in range(128)))
def test_plain_text_gives_the_same_words_before_what_is_not_ascii(text: str) -> None:
    assert [*tokenize(text), *tokenize("ä")] == tokenize(f"{text} ä")


def test_an_identifier_meets_its_words_in_prose() -> None:
    assert set(tokenize("get the users name")) & set(tokenize("getUserName")) == {"get", "user", "name"}


@pytest.mark.parametrize(
    "words",
    ["retries retried Retry retrying", "connection connections connect", "URLs URL url urls", "LLMs LLM", "APIs api"],
)
def test_forms_of_one_word_are_one_token(words: str) -> None:
    assert len(set(tokenize(words))) == 1


def test_endings_that_only_look_british_stay() -> None:
    assert tokenize("specialist analysis") == ["specialist", "analysi"]


@pytest.mark.parametrize(("short", "long"), list(ABBREVIATIONS.items()), ids=list(ABBREVIATIONS))
def test_an_abbreviation_also_says_what_it_stands_for(short: str, long: str) -> None:
    assert set(tokenize(long)) <= set(tokenize(short))


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("setColour", "setColor"),
        ("discoloured", "discolored"),
        (
            "armour endeavour favour flavour harbour honour humour labour neighbour rumour saviour vapour vigour",
            "armor endeavor favor flavor harbor honor humor labor neighbor rumor savior vapor vigor",
        ),
        ("initialise", "initialize"),
        ("Deserialisers", "deserializers"),
        ("recognisable", "recognizable"),
        ("criticised", "criticized"),
        ("analysing", "analyzing"),
        ("licences defence offence", "licenses defense offense"),
        ("dialogue catalogues analogue", "dialog catalogs analog"),
        ("centre", "center"),
        ("GREYSCALE", "grayscale"),
        ("artefact", "artifact"),
    ],
)
def test_a_british_spelling_meets_the_american_one(british: str, american: str) -> None:
    assert tokenize(british) == tokenize(american)


@pytest.mark.parametrize(
    "words",
    [
        "disable disabled",
        "appraise appraisal",
        "improvise improvisation",
        "surprise surprisingly",
        "precise precisely",
        "hour hours",
        "sentence sentences",
        "prologue prologues",
    ],
)
def test_other_words_keep_their_stems(words: str) -> None:
    assert len(set(tokenize(words))) == 1


def test_an_abbreviation_is_spelled_out_inside_an_identifier() -> None:
    assert set(tokenize("open database connection")) <= set(tokenize("openDbConn"))


def test_tokens_keep_the_order_and_the_repeats_of_the_text() -> None:
    assert tokenize("red fox, red hen") == ["red", "fox", "red", "hen"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("向量索引", ["向量", "量索", "索引"], id="han"),
        pytest.param("向", ["向"], id="one-character"),
        pytest.param("ベクトル", ["ベク", "クト", "トル"], id="katakana"),
        pytest.param("ひらがな", ["ひら", "らが", "がな"], id="hiragana"),
        pytest.param("한국어", ["한국", "국어"], id="hangul"),
        pytest.param("ภาษา", ["ภา", "าษ", "ษา"], id="thai"),
        pytest.param("ที่นี่", ["ที", "ี่", "่น", "นี", "ี่"], id="thai-with-signs"),
        pytest.param("ພາສາ", ["ພາ", "າສ", "ສາ"], id="lao"),
        pytest.param("用asyncio写", ["用", "asyncio", "写"], id="latin-inside-han"),
        pytest.param("第12章节", ["第", "12", "章节"], id="digits-inside-han"),
        pytest.param("缓存。索引", ["缓存", "索引"], id="no-pair-across-punctuation"),
    ],
)
def test_scripts_without_spaces_give_pairs_of_characters(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_a_particle_does_not_hide_a_korean_word() -> None:
    assert set(tokenize("한국어")) <= set(tokenize("한국어는"))


def test_a_han_word_is_found_inside_a_sentence() -> None:
    assert set(tokenize("向量索引")) <= set(tokenize("我们把向量索引存在文件里。"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("Zugriffsschlüssel", ["zugriffsschlüssel"], id="umlaut-splits-nothing"),
        pytest.param("Größe", ["größe"], id="sharp-s"),
        pytest.param("größe_2", ["größe", "2", "größe2"], id="parts-of-a-name-beyond-ascii"),
        pytest.param("поиск", ["поиск"], id="cyrillic"),
        pytest.param("हिन्दी में खोज", ["हिन्दी", "में", "खोज"], id="vowel-signs-of-hindi"),
        pytest.param("كَتَبَ", ["كَتَبَ"], id="vowel-signs-of-arabic"),
        pytest.param("தமிழ்_2", ["தமிழ்", "2", "தமிழ்2"], id="tamil-beside-a-digit"),
        pytest.param("खोज।", ["खोज"], id="the-full-stop-of-hindi"),
    ],
)
def test_letters_beyond_ascii_belong_to_their_word(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


def test_case_is_ignored_beyond_ascii() -> None:
    assert tokenize("ÜBERSICHT") == tokenize("übersicht")


def test_emoji_are_no_words_and_touch_none() -> None:
    assert tokenize("🎉 ship👍🏽it 🎉") == ["ship", "it"]


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        pytest.param("z" * 1_000_000, "z" * 1_000_000, 1, id="one-word"),
        pytest.param("aB" * 50_000, "a", 50_002, id="camels"),
        pytest.param("_" * 1_000_000 + "ab", "ab", 1, id="underscores"),
        pytest.param("向量" * 50_000, "向量", 99_999, id="han"),
    ],
)
def test_a_huge_word_is_read_to_its_end(text: str, first: str, count: int) -> None:
    tokens = tokenize(text)

    assert tokens[0] == first
    assert len(tokens) == count


@pytest.mark.slow
@given(TEXTS)
@example('"a\'b" c\u00a0d\u3000e\u2028f\u02bcg')
def test_no_token_is_empty_or_holds_a_space_or_a_quote(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert not re.search(r"[\s\"'`]", token)


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_a_space_between_two_texts_keeps_their_tokens_apart(a: str, b: str) -> None:
    assert tokenize(f"{a} {b}") == tokenize(a) + tokenize(b)


@pytest.mark.slow
@given(TEXTS)
def test_the_tokens_of_a_text_are_lower_case(text: str) -> None:
    assert all(token == token.lower() for token in tokenize(text))


def test_a_text_without_words_has_no_tokens() -> None:
    assert tokenize("") == tokenize(" \n\t") == tokenize("?! -- ()") == []


def test_the_identity_names_the_rules_and_the_release_of_the_stemmer() -> None:
    assert re.fullmatch(r"words-\d+/snowball-\d+\.\d+", tokens_identity())
