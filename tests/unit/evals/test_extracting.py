"""Questions that passages answer, with the text that a right answer has."""

from __future__ import annotations

import pytest

from openbook.chunking.dispatch import chunk_document
from openbook.evals.drafting import questions_of
from openbook.evals.questions import EvalQuestion
from openbook.sources.documents import read_document

LONG = "It says much about this and that, and goes on for more than a line or two, so there is something to ask for."


def asked(path: str, text: str) -> dict[str, EvalQuestion]:
    document = read_document(text.encode(), source="s", path=path)
    return {each.text: each for chunk in chunk_document(document) for each in questions_of(chunk, path)}


@pytest.mark.parametrize(
    ("path", "text", "question", "fact", "lines"),
    [
        (
            "client.py",
            "class Client:\n    def get(self, url: str, timeout: float = 30.5) -> str:\n        return url\n",
            "What is the default of `timeout` in `get`?",
            "30.5",
            "client.py:2-2",
        ),
        (
            "limits.go",
            "package a\n\nconst MAX_OPEN_FILES = 512\n",
            "What is `MAX_OPEN_FILES` set to?",
            "512",
            "limits.go:3-3",
        ),
        (
            "pool.py",
            'def open_count():\n    """Return the number of open connections."""\n    return 1\n',
            "Which function returns the number of open connections?",
            "open_count",
            "pool.py:1-2",
        ),
        (
            "options.md",
            f"# Options\n\n{LONG}\n\n- `max-clients`: how many may connect. Default: `100`.\n",
            "What is the default of `max-clients`?",
            "100",
            "options.md:5-5",
        ),
        (
            "pages.go",
            "package a\n\nconst defaultPageSize = 30\n",
            "What is `defaultPageSize` set to?",
            "30",
            "pages.go:3-3",
        ),
        (
            "http.go",
            "package a\n\n// ExtractHeader extracts a named header from any response,\n// and saves it.\n"
            "func ExtractHeader(name string) string {\n\treturn name\n}\n\nfunc other() {}\n",
            "What does `ExtractHeader` extract?",
            "named header",
            "http.go:3-5",
        ),
        (
            "projects.go",
            "package a\n\n// OpenProjects fetches all open projects for an organization.\n"
            "func OpenProjects() int {\n\treturn 1\n}\n",
            "Which function fetches all open projects for an organization?",
            "OpenProjects",
            "projects.go:3-4",
        ),
        (
            "run.go",
            "package a\n\n// Runnable is typically a command or stub.\ntype Runnable interface {\n\tRun() error\n}\n",
            "What is `Runnable`?",
            "typically a command",
            "run.go:3-4",
        ),
        (
            "flags.md",
            f"# Flags\n\n{LONG}\n\n| flag | meaning |\n|---|---|\n| `--keep` | Keep old parcels for a week |\n",
            "What does `--keep` do?",
            "Keep old parcels",
            "flags.md:7-7",
        ),
        (
            "keys.md",
            f"# Keys\n\n{LONG}\n\n- `max_age`: the highest age of a key in days.\n",
            "What is `max_age` for?",
            "highest age of a key",
            "keys.md:5-5",
        ),
        (
            "guide.md",
            f"# Guide\n\n## Starting the server\n\nType this:\n\n```\n$ quay serve\n```\n\n{LONG}\n",
            "How do I start the server?",
            "quay serve",
            "guide.md:5-9",
        ),
    ],
)
def test_a_value_or_name_is_asked_for_and_stands_in_the_lines(
    path: str, text: str, question: str, fact: str, lines: str
) -> None:
    found = asked(path, text)

    assert found[question].facts == (fact,)
    (place,) = found[question].lines
    assert str(place) == lines
    assert fact in "\n".join(text.split("\n")[place.start_line - 1 : place.end_line])


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("Configuring the log level", "How do I configure the log level?"),
        ("How to retry failed jobs", "How do I retry failed jobs?"),
        ("Running in Docker", "How do I run in Docker?"),
        ("Why are jobs lost?", "Why are jobs lost?"),
        ("Architecture", ""),
        ("Running", ""),
        ("Lists of jobs", ""),
    ],
)
def test_a_section_is_asked_for_by_a_heading_that_asks_or_names_a_task(heading: str, question: str) -> None:
    found = asked("guide.md", f"# Guide\n\n## {heading}\n\n{LONG} {LONG}\n")

    assert list(found) == ([question] if question else [])


def test_tests_private_and_common_names_are_not_asked_for() -> None:
    said = '    """Return the number of open connections."""\n    return 1\n'

    assert asked("a.py", f"def test_open_count():\n{said}") == {}
    assert asked("b.py", f"def _open_count():\n{said}") == {}


def test_a_function_of_a_common_name_or_another_summary_is_asked_for_by_its_name() -> None:
    said = '    """Return the number of open connections."""\n    return 1\n'

    assert list(asked("a.py", f"def run():\n{said}")) == ["What does `run` return?"]
    assert list(asked("b.py", f"def open_count():\n{said.replace('Return', 'Parameters')}")) == [
        "What does `open_count` do?"
    ]


@pytest.mark.parametrize("text", ["- " * 20_000, "| " * 20_000, "const " * 20_000, "a b" * 20_000, "`" * 20_000])
def test_a_draft_of_odd_text_takes_no_time(text: str) -> None:
    assert asked("odd.md", f"# Starting it\n\n{text}\n") is not None


def test_a_short_section_is_not_asked_for() -> None:
    assert asked("guide.md", "# Guide\n\n## Running in Docker\n\nSee below.\n") == {}
