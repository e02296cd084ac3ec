from __future__ import annotations

from dataclasses import replace

from openbook.llm.messages import (
    Message,
    OpaqueBlock,
    ProviderCitation,
    ReplyFinished,
    Request,
    ShownSource,
    TextBlock,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from openbook.llm.request_tokens import TokenEstimator, estimate_messages, estimate_request
from openbook.usage import Usage

QUESTION = Request((Message.user("What is the capital of France?"),))
ANSWER = Message.assistant("Paris.")


def followed_by(text: str) -> Request:
    return Request((*QUESTION.messages, ANSWER, Message.user(text)))


def test_every_part_of_a_message_counts() -> None:
    parts = (
        TextBlock("word " * 50),
        ToolCall("1", "read", "word " * 50),
        ToolResult("1", "word " * 50),
        ShownSource(1, "Title", "a.md:1-2", ("word " * 50,)),
        OpaqueBlock("wire", "word " * 50),
    )

    assert all(estimate_messages([Message("user", (part,))]) >= 50 for part in parts)
    assert estimate_messages([Message("assistant", (ProviderCitation(1, 2, 3),))]) > 0


def test_system_and_tools_count() -> None:
    tool = ToolSpec("read", "word " * 100, {"type": "object"})

    bare, full = Request(()), Request((), system="word " * 100, tools=(tool,))

    assert estimate_request(full) > estimate_request(bare) + 200


def test_what_was_reported_counts_as_reported() -> None:
    meter = TokenEstimator()
    meter.learn(QUESTION, ReplyFinished(ANSWER, Usage(1000, 100)))

    again = meter.max_input_tokens(Request((*QUESTION.messages, ANSWER)))

    assert again == 1100


def test_a_provider_that_counts_more_makes_the_estimates_larger() -> None:
    meter, taught = TokenEstimator(), TokenEstimator()
    taught.learn(QUESTION, ReplyFinished(ANSWER, Usage(10 * estimate_request(QUESTION), 1)))

    other = Request((Message.user("Something else."),))

    assert taught.max_input_tokens(other) >= 9 * meter.max_input_tokens(other)


def test_a_provider_that_counts_less_does_not_make_them_smaller() -> None:
    meter, taught = TokenEstimator(), TokenEstimator()
    taught.learn(QUESTION, ReplyFinished(ANSWER, Usage(1, 1)))

    other = Request((Message.user("Something else."),))

    assert taught.max_input_tokens(other) == meter.max_input_tokens(other)


def test_usage_that_is_not_known_teaches_nothing() -> None:
    meter, taught = TokenEstimator(), TokenEstimator()
    taught.learn(QUESTION, ReplyFinished(ANSWER, Usage(5, 5, known=False)))

    assert taught.max_input_tokens(followed_by("And Spain?")) == meter.max_input_tokens(followed_by("And Spain?"))


def test_another_system_prompt_is_estimated_anew() -> None:
    meter = TokenEstimator()
    meter.learn(QUESTION, ReplyFinished(ANSWER, Usage(1, 1)))

    longer = Request(QUESTION.messages, system="word " * 1000)

    assert meter.max_input_tokens(longer) >= 1000


def test_each_request_is_measured_whatever_was_measured_before() -> None:
    meter = TokenEstimator()
    short, long = meter.max_input_tokens(QUESTION), meter.max_input_tokens(Request((Message.user("word " * 500),)))

    assert long > short + 500
    assert meter.max_input_tokens(QUESTION) == short
    assert meter.max_input_tokens(replace(QUESTION, max_tokens=1)) == short
    assert meter.max_input_tokens(replace(QUESTION, system="word " * 500)) > short + 500
