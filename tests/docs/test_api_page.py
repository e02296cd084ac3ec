"""`docs/api.md` has every public name, and each is used by a tested program."""

from __future__ import annotations

import ast
import importlib
import inspect
import re

import pytest

from openbook import errors
from tests.docs.snippets import PAGES, ROOT, snippets

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SHOWN = set(re.findall(r"^::: (openbook[\w.]*)$", PAGE, re.MULTILINE))


def public_modules() -> list[str]:
    """Return the modules with an `__all__`."""
    found = []
    for path in sorted((ROOT / "src" / "openbook").rglob("*.py")):
        if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            parts = path.relative_to(ROOT / "src").with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


NAMES = [(module, name) for module in public_modules() for name in importlib.import_module(module).__all__]


def used_names(code: str) -> set[str]:
    """Return the names that a program uses, not counting imports."""
    nodes = list(ast.walk(ast.parse(code)))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


@pytest.fixture(scope="module")
def used() -> set[str]:
    pages = [each.code for page in PAGES for each in snippets(page) if not each.not_run]
    programs = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "programs").glob("*.py"))]
    return {name for code in [*pages, *programs] for name in used_names(code)}


def is_of_ours(error: type) -> bool:
    return issubclass(error, errors.OpenbookError)


def test_there_are_public_modules() -> None:
    assert {"openbook", "openbook.agent", "openbook.costs", "openbook.testing"} <= {module for module, _ in NAMES}


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_on_the_page(module: str, name: str) -> None:
    """A name may be listed under any module that has it (`openbook.agent.Budget`). Errors are listed as one."""
    meant = getattr(importlib.import_module(module), name)
    homes = [home for home, known in NAMES if known == name and getattr(importlib.import_module(home), name) is meant]

    assert hasattr(errors, name) or SHOWN & {f"{home}.{name}" for home in homes}


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_used_by_a_program_that_is_run(module: str, name: str, used: set[str]) -> None:
    assert name in used or name == "Assistant"  # the old name of `Library`


def test_the_page_shows_nothing_that_is_not_there() -> None:
    for shown in SHOWN - {errors.__name__}:
        module, _, name = shown.rpartition(".")
        assert hasattr(importlib.import_module(module), name), shown


def test_every_error_is_shown_with_what_it_means() -> None:
    """The page renders the whole module, whose error tree lists them all."""
    classes = {name: each for name, each in vars(errors).items() if inspect.isclass(each) and is_of_ours(each)}

    assert errors.__name__ in SHOWN
    assert [name for name, each in classes.items() if name not in str(errors.__doc__) or not each.__doc__] == []
