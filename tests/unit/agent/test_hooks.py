from __future__ import annotations

from dataclasses import replace

import pytest

from openbook.agent import Agent, Hooks, Veto
from openbook.llm.messages import Message, ReplyFinished, Request, ToolCall, ToolResult
from openbook.testing import ScriptedModel, ScriptedReply

CALL = ToolCall("call-1", "read", '{"path": "a.py"}')


def read(path: str) -> str:
    """Read a file.

    Args:
        path: Where it is.
    """
    return f"text of {path}"


class Diary(Hooks):
    """Writes down what it sees."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def before_model(self, request: Request) -> Request:
        self.lines.append(f"ask with {len(request.messages)}")
        return request

    def after_model(self, reply: ReplyFinished) -> ReplyFinished:
        self.lines.append(f"reply {reply.stop}")
        return reply

    def before_tool(self, call: ToolCall) -> ToolCall:
        self.lines.append(f"call {call.name}")
        return call

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        self.lines.append(f"{call.name} gave {result.text}")
        return result


def test_hooks_see_every_call_of_model_and_tools_in_order() -> None:
    diary = Diary()

    with ScriptedModel(ScriptedReply(CALL), "Done.") as model:
        Agent(model, [read], hooks=[diary]).run("Read.")

    assert diary.lines == [
        "ask with 1",
        "reply tools",
        "call read",
        "read gave text of a.py",
        "ask with 3",
        "reply end",
    ]


def test_hooks_that_do_nothing_change_nothing() -> None:
    with ScriptedModel(ScriptedReply(CALL), "Done.") as model:
        result = Agent(model, [read], hooks=[Hooks(), Hooks()]).run("Read.")

    assert result.text == "Done."
    assert model.requests[1].messages[-1].parts == (ToolResult("call-1", "text of a.py"),)


def test_hooks_change_what_is_asked_and_each_sees_what_the_one_before_gave() -> None:
    class Louder(Hooks):
        def before_model(self, request: Request) -> Request:
            return replace(request, system=request.system + "!")

    with ScriptedModel("Yes.") as model:
        Agent(model, system="Go", hooks=[Louder(), Louder()]).run("?")

    assert model.requests[0].system == "Go!!"


def test_a_hook_changes_a_reply_before_it_is_kept() -> None:
    class Redacting(Hooks):
        def after_model(self, reply: ReplyFinished) -> ReplyFinished:
            return replace(reply, message=Message.assistant(reply.message.text.replace("1234", "****")))

    with ScriptedModel("The code is 1234.") as model:
        agent = Agent(model, hooks=[Redacting()])
        result = agent.run("?")

    assert result.text == "The code is ****."
    assert agent.history[-1].text == "The code is ****."


def test_a_hook_changes_a_call_and_its_result() -> None:
    class Elsewhere(Hooks):
        def before_tool(self, call: ToolCall) -> ToolCall:
            return replace(call, id="another", arguments='{"path": "b.py"}')

        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
            return replace(result, text=result.text.upper())

    with ScriptedModel(ScriptedReply(CALL), "Done.") as model:
        Agent(model, [read], hooks=[Elsewhere()]).run("Read.")

    assert model.requests[1].messages[-1].parts == (ToolResult("call-1", "TEXT OF B.PY"),)


def test_a_call_that_is_vetoed_is_not_made_and_the_model_is_told() -> None:
    read_paths: list[str] = []

    def note(path: str) -> str:
        """Read a file.

        Args:
            path: Where it is.
        """
        read_paths.append(path)
        return path

    class Careful(Hooks):
        def before_tool(self, call: ToolCall) -> ToolCall | Veto:
            return Veto("ask me first")

    with ScriptedModel(ScriptedReply(replace(CALL, name="note")), "Well.") as model:
        result = Agent(model, [note], hooks=[Careful()]).run("Read.")

    assert read_paths == []
    assert result.text == "Well."
    assert model.requests[1].messages[-1].parts == (ToolResult("call-1", "not allowed: ask me first", is_error=True),)


def test_a_result_that_is_vetoed_is_withheld_from_the_model() -> None:
    class Guard(Hooks):
        def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult | Veto:
            return Veto("it is secret")

    with ScriptedModel(ScriptedReply(CALL), "Well.") as model:
        Agent(model, [read], hooks=[Guard()]).run("Read.")

    assert model.requests[1].messages[-1].parts == (ToolResult("call-1", "withheld: it is secret", is_error=True),)


def test_a_veto_before_the_model_ends_the_run_and_nothing_is_asked() -> None:
    class Closed(Hooks):
        def before_model(self, request: Request) -> Request | Veto:
            return Veto("closed for today")

    model = ScriptedModel()
    result = Agent(model, hooks=[Closed(), Diary()]).run("?")

    assert model.requests == []
    assert (result.text, result.stopped_by, result.reason) == ("", "veto", "closed for today")


def test_a_veto_behind_the_model_ends_the_run_and_keeps_its_reply_out() -> None:
    class Censor(Hooks):
        def after_model(self, reply: ReplyFinished) -> ReplyFinished | Veto:
            return Veto("not fit to print")

    with ScriptedModel("Nonsense.") as model:
        agent = Agent(model, hooks=[Censor()])
        result = agent.run("?")

    assert result.stopped_by == "veto"
    assert result.usage.output_tokens == 5
    assert agent.history == (Message.user("?"), Message.assistant("(not fit to print)"))


def test_what_a_hook_raises_ends_the_run() -> None:
    class Broken(Hooks):
        def before_tool(self, call: ToolCall) -> ToolCall:
            raise KeyError("bug")

    with ScriptedModel(ScriptedReply(CALL)) as model, pytest.raises(KeyError, match="bug"):
        Agent(model, [read], hooks=[Broken()]).run("Read.")
