"""Uses a local program as a model: it reads a prompt on standard input, and writes the reply.

It runs in an empty folder, in a process group that is killed at the end of the call.
"""

from __future__ import annotations

import codecs
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from openbook.errors import BadRequestError, BadResponseError, CutOffError, ModelError, SettingsError, TimedOutError
from openbook.llm.attachments import check_attachments
from openbook.llm.cli_programs import CLI_PROGRAMS, CliOutput, CliProgram, read_cli_name
from openbook.llm.encoding import json_safe
from openbook.llm.failures import detail_of
from openbook.llm.messages import (
    Event,
    Message,
    ProviderCitation,
    ReplyFinished,
    Request,
    ShownSource,
    TextBlock,
    TextDelta,
    ToolResult,
)
from openbook.llm.sampling import check_sampling

CLI = "cli"
"""Prefix of program names: `cli:claude`."""

_MAX_BYTES = 16 * 1024 * 1024  # a long reply has 100 kB; in JSON, each word may come with a kilobyte of metadata
_ERROR_CHARS = 4000
_PIECE_BYTES = 65536


def open_cli_model(rest: str) -> CliModel:
    """Open the model `cli:` followed by `rest`."""
    try:
        program, model = read_cli_name(rest)
    except ValueError as exc:
        hint = "write `cli:claude`, or `cli:` and a command that reads a prompt on standard input"
        raise SettingsError(f"model is 'cli:{rest}': {exc}", hint=hint) from exc
    found = shutil.which(program.command[0])
    if found is None:
        install = f"install it: {program.install}" if program.install else "check the spelling, or give the whole path"
        raise SettingsError(f"there is no program {program.command[0]!r}", hint=install)
    # Make the path absolute, since the program runs in another folder.
    return CliModel(replace(program, command=(os.path.abspath(found), *program.command[1:])), model)  # noqa: PTH100 - a link stays one


def installed_programs() -> dict[str, str]:
    """Return the known programs with their paths; empty for those that are not installed."""
    return {f"{CLI}:{name}": shutil.which(program.command[0]) or "" for name, program in CLI_PROGRAMS.items()}


class CliModel:
    """A program as a model. It cannot call tools. Thread-safe."""

    def __init__(self, program: CliProgram, model: str = "") -> None:
        """Prepare, without starting the program. `model` is the program's name of a model; empty for its default."""
        self._program = program
        self._model = model

    @property
    def name(self) -> str:
        """`cli:` and the program, with the model if one is given."""
        return ":".join(filter(None, (CLI, self._program.name, self._model)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def stream(self, request: Request) -> Iterator[Event]:
        """Run the program. Closing the iterator kills it."""
        return _Call(self._program, self._model, self.name, request).events()

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        import asyncio

        loop = asyncio.get_running_loop()
        events: asyncio.Queue[Event | BaseException | None] = asyncio.Queue()
        call = _Call(self._program, self._model, self.name, request)

        def tell(event: Event | BaseException | None) -> None:
            with suppress(RuntimeError):  # the event loop is closed, so nobody is waiting
                loop.call_soon_threadsafe(events.put_nowait, event)

        def work() -> None:
            try:
                for event in call.events():
                    tell(event)
            except BaseException as exc:  # noqa: BLE001 - the edge of a thread: whoever waits gets it
                tell(exc)
            tell(None)

        threading.Thread(target=work, name=self.name, daemon=True).start()
        try:
            while (event := await events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            call.stop()


class _Call:
    """One run of a program."""

    def __init__(self, program: CliProgram, model: str, name: str, request: Request) -> None:
        self._program, self._model, self._name, self._request = program, model, name, request
        self._output: CliOutput = program.output()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_late = self._is_stopped = False
        self._errors: deque[str] = deque(maxlen=_ERROR_CHARS)

    def events(self) -> Iterator[Event]:
        check_sampling(self._request.sampling, frozenset(), self._name)
        check_attachments(self._request, frozenset(), self._name)
        if self._request.tools and self._request.tool_choice != "none":
            raise BadRequestError(f"{self._name} can only write, not call tools", hint="use it without tools")
        ends_s = time.monotonic() + self._request.deadline_s
        with tempfile.TemporaryDirectory(prefix="openbook-", ignore_cleanup_errors=True) as folder:
            with self._running(Path(folder)) as process:
                timer = threading.Timer(self._request.deadline_s, self._be_late)
                timer.daemon = True
                timer.start()
                try:
                    yield from map(TextDelta, self._texts(process))
                    try:
                        process.wait(max(ends_s - time.monotonic(), 0))
                    except subprocess.TimeoutExpired:
                        self._is_late = True
                finally:
                    timer.cancel()
            yield self._finished(process.returncode)

    def stop(self) -> None:
        """Kill the program and its children, from any thread."""
        with self._lock:
            self._is_stopped = True
            process = self._process
        if process is not None:
            _kill(process)

    def _be_late(self) -> None:
        self._is_late = True
        self.stop()

    @contextmanager
    def _running(self, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
        command = [*self._program.command, *((self._program.model_option, self._model) if self._model else ())]
        for path, text in self._program.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        environment = {**os.environ, **self._program.environment}
        system, option, variable = self._request.system, self._program.system_file, self._program.system_variable
        if system and (option or variable):
            (folder / "system.md").write_text(json_safe(system), encoding="utf-8")
            command += [option, "system.md"] if option else []
            environment |= {variable: str(folder / "system.md")} if variable else {}
            system = ""
        # A file instead of a pipe: a program that writes before it has read everything would block forever.
        with tempfile.TemporaryFile() as prompt:
            prompt.write(json_safe(prompt_of(self._request, system)).encode())
            prompt.seek(0)
            process = self._started(command, prompt, folder, environment)
            reader = threading.Thread(target=self._read_errors, args=(process.stderr,), daemon=True)
            reader.start()
            try:
                yield process
            finally:
                _kill(process)
                with self._lock:
                    self._process = None  # the process id may be reused
                process.wait()
                reader.join(1.0)
                for pipe in filter(None, (process.stdout, None if reader.is_alive() else process.stderr)):
                    pipe.close()  # a process that left the group may keep the other pipe open

    def _started(
        self, command: list[str], prompt: IO[bytes], folder: Path, environment: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        try:
            with self._lock:
                if self._is_stopped:
                    raise CutOffError(f"{self._name} was stopped before it began")
                self._process = subprocess.Popen(
                    command,
                    stdin=prompt,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=folder,
                    env=environment,
                    start_new_session=True,
                )
                return self._process
        except OSError as exc:
            raise SettingsError(f"{command[0]!r} cannot be run: {exc.strerror}", hint=self._program.install) from exc

    def _texts(self, process: subprocess.Popen[bytes]) -> Iterator[str]:
        """Yield the text of the reply as it arrives."""
        assert process.stdout is not None
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        size, line, is_open = 0, "", True
        while is_open:
            raw = os.read(process.stdout.fileno(), _PIECE_BYTES)
            is_open = bool(raw)
            size += len(raw)
            if size > _MAX_BYTES:
                raise BadResponseError(f"{self._name} wrote more than {_MAX_BYTES // 2**20} MB, and was stopped")
            piece = decoder.decode(raw, final=not is_open)
            if self._program.by_line:
                *lines, line = (line + piece).split("\n")
                for each in (*lines, line) if not is_open else lines:
                    yield from self._output.read(each)
            else:
                yield from self._output.read(piece)

    def _read_errors(self, pipe: IO[bytes]) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with suppress(OSError, ValueError):
            while raw := os.read(pipe.fileno(), _PIECE_BYTES):
                self._errors.extend(decoder.decode(raw))

    def _finished(self, code: int | None) -> ReplyFinished:
        errors, name = "".join(self._errors), self._name
        self._output.close(errors)
        if self._is_late:
            raise TimedOutError(
                f"{name} did not finish in time", hint="ask for less, or set OPENBOOK_MODEL_TIMEOUT_S to more seconds"
            )
        said = self._output.error or errors.strip().rpartition("\n")[2]
        if code or self._output.error:
            raise self._failure(detail_of(said, ""), code)
        text = json_safe("".join(self._output.text)).rstrip()  # programs add a line end
        parts = (TextBlock(text),) if text else ()
        return ReplyFinished(Message("assistant", parts), self._output.usage, self._output.stop, self._output.model)

    def _failure(self, detail: str, code: int | None) -> ModelError:
        how = f" with exit code {code}" if code else ""
        kind = CutOffError if self._output.text else BadResponseError
        hint = f"run {Path(self._program.command[0]).name} by itself, to see whether it works and is signed in"
        return kind(f"{self._name} failed{how}{detail}", hint=hint)


def prompt_of(request: Request, system: str) -> str:
    r"""Format a request as one prompt: system prompt, history and question.

    Example:
        >>> prompt_of(Request((Message.user("Why?"),)), "Be brief.")
        'Be brief.\n\nWhy?'
    """
    *before, last = request.messages
    told = "".join(f"<{message.role}>\n{_text_of(message)}\n</{message.role}>\n\n" for message in before)
    head = f"The conversation before:\n\n{told}Reply to this:" if told else ""
    return "\n\n".join(filter(None, (system, head, _text_of(last))))


def _text_of(message: Message) -> str:
    parts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextBlock | ToolResult):
            parts.append(part.text)
        elif isinstance(part, ShownSource):
            parts.append(str(part))
        elif isinstance(part, ProviderCitation) and parts:
            parts[-1] += f" {part}"
    return "\n\n".join(parts)


def _kill(process: subprocess.Popen[Any]) -> None:
    """Kill a program and its children."""
    with suppress(OSError):  # the process has ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
