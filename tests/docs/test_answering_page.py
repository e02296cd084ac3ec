"""The sessions with a model in `docs/answering.md` are run again, and must print the same."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from openbook.answers import Stage
from openbook.llm.messages import ToolCall
from openbook.testing import FakeServer, ScriptedReply
from openbook.testing.script import ReceivedRequest
from openbook.usage import Usage
from tests.integration.support_cli import copy_sample, finish, start

PAGE = Path(__file__).parents[2] / "docs" / "answering.md"
BLOCK = re.compile(r"^    \$ openbook (?P<line>(?:ask|chat) .*)\n(?P<printed>(?:    .*\n|\n)+)", re.MULTILINE)
QUESTIONS = re.compile(r"^    \$ cat questions\.txt\n(?P<text>(?:    (?!\$).*\n)+)", re.MULTILINE)


DAYS = "LOST_AFTER_DAYS = 14"
SEEN = '"""Tell whether a parcel counts as lost: nobody has seen it for LOST_AFTER_DAYS days."""'


def marks(received: ReceivedRequest, *wanted: str) -> list[str]:
    """Return the marks of the wanted lines, if they are among the shown sources."""
    text = json.dumps(received.body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')
    places, number = dict[str, str](), ""
    for line in text.split("\n"):
        if '<source number="' in line:
            number = line.partition('<source number="')[2].partition('"')[0]
        unit, _, said = line.partition("| ")
        places.setdefault(said.strip(), f"[{number}:{unit}]")
    return [places[line] for line in wanted]


def looking(_: ReceivedRequest) -> ScriptedReply:
    calls = [
        ToolCall("call_1", "search", '{"query": "parcel lost days"}'),
        ToolCall("call_2", "find_symbol", '{"name": "is_lost"}'),
    ]
    return ScriptedReply(*calls, usage=Usage(1_412, 48))


def lost(received: ReceivedRequest) -> ScriptedReply:
    days, seen = marks(received, DAYS, SEEN)
    text = (
        f"A parcel counts as lost when nobody has seen it for `LOST_AFTER_DAYS` days {seen}. "
        f"`LOST_AFTER_DAYS` is 14 {days}. Its sender is then paid 90 crowns {days}."
    )
    return ScriptedReply(text, usage=Usage(3_290, 71))


def days(received: ReceivedRequest) -> ScriptedReply:
    (days,) = marks(received, DAYS)
    return ScriptedReply(f"After 14 days: `LOST_AFTER_DAYS` is 14 {days}.", usage=Usage(2_108, 23))


def decided(received: ReceivedRequest) -> ScriptedReply:
    (seen,) = marks(received, SEEN)
    return ScriptedReply(f"`is_lost` tells whether a parcel counts as lost {seen}.", usage=Usage(2_240, 31))


def verdicts(*found: tuple[str, str], usage: Usage) -> ScriptedReply:
    """Reply to the call that checks claims."""
    entries = ({"claim": n, "verdict": label, "quote": quote} for n, (label, quote) in enumerate(found, start=1))
    return ScriptedReply("\n".join(map(json.dumps, entries)), usage=usage)


NOBODY = "nobody has seen it for LOST_AFTER_DAYS days"
LOST_CHECKED = verdicts(("entailed", NOBODY), ("entailed", DAYS), ("not said", ""), usage=Usage(612, 78))
DAYS_CHECKED = verdicts(("entailed", DAYS), usage=Usage(520, 28))
DECIDED_CHECKED = verdicts(("entailed", "Tell whether a parcel counts as lost"), usage=Usage(540, 30))
REPHRASED = ScriptedReply("Which function decides that a parcel is lost?", usage=Usage(195, 11))
EXPANDED = ScriptedReply("LOST_AFTER_DAYS\nparcel not seen for days", usage=Usage(604, 12))
EXPANDED_TOO = ScriptedReply("def is_lost\nlost parcel check", usage=Usage(598, 10))
LEFT = ScriptedReply("Who painted the Mona Lisa?", usage=Usage(231, 8))
SCRIPTS: dict[str, list[Any]] = {
    "ask": [looking, lost, LOST_CHECKED],
    "chat": [EXPANDED, days, DAYS_CHECKED, REPHRASED, EXPANDED_TOO, decided, DECIDED_CHECKED, LEFT],
}


@pytest.mark.slow
@pytest.mark.parametrize("block", list(BLOCK.finditer(PAGE.read_text("utf-8"))), ids=lambda block: block["line"][:4])
def test_what_is_shown_is_what_is_printed(
    block: re.Match[str], fake_server: Callable[..., FakeServer], tmp_path: Path
) -> None:
    words = shlex.split(block["line"].partition(" < ")[0])
    server, harbour = fake_server(*SCRIPTS[words[0]]), copy_sample(tmp_path)
    keys = {"OPENAI_API_KEY": server.key, "OPENAI_BASE_URL": server.openai_url, "PYTHONUNBUFFERED": "1"}
    questions = QUESTIONS.search(PAGE.read_text("utf-8"))
    assert questions is not None
    (tmp_path / "questions.txt").write_text(re.sub("^    ", "", questions["text"], flags=re.MULTILINE), "utf-8")

    with (tmp_path / "questions.txt").open(encoding="utf-8") as typed:
        outcome = finish(start(*words, cwd=harbour, env=keys, stdin=typed, stderr=subprocess.STDOUT))

    expected = re.sub("^    ", "", block["printed"], flags=re.MULTILINE)
    printed = re.sub(r"^indexed .*\n", "", outcome.out)  # it says how long that took
    assert printed.strip() == expected.strip(), f"the page should show:\n{printed}"


def test_a_question_and_a_session_are_shown() -> None:
    assert {block["line"][:4] for block in BLOCK.finditer(PAGE.read_text("utf-8"))} == {"ask ", "chat"}


def test_every_stage_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")

    assert [name for name in get_args(get_type_hints(Stage)["name"]) if f"`{name}`" not in text] == []
