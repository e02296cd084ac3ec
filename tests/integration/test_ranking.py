"""What comes first, in a library of code, tests, documentation and a course, as people have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from openbook.types import Filter, View

FILES = {
    "net/client.py": '''"""Talks to the server."""

class Client:
    """Sends requests over one connection."""

    def send_request(self, request):
        """Send a request and give its response."""
        return with_retries(lambda: self._connection.send(request))

    def close(self):
        """Give the connection back."""
        self._connection.close()
''',
    "net/retry.py": '''"""Tries again what failed."""

import time

def with_retries(action, attempts=3):
    """Run an action again after a failure, waiting twice as long each time."""
    for attempt in range(attempts):
        try:
            return action()
        except ConnectionError:
            time.sleep(2 ** attempt)
    raise TooManyAttemptsError(attempts)

class TooManyAttemptsError(Exception):
    """All attempts have failed."""
''',
    "net/__init__.py": '"""Networking."""\n\nfrom net.client import Client\nfrom net.retry import with_retries\n',
    "src/cache.ts": "/** Keeps what was fetched, oldest out first. */\nexport class PageCache {\n"
    "  private pages = new Map<string, string>();\n\n  evictOldest(): void {\n"
    "    const [oldest] = this.pages.keys();\n    this.pages.delete(oldest);\n  }\n}\n",
    "src/store.go": "package store\n\n// OpenStore opens the key-value store at a path.\n"
    "func OpenStore(path string) (*Store, error) {\n\treturn &Store{path: path}, nil\n}\n",
    "tests/test_retry.py": "from net.retry import with_retries\n\n\n"
    "def test_with_retries_runs_an_action_again_after_a_failure():\n    calls = []\n\n"
    "    with_retries(lambda: calls.append(1))\n\n    assert calls == [1]\n",
    "examples/retry_demo.py": "# Run an action again after a failure with retries.\n"
    "from net.retry import with_retries\n\nprint(with_retries(lambda: 'an action run again after a failure'))\n",
    "docs/retries.md": "# Retries\n\nA failed request is sent again, three times at most.\n\n## Waiting\n\n"
    "The pause doubles after each attempt, so that a busy server can recover.\n",
    "docs/sessions.md": "# Sessions\n\nA session ends after one hour without a request. Its token can be renewed.\n",
    "docs/de/speicher.md": "# Speicher\n\nDie Zugriffsschlüssel werden verschlüsselt im Tresor abgelegt.\n",
    "docs/zh/index.md": "# 索引\n\n我们把向量索引存在一个文件里。\n",
    "CHANGELOG.md": "# Changelog\n\n## 2.0\n\n- Requests are retried after a failure, with a pause that doubles.\n"
    "- The session token can be renewed.\n",
    "LICENSE": "Permission is granted to use the client, the retries and the session token.\n",
    "course/talks.txt": "Course Title: Building Networks\nCourse Instructor: N. Noether\n\nLesson 0: Introduction\n"
    "Welcome everybody. In this course we build a client from nothing.\n\nLesson 1: Backpressure\n"
    "A slow reader must be able to slow down its writer. This is called backpressure.\n",
}


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("ranking")
    for path, text in FILES.items():
        file = folder / "project" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with Library(folder / "library.db", Settings(home=folder, workers=1)) as opened:
        opened.add(folder / "project")
        yield opened


@pytest.mark.parametrize(
    ("question", "path"),
    [
        pytest.param("with_retries", "net/retry.py", id="symbol-with-many-mentions"),
        pytest.param("TooManyAttemptsError", "net/retry.py", id="second-symbol-of-a-file"),
        pytest.param("Client.send_request", "net/client.py", id="dotted-symbol"),
        pytest.param("client", "net/client.py", id="word-that-is-a-class-in-another-case"),
        pytest.param("PageCache", "src/cache.ts", id="typescript"),
        pytest.param("where is evictOldest defined", "src/cache.ts", id="typescript-method"),
        pytest.param("OpenStore", "src/store.go", id="go"),
        pytest.param("open the key value store", "src/store.go", id="go-in-words"),
        pytest.param("running actions again after failures", "net/retry.py", id="source-before-test-and-example"),
        pytest.param("is running an action again after a failure tested", "tests/test_retry.py", id="test-when-asked"),
        pytest.param("an example of running an action again", "examples/retry_demo.py", id="example-when-asked"),
        pytest.param(
            "what changed in requests that are retried after a failure", "CHANGELOG.md", id="changelog-when-asked"
        ),
        pytest.param("under which license may I use the client", "LICENSE", id="license-when-asked"),
        pytest.param("How long does a session last without a request?", "docs/sessions.md", id="documentation"),
        pytest.param("Why does the pause double after each attempt?", "docs/retries.md", id="section"),
        pytest.param("Wo werden die Zugriffsschlüssel abgelegt?", "docs/de/speicher.md", id="german"),
        pytest.param("向量索引存在哪里？", "docs/zh/index.md", id="chinese"),
        pytest.param("what is backpressure", "course/talks.txt", id="course"),
    ],
)
def test_the_file_that_answers_comes_first(assistant: Library, question: str, path: str) -> None:
    first, *_ = assistant.search(question)

    assert first.chunk.span.path == path


@pytest.mark.parametrize(
    "question", ["with_retries", "how does a session end", "向量索引", "list all files on retries"]
)
def test_results_are_in_one_order_and_no_text_comes_twice(assistant: Library, question: str) -> None:
    results = assistant.search(question, limit=100)

    order = [(-result.score, result.chunk.key) for result in results]
    assert order == sorted(order)
    assert len({result.chunk.text for result in results}) == len(results)


@pytest.mark.parametrize("view", ["auto", "files", "passages"])
@pytest.mark.parametrize("question", ["with_retries", "how does a session end"])
def test_a_smaller_limit_gives_the_first_of_a_larger_one(assistant: Library, question: str, view: View) -> None:
    many = assistant.search(question, limit=20, view=view)

    assert assistant.search(question, limit=3, view=view) == many[:3]


@pytest.mark.parametrize(
    ("question", "view"),
    [("retries and waiting after failures", "files"), ("What is done after a failure?", "passages")],
    ids=["topic", "question"],
)
def test_unless_told_the_question_decides_on_the_view(assistant: Library, question: str, view: View) -> None:
    files, passages = (assistant.search(question, limit=100, view=each) for each in ("files", "passages"))

    paths = [result.chunk.span.path for result in files]
    assert len(set(paths)) == len(paths) < len(passages)
    assert assistant.search(question, limit=100) == (files if view == "files" else passages)


@pytest.mark.parametrize("view", ["files", "passages"])
def test_the_signals_of_every_result_sum_to_its_score(assistant: Library, view: View) -> None:
    results = assistant.search("retries after a failure", limit=100, view=view)

    assert results
    assert [sum(result.signals.values()) for result in results] == [result.score for result in results]


@pytest.mark.parametrize(
    ("where", "suffixes"),
    [
        (Filter(kinds=frozenset({"code"})), {".py", ".ts", ".go"}),
        (Filter(kinds=frozenset({"course"})), {".txt"}),
        (Filter(globs=("docs/**/*.md",)), {".md"}),
        (Filter(globs=("nowhere/*",)), set()),
    ],
    ids=["code", "course", "glob", "nothing"],
)
def test_a_filter_lets_through_what_it_names_and_nothing_else(
    assistant: Library, where: Filter, suffixes: set[str]
) -> None:
    results = assistant.search("retries of a session in the course", limit=100, where=where)

    assert {Path(result.chunk.span.path).suffix for result in results} == suffixes


def test_all_results_are_slices_of_their_files(assistant: Library) -> None:
    chunks = [result.chunk for result in assistant.search("client session store course", limit=100)]

    assert len({chunk.span.path for chunk in chunks}) > 1
    for chunk in chunks:
        assert FILES[chunk.span.path][chunk.span.start_char : chunk.span.end_char] == chunk.text


def test_the_lesson_that_answers_is_quoted_under_its_name(assistant: Library) -> None:
    answer = assistant.query("Which lessons talk about backpressure?")

    assert [citation.label for citation in answer.citations] == ["Building Networks · Lesson 1: Backpressure"]
    assert answer.quality_score == 1


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Wo werden die Zugriffsschlüssel abgelegt?", "Die Zugriffsschlüssel werden verschlüsselt im Tresor abgelegt."),
        ("向量索引存在哪里？", "我们把向量索引存在一个文件里。"),
    ],
    ids=["german", "chinese"],
)
def test_a_question_is_answered_in_the_language_of_its_source(assistant: Library, question: str, quote: str) -> None:
    answer = assistant.query(question)

    assert answer.citations[0].quote == quote
    assert answer.quality_score == 1


def test_what_the_library_does_not_know_is_refused(assistant: Library) -> None:
    answer = assistant.query("Who painted the Mona Lisa in Florence?")

    assert (answer.refused, answer.reason) == (True, "nothing relevant")
    assert "'painted', 'Mona', 'Lisa', 'Florence'" in answer.answer
