"""`openbook ask` with a model, behind a server that speaks the real wires."""

from __future__ import annotations

import json
import os
import pty
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from openbook.llm.messages import ProviderCitation, TextBlock, ToolCall
from openbook.testing import FakeServer, Refusal, ScriptedReply
from openbook.usage import Usage
from tests.integration.support_cli import Outcome, assert_fails_clearly, copy_sample, finish, run, run_alone, start

Start = Callable[..., FakeServer]
Captured = pytest.CaptureFixture[str]

QUESTION = "When does a parcel count as lost?"
SEARCH = ToolCall("call_1", "search", json.dumps({"query": QUESTION}))
SYMBOL = ToolCall("call_2", "find_symbol", json.dumps({"name": "is_lost"}))


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    return copy_sample(tmp_path)


def keys(server: FakeServer, query_expansion: str = "off") -> dict[str, str]:
    urls = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENBOOK_QUERY_EXPANSION": query_expansion}
    return {"ANTHROPIC_API_KEY": server.key, "LLM_API_KEY": server.key, **urls}


def ask(capsys: Captured, server: FakeServer, harbour: Path, *arguments: str, model: str = "") -> Outcome:
    name = model or f"{server.openai_url}#tiny"
    return run(capsys, "ask", QUESTION, "--model", name, *arguments, cwd=harbour, env=keys(server))


def text_sent(body: Any) -> str:
    """Return all that a request says, as one text."""
    return json.dumps(body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def answer_by_mark(received: Any) -> ScriptedReply:
    """Cite the unit that says how long it takes, wherever it is shown."""
    text, number = text_sent(received.body), ""
    for line in text.split("\n"):
        if line.startswith('<source number="') or '<source number="' in line:
            number = line.split('<source number="')[1].split('"')[0]
        if line.endswith("| LOST_AFTER_DAYS = 14"):
            return ScriptedReply(
                f"A parcel is lost after 14 days: `LOST_AFTER_DAYS` [{number}:{line.partition('|')[0]}]."
            )
    raise AssertionError("the line was not shown")


def verdict(label: str, quote: str = "", claim: int = 1) -> str:
    """Write what a verifier says of a claim."""
    return json.dumps({"claim": claim, "verdict": label, "quote": quote})


CONFIRMS = verdict("entailed", "LOST_AFTER_DAYS = 14")


@pytest.mark.slow
def test_a_model_answers_from_fenced_sources_and_is_checked(fake_server: Start, harbour: Path) -> None:
    server = fake_server(answer_by_mark, CONFIRMS)

    name = f"{server.openai_url}#tiny"

    outcome = run_alone("ask", QUESTION, "--model", name, cwd=harbour, env=keys(server))

    assert outcome.code == 0, outcome
    assert outcome.out.startswith("A parcel is lost after 14 days: `LOST_AFTER_DAYS` [")
    assert "harbour/parcels.py:11  confirmed" in outcome.out
    assert "Not verified" not in outcome.out
    assert "#tiny: 20 tokens read, 10 written, price unknown" in outcome.err
    assert server.key not in outcome.out + outcome.err
    assert text_sent(server.requests[1].body).count("<source ") == 1  # it is shown what is cited, and nothing else
    assert "LOST_AFTER_DAYS = 14" in text_sent(server.requests[1].body)


@pytest.mark.slow
def test_a_model_writes_other_searches_first(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    server = fake_server("LOST_AFTER_DAYS\nparcel not seen days\n", answer_by_mark, CONFIRMS)

    outcome = run(
        capsys,
        "ask",
        QUESTION,
        "--model",
        f"{server.openai_url}#tiny",
        cwd=harbour,
        env=keys(server, query_expansion="on"),
    )

    assert outcome.code == 0, outcome
    assert outcome.out.startswith("A parcel is lost after 14 days")
    assert "searched also for: LOST_AFTER_DAYS, parcel not seen days\n" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("said", ["flag", "environment"])
def test_without_a_verifier_nobody_is_asked_twice_and_nothing_is_alarming(
    capsys: Captured, fake_server: Start, harbour: Path, said: str
) -> None:
    server = fake_server(answer_by_mark)
    named = ("--model", f"{server.openai_url}#tiny", *(("--verifier", "off") if said == "flag" else ()))
    env = keys(server) | ({"OPENBOOK_VERIFIER": "off"} if said == "environment" else {})

    outcome = run(capsys, "ask", QUESTION, *named, cwd=harbour, env=env)

    assert outcome.code == 0
    assert "harbour/parcels.py:11  unverified" in outcome.out
    assert "Not verified (1 of 1 claim):\n  1 claim: nothing checked whether the cited lines say it\n" in outcome.out
    assert "Look at these" not in outcome.out
    assert len(server.requests) == 1


@pytest.mark.slow
def test_another_model_can_check(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    server, checker = fake_server(answer_by_mark), fake_server(CONFIRMS)
    verifier = f"{checker.openai_url}#checker"
    env = {**keys(server), "LLM_API_KEY": checker.key}

    outcome = run(capsys,
        "ask", QUESTION, "--model", f"{server.openai_url}#tiny", "--verifier", verifier, "--json",
        cwd=harbour, env=env,
    )  # fmt: skip

    answer = json.loads(outcome.out)
    assert [claim["verdict"] for claim in answer["claims"]] == ["confirmed"]
    assert answer["verifier"].endswith("#checker")
    assert f"#tiny, checked by {answer['verifier']}: 20 tokens read" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("refusal", "reason"),
    [
        pytest.param(Refusal(400, "too clever"), "the verifier failed", id="it-fails"),
        pytest.param("I think all is well.", "the verifier gave no verdict on it", id="it-babbles"),
    ],
)
def test_a_verifier_that_fails_costs_nothing_but_its_verdicts(
    capsys: Captured, fake_server: Start, harbour: Path, refusal: Refusal | str, reason: str
) -> None:
    server = fake_server(answer_by_mark, refusal)

    outcome = ask(capsys, server, harbour)

    assert outcome.code == 0
    assert outcome.out.startswith("A parcel is lost after 14 days")
    assert f"1 claim: {reason}" in outcome.out


@pytest.mark.slow
def test_an_answer_is_a_failed_check_only_if_all_that_it_cites_is_wrong(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    def in_part(received: Any) -> ScriptedReply:
        text = answer_by_mark(received).message.text
        return ScriptedReply(f"{text} {text.replace('14', '41')}")

    def wholly(received: Any) -> ScriptedReply:
        return ScriptedReply(answer_by_mark(received).message.text.replace("14", "41"))

    server = fake_server(in_part, wholly, "A parcel counts as lost after 14 days [1:999].")

    one_of_two, all_of_it, unknown = (ask(capsys, server, harbour, "--verifier", "off") for _ in range(3))

    assert (one_of_two.code, all_of_it.code, unknown.code) == (0, 1, 1)
    assert all("conflict: the number 41 days is not in the cited lines" in it.out for it in (one_of_two, all_of_it))
    assert "Problems (1 of 2 claims):" in one_of_two.out
    assert "missing or changed\nhint: read the cited places\n" in all_of_it.err
    assert "missing or changed\nhint: ask again: the answer cites what it was not shown\n" in unknown.err


@pytest.mark.slow
def test_an_answer_without_citations_says_so_and_quotes_below(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server("A parcel is lost after 14 days.")

    outcome = ask(capsys, server, harbour)

    answer, _, details = outcome.out.partition("\nSources:\n")
    assert outcome.code == 0
    assert answer.startswith("A parcel is lost after 14 days.\n\n*The answer above cites no source")
    assert "Tell whether a parcel counts as lost" in answer
    assert "  exact" in details
    assert "1 claim: it states facts and cites nothing" in details
    assert len(server.requests) == 1  # there is nothing to verify


def test_a_filter_of_the_provider_is_not_told_to_be_the_fault_of_the_sources(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server(ScriptedReply("", stop="filtered"))

    outcome = ask(capsys, server, harbour)

    assert outcome.code == 1
    assert outcome.out.startswith("The content filter of the model's provider withheld the answer.")
    assert outcome.err.endswith("no answer: filtered\n")


@pytest.mark.slow
def test_anthropics_own_citations_pass_the_same_check(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    def cite(received: Any) -> ScriptedReply:
        sources = [block for block in received.body["messages"][-1]["content"] if block["type"] == "search_result"]
        place = next(
            (number, unit)
            for number, source in enumerate(sources, start=1)
            for unit, block in enumerate(source["content"], start=1)
            if block["text"] == "LOST_AFTER_DAYS = 14"
        )
        cited = ProviderCitation(place[0], place[1], place[1])
        return ScriptedReply(TextBlock("`LOST_AFTER_DAYS` is 14."), cited, usage=Usage(2_000, 40))

    server = fake_server(cite, CONFIRMS)

    outcome = ask(capsys, server, harbour, "--json", model="anthropic:claude-sonnet-5-5")

    answer = json.loads(outcome.out)
    assert [(citation["path"], citation["verdict"]) for citation in answer["citations"]] == [
        ("harbour/parcels.py", "confirmed")
    ]
    assert answer["answer"].startswith("`LOST_AFTER_DAYS` is 14. [")
    assert answer["model"] == "anthropic:claude-sonnet-5-5"
    assert 0 < answer["cost_usd"] < 0.1
    assert len(answer["prompts"]) == 12
    assert server.requests[0].body["stream"] is True


@pytest.mark.slow
def test_an_agent_searches_reads_and_answers_within_its_budget(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server(ScriptedReply(TextBlock("I will look."), SEARCH, SYMBOL), answer_by_mark, CONFIRMS)

    outcome = ask(capsys, server, harbour, "--agent", "--max-rounds", "1", "--max-usd", "0.50", model="anthropic")

    assert outcome.code == 0, outcome
    assert 'search {"query": "When does a parcel count as lost?"}: [1] to [' in outcome.err
    assert "stopped early: max_rounds" in outcome.err
    assert "LOST_AFTER_DAYS (harbour/parcels.py:11)  confirmed" in outcome.out
    assert "I will look" not in outcome.out
    assert server.requests[1].body["tool_choice"] == {"type": "none"}
    assert {tool["name"] for tool in server.requests[0].body["tools"]} >= {"search", "read_lines", "list_courses"}


@pytest.mark.slow
def test_a_limit_that_cannot_be_kept_is_told_and_nothing_is_sent(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server()

    for options in (["--agent"], []):
        outcome = ask(capsys, server, harbour, *options, "--max-usd", "0.01")

        assert outcome.code == 1
        assert "price of" in outcome.out
        assert "stopped early: max_usd" in outcome.err
    assert server.requests == []


@pytest.mark.slow
def test_what_the_sources_do_not_speak_of_is_not_sent_anywhere(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server()

    outcome = run(capsys,
        "ask", "What is the recipe for sourdough bread?", "--model", f"{server.openai_url}#tiny",
        cwd=harbour, env=keys(server),
    )  # fmt: skip

    assert outcome.code == 1
    assert "The closest matches are about" in outcome.out
    assert "#tiny: not asked" in outcome.err
    assert server.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "calls"), [("flag", 1), ("drop", 1), ("retry", 2)])
def test_the_policy_reaches_the_check(
    capsys: Captured, fake_server: Start, harbour: Path, policy: str, calls: int
) -> None:
    def half_wrong(received: Any) -> ScriptedReply:
        return ScriptedReply(
            f"{answer_by_mark(received).message.text} Bananas are sweet, yellow and 90 years old [1:1]."
        )

    server = fake_server(half_wrong, *[answer_by_mark] * (calls - 1))

    outcome = ask(capsys, server, harbour, "--policy", policy, "--verifier", "off")

    assert outcome.code == 0
    answer, _, details = outcome.out.partition("\nSources:\n")
    assert ("Bananas" in answer) == (policy == "flag")
    assert ("Problems (1 of 2 claims)" in details) == (policy == "flag")
    assert len(server.requests) == calls


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        pytest.param(["--model", "groq"], 3, ["groq needs a key", "GROQ_API_KEY"], id="no-key"),
        pytest.param(["--model", "gpt"], 2, ["unknown provider 'gpt'"], id="no-model"),
        pytest.param(["--agent"], 2, ["--agent", "needs a model"], id="agent-without-model"),
        pytest.param(["--seed", "0"], 2, ["--seed", "needs a model"], id="seed-without-model"),
        pytest.param(["--temperature", "0"], 2, ["--temperature", "needs a model"], id="temperature-without-model"),
        pytest.param(
            ["--policy", "hope"], 2, ["--policy", "'hope' is not valid; choose from flag, drop, retry"], id="policy"
        ),
        pytest.param(["--max-usd", "-1"], 2, ["--max-usd"], id="negative-budget"),
        pytest.param(["--max-usd", "nan"], 2, ["--max-usd", "not a number"], id="no-budget"),
    ],
)
def test_what_cannot_be_asked_is_told_before_anything_is_indexed(
    capsys: Captured, harbour: Path, arguments: list[str], code: int, words: list[str]
) -> None:
    outcome = run(capsys, "ask", QUESTION, *arguments, cwd=harbour)

    assert_fails_clearly(outcome, code, *words)
    assert "indexed" not in outcome.err


@pytest.mark.slow
def test_replies_are_kept_in_a_folder_on_request(
    capsys: Captured, fake_server: Start, harbour: Path, tmp_path: Path
) -> None:
    server = fake_server(answer_by_mark, CONFIRMS)  # a third call would be one too many
    variables = keys(server) | {"OPENBOOK_REPLY_CACHE": str(tmp_path / "replies")}
    words = ("ask", QUESTION, "--model", f"{server.openai_url}#tiny")

    first, second = (run(capsys, *words, cwd=harbour, env=variables) for _ in range(2))

    assert first.code == second.code == 0, second
    assert first.out == second.out
    assert "#tiny: not asked" in second.err


@pytest.mark.slow
def test_the_second_model_answers_where_the_first_is_overloaded(fake_server: Start, harbour: Path) -> None:
    server = fake_server(Refusal(402), answer_by_mark)
    names = f"{server.openai_url}#tiny,{server.openai_url}#other"

    options = ("--verifier", "off", "--temperature", "0", "--seed", "7")
    outcome = run_alone("ask", QUESTION, "--model", names, *options, cwd=harbour, env=keys(server))

    assert outcome.code == 0, outcome
    assert "#tiny did not answer" in outcome.err
    assert [received.body["model"] for received in server.requests] == ["tiny", "other"]
    assert (server.requests[1].body["temperature"], server.requests[1].body["seed"]) == (0, 7)


def test_a_temperature_that_the_model_does_not_take_is_told_and_nothing_is_sent(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server()

    assert_fails_clearly(
        ask(capsys, server, harbour, "--temperature", "0", model="anthropic"), 3, "does not take temperature"
    )
    assert not server.requests


def test_a_model_that_refuses_is_one_line_with_a_hint(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    server = fake_server(Refusal(404, "no such model"))

    outcome = ask(capsys, server, harbour)

    assert_fails_clearly(outcome, 3, "(404): no such model")


@pytest.mark.slow
def test_a_terminal_shows_the_words_while_they_are_written_and_then_the_checked_answer(
    fake_server: Start, harbour: Path
) -> None:
    server = fake_server(
        ScriptedReply("I look [red]here[/red].", SEARCH),
        "Parcels are [bold]burnt[/bold] after 14 days.\x1b]0;owned\x07 [1:1]",
    )
    screen, slave = pty.openpty()
    options: dict[str, Any] = {"stdout": slave, "stderr": slave}
    env = {**keys(server), "TERM": "xterm-256color", "COLUMNS": "100"}

    named = ("--model", f"{server.openai_url}#tiny", "--agent", "--verifier", "off")
    process = start("ask", QUESTION, *named, cwd=harbour, env=env, **options)
    os.close(slave)
    shown = b""
    try:
        while read := os.read(screen, 65_536):
            shown += read
    except OSError:
        pass  # how Linux says that the other side is closed
    os.close(screen)
    finish(process)

    text = shown.decode()
    assert text.index("I look [red]here[/red].") < text.index("search {")
    written = text.index("Parcels are [bold]burnt")
    assert text.index("Sources:", written) > written
    assert "\x1b]0;owned" not in text


@pytest.mark.parametrize(
    ("options", "said", "confirmed"),
    [((), (CONFIRMS,), 1.0), (("--verifier", "off"), (), None)],
    ids=["verified", "not-verified"],
)
def test_questions_of_a_set_can_be_put_to_a_model(
    capsys: Captured,
    fake_server: Start,
    harbour: Path,
    options: tuple[str, ...],
    said: tuple[str, ...],
    confirmed: float | None,
) -> None:
    server = fake_server(answer_by_mark, *said)
    questions = harbour / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTION, "facts": ["14 days"]}) + "\n", encoding="utf-8")

    outcome = run(capsys,
        "eval", str(questions), "harbour", "--model", f"{server.openai_url}#tiny", *options, "--json",
        cwd=harbour, env=keys(server),
    )  # fmt: skip

    figures = json.loads(outcome.out)
    assert (figures["figures"]["confirmed"], figures["figures"]["conflicts"]) == (confirmed, 0.0)
    assert figures["model"].endswith("#tiny")
    assert outcome.code == 0


@pytest.mark.slow
def test_a_question_about_an_image_is_put_into_words_and_answered(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    Image.new("RGB", (40, 20)).save(harbour / "screen.png")
    server = fake_server(QUESTION, answer_by_mark, CONFIRMS)
    name = f"{server.openai_url}#tiny"

    outcome = run(
        capsys, *("ask", "What is this?", "--image", "screen.png", "--model", name), cwd=harbour, env=keys(server)
    )

    assert outcome.code == 0, outcome
    assert f"searched for: {QUESTION}" in outcome.err
    assert "harbour/parcels.py:11  confirmed" in outcome.out
    assert [text_sent(request.body).count("data:image/png;base64,") for request in server.requests] == [1, 1, 0]


@pytest.mark.slow
def test_what_is_wrong_with_an_image_is_said_before_anything_is_sent(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    (harbour / "notes.png").write_text("no image", encoding="utf-8")
    Image.new("RGB", (40, 20)).save(harbour / "screen.png")
    server = fake_server()
    groq = {**keys(server), "GROQ_API_KEY": "none"}

    assert_fails_clearly(
        ask(capsys, server, harbour, "--image", "gone.png"), 2, "cannot read 'gone.png'", "check the path"
    )
    assert_fails_clearly(ask(capsys, server, harbour, "--image", "notes.png"), 2, "notes.png is no image", "PNG, JPEG")
    assert_fails_clearly(
        ask(capsys, server, harbour, *(["--image", "screen.png"] * 6)), 2, "has 6 images", "leave some out"
    )
    assert_fails_clearly(
        ask(capsys, server, harbour, "--image", "screen.png", model="extractive"), 2, "--image needs a model"
    )
    unread = run(
        capsys,
        *("ask", QUESTION, "--image", "screen.png", "--model", "groq:openai/gpt-oss-120b"),
        cwd=harbour,
        env=groq,
    )
    assert_fails_clearly(unread, 3, "groq:openai/gpt-oss-120b does not read images", "name another model")
