"""`openbook chat`: a session in a terminal, or of lines that are piped in, with a model and without."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
from PIL import Image

from openbook.llm.messages import ToolCall
from openbook.testing import FakeServer, Fault, Refusal, ScriptedReply
from openbook.usage import Usage
from tests.integration.support_cli import Outcome, copy_sample, environment, finish, run, start

Start = Callable[..., FakeServer]
Captured = pytest.CaptureFixture[str]

# Bounds a wait for something that does not come; nothing here takes as long.
PATIENCE_S = 120.0


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    return copy_sample(tmp_path)


def keys(server: FakeServer) -> dict[str, str]:
    urls = {"ANTHROPIC_BASE_URL": server.anthropic_url, "OPENBOOK_QUERY_EXPANSION": "off"}
    return {"LLM_API_KEY": server.key, "ANTHROPIC_API_KEY": server.key, **urls}


def chat(
    capsys: Captured, harbour: Path, *lines: str, arguments: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> Outcome:
    """Pipe lines into a session in this process."""
    return run(capsys, "chat", *arguments, cwd=harbour, env=env, stdin="".join(f"{line}\n" for line in lines))


def chat_alone(harbour: Path, *lines: str) -> Outcome:
    """Pipe lines into a session in a process of its own."""
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as options:
        options.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
    with os.fdopen(read_end, "rb") as reading:
        return finish(start("chat", cwd=harbour, stdin=reading))


@pytest.mark.slow
def test_questions_are_answered_one_after_the_other_each_in_the_light_of_those_before(harbour: Path) -> None:
    outcome = chat_alone(
        harbour, "When does a parcel count as lost?", "", "and for how many days is it lost?", "/sources"
    )

    assert outcome.code == 0
    assert outcome.out.count("Quoted from the sources; no model wrote this.") == 2
    assert "searched for: When does a parcel count as lost? and for how many days is it lost?" in outcome.err
    assert outcome.out.count("\nSources:\n  [1]  is_lost() (harbour/parcels.py:") == 1
    # The days are in a constant, which is quoted first; `/sources` lists those of the last answer.
    assert outcome.out.count("\nSources:\n  [1]  LOST_AFTER_DAYS (harbour/parcels.py:10-11)") == 2


@pytest.mark.slow
@pytest.mark.parametrize("word", ["exit", "quit", "Q"])
def test_a_word_of_leaving_alone_ends_a_session(capsys: Captured, harbour: Path, word: str) -> None:
    outcome = chat(capsys, harbour, word, "When does a parcel count as lost?")

    assert (outcome.code, outcome.out) == (0, "")


@pytest.mark.slow
def test_the_commands_of_a_session(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    server = fake_server(ScriptedReply("Nobody knows.", usage=Usage(900, 100)), "What is a parcel?", "Still nobody.")
    name = f"{server.openai_url}#tiny"

    outcome = chat(
        capsys,
        harbour,
        *("/sources", "/model", f"/model {name}", "/model nonsense", "When does a parcel count as lost?", "/cost"),
        *("and who finds the parcel?", "/reset", "/reset now", "/what", "/", "/help", "/model extractive"),
        *("When does a parcel count as lost?", "/cost", "/quit", "never read"),
        arguments=("--model", "extractive"),
        env=keys(server),
    )

    assert outcome.code == 0, outcome
    out, err = outcome.out, outcome.err
    assert "no answer yet" in err
    assert f"answers by {name}" in out
    assert "error: model is 'nonsense': unknown provider 'nonsense'" in err
    assert "1 answer, 1,000 tokens, $0.0000, and 1 of unknown price" in out
    assert "searched for: What is a parcel?" in err
    assert "history cleared" in err
    assert "unknown command /what; type /help for a list" in err
    assert "/cost           show the cost of the session" in out
    assert out.count("answers are quotes, no model writes them") == 2
    assert "Quoted from the sources" in out
    assert "3 answers, 1,030 tokens" in out
    assert "never read" not in out + err


@pytest.mark.slow
def test_history_reaches_the_model_without_marks_and_without_quotes(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    server = fake_server("Parcels are lost after 14 days [2:7].", "Where is a lost parcel kept?", "Nobody knows.")

    chat(
        capsys,
        harbour,
        *("When does a parcel count as lost?", "and where is it kept?"),
        arguments=("--model", f"{server.openai_url}#tiny", "--verifier", "off"),
        env=keys(server),
    )

    first, rewriting, second = (received.body["messages"] for received in server.requests)
    assert [message["role"] for message in first] == ["system", "user"]
    assert "The last question: and where is it kept?" in json.dumps(rewriting)
    assert second[1]["content"] == "When does a parcel count as lost?"
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert "14 days." in second[2]["content"]
    assert "[2:7]" not in second[2]["content"]


@pytest.mark.slow
def test_a_question_that_was_refused_stays_in_the_history(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    question = "When does a parcel count as lost?"
    server = fake_server(question, "Parcels are lost after 14 days [2:7].")

    chat(
        capsys,
        harbour,
        *("Who painted the Mona Lisa?", question),
        arguments=("--model", f"{server.openai_url}#tiny"),
        env=keys(server),
    )

    messages = server.requests[-1].body["messages"]
    assert messages[1]["content"] == "Who painted the Mona Lisa?"
    assert messages[2]["content"] == "(refused: nothing relevant)"


@pytest.mark.slow
def test_an_agent_can_be_talked_to(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    call = ToolCall("call_1", "list_courses", "{}")
    server = fake_server(ScriptedReply(call), 'There is one course, "Working at the Quay" [1:1].')

    outcome = chat(
        capsys,
        harbour,
        *("Which courses are there?", "/model", "/model extractive", "/model"),
        arguments=("--agent", "--model", "anthropic", "--verifier", "off"),
        env=keys(server),
    )

    assert "list_courses {}: [1]" in outcome.err
    assert 'There is one course, "Working at the Quay" [1].' in outcome.out
    assert "answers by anthropic:claude-sonnet-5-5, with tools" in outcome.out
    assert outcome.out.endswith("answers are quotes, no model writes them\n" * 2)


def test_a_failure_ends_the_question_and_not_the_session(capsys: Captured, fake_server: Start, harbour: Path) -> None:
    server = fake_server(Refusal(400, "too clever"), "Nobody knows.")
    arguments = ("--model", f"{server.openai_url}#tiny")

    outcome = chat(
        capsys,
        harbour,
        *("?!", "When is a parcel lost?", "When is a parcel lost?"),
        arguments=arguments,
        env=keys(server),
    )
    failed = chat(capsys, harbour, "?!")

    assert outcome.err.count("error: ") == 2
    assert "the question '?!' contains no word to search for" in outcome.err
    assert "too clever" in outcome.err
    assert "Nobody knows." in outcome.out
    assert (outcome.code, failed.code) == (1, 3)


@pytest.mark.slow
def test_an_empty_input_and_one_that_is_no_text_are_read(harbour: Path) -> None:
    assert chat_alone(harbour).code == 0
    assert chat_alone(harbour, "When is a parcel \udcff lost?").out.startswith("Quoted from the sources")


@pytest.mark.slow
def test_an_input_that_was_closed_is_an_empty_one(harbour: Path) -> None:
    script = "import os, sys; os.close(0); os.execv(sys.executable, [sys.executable, '-m', 'openbook', 'chat'])"

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=harbour, capture_output=True, check=False, env=environment()
    )

    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


def test_nothing_in_a_folder_ends_a_session_before_it_begins(capsys: Captured, tmp_path: Path) -> None:
    outcome = chat(capsys, tmp_path, "Where?")

    assert outcome.code == 1
    assert "there is nothing to read" in outcome.err


class Terminal:
    """A session at a terminal. Whatever happens, it ends with its context."""

    def __init__(self, harbour: Path, *arguments: str, env: dict[str, str], interrupted: bool = False) -> None:
        self._screen, slave = pty.openpty()
        options: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave, "start_new_session": True}
        shown = {"TERM": "xterm-256color", "COLUMNS": "200", **env}
        self.process = start("chat", *arguments, cwd=harbour, env=shown, interrupted=interrupted, **options)
        os.close(slave)
        self._unread = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._screen)

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def interrupt(self, until: str) -> None:
        """Press Ctrl-C until a text comes: between the prompt and the reading of a line, one press is lost."""
        for _ in range(round(PATIENCE_S)):
            self.process.send_signal(signal.SIGINT)
            if self._comes(until, 1.0):
                return
        raise AssertionError(self._unread)

    def wait_for(self, text: str) -> None:
        """Read until a text has come behind what was waited for before."""
        assert self._comes(text, PATIENCE_S), self._unread

    def _comes(self, text: str, within_s: float) -> bool:
        ends = time.monotonic() + within_s
        while text not in self._unread:
            ready, _, _ = select.select([self._screen], [], [], max(0.0, ends - time.monotonic()))
            if not ready:
                return False
            self._unread += os.read(self._screen, 65_536).decode("utf-8", "replace")
        self._unread = self._unread.partition(text)[2]
        return True


@pytest.mark.slow
def test_ctrl_c_stops_the_answer_and_not_the_session(fake_server: Start, harbour: Path) -> None:
    held = Fault("hold", ScriptedReply("Parcels are never, ever lost at sea, they say."), after=4)
    server = fake_server(held, "Nobody knows.")
    with Terminal(harbour, "--model", f"{server.openai_url}#tiny", env=keys(server), interrupted=True) as terminal:
        terminal.wait_for("/quit to leave")
        terminal.type("When does a parcel count as lost?\r")
        terminal.wait_for("Parcels")
        terminal.interrupt(until="stopped")
        terminal.wait_for("> ")
        terminal.interrupt(until="\n\x1b[2mtype /quit to leave")
        terminal.type("When does a parcel count as lost?\r")
        terminal.wait_for("Nobody knows.")
        terminal.type("/cost\r")
        terminal.wait_for("1 answer, 15 tokens, $0.0000, and 2 of unknown price")
        terminal.type("/quit\r")

        assert terminal.process.wait(PATIENCE_S) == 1
    assert server.wait_for_disconnect()
    assert len(server.requests) == 2


@pytest.mark.slow
def test_the_end_of_the_input_ends_a_session_at_a_terminal(harbour: Path) -> None:
    with Terminal(harbour, env={}) as terminal:
        terminal.wait_for("> ")
        terminal.type("\x04")

        assert terminal.process.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_an_image_goes_with_the_next_question_and_with_those_that_follow(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    Image.new("RGB", (40, 20)).save(harbour / "screen.png")
    lost = "When does a parcel count as lost?"
    server = fake_server(lost, "Nobody knows.", lost, "Still nobody.")
    name = f"{server.openai_url}#tiny"

    outcome = chat(
        capsys,
        harbour,
        *("/image gone.png", "/image screen.png", "What is this?", "And when is it lost?", "/reset", "/image"),
        arguments=("--model", name, "--verifier", "off"),
        env=keys(server),
    )

    assert "cannot read 'gone.png'" in outcome.err
    assert "1 image with the next question" in outcome.err
    assert "0 images with the next question" in outcome.err
    sent = [json.dumps(request.body).count("data:image/png;base64,") for request in server.requests]
    assert sent == [1, 1, 1, 1]  # the follow-up is understood and answered with the image as well


def test_an_image_too_many_is_not_taken_and_the_others_go_with_the_next_question(
    capsys: Captured, fake_server: Start, harbour: Path
) -> None:
    Image.new("RGB", (40, 20)).save(harbour / "screen.png")
    lost = "When does a parcel count as lost?"
    server = fake_server(lost, "Nobody knows.")

    outcome = chat(
        capsys,
        harbour,
        *("/image screen.png",) * 6,
        lost,
        arguments=("--model", f"{server.openai_url}#tiny", "--verifier", "off"),
        env=keys(server),
    )

    assert outcome.err.count("the question has 6 images, and may have 5") == 1
    sent = [json.dumps(request.body).count("data:image/png;base64,") for request in server.requests]
    assert sent == [5, 5]  # it is understood and answered with them


def test_an_image_without_a_model_is_refused(capsys: Captured, harbour: Path) -> None:
    outcome = chat(capsys, harbour, "/image screen.png", arguments=("--model", "extractive"))

    assert "an image needs a model that reads it" in outcome.err
