"""Checks deploy/ with the tools that its files are made for: Helm, the schemas of Kubernetes, promtool and nginx.

    make check-deploy

The chart is rendered with several sets of values, and each object of it validated.
Nothing is started: no cluster, no daemon and no image is needed.
"""

from __future__ import annotations

import os
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "openbook"

# Of Kubernetes; the oldest that the chart says it runs on, and a new one.
VERSIONS = ("1.27", "1.33")

_WARNING = 2

_IMAGE = {"image": {"repository": "registry.example/openbook"}}
_SHARED = {"existingSecret": "openbook"}
VALUES: dict[str, dict[str, Any]] = {
    "two servers": _IMAGE | _SHARED,
    "one server": _IMAGE | {"replicas": 1},
    "everything": _IMAGE
    | {
        "secrets": {"OPENBOOK_SHARED_STORE": "redis://:secret@redis:6379/0"},
        "keysSecret": "openbook-keys",
        "uploadsClaim": "uploads",
        "env": {"OPENBOOK_UPLOADS": "s3://elsewhere/uploads"},
        "imagePullSecrets": [{"name": "registry"}],
        "home": {"size": "1Gi", "storageClass": "fast"},
        "ingress": {"enabled": True, "className": "nginx", "annotations": {"a": "b"}, "tlsSecret": "tls"},
        "index": {"enabled": True, "ray": "ray://ray-head:10001", "sourcesClaim": "sources"},
        "nodeSelector": {"disk": "local"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
    },
    "a schedule": _IMAGE
    | _SHARED
    | {"index": {"enabled": True, "schedule": "0 3 * * *", "sourcesClaim": "sources", "ray": "ray:auto"}},
}

# Each must be refused.
WRONG: dict[str, dict[str, Any]] = {
    "no image": _SHARED,
    "two servers that share nothing": _IMAGE,
    "a value that there is not": _IMAGE | _SHARED | {"replica": 3},
    "an index without sources": _IMAGE | _SHARED | {"index": {"enabled": True}},
}


def main() -> int:
    """Check it all, and return the exit code."""
    problems = [*chart_problems(), *program_problems()]
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    sys.stderr.write(f"deploy/: {len(problems)} problems\n")
    return 1 if problems else 0


def chart_problems() -> Iterator[str]:
    """Yield what Helm and the schemas of Kubernetes find wrong with the chart."""
    import helm_python
    import kubernetes_validate

    for name, values in VALUES.items():
        report = helm_python.lint(str(CHART), values=values)
        yield from (f"{name}: {each}" for each in report.get("errors") or [])
        # Below a warning is advice, such as to add an icon.
        yield from (f"{name}: {each}" for each in report.get("messages") or [] if each["severity"] >= _WARNING)
        with helm_python.Chart.load(str(CHART)) as chart:
            for file, text in chart.render(values=values, name="test", namespace="default").items():
                for made in filter(None, yaml.safe_load_all(text) if file.endswith(".yaml") else ()):
                    yield from (f"{name}: {file}: {problem}" for problem in _upload_problems(made, values))
                    for version in VERSIONS:
                        try:
                            kubernetes_validate.validate(made, version, strict=True)
                        except kubernetes_validate.ValidationError as exc:
                            yield f"{name}: {file}: {made['kind']} under {version}: {exc}"
    for name, values in WRONG.items():
        with helm_python.Chart.load(str(CHART)) as chart:
            try:
                chart.render(values=values, name="test", namespace="default")
            except helm_python.HelmError:
                continue
        yield f"{name}: not refused"


def _upload_problems(made: dict[str, Any], values: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with where the containers of an object keep uploads: set once, and only if asked for."""
    pod = made.get("spec", {}).get("template", {}).get("spec", {})
    for container in pod.get("containers", ()):
        places = [each["value"] for each in container.get("env", ()) if each["name"] == "OPENBOOK_UPLOADS"]
        if len(places) > 1:
            yield f"OPENBOOK_UPLOADS is set {len(places)} times"
        if places and not (values.get("uploadsClaim") or "OPENBOOK_UPLOADS" in values.get("env", {})):
            yield f"OPENBOOK_UPLOADS is {places[0]}, which nobody asked for"


def program_problems() -> Iterator[str]:
    """Yield what promtool and nginx say; nothing of those that are not installed."""
    alerts = DEPLOY / "prometheus"
    with tempfile.TemporaryDirectory() as folder:
        for command in (
            ["promtool", "check", "rules", str(alerts / "alerts.yml")],
            ["promtool", "test", "rules", str(alerts / "alerts_test.yml")],
            ["promtool", "check", "config", "--syntax-only", str(alerts / "prometheus.yml")],
            ["nginx", "-t", "-q", "-p", folder, "-c", str(_nginx(Path(folder)))],
        ):
            if shutil.which(command[0]) is None:
                sys.stderr.write(f"not checked, because {command[0]} is not installed: {' '.join(command[1:3])}\n")
                continue
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=dict(os.environ))
            if done.returncode:
                yield f"{' '.join(command[:3])}: {done.stdout}{done.stderr}"


def _nginx(folder: Path) -> Path:
    names = {"PROXY_LISTEN": "127.0.0.1:8080", "PROXY_SCHEME": "https"}
    names |= {f"PROXY_SERVER_{number}": f"127.0.0.1:{number}" for number in (1, 2)}
    template = (DEPLOY / "nginx" / "openbook.conf.template").read_text(encoding="utf-8")
    server = string.Template(template).safe_substitute(names)
    file = folder / "nginx.conf"
    file.write_text(f"pid {folder}/pid;\nevents {{}}\nhttp {{\n{server}}}\n", encoding="utf-8")
    return file


if __name__ == "__main__":
    sys.exit(main())
