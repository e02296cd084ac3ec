"""Everything that deploy/ names exists: metrics, settings, commands and routes of the server."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command

from openbook.answers import GenerationResult
from openbook.cli.app import app
from openbook.server.metrics import Metrics
from openbook.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
GRAFANA = json.loads((DEPLOY / "grafana" / "openbook.json").read_text(encoding="utf-8"))
ALERTS = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]

_METRIC = re.compile(r"openbook_\w+")
_LABEL = re.compile(r'\b(\w+)(?:=~|!=|=)"')
_BY = re.compile(r"by \(([\w, ]+)\)")

# Added by Prometheus, and by histograms.
_LABELS_OF_ALL = {"instance", "job", "le"}


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    """Return the names of `/metrics` after everything was counted once, with their labels."""
    metrics = Metrics()
    metrics.follow(lambda: 0, lambda: 0)
    metrics.store(is_up=True)
    metrics.library(2, 1.0, {"damaged": 1})
    metrics.stage("own", 0.1)
    metrics.ended("failed")
    metrics.request("GET", "/", 200)
    metrics.answered(GenerationResult("q", "a"))
    found: dict[str, set[str]] = {}
    for family in metrics.registry.collect():
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
        if family.type == "counter":
            found.setdefault(f"{family.name}_total", set()).update(_labels_of(metrics, family.name))
    return found


def _labels_of(metrics: Metrics, name: str) -> list[str]:
    """Return the labels of a metric that has not been counted yet."""
    collector: Any = metrics.registry._names_to_collectors.get(name)
    return list(getattr(collector, "_labelnames", ()))


def expressions() -> list[str]:
    panels = [target["expr"] for panel in GRAFANA["panels"] for target in panel["targets"]]
    variables = [each["definition"] for each in GRAFANA["templating"]["list"] if "definition" in each]
    return [*panels, *variables, *(rule["expr"] for rule in RULES)]


def test_each_metric_and_label_of_dashboard_and_alerts_is_exported(exported: dict[str, set[str]]) -> None:
    missing = []
    for expression in expressions():
        metrics = set(_METRIC.findall(expression))
        missing += [name for name in metrics if name not in exported]
        grouped = {label.strip() for found in _BY.findall(expression) for label in found.split(",")}
        known = _LABELS_OF_ALL.union(*(exported.get(name, set()) for name in metrics))
        missing += [f"{label} in {expression}" for label in (grouped | set(_LABEL.findall(expression))) - known]

    assert missing == []
    assert len(expressions()) > len(RULES) > 5


def test_each_metric_that_is_exported_is_shown(exported: dict[str, set[str]]) -> None:
    shown = set(_METRIC.findall(json.dumps(GRAFANA)))

    families = {name.removesuffix("_sum").removesuffix("_count").removesuffix("_created") for name in exported}
    assert {
        name for name in families if not any(each.startswith(name) or name.startswith(each) for each in shown)
    } == set()


def test_each_alert_says_what_happened_and_what_to_do() -> None:
    assert [rule["alert"] for rule in RULES if set(rule["annotations"]) != {"summary", "action"}] == []
    assert {rule["labels"]["severity"] for rule in RULES} <= {"critical", "warning", "info"}


def test_each_variable_of_openbook_in_deploy_is_a_setting() -> None:
    settings = {f"OPENBOOK_{field.name.upper()}" for field in dataclasses.fields(Settings)}

    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"OPENBOOK_[A-Z0-9_]+", path.read_text(encoding="utf-8"))}

    assert named - settings == set()


def test_commands_of_compose_are_commands_with_these_options() -> None:
    commands: dict[str, Any] = getattr(get_command(app), "commands", {})

    for service in COMPOSE["services"].values():
        if service.get("image") == "openbook-cluster":
            name, *arguments = service["command"]
            options = {option for parameter in commands[name].params for option in parameter.opts}
            assert {each for each in arguments if each.startswith("-")} <= options


def test_commands_of_units_are_commands_with_these_options() -> None:
    commands: dict[str, Any] = getattr(get_command(app), "commands", {})
    units = [path.read_text(encoding="utf-8") for path in sorted((DEPLOY / "systemd").glob("*.service"))]

    started = [re.search(r"^ExecStart=/opt/openbook/bin/openbook (.*)$", unit, re.MULTILINE) for unit in units]

    assert len(started) == 2
    for found in started:
        assert found is not None
        name, *arguments = found[1].split()
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert {each for each in arguments if each.startswith("-")} <= options
    # Each may be the first that starts: the home that it makes is for its user alone.
    assert [unit.count("StateDirectory=openbook\nStateDirectoryMode=0700\n") for unit in units] == [1, 1]


def test_services_of_compose_are_limited_and_those_that_are_waited_for_have_a_health_check() -> None:
    services = COMPOSE["services"]

    assert [name for name, service in services.items() if "mem_limit" not in service] == []
    waited_for = {name for service in services.values() for name in service.get("depends_on", ())}
    healthy = {name for name, service in services.items() if "healthcheck" in service}
    assert waited_for - healthy == {"server-1", "server-2"}  # the image has one
