"""What states a required version is found and comes first."""

from __future__ import annotations

from openbook.types import Filter
from tests.unit.retrieval.material import Library


def test_what_states_a_required_version_is_found_behind_everything_that_names_it(library: Library) -> None:
    for number in range(30):
        library.put(f"use{number}.md", f"Ship {number} has a Python version.")
    library.put("pyproject.toml", 'name = "harbour"\nrequires-python = ">=3.9"\nlicense = "MIT"', kind="config")
    library.put("parts/setup.py", 'setup(name="crane", python_requires=">=3.8")', kind="code")
    library.put("install.md", "# Install\n\nRopes are tied.\nIt runs on Python 3.9 or newer.\nCranes lift.")
    library.put("crane.py", "# Python 3.9 or newer is needed.", kind="code")
    library.put("CHANGES.md", "Python 3.9 or newer is needed.")

    found = library.search("Which Python version is needed?", limit=50)

    assert found[0].chunk.span.path == "install.md"
    assert {each.chunk.span.path: each.signals["requirement"] for each in found if "requirement" in each.signals} == {
        "install.md": 12.0,
        "pyproject.toml": 12.0,
        "parts/setup.py": 6.0,
    }


def test_a_question_for_code_alone_is_not_answered_by_pages_on_versions(library: Library) -> None:
    library.put("install.md", "It runs on Python 3.9 or newer.")
    library.put("crane.py", "# Python ropes version", kind="code")

    found = library.search("Which Python version is needed?", where=Filter(kinds=frozenset({"code"})))

    assert [result.chunk.span.path for result in found] == ["crane.py"]
