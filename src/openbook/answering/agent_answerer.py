"""Answers by a model that looks for the sources itself: an agent with tools over the library."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from openbook.agent.agent import Agent
from openbook.agent.driving import CallModel, Wait
from openbook.agent.events import AgentResult, CallFinished, RunFinished
from openbook.answering.checking import BUDGET_LIMITS, answer_of, signed
from openbook.answering.evidence import EvidenceFinder
from openbook.answering.numbering import ResultNumbering
from openbook.answering.options import AnswerOptions
from openbook.answering.prompting import (
    build_history,
    build_system_prompt,
    fill_template,
    retry_prompt,
    with_images_named,
    without_marks,
)
from openbook.answering.steps import ModelReply, Steps
from openbook.answering.tools import LibraryTools
from openbook.answering.verifiers import verifier_for
from openbook.answers import Claim, GenerationResult, Stage, ToolUsed
from openbook.costs import Budget, Price, Spent, price_of
from openbook.llm.messages import Content, Message, ReplyFinished
from openbook.llm.protocol import Model
from openbook.questions.kinds import kind_of
from openbook.types import Filter

_SOURCES = re.compile(r'^<source number="(\d+)"', re.MULTILINE)


class AgentAnswerer:
    """Have a model answer one question with tools over the library."""

    def __init__(
        self,
        model: Model,
        options: AnswerOptions,
        finder: EvidenceFinder,
        *,
        where: Filter,
        price: Price = price_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare. `where`: the filter of visible documents; `clock`: seconds, for `max_seconds`."""
        self._model = model
        self._writing = options
        self._finder = finder
        self._price = price
        self._clock = clock
        self._numbering = ResultNumbering()
        self._tools = (*LibraryTools(finder, where, self._numbering).functions, *options.own_tools)

    def explore(self, query: str) -> Steps[GenerationResult]:
        """Let the model search and answer, and check its answer."""
        options = self._writing
        agent = self._agent(options.budget, build_history(options.history))
        yield Stage("writing")
        result = yield from _run(agent, [*options.attached, with_images_named(query, options.attached)])
        spent = [agent.spent]
        if result.stopped_by == "repeated_call":
            agent = self._agent(replace(agent.left, max_rounds=0), agent.history)
            last = yield from _run(agent, fill_template("last_turn"))
            spent.append(agent.spent)
            # The loop is what stopped it, unless there is nothing left to pay for the last turn.
            stopped_by = last.stopped_by if last.stopped_by in BUDGET_LIMITS else result.stopped_by
            result = replace(last, stopped_by=stopped_by, reason=last.reason or result.reason)
        reply = _reply(result)
        left = [agent.left]
        verifier = verifier_for(options, lambda: left[-1], price=self._price)

        def retry(failing: Sequence[Claim]) -> Steps[ModelReply]:
            left_now = (verifier and verifier.left) or agent.left  # the check was paid from the same budget
            again = self._agent(replace(left_now, max_rounds=0), agent.history)
            result = yield from _run(again, retry_prompt(failing), is_retry=True)
            spent.append(again.spent)
            left.append(again.left)
            return ModelReply(result.text, result.stop, result.stopped_by, result.reason)

        context = self._numbering.context
        if not context.shown and reply.text.strip() and kind_of(query) == "small talk":
            told = GenerationResult(query, without_marks(reply.text).strip())
            return signed(told, self._model, sum(spent, Spent()))
        answer = yield from answer_of(
            query, reply, context, self._finder, options.policy, verifier=verifier, ask_again=retry
        )
        return signed(answer, self._model, sum(spent, verifier.spent if verifier else Spent()))

    def _agent(self, budget: Budget, history: Sequence[Message]) -> Agent:
        return Agent(
            self._model,
            self._tools,
            system=build_system_prompt(tools=True),
            budget=budget,
            hooks=(self._numbering,),
            history=history,
            sampling=self._writing.sampling,
            max_reply_tokens=self._writing.max_answer_tokens,
            deadline_s=self._writing.timeout_s,
            price=self._price,
            clock=self._clock,
        )


def _run(agent: Agent, query: Content, *, is_retry: bool = False) -> Steps[AgentResult]:
    """Yield the steps of a run. A retry is not streamed, and its failure is no error."""
    reply: ReplyFinished | None = None
    failure = ""
    with closing(agent.steps(query)) as steps:
        while True:
            step, reply = steps.send(reply), None
            if isinstance(step, CallModel):
                reply = yield replace(step, is_answer=not is_retry, may_fail=is_retry)
                failure = reply.failure if reply else ""
            elif isinstance(step, Wait):
                yield step
            elif isinstance(step, CallFinished):
                yield ToolUsed(step.call.name, step.call.arguments, _outcome(step))
            elif isinstance(step, RunFinished):
                return replace(step.result, reason=failure) if failure else step.result


def _outcome(event: CallFinished) -> str:
    if event.result.is_error:
        return event.result.text.partition("\n")[0]
    numbers = _SOURCES.findall(event.result.text)
    if not numbers:
        return "nothing new"
    return f"[{numbers[0]}]" if len(numbers) == 1 else f"[{numbers[0]}] to [{numbers[-1]}]"


def _reply(result: AgentResult) -> ModelReply:
    # The last text of a run that was stopped may precede a tool call.
    answered = result.messages[-1].text == result.text
    return ModelReply(result.text if answered else "", result.stop, result.stopped_by, result.reason)
