"""A model: it repeats the last thing it was told."""

from collections.abc import AsyncIterator, Iterator

from openbook.llm.messages import Event, Message, ReplyFinished, Request, TextDelta


class Parrot:
    """Answers `--model parrot:COLOUR`."""

    def __init__(self, colour: str) -> None:
        self.name = f"parrot:{colour or 'grey'}"

    def stream(self, request: Request) -> Iterator[Event]:
        """Yield words while they come, and at last exactly one `ReplyFinished`."""
        said = request.messages[-1].text
        yield TextDelta(said)
        yield ReplyFinished(Message.assistant(said))

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        """Do the same without blocking."""
        for event in self.stream(request):
            yield event
