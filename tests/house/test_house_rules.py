"""The house rules, applied to this project."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.house import rules

ROOT = Path(__file__).parents[2]

Rule = Callable[[str, str], list[str]]


def _project_files() -> list[Path]:
    """List files that are or could be committed; in an unpacked archive, all files."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    if listing.returncode == 0:
        paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not any(part.startswith(".") for part in path.parts)]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def _texts(paths: list[Path]) -> dict[str, str]:
    texts = {}
    for path in paths:
        content = path.read_bytes()
        if b"\0" not in content:
            texts[path.relative_to(ROOT).as_posix()] = content.decode("utf-8", errors="replace")
    return texts


@pytest.fixture(scope="module")
def project() -> Mapping[str, str]:
    # Test data is input as people wrote it, and what a model is trained on says what sources of others say.
    data = ("tests/data/", "tools/training_questions/")
    return {path: text for path, text in _texts(_project_files()).items() if not path.startswith(data)}


@pytest.fixture(scope="module")
def prose(project: Mapping[str, str]) -> Mapping[str, str]:
    # The rules and their examples must spell out what they look for.
    return {path: text for path, text in project.items() if not path.startswith("tests/house/")}


@pytest.fixture(scope="module")
def code(project: Mapping[str, str]) -> Mapping[str, str]:
    return {path: text for path, text in project.items() if path.endswith(".py")}


@pytest.fixture(scope="module")
def package(code: Mapping[str, str]) -> Mapping[str, str]:
    return {path: text for path, text in code.items() if path.startswith("src/")}


def _check(rule: Rule, texts: Mapping[str, str]) -> None:
    found = [finding for path, text in texts.items() for finding in rule(path, text)]
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_the_rules_see_the_project(package: Mapping[str, str]) -> None:
    assert "src/openbook/types.py" in package


def test_no_module_has_more_than_500_lines(code: Mapping[str, str]) -> None:
    _check(rules.long_modules, code)


# The embedding model, which is shipped.
_LARGE_FILES = {"src/openbook/embedding/model/matrix.npy"}


def test_no_file_is_too_large_for_the_repository() -> None:
    sizes = {path.relative_to(ROOT).as_posix(): path.stat().st_size for path in _project_files()}

    assert [found for path in sizes.keys() - _LARGE_FILES for found in rules.large_file(path, sizes[path])] == []


def test_no_step_of_ci_can_hang_for_ever(project: Mapping[str, str]) -> None:
    assert project[".ci/run"].count("\nstep ") > 8
    _check(rules.unbounded_steps, {".ci/run": project[".ci/run"]})


def test_no_function_has_more_than_50_lines(code: Mapping[str, str]) -> None:
    _check(rules.long_functions, code)


# Where variables of other programs are set: what LanceDB, git and Ray read.
_OF_OTHER_PROGRAMS = {
    "integrations/lance_engine.py",
    "integrations/ray_connection.py",
    "llm/cli_model.py",
    "sources/git_environment.py",
}


def test_only_settings_reads_the_environment(package: Mapping[str, str]) -> None:
    allowed = {f"src/openbook/{name}" for name in {"settings.py", *_OF_OTHER_PROGRAMS}}

    _check(rules.environment_reads, {path: text for path, text in package.items() if path not in allowed})


def test_nothing_runs_a_shell(code: Mapping[str, str]) -> None:
    _check(rules.shell_calls, code)


def test_no_terminal_output_reads_brackets_as_style(package: Mapping[str, str]) -> None:
    _check(rules.markup_calls, package)


def test_no_text_becomes_markup_in_the_page(project: Mapping[str, str]) -> None:
    page = {path: text for path, text in project.items() if path.startswith("src/openbook/server/web/")}

    assert page
    _check(rules.live_markup, {path: text for path, text in page.items() if not path.endswith(".css")})


def test_no_test_replaces_our_own_parts(code: Mapping[str, str]) -> None:
    _check(rules.doubles_of_our_own, {path: text for path, text in code.items() if path.startswith("tests/")})


def test_nothing_is_marked_as_unfinished(prose: Mapping[str, str]) -> None:
    _check(rules.unfinished, prose)


def test_no_file_names_a_machine_or_a_package_host(prose: Mapping[str, str]) -> None:
    _check(rules.machine_places, prose)


@pytest.mark.parametrize("name", ["build", "dev", "docs", "installer", "llm", "runtime", "server"])
def test_requirements_are_pinned_with_hashes(project: Mapping[str, str], name: str) -> None:
    path = f"requirements/{name}.txt"

    assert rules.unpinned(path, project[path]) == []


def test_every_list_of_public_names_is_complete(package: Mapping[str, str]) -> None:
    _check(rules.unlisted_names, package)


def test_every_listed_public_name_exists(package: Mapping[str, str]) -> None:
    missing = []
    for path, text in package.items():
        if "__all__" not in text:
            continue
        name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = importlib.import_module(name)
        missing += [f"{path}: {listed}" for listed in module.__all__ if not hasattr(module, listed)]

    assert missing == []


def test_the_error_tree_is_drawn_as_it_is(package: Mapping[str, str]) -> None:
    text = package["src/openbook/errors.py"]

    drawing = ast.get_docstring(ast.parse(text), clean=False) or ""

    assert rules.drawn_errors(drawing) == rules.defined_errors(text)


def test_every_error_is_raised_somewhere(package: Mapping[str, str]) -> None:
    parents = rules.defined_errors(package["src/openbook/errors.py"])

    assert rules.never_raised(parents, package) == []


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = "import sys, openbook; print(*sorted({name.partition('.')[0] for name in sys.modules}))"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8")

    assert rules.HEAVY_MODULES.isdisjoint(loaded.stdout.split())


def test_a_search_on_the_command_line_loads_nothing_that_only_answers_need(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Boats come in.", encoding="utf-8")
    script = "import sys; from openbook.cli import main; main(); print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", script, "search", "boats", tmp_path],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"OPENBOOK_HOME": str(tmp_path / "home")},
    )

    assert "a.md" in loaded.stdout
    assert "openbook.answering.missing" in loaded.stdout.split()
    assert "openbook.answering.evidence" not in loaded.stdout.split()


def test_searching_a_library_loads_no_reader(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from openbook import Library, Settings\n"
        "from openbook.testing import HashEmbedder\n"
        "with Library.open(settings=Settings(home=Path(sys.argv[1])), embedder=HashEmbedder()) as library:\n"
        "    assert library.search('Which boats come in?') == []\n"
        "print(*sys.modules)"
    )

    loaded = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, check=True, encoding="utf-8")

    modules = loaded.stdout.split()
    assert "openbook.retrieval.search" in modules
    assert [
        each for each in modules if each.startswith(("openbook.sources.documents", "openbook.sources.readers"))
    ] == []
