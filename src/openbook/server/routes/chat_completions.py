"""Routes that are compatible with OpenAI's API, for chat programs, editors and SDKs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from openbook.server.auth import Caller, KeyScheme, identified
from openbook.server.chat_completions import CompletionHead, as_chunks, as_completion, read_conversation
from openbook.server.failures import REFUSALS, RequestRefusedError
from openbook.server.parts import Parts
from openbook.server.question_service import PreparedQuestion, Progress, reply_of
from openbook.server.routes.questions import arrival_of, server_timing, unless_gone
from openbook.server.schemas import ChatCompletionRequest, OpenAIModelsResponse, QueryRequest

router: APIRouter = APIRouter(prefix="/v1", responses=REFUSALS)

# The name of the server's default model.
_DEFAULT = "openbook"


async def _client(request: Request, response: Response, parts: Parts, _: KeyScheme = None) -> Caller:
    """Identify a client. OpenAI clients always send a key: if none is required, any is accepted."""
    try:
        return await identified(request, response)
    except RequestRefusedError:
        if parts.authenticator.needs_key:
            raise
    request.state.caller = "client"
    return Caller("client")


Client = Annotated[Caller, Depends(_client)]


@router.get("/models")
def openai_models(parts: Parts, _: Client) -> OpenAIModelsResponse:
    """List the models in OpenAI's format. `openbook` is the default."""
    return OpenAIModelsResponse.of([_DEFAULT, *parts.models.names])


async def _admitted(
    request: Request, parts: Parts, body: ChatCompletionRequest, caller: Client
) -> AsyncIterator[PreparedQuestion]:
    question, images, history = read_conversation(body.messages)
    asked = QueryRequest(query=question, images=images, model=None if body.model == _DEFAULT else body.model)
    async with parts.asker.admitted(asked, caller, arrival_of(request, caller), history) as prepared:
        yield prepared


Admitted = Annotated[PreparedQuestion, Depends(_admitted)]


async def _begun(parts: Parts, body: ChatCompletionRequest, asked: Admitted) -> AsyncIterator[Progress]:
    """Start to answer. The answer is closed when the client disconnects."""
    async with aclosing(parts.asker.events(asked, sees_place=body.stream)) as events:
        yield events


Begun = Annotated[Progress, Depends(_begun)]


@router.post(
    "/chat/completions",
    response_class=Response,
    responses={200: {"content": {"application/json": {}, "text/event-stream": {}}}},
)
async def chat_completions(
    request: Request, parts: Parts, body: ChatCompletionRequest, asked: Admitted, events: Begun
) -> Response:
    """Answer the last message from the sources, in the format of OpenAI Chat Completions.

    Citations are numbers in the text, a list below it, `annotations`, and, with their verdicts, `citations`. The
    conversation belongs to the client: nothing of it is stored. Sampling settings and tools of the client are ignored.
    """
    model = parts.models.default if body.model == _DEFAULT else body.model
    head = CompletionHead(f"chatcmpl-{asked.session_id}", model)
    if body.stream:
        with_usage = bool(body.stream_options and body.stream_options.get("include_usage"))
        lines = as_chunks(head, events, with_usage=with_usage)
        return StreamingResponse(lines, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})

    replied = await unless_gone(request, reply_of(events))
    timing = {"Server-Timing": server_timing(replied.response.stages_ms, replied.response.took_ms)}
    return JSONResponse(as_completion(head, replied.answer, replied.response), headers=timing)
