"""How many tokens a server takes, as llama.cpp and Ollama tell it, and what is made of servers that do not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from openbook.llm.context_size import context_size
from openbook.llm.providers import LLAMACPP, OLLAMA, OPENAI

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

PROPS = {"default_generation_settings": {"n_ctx": 8192, "params": {}}, "total_slots": 1}
SHOW = {"parameters": 'stop  "<|im_end|>"\nnum_ctx                        16384', "model_info": {"a.context_length": 1}}


@contextmanager
def serving(replies: Mapping[str, object]) -> Iterator[tuple[str, list[str]]]:
    """Serve JSON by the method and path of a request. Give the address, and what is asked."""
    asked: list[str] = []

    class Exchange(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            asked.append(f"{self.command} {self.path}")
            reply = replies.get(asked[-1])
            self.send_response(404 if reply is None else 200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Exchange) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.slow
def test_llama_cpp_tells_by_its_properties() -> None:
    with serving({"GET /props": PROPS}) as (url, asked):
        assert context_size(replace(LLAMACPP, url=f"{url}/v1"), "qwen3") == 8192
    assert asked == ["GET /props"]


@pytest.mark.slow
def test_a_prefix_of_the_address_stays() -> None:
    with serving({"GET /openai/props": PROPS}) as (url, _):
        assert context_size(replace(LLAMACPP, url=f"{url}/openai/v1/"), "qwen3") == 8192


@pytest.mark.slow
def test_ollama_tells_by_the_parameters_of_the_model() -> None:
    with serving({"POST /api/show": SHOW}) as (url, _):
        assert context_size(replace(OLLAMA, url=f"{url}/v1"), "qwen3:4b") == 16384


@pytest.mark.slow
def test_ollama_tells_what_a_loaded_model_has_been_given() -> None:
    loaded = {
        "models": [{"name": "other:latest", "context_length": 1}, {"name": "qwen3:latest", "context_length": 4096}]
    }
    silent = {"parameters": "top_k 20"}
    with serving({"POST /api/show": silent, "GET /api/ps": loaded}) as (url, asked):
        assert context_size(replace(OLLAMA, url=f"{url}/v1"), "qwen3") == 4096
        assert context_size(replace(OLLAMA, url=f"{url}/v1"), "gemma3:4b") is None
    assert asked[:3] == ["GET /props", "POST /api/show", "GET /api/ps"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "replies",
    [
        {},
        {"GET /api/ps": {"models": [{"name": "tiny"}]}},
        {"GET /props": [], "POST /api/show": []},
        {"GET /props": {"default_generation_settings": {}}, "POST /api/show": {"parameters": "top_k 20"}},
    ],
)
def test_a_server_that_does_not_tell_is_not_guessed_at(replies: Mapping[str, object]) -> None:
    with serving(replies) as (url, _):
        assert context_size(replace(LLAMACPP, url=f"{url}/v1"), "tiny") is None


@pytest.mark.slow
def test_a_server_that_is_not_there_and_a_provider_with_a_key_tell_nothing(free_port: int) -> None:
    assert context_size(replace(LLAMACPP, url=f"http://127.0.0.1:{free_port}/v1"), "tiny") is None
    with serving({"GET /props": PROPS}) as (url, asked):
        assert context_size(replace(OPENAI, url=f"{url}/v1"), "gpt-4o") is None
    assert not asked
