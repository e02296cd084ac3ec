"""Subtitles become running text, anchored by the time it is said at."""

from __future__ import annotations

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.sources.readers.subtitles import read_subtitles
from openbook.text import units
from openbook.types import Anchor, Document


def srt(*cues: tuple[float, float, str]) -> str:
    return "".join(
        f"{number}\n{clock(start)} --> {clock(end)}\n{text}\n\n" for number, (start, end, text) in enumerate(cues, 1)
    )


def clock(seconds: float) -> str:
    return (
        f"{int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02},{int(seconds * 1000) % 1000:03}"
    )


def said(text: str) -> str:
    return read_subtitles(text, "a.vtt" if text.startswith("WEBVTT") else "a.srt").text


def test_pieces_of_a_sentence_become_one_line() -> None:
    text = srt((725.5, 727, "Bread needs"), (727, 728, "time and\nwarmth."), (728, 729, "And salt."))

    reading = read_subtitles(text, "a.srt")

    assert reading.text == "Bread needs time and warmth.\nAnd salt."
    assert reading.anchors == (Anchor(0, "00:12:05"),)
    assert [(block.kind, block.start_char, block.end_char) for block in reading.blocks] == [("text", 0, 38)]
    assert (reading.kind, reading.language) == ("docs", "srt")


def test_subtitles_of_youtube_are_read_like_others() -> None:
    text = (
        "0:18:50.380,0:18:54.200\nBread needs\ntime and\n\n0:18:54.200,0:18:55.000\nwarmth.[br]And salt:\n\n"
        "0:18:55.500,0:18:56.100\n42\n\n0:19:01.000,0:19:02.000\n&gt;&gt; How much?\n"
    )

    reading = read_subtitles(text, "talk.sbv")

    assert reading.text == "Bread needs time and warmth.\nAnd salt: 42\n\n>> How much?"
    assert [anchor.label for anchor in reading.anchors] == ["00:18:50", "00:19:01"]
    assert (reading.kind, reading.language) == ("docs", "sbv")
    assert read_subtitles("Notes, 0:01,0:02\n", "talk.sbv").text == "Notes, 0:01,0:02\n"


@pytest.mark.parametrize(
    ("cues", "text"),
    [
        pytest.param([(0, 1, "One."), (3.1, 4, "Two.")], "One.\n\nTwo.", id="pause"),
        pytest.param([(0, 1, "One."), (1.5, 2, "Two.")], "One.\nTwo.", id="no-pause"),
        pytest.param([(0, 9, "One."), (1, 2, "Two."), (9, 10, "Three.")], "One.\nTwo.\nThree.", id="cues-that-overlap"),
        pytest.param([(0, 1, "- Why?\n- So.")], "- Why?\n\n- So.", id="dashes"),
        pytest.param([(0, 1, "One."), (1, 2, ">> Two.")], "One.\n\n>> Two.", id="arrows"),
        pytest.param([(0, 1, "A well-\nknown - thing")], "A well- known - thing", id="dashes-within"),
    ],
)
def test_a_paragraph_ends_at_a_pause_and_at_another_speaker(cues: list[tuple[float, float, str]], text: str) -> None:
    assert said(srt(*cues)) == text


def test_a_voice_makes_a_paragraph_and_is_named_where_it_begins() -> None:
    text = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Ada Miller>Flour</v>\n\n"
        "00:02.000 --> 00:03.000\n<v Ada Miller>first.\n\n"
        "00:03.000 --> 00:04.000\n<v Bob>Why?\nFlour?\n\n"
        "00:04.000 --> 00:05.000\n<v Ada Miller>So.</v> <v B&amp;B>Fine.</v>\n"
    )

    reading = read_subtitles(text)

    assert reading.text == "Ada Miller: Flour first.\n\nBob: Why?\nFlour?\n\nAda Miller: So.\n\nB&B: Fine."
    assert reading.language == "vtt"


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        pytest.param("<i>so</i> <c.yellow.bg>it</c> <00:00:01.500>is", "so it is", id="tags"),
        pytest.param('<font color="#fff">a</font>{\\an8}', "a", id="tags-of-players"),
        pytest.param("a &lt;b&gt; &amp; c&nbsp;d", "a <b> & c d", id="references"),
        pytest.param("if x < 3 > y then <br> <T>", "if x < 3 > y then <br> <T>", id="signs"),
        pytest.param("سلام 🍞", "سلام 🍞", id="other-scripts"),
        pytest.param("a&#0;b&#xD800;", "a\ufffdb\ufffd", id="unstorable"),
        pytest.param("42", "42", id="number"),
    ],
)
def test_markup_is_taken_out_and_nothing_else(cue: str, text: str) -> None:
    assert said(f"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n{cue}\n") == text


def test_names_comments_styles_and_settings_are_left_out() -> None:
    text = (
        "\ufeffWEBVTT Title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE about\nthis\n\nintro\n"
        "00:01.000 --> 00:02.000 align:start position:0%\nOne\n\nNOTE\nmore\n\nsecond name\n"
        "00:02.000 --> 00:03.000\nNOTE that.\n\n3\n00:03.000 --> 00:04.000\n\nNOTE end"
    )

    assert said(text) == "One NOTE that."


def test_lines_that_roll_up_are_read_once() -> None:
    text = (
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n \nso<00:00:01.200><c> the</c>\n\n"
        "00:00:02.000 --> 00:00:02.010\nso the\n \n\n"
        "00:00:02.010 --> 00:00:03.000\nso the\ndough<00:00:02.500><c> is</c>\n\n"
        "00:00:03.000 --> 00:00:03.010\ndough is\n \n"
    )

    assert said(text) == "so the dough is"


def test_lines_that_roll_up_without_times_of_words_are_read_once() -> None:
    lines = ["so the", "dough is", "left to", "rise."]
    pairs = [(0, 1, f" \n{lines[0]}"), (1, 1.01, f"{lines[0]}\n "), (1.01, 2, f"{lines[0]}\n{lines[1]}")]
    pairs += [(2, 2.01, f"{lines[1]}\n "), (2.01, 3, f"{lines[1]}\n{lines[2]}"), (3, 3.01, f"{lines[2]}\n ")]

    text = srt(*pairs, (3.01, 4, f"{lines[2]}\n<i>{lines[3]}</i>"))

    assert said(text) == "so the dough is left to rise."
    assert said("WEBVTT\n\n" + text.replace(",", ".")) == "so the dough is left to rise."


def test_words_that_are_said_twice_stay() -> None:
    assert said(srt((0, 1, "No."), (1, 2, "No."))) == "No.\nNo."
    assert (
        said(srt((0, 1, "Ho."), (1, 2, "Ho."), (2, 3, "Ho."), (3, 4, "It."), (4, 5, "is.")))
        == "Ho.\nHo.\nHo.\nIt.\nis."
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1\r\n0:0:1,5 --> 0:0:2,0\r\nOne\r\n2\r\n00:00:02.000-->00:00:03.000\r\ntwo.", id="sloppy"),
        pytest.param(
            "\n\n00:00:01,000 --> 00:00:02,000\nOne\n\n\n00:00:02,000 --> 00:00:03,000\ntwo.", id="no-numbers"
        ),
        pytest.param("1\n00:00:01,000 --> 00:00:02,000\nOne\n\ntwo.\n", id="blank-line-in-a-cue"),
        pytest.param("1\n00:00:01,000 --> 00:00:02,000 X1:1 X2:2\nOne\ntwo.\n", id="places"),
        pytest.param("1\n00:00:01 --> 00:00:02\nOne\n\n2\n00:00:02 --> 00:00:03\ntwo.\n", id="whole-seconds"),
        pytest.param(
            "1\r\r\n00:00:01,0 --> 00:00:02,0\r\r\nOne\r\r\n\r\r\n2\r\r\n00:00:02,0 --> 00:00:03,0\r\r\ntwo.\r\r\n",
            id="line-ends-that-were-made-twice",
        ),
    ],
)
def test_files_that_are_not_quite_in_the_format_are_read(text: str) -> None:
    assert said(text) == "One two."


@pytest.mark.parametrize("text", ["", "WEBVTT\n\nNOTE nothing", "just text --> here"])
def test_a_file_without_cues_is_plain_text(text: str) -> None:
    reading = read_subtitles(text, "a.srt")

    assert (reading.text, reading.anchors) == (text, ())


@pytest.mark.slow
def test_a_long_talk_is_cited_by_sentence_at_a_time_near_it() -> None:
    cues = [(second, second + 1, f"and then {second}" + "." * (second % 4 == 3)) for second in range(3600)]
    reading = read_subtitles(srt(*cues), "a.srt")

    document = Document(
        "s", "a.srt", reading.kind, reading.language, reading.text, "0" * 64, reading.blocks, reading.anchors
    )
    chunks = chunk_document(document)
    found = next(chunk for chunk in chunks if "then 3000 " in chunk.text)
    unit = next(unit for unit in units(found) if "then 3000 " in unit.text)

    assert unit.text == "and then 3000 and then 3001 and then 3002 and then 3003."
    assert "00:49:00" <= found.anchor <= "00:50:00"
    assert max(len(chunk.text) for chunk in chunks) <= 1500
    assert min(len(chunk.text) for chunk in chunks) > 100


def test_speech_without_punctuation_has_lines_and_paragraphs_too() -> None:
    cues = [(second, second + 1, f"and then it was {second}") for second in range(200)]

    text = said(srt(*cues))

    assert max(map(len, text.split("\n"))) < 400
    assert max(map(len, text.split("\n\n"))) < 1100


def test_what_is_said_behind_a_pause_has_a_time_of_its_own() -> None:
    reading = read_subtitles(srt((1, 2, "Knead it."), (30, 31, "Wait."), (31, 32, "Rest."), (95, 96, "Bake it.")))

    assert [(anchor.label, reading.text[anchor.start_char :].split()[0]) for anchor in reading.anchors] == [
        ("00:00:01", "Knead"),
        ("00:00:30", "Wait."),
        ("00:01:35", "Bake"),
    ]


def test_what_is_said_within_a_minute_is_one_chunk_whatever_pauses_are_in_it() -> None:
    reading = read_subtitles(srt((1, 2, "Knead it."), (30, 31, "Wait."), (95, 96, "Bake it."), (130, 131, "Eat it.")))
    document = Document("s", "a.srt", reading.kind, reading.language, reading.text, "", reading.blocks, reading.anchors)

    assert [(chunk.anchor, chunk.text) for chunk in chunk_document(document)] == [
        ("00:00:01", "Knead it.\n\nWait."),
        ("00:01:35", "Bake it.\n\nEat it."),
    ]


def test_a_voice_of_blanks_costs_no_more_time_than_its_length() -> None:
    assert said(srt((0, 1, f"<v{' ' * 200_000}Flour"))) == "<v Flour"
