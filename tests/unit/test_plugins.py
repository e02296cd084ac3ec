from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openbook import plugins
from openbook.agent.toolsets import installed_tools
from openbook.answering.verifiers import open_verifier
from openbook.cli import EXIT_FAILURE, main
from openbook.errors import ClusterError, PluginError, SettingsError
from openbook.ingest.executor import executor_for
from openbook.libraries.catalog import open_engine
from openbook.library import Library
from openbook.llm.choose import open_model
from openbook.opening import open_reranker
from openbook.server.shared_store import open_shared_store
from openbook.settings import Secret, Settings
from tests.children import run_child
from tests.support import write_tree

GOOD = "def make(argument):\n    return f'made of {argument}'\n\nnothing = 1\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.endswith("_module")]:
        del sys.modules[name]


def install(site: Path, package: str, entries: str, module: str = "") -> None:
    name = package.replace("-", "_")
    tree = {
        f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        f"{name}-1.0.dist-info/entry_points.txt": entries,
    }
    write_tree(site, tree | ({f"{name}_module.py": module} if module else {}))
    plugins._by_name.cache_clear()


@pytest.mark.slow
def test_a_plugin_is_called_with_what_follows_the_colon(site: Path) -> None:
    install(site, "good-one", "[openbook.models]\ngood = good_one_module:make\n", GOOD)

    assert plugins.open_plugin("models", "good:fine:oak") == "made of fine:oak"
    assert plugins.open_plugin("models", "good") == "made of "
    assert plugins.open_plugin("models", "other:x") is None


def test_of_two_packages_with_one_name_the_first_by_name_counts(site: Path) -> None:
    install(site, "zebra", "[openbook.judges]\nsame = zebra_module:make\n")
    install(site, "ant", "[openbook.judges]\nsame = ant_module:make\n")

    assert plugins.plugins("judges")["same"].package == "ant 1.0"


def test_no_package_takes_the_name_of_a_plugin_of_openbook(site: Path) -> None:
    install(site, "aardvark", "[openbook.engines]\nlance = aardvark_module:make\n")

    assert plugins.plugins("engines")["lance"].is_built_in


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import a_package_that_nobody_has", "ModuleNotFoundError"),
        ("", "ModuleNotFoundError"),
        ("other = 1", "AttributeError"),
        ("make = 1", "is not callable"),
        ("import sys\nsys.exit('stop')", "SystemExit: stop"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_named_with_its_package(site: Path, module: str, reason: str) -> None:
    install(site, "broken", "[openbook.tools]\nbad = broken_module:make\n", module)

    with pytest.raises(PluginError, match=r"tool 'bad' of broken 1\.0") as caught:
        plugins.load_plugin("tools", "bad")

    assert reason in str(caught.value)
    assert caught.value.hint


def test_a_broken_plugin_stops_no_other(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, "broken", "[openbook.tools]\nbad = broken_module:make\n", "raise RuntimeError('no licence')")
    install(site, "good-two", "[openbook.tools]\ngood = good_two_module:make\n", GOOD)

    with caplog.at_level(logging.WARNING):
        assert list(plugins.load_all("tools")) == ["good"]

    assert "no licence" in caplog.text


def test_of_two_tools_with_one_name_the_first_is_offered_and_the_other_reported(
    site: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tool = 'def today(zone: str) -> str:\n    """Tell the date of {}."""\n    return zone\n'
    install(site, "one-day", "[openbook.tools]\nfirst = one_day_module:today\n", tool.format("one"))
    install(site, "other-day", "[openbook.tools]\nsecond = other_day_module:today\n", tool.format("another"))
    installed_tools.cache_clear()

    with caplog.at_level(logging.WARNING):
        told = [tool.spec.description for tool in installed_tools() if tool.name == "today"]
    installed_tools.cache_clear()

    assert told == ["Tell the date of one."]
    assert "the tool second of a plugin is left out" in caplog.text


def test_a_plugin_that_fails_when_it_is_called_is_named(site: Path) -> None:
    module = "def make(argument):\n    raise KeyError(argument)\n"
    install(site, "failing", "[openbook.rerankers]\nbad = failing_module:make\n", module)

    with pytest.raises(PluginError, match=r"reranker 'bad' of failing 1\.0 failed: KeyError: 'x'"):
        plugins.open_plugin("rerankers", "bad:x")


def test_an_error_of_openbook_passes_through_a_plugin(site: Path) -> None:
    module = (
        "from openbook.errors import SettingsError\ndef make(argument):\n    raise SettingsError('no such colour')\n"
    )
    install(site, "strict", "[openbook.models]\nstrict = strict_module:make\n", module)

    with pytest.raises(SettingsError, match="no such colour"):
        plugins.open_plugin("models", "strict:red")


def test_what_a_plugin_says_of_a_secret_when_it_fails_is_shown_by_nothing(site: Path) -> None:
    module = "def make(argument):\n    raise KeyError(argument)\n"
    install(site, "telling", "[openbook.stores]\nbad = telling_module:make\n", module)

    password = "open" + "sesame"

    with pytest.raises(PluginError, match=r"store 'bad' of telling 1\.0 failed: KeyError$") as caught:
        plugins.require_plugin("stores", Secret(f"bad:{password}"), "OPENBOOK_SHARED_STORE")

    assert password not in "".join(traceback.format_exception(caught.value))


def test_plugins_are_listed_with_those_that_do_not_load(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "broken", "[openbook.tools]\nbad = broken_module:make\n", "raise RuntimeError('no licence')")

    assert main(["plugins"]) == EXIT_FAILURE
    told = capsys.readouterr()
    assert "tool      bad          broken 1.0  broken_module:make" in told.out.splitlines()
    assert told.err.startswith("FAIL  cannot load tool 'bad' of broken 1.0")
    assert main(["plugins", "--json"]) == EXIT_FAILURE
    listed = {plugin["name"]: plugin["error"] for plugin in json.loads(capsys.readouterr().out)}
    assert "no licence" in listed["bad"]
    assert listed["lance"] == ""


NOTHING = "class Nothing:\n    def __init__(self, argument: str) -> None:\n        self.name = argument\n"


@pytest.mark.parametrize(
    ("kind", "open_named", "told"),
    [
        ("embedders", lambda name, home: Library.open(embedder=name, settings=home), "is no embedder"),
        ("rerankers", lambda name, home: open_reranker(name, home), "is no reranker"),
        ("models", lambda name, home: open_model(name), "Nothing has no stream and no astream"),
        ("judges", lambda name, home: open_verifier(name, home), "Nothing has no judge"),
        ("engines", lambda name, home: open_engine(name, home), "Nothing has no open and no names and no sources"),
        ("executors", lambda name, home: executor_for(replace(home, executor=name), 1), "Nothing has no min_bytes"),
        ("stores", lambda name, home: open_shared_store(Secret(name)), "'stores'|store 'void'"),
    ],
)
def test_a_plugin_that_is_none_of_its_kind_is_named_with_what_it_lacks(
    kind: str, open_named: Callable[[str, Settings], object], told: str, site: Path
) -> None:
    install(site, "nothing", f"[openbook.{kind}]\nvoid = nothing_module:Nothing\n", NOTHING)

    with pytest.raises(PluginError, match=r"'void' of nothing 1\.0 failed: TypeError") as caught:
        open_named("void:x", Settings(home=site / "home"))

    assert re.search(told, str(caught.value))


def test_an_executor_that_leaves_files_out_is_an_error_and_what_it_returned_stays(site: Path, tmp_path: Path) -> None:
    module = """
class Half:
    min_bytes = 0

    def __init__(self, address):
        pass

    def run(self, files, jobs, settings):
        yield jobs[0], files(jobs[0])
"""
    install(site, "half", "[openbook.executors]\nhalf = half_module:Half\n", module)
    pages = write_tree(tmp_path / "pages", {f"{name}.md": f"# {name}\n" for name in ("eel", "heron", "owl")})

    with Library.open("birds", settings=Settings(home=tmp_path / "home", executor="half:x")) as library:
        with pytest.raises(ClusterError, match="the executor returned 1 of 3 files"):
            library.add(pages)

        assert library.stats().documents == 1


def test_a_setting_that_names_no_plugin_is_refused_with_those_that_are_installed(site: Path) -> None:
    install(site, "good-one", "[openbook.executors]\ngood = good_one_module:make\n", GOOD)

    with pytest.raises(SettingsError, match="there is no executor 'nope'") as caught:
        plugins.require_plugin("executors", "nope:x", "OPENBOOK_EXECUTOR")

    assert "write OPENBOOK_EXECUTOR as name:address" in caught.value.hint
    assert "good, ray" in caught.value.hint


def what_loads_without_extras() -> list[str]:
    """Import the plugins of Openbook where none of the packages of its extras is installed."""
    for name in ("fastapi", "grpc", "lancedb", "obstore", "pyarrow", "ray", "redis"):
        sys.modules[name] = None  # type: ignore[assignment]
    own = [plugin for kind in plugins.PLUGIN_KINDS for plugin in plugins.plugins(kind).values() if plugin.is_built_in]
    return [plugin.name for plugin in own if plugin.load()]


@pytest.mark.slow
def test_plugins_of_openbook_are_imported_without_their_extras() -> None:
    assert run_child(what_loads_without_extras) == "['lance', 'ray', 'redis', 'rediss']"
