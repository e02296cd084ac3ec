"""Programs as models: what is run, how its output is read, and how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import time
from contextlib import aclosing, closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from openbook.costs import price_of
from openbook.errors import BadRequestError, BadResponseError, CutOffError, ModelError, SettingsError, TimedOutError
from openbook.llm.choose import open_model
from openbook.llm.cli_model import CliModel, prompt_of
from openbook.llm.cli_programs import CLAUDE, CLI_PROGRAMS, CODEX, GEMINI, LLM, CliProgram
from openbook.llm.messages import (
    Message,
    ReplyFinished,
    Request,
    ShownSource,
    TextBlock,
    TextDelta,
    ToolSpec,
)
from openbook.llm.protocol import Model, acomplete, complete
from openbook.usage import PricedUsage, Usage

ASK = Request((Message.user("When is low tide?"),), system="Be brief.", deadline_s=30.0)


def python(script: str, **parts: Any) -> CliModel:
    """A program that runs a script in place of what it would run."""
    return CliModel(CliProgram(name="fake", command=(sys.executable, "-c", script), **parts))


def prints(like: CliProgram, *lines: object, errors: str = "", code: int = 0) -> CliModel:
    """A program that writes what another one would write."""
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    script = f"import sys; sys.stdout.write({text!r}); sys.stderr.write({errors!r}); sys.exit({code})"
    return python(script, output=like.output, by_line=like.by_line)


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    for _ in range(500):
        if not is_running(process):
            return True
        time.sleep(0.01)
    return False


def test_a_program_reads_the_prompt_and_its_output_is_the_reply() -> None:
    finished = complete(python("import sys; print(sys.stdin.read().upper(), end='')"), ASK)

    assert finished.message == Message.assistant("BE BRIEF.\n\nWHEN IS LOW TIDE?")
    assert not finished.usage.known


def test_any_command_can_be_named() -> None:
    script = "import sys; print(sys.argv[1], end='')"
    model = open_model(f"cli:{shlex.join([sys.executable, '-c', script, 'two words'])}")

    assert model is not None
    assert model.name == f"cli:{Path(sys.executable).name}"
    assert complete(model, ASK).message.text == "two words"


def test_a_program_is_found_from_the_folder_it_is_named_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "echo.sh"
    script.write_text("#!/bin/sh\ncat\n", encoding="ascii")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    model = open_model("cli:./echo.sh")

    assert model is not None
    assert complete(model, ASK).message.text.endswith("When is low tide?")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [("cli:", "names no program"), ("cli:no-such-program-here", "there is no program"), ("cli:say 'x", "quotation")],
)
def test_what_names_no_program_is_refused_at_once(name: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        open_model(name)


def test_a_program_runs_in_a_folder_that_has_nothing_but_its_settings(tmp_path: Path) -> None:
    script = "import os; print(os.getcwd(), *sorted(os.listdir()), sep='\\n', end='')"

    here, *files = complete(python(script, files={".fake/settings.json": "{}"}), ASK).message.text.split("\n")

    assert files == [".fake"]
    assert not Path(here).exists()


def test_rules_go_into_a_file_where_a_program_takes_one() -> None:
    script = "import sys; print(open(sys.argv[-1]).read(), sys.stdin.read(), end='')"

    assert complete(python(script, system_file="--rules"), ASK).message.text == "Be brief. When is low tide?"


def test_a_variable_can_name_the_file_of_the_rules() -> None:
    script = "import os, sys; print(open(os.environ['RULES']).read(), sys.stdin.read(), os.environ['TRUST'])"
    model = python(script, system_variable="RULES", environment={"TRUST": "yes"})

    assert complete(model, ASK).message.text == "Be brief. When is low tide? yes"


def test_the_end_of_the_last_line_is_no_part_of_a_reply() -> None:
    assert complete(python("print('At nine.\\n\\nAt ten.')"), ASK).message.text == "At nine.\n\nAt ten."


def test_a_model_is_named_by_the_option_of_the_program() -> None:
    program = CliProgram(
        name="fake", command=(sys.executable, "-c", "import sys; print(sys.argv[1:])"), model_option="-m"
    )

    assert "['-m', 'small']" in complete(CliModel(program, "small"), ASK).message.text
    assert CliModel(program, "small").name == "cli:fake:small"


def test_text_comes_while_it_is_written() -> None:
    script = "import sys, time; print('One', end='', flush=True); time.sleep(60)"

    with closing(python(script).stream(ASK)) as events:  # type: ignore[type-var]
        assert next(events) == TextDelta("One")


def test_leaving_a_stream_kills_the_program_and_what_it_started() -> None:
    script = (
        "import subprocess, sys; child = subprocess.Popen(['sleep', '60'])\nprint(child.pid, end='', flush=True)\n"
        "child.wait()"
    )
    events: Any = python(script).stream(ASK)

    child = int(next(events).text)
    assert is_running(child)
    events.close()

    assert ends(child)


def test_cancelling_a_call_kills_the_program() -> None:
    script = "import os, time; print(os.getpid(), end='', flush=True); time.sleep(60)"

    async def leave() -> int:
        async with aclosing(python(script).astream(ASK)) as events:  # type: ignore[type-var]
            first = await anext(events)
            assert isinstance(first, TextDelta)
            return int(first.text)

    assert ends(asyncio.run(leave()))


def test_a_call_that_does_not_block_gives_the_same() -> None:
    model: Model = python("import sys; print(sys.stdin.read(), end='')")

    assert asyncio.run(acomplete(model, ASK)) == complete(model, ASK)


def test_an_error_reaches_who_does_not_block() -> None:
    with pytest.raises(ModelError, match="exit code 2"):
        asyncio.run(acomplete(python("import sys; sys.exit(2)"), ASK))


@pytest.mark.slow
@pytest.mark.parametrize("script", ["import time; time.sleep(60)", "import os, time; os.close(1); time.sleep(60)"])
def test_a_program_that_takes_too_long_is_ended(script: str) -> None:
    with pytest.raises(TimedOutError, match="in time"):
        complete(python(script), Request(ASK.messages, deadline_s=0.5))


def test_a_program_that_writes_without_end_is_ended() -> None:
    with pytest.raises(BadResponseError, match="more than 16 MB"):
        complete(python("while True: print('x' * 100_000)"), ASK)


def test_a_program_that_fails_says_why_without_keys() -> None:
    script = "import sys; print('usage: x', 'no key sk-abcdef123456', sep='\\n', file=sys.stderr); sys.exit(3)"

    with pytest.raises(BadResponseError, match=r"failed with exit code 3: no key \*\*\*$"):
        complete(python(script), ASK)


def test_a_program_that_fails_after_some_words_has_broken_off() -> None:
    with pytest.raises(CutOffError):
        complete(python("import sys; print('Well'); sys.exit(1)"), ASK)


def test_a_program_is_given_no_tools() -> None:
    tools = (ToolSpec("search", "Search.", {"type": "object"}),)

    with pytest.raises(BadRequestError, match="not call tools"):
        complete(python(""), Request(ASK.messages, tools=tools))


def test_a_long_prompt_and_a_reply_before_it_is_read_do_not_wait_for_each_other() -> None:
    script = "import sys; print('x' * 1_000_000, end='', flush=True); print(len(sys.stdin.read()), end='')"
    request = Request((Message.user("y" * 1_000_000),), deadline_s=60.0)

    assert complete(python(script), request).message.text.endswith("x1000000")


def test_what_is_no_text_is_replaced() -> None:
    script = "import sys; sys.stdout.buffer.write(b'caf\\xc3\\xa9 \\xff')"

    assert complete(python(script), Request((Message.user("\ud800"),))).message.text == "café �"


def test_a_conversation_is_one_prompt() -> None:
    source = ShownSource(1, "FAQ", "faq.md:1", ("Low at noon.",))
    request = Request(
        (
            Message.user("Hi."),
            Message.assistant("Hello."),
            Message("user", (source, TextBlock("When?"))),
        )
    )

    assert prompt_of(request, "Be brief.") == (
        "Be brief.\n\nThe conversation before:\n\n<user>\nHi.\n</user>\n\n<assistant>\nHello.\n</assistant>\n\n"
        'Reply to this:\n\n<source number="1" place="faq.md:1" title="FAQ">\n1| Low at noon.\n</source>\n\nWhen?'
    )


def delta(text: str) -> dict[str, Any]:
    return {
        "type": "stream_event",
        "event": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
    }


RESULT = {
    "type": "result",
    "is_error": False,
    "result": "At noon.",
    "stop_reason": "end_turn",
    "total_cost_usd": 0.0125,
    "usage": {
        "input_tokens": 100,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 5,
        "output_tokens": 12,
    },
    "modelUsage": {"claude-opus-4-8": {}},
}


def test_claude_streams_words_and_tells_tokens_and_price() -> None:
    model = prints(CLAUDE, {"type": "system"}, "no json", delta("At "), delta("noon."), [1], RESULT)

    *events, last = model.stream(ASK)

    assert events == [TextDelta("At "), TextDelta("noon.")]
    assert isinstance(last, ReplyFinished)
    assert last.message.text == "At noon."
    assert (last.stop, last.model) == ("end", "claude-opus-4-8")
    assert last.usage == PricedUsage(112, 12, 5, 7, cost_usd=Decimal("0.0125"))
    assert price_of(model.name, last.usage) == Decimal("0.0125")


def test_claude_without_pieces_gives_its_result() -> None:
    assert complete(prints(CLAUDE, RESULT), ASK).message.text == "At noon."


@pytest.mark.parametrize(("reason", "stop"), [("max_tokens", "length"), ("refusal", "refused")])
def test_why_claude_stopped_is_told(reason: str, stop: str) -> None:
    assert complete(prints(CLAUDE, RESULT | {"stop_reason": reason}), ASK).stop == stop


def test_claude_says_what_is_wrong_in_its_result() -> None:
    failed = RESULT | {"is_error": True, "result": "Not logged in"}

    with pytest.raises(BadResponseError, match="exit code 1: Not logged in"):
        complete(prints(CLAUDE, failed, code=1), ASK)


def test_codex_gives_its_messages_and_tokens() -> None:
    said = [{"type": "item.completed", "item": {"type": "agent_message", "text": text}} for text in ("At", "noon.")]
    usage = {"input_tokens": 10, "cached_input_tokens": 2, "output_tokens": 5}
    other = {"type": "item.completed", "item": {"type": "reasoning", "text": "Hm."}}

    finished = complete(prints(CODEX, other, *said, {"type": "turn.completed", "usage": usage}), ASK)

    assert (finished.message.text, finished.usage) == ("At\n\nnoon.", Usage(10, 5, 2))
    with pytest.raises(BadResponseError, match="no credit"):
        complete(prints(CODEX, {"type": "turn.failed", "error": {"message": "no credit"}}), ASK)


def test_gemini_streams_words_and_tells_tokens() -> None:
    said = [{"type": "message", "role": role, "content": text} for role, text in [("user", "?"), ("assistant", "Noon")]]
    stats = {"input_tokens": 10, "output_tokens": 5, "cached": 2, "models": {"gemini-x": {}}}

    finished = complete(prints(GEMINI, *said, {"type": "result", "status": "success", "stats": stats}), ASK)

    assert (finished.message.text, finished.usage, finished.model) == ("Noon", Usage(10, 5, 2), "gemini-x")
    failed = {"type": "result", "status": "error", "error": {"message": "quota"}, "stats": {}}
    with pytest.raises(BadResponseError, match="quota"):
        complete(prints(GEMINI, failed), ASK)


def test_llm_tells_its_tokens_beside_the_text() -> None:
    finished = complete(prints(LLM, "At noon.", errors="Token usage: 1,210 input, 5 output\n"), ASK)

    assert (finished.message.text, finished.usage) == ("At noon.", Usage(1210, 5))


def test_each_known_program_says_how_to_install_it() -> None:
    assert all(program.install and program.command[0] == name for name, program in CLI_PROGRAMS.items())
    assert os.sep not in "".join(CLI_PROGRAMS)
