"""Every house rule can fail: a small bad example for each, beside a good one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.house import rules

Rule = Callable[[str, str], list[str]]

BAD = [
    pytest.param(rules.long_modules, "x = 1\n" * 501, "m.py:501: 501 lines, at most 500", id="long-module"),
    pytest.param(
        rules.long_functions,
        "def f():\n" + "    x = 1\n" * 50,
        "m.py:1: f has 51 lines, at most 50",
        id="long-function",
    ),
    pytest.param(
        rules.environment_reads,
        "import os\nos.environ['A']",
        "m.py:2: os.environ; settings.py reads the environment",
        id="environ",
    ),
    pytest.param(
        rules.environment_reads,
        "from os import getenv",
        "m.py:1: os.getenv; settings.py reads the environment",
        id="getenv-by-name",
    ),
    pytest.param(rules.unbounded_steps, "step 5 make a\nmake b", "m.py:2: make b", id="step"),
    pytest.param(rules.unbounded_steps, "A=1 .venv/bin/x", "m.py:1: A=1 .venv/bin/x", id="step-with-variable"),
    pytest.param(rules.shell_calls, "run('ls', shell=True)", "m.py:1: runs a shell", id="shell"),
    pytest.param(rules.shell_calls, "run('ls', shell=quick)", "m.py:1: runs a shell", id="shell-by-variable"),
    pytest.param(rules.shell_calls, "import os\nos.system('ls')", "m.py:2: runs a shell", id="system"),
    pytest.param(rules.shell_calls, "run('ls', shell = True)", "m.py:1: runs a shell", id="shell-with-blanks"),
    pytest.param(rules.shell_calls, "(os) . system('ls')", "m.py:1: runs a shell", id="system-in-brackets"),
    pytest.param(rules.markup_calls, "Console()", "m.py:1: Console without markup=False", id="markup"),
    pytest.param(
        rules.markup_calls,
        "rich.progress.TextColumn('x', markup=True)",
        "m.py:1: TextColumn without markup=False",
        id="markup-on",
    ),
    pytest.param(
        rules.markup_calls,
        "Text.from_markup('[b]')",
        "m.py:1: from_markup; build the Text from plain strings",
        id="from-markup",
    ),
    pytest.param(
        rules.doubles_of_our_own,
        "from unittest.mock import Mock",
        "m.py:1: replaces our own parts; pass a double in",
        id="mock",
    ),
    pytest.param(
        rules.doubles_of_our_own,
        "monkeypatch.setattr('openbook.ingest.walk', None)",
        "m.py:1: replaces our own parts; pass a double in",
        id="patch",
    ),
    pytest.param(
        rules.unlisted_names,
        "__all__ = ['a']\ndef a(): ...\ndef b(): ...",
        "m.py:3: b is public and not in __all__",
        id="unlisted",
    ),
    pytest.param(rules.unfinished, "x = 1  # TODO: more", "m.py:1: TODO", id="unfinished"),
    pytest.param(rules.machine_places, "see /root/x", "m.py:1: /root", id="path"),
    pytest.param(rules.machine_places, "https://pypi.org/simple", "m.py:1: pypi.org", id="host"),
    pytest.param(rules.live_markup, "a.innerHTML = b", "m.py:1: innerHTML", id="inner-html"),
    pytest.param(rules.live_markup, "\nbutton.onclick = go", "m.py:2: .onclick =", id="handler-as-property"),
    pytest.param(rules.live_markup, '<p onclick="go()">', "m.py:1: onclick=", id="handler-as-attribute"),
    pytest.param(rules.live_markup, '<p style="color: red">', "m.py:1:  style=", id="style"),
    pytest.param(rules.live_markup, "var a = 1", "m.py:1: var ", id="var"),
    pytest.param(rules.unpinned, "numpy>=2\n", "m.py:1: not pinned with a hash: numpy>=2", id="range"),
    pytest.param(
        rules.unpinned,
        "a==1 \\\n    --hash=sha256:00\nnumpy==2.0\n",
        "m.py:3: not pinned with a hash: numpy==2.0",
        id="no-hash",
    ),
]

GOOD = [
    pytest.param(rules.long_modules, "x = 1\n" * 500, id="module"),
    pytest.param(rules.long_functions, "def f():\n" + "    x = 1\n" * 49, id="function"),
    pytest.param(rules.environment_reads, "import os\nos.cpu_count()", id="os"),
    pytest.param(rules.unbounded_steps, "# make a\nstep 5 make a\nstep 5 env A=1 .venv/bin/x", id="steps"),
    pytest.param(rules.shell_calls, "run(['ls'], shell=False)", id="no-shell"),
    pytest.param(rules.markup_calls, "Console(stderr=True, markup=False)", id="no-markup"),
    pytest.param(rules.doubles_of_our_own, "monkeypatch.setattr(sys, 'argv', ['openbook'])", id="patch-of-python"),
    pytest.param(rules.unlisted_names, "def a(): ...", id="no-list"),
    pytest.param(rules.unfinished, "todos = 1", id="finished"),
    pytest.param(rules.machine_places, "src/work/file.py and ./root/x", id="relative"),
    pytest.param(rules.live_markup, "element('p', { onclick: go }); color: var(--ink); const evaluated = 1", id="page"),
    pytest.param(rules.unpinned, "# why\na==1 ; sys_platform == 'x' \\\n    --hash=sha256:00\n", id="pinned"),
]


@pytest.mark.parametrize(("rule", "text", "finding"), BAD)
def test_a_rule_names_the_file_the_line_and_the_fault(rule: Rule, text: str, finding: str) -> None:
    assert rule("m.py", text) == [finding]


@pytest.mark.parametrize(("rule", "text"), GOOD)
def test_a_rule_is_silent_where_it_is_kept(rule: Rule, text: str) -> None:
    assert rule("m.py", text) == []


def test_a_file_is_too_large_above_a_million_bytes() -> None:
    assert rules.large_file("a.bin", 1_000_000) == []
    assert rules.large_file("a.bin", 1_000_001) == ["a.bin:1: 1000001 bytes, at most 1000000"]


def test_the_one_place_for_sanitised_markup_is_allowed_once() -> None:
    place = "template.innerHTML = policy.createHTML(html);"

    assert rules.live_markup("src/web/dom.js", place) == []
    assert rules.live_markup("src/web/dom.js", f"{place}\n{place}") == ["src/web/dom.js:2: innerHTML"]
    assert rules.live_markup("src/web/main.js", place) == ["src/web/main.js:1: innerHTML"]


def test_a_drawn_tree_is_read_with_its_branches() -> None:
    drawing = "All.\n\n    TopError\n    ├── OneError   why\n    │   └── TwoError\n    └── LastError\n"

    parents = rules.drawn_errors(drawing)

    assert parents == {"TopError": "", "OneError": "TopError", "TwoError": "OneError", "LastError": "TopError"}


def test_the_classes_of_a_module_are_read_with_their_parents() -> None:
    text = "class TopError(Exception): ...\nclass OneError(TopError, ValueError): ...\nclass Other: ..."

    parents = rules.defined_errors(text)

    assert parents == {"TopError": "", "OneError": "TopError"}


def test_an_error_that_nobody_raises_is_found_and_the_root_of_others_is_not() -> None:
    parents = {"TopError": "", "OneError": "TopError", "TwoError": "TopError"}
    texts = {"src/errors.py": "TwoError('x')", "src/a.py": "raise errors.OneError('x')"}

    found = rules.never_raised(parents, texts)

    assert found == ["TwoError is never raised"]
