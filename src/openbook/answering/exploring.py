"""Answers by a model that looks for the sources itself: an agent with tools over the library."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from decimal import Decimal

from openbook.agent.agent import Agent
from openbook.agent.events import AgentResult, CallFinished, RunFinished
from openbook.answering.calling import closed_at_end
from openbook.answering.citations import TextNow
from openbook.answering.finding import Finder
from openbook.answering.numbering import Numbering
from openbook.answering.prompting import build_history, build_system_prompt, retry_prompt
from openbook.answering.replies import Reply, answer_of, signed
from openbook.answering.tools import LibraryTools
from openbook.answering.writing import Writing
from openbook.costs import Budget, Price, Spent, price_of
from openbook.generation import Claim, GenerationResult, ToolUsed, Written
from openbook.llm.messages import Message, TextDelta
from openbook.llm.protocol import Model
from openbook.types import Filter

_SOURCES = re.compile(r'^<source number="(\d+)"', re.MULTILINE)


class Explorer:
    """Answers one question with an agent."""

    def __init__(
        self,
        model: Model,
        writing: Writing,
        finder: Finder,
        text_now: TextNow,
        *,
        where: Filter,
        price: Price = price_of,
    ) -> None:
        """Prepare; `where` is what may be seen at all."""
        self._model = model
        self._writing = writing
        self._finder = finder
        self._text_now = text_now
        self._price = price
        self._numbering = Numbering()
        self._tools = LibraryTools(finder, where, self._numbering).functions

    def explore(self, query: str) -> Generator[Written | ToolUsed, None, GenerationResult]:
        """Give the words and tool calls of the model as they come, then the checked answer.

        Raises:
            ModelError: The model did not answer.
        """
        writing = self._writing
        agent = self._agent(writing.budget, build_history(writing.history))
        reply = _reply((yield from _run(agent, query)))
        spent = [agent.spent]

        def retry(failing: Sequence[Claim]) -> str:
            again = self._agent(_without_tools(writing.budget, agent.spent), agent.history)
            text = again.run(retry_prompt(failing)).text
            spent.append(again.spent)
            return text

        context = self._numbering.context
        answer = answer_of(query, reply, context, self._finder, self._text_now, policy=writing.policy, retry=retry)
        return signed(answer, self._model, sum(spent, Spent()))

    def _agent(self, budget: Budget, history: Sequence[Message]) -> Agent:
        return Agent(
            self._model,
            self._tools,
            system=build_system_prompt(tools=True),
            budget=budget,
            hooks=(self._numbering,),
            history=history,
            max_reply_tokens=self._writing.max_answer_tokens,
            price=self._price,
        )


def _run(agent: Agent, query: str) -> Generator[Written | ToolUsed, None, AgentResult]:
    with closed_at_end(agent.stream(query)) as events:
        for event in events:
            if isinstance(event, TextDelta):
                yield Written(event.text)
            elif isinstance(event, CallFinished):
                yield ToolUsed(event.call.name, event.call.arguments, _outcome(event))
            elif isinstance(event, RunFinished):
                return event.result
    raise AssertionError("a run ends with its result")


def _outcome(event: CallFinished) -> str:
    if event.result.is_error:
        return event.result.text.partition("\n")[0]
    numbers = _SOURCES.findall(event.result.text)
    if not numbers:
        return "nothing new"
    return f"[{numbers[0]}]" if len(numbers) == 1 else f"[{numbers[0]}] to [{numbers[-1]}]"


def _reply(result: AgentResult) -> Reply:
    # Of a run that was stopped, the last words may be those with which the model called its tools.
    answered = result.messages[-1].text == result.text
    return Reply(result.text if answered else "", result.stop, result.stopped_by, result.reason)


def _without_tools(budget: Budget, spent: Spent) -> Budget:
    """Give what is left of a budget for one more reply."""
    used = spent.usage.input_tokens + spent.usage.output_tokens
    return replace(
        budget,
        max_rounds=0,
        max_tokens=None if budget.max_tokens is None else max(0, budget.max_tokens - used),
        max_usd=None if budget.max_usd is None else max(Decimal(0), Decimal(str(budget.max_usd)) - spent.known_usd),
    )
