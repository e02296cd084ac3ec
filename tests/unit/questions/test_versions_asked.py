"""Questions for required versions, and the lines that state them."""

from __future__ import annotations

import pytest

from openbook.questions.question import read_question
from openbook.questions.versions_asked import is_manifest, versions_of


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("Which versions of Ruby, Rails and Postgres do I need?", ("ruby", "rails", "postgres")),
        ("what version of tidelib is required", ("tidelib",)),
        ("supported version of tidelib", ("tidelib",)),
        ("which python version does it run on", ("python",)),
        ("minimum go version to build it", ("go",)),
        ("What is the oldest Ruby version that works?", ("ruby",)),
        ("which python 3 version does it run on", ("python",)),
        ("required tidelib version", ("tidelib",)),
        ("node version needed", ("node",)),
        ("Python versions supported?", ("python",)),
        ("oldest elixir and erlang it works with", ("elixir", "erlang")),
        ("lowest sonar level", ("sonar",)),
        ("does it work with tidelib 3", ("tidelib",)),
        ("Can it be built on Python-3.9?", ("python",)),
        ("which node do I need", ("node",)),
        ("what jdk must be installed", ("jdk",)),
    ],
)
def test_required_versions_are_asked_for(question: str, things: tuple[str, ...]) -> None:
    asked = read_question(question)

    assert asked.versions is not None
    assert (asked.versions.things, asked.view) == (things, "passages")


@pytest.mark.parametrize(
    "question",
    [
        "Which version of tidelib introduced the crane that is required?",
        "Which code checks the required Python version?",
        "Which version of tidelib is this?",
        "Which version control systems are supported?",
        "Which version is required?",
        "Which pier do I need?",
        "does it work on arm64",
        "does it answer on port 80",
        "does it run on windows 32-bit",
        "What is the difference between the minimum and the default profile?",
        "What does the python_version option support?",
        'When is "needs a newer Python version" printed, and which Python version is required?',
        "which python version does it run on " + "in the harbour " * 20,
    ],
)
def test_other_questions_ask_for_no_version(question: str) -> None:
    assert read_question(question).versions is None


@pytest.mark.parametrize(
    "line",
    [
        "Python 3.9+",
        "* Requires **Python 3** or a fork",
        "Requiring Python 3",
        "Python 3.9 or newer",
        "Python 3.9 or newer is required. Newer cranes are not supported.",
        "Python 3.9 and later",
        "Python >= 3.9",
        "Python ≥ 3.9",
        "At least Python 3",
        "The minimum is Python 3",
        '    "requires-python": ">=3.9"',
        "minimum_python = 3.9 or higher",
        "python-version: ~> 3.9",
        "python_requires: >3.8",
    ],
)
def test_a_line_states_a_required_version(line: str) -> None:
    asked = versions_of("Which Python version is required?")

    assert asked is not None
    assert asked.share_in(f"First.\n{line}\nLast.", "page.md") == 1.0


@pytest.mark.parametrize(
    "line",
    [
        "Python 3 is needed",
        "It does not bite; it needs Python 3",
        "It supports Python 3.x",
        "Tested with Python v3",
        "It works on Python 3",
        "It runs on Python 3",
        "Compatible: [Python](https://python.example/) 3",
        "Python 3 supports `() => tide`",
    ],
)
def test_a_version_that_a_line_is_about_counts_less_than_a_bound(line: str) -> None:
    asked = versions_of("Which Python version is required?")

    assert asked is not None
    assert asked.share_in(f"First.\n{line}\nLast.", "page.md") == 0.7
    assert asked.share_in(f"Python 3.9+\n{line}\nLast.", "page.md") == 1.0


@pytest.mark.parametrize(
    "line",
    [
        "Python 3.9",
        "The socket is closed (Python 3.9+)",
        "requires python/typing-tide 3",
        "requires python-tide 3",
        "requires cpython-tide and pythonic 3",
        "supports Python since 2010",
        "It does not support Python 3.5 from here on",
        "Remove support for Python 3.7",
        "Support for Python 3.7 was dropped",
        "Python 3.6 is no longer supported",
        "It supports Python. There are 3 cranes.",
        "It supports Python, as described in chapter/3",
        "It supports Python, 90% of it",
        "It supports Python on the piers of the harbour and of the canal, for 3 of them",
        "required_by_python",
    ],
)
def test_other_lines_state_no_required_version(line: str) -> None:
    asked = versions_of("Which Python version is required?")

    assert asked is not None
    assert asked.share_in(line, "page.md") == 0.0


def test_every_version_in_a_manifest_is_required_and_counts_half_in_that_of_a_part() -> None:
    asked = versions_of("Which Python version is required?")

    assert asked is not None
    assert [asked.share_in("python 3", path) for path in ("go.mod", "crane/go.mod", "crane/go.md")] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("which rust do I need", 'rust-version = "1.70"'),
        ("which golang do I need", "go 1.26"),
        ("which node do I need", "Node.js 18+"),
        ("which postgres version do I need", "PostgreSQL 14+"),
        ("which rust do I need", "rustc 1.70+"),
        ("which java do I need", "JDK 17+"),
        ("which kubernetes version do I need", "k8s 1.20+"),
        ("which erlang do I need", "OTP 26+"),
    ],
)
def test_things_have_several_names(question: str, line: str) -> None:
    asked = versions_of(question)

    assert asked is not None
    assert asked.share_in(line, "go.mod") == 1.0


def test_all_names_are_searched_for() -> None:
    asked = versions_of("which golang and ruby version do I need")

    assert asked is not None
    assert asked.tokens[:3] == ("go", "golang", "rubi")


def test_what_stands_beside_a_required_version_is_searched_for() -> None:
    asked = versions_of("does it work with tidelib 3")

    assert asked is not None
    assert {"tidelib", "minimum", "version"} <= set(asked.tokens)


def test_a_list_in_lisp_states_a_version_in_a_manifest() -> None:
    asked = versions_of("Which Emacs version is required?")

    assert asked is not None
    assert asked.share_in('(define-package "tide" ((emacs "28.1")))', "tide-pkg.el") == 1.0
    assert asked.share_in("(depends (emacs (>= 28.1)))", "dune-project") == 1.0
    assert asked.share_in("It is closed (Emacs 28+)", "page.md") == 0.0


@pytest.mark.parametrize(
    ("path", "declares"),
    [
        ("go.mod", True),
        ("tools/package.json", True),
        ("harbour.gemspec", True),
        ("setup.py", True),
        ("tide.opam", True),
        ("dune-project", True),
        ("tide.cabal", True),
        ("tide.rockspec", True),
        ("tide.nimble", True),
        ("lisp/tide-pkg.el", True),
        ("lisp/tide.el", False),
        ("DESCRIPTION", True),
        ("Project.toml", True),
        ("project.clj", True),
        ("rebar.config", True),
        ("shard.yml", True),
        ("meta/runtime.yml", True),
        ("runtime.yml", False),
        ("cargo.txt", False),
        ("my-package.json", False),
    ],
)
def test_manifests_are_known_by_their_names(path: str, *, declares: bool) -> None:
    assert is_manifest(path) is declares
