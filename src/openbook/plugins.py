"""Plugins of other packages, found by their entry points.

An entry point belongs to the group `openbook.` plus the kind, such as `openbook.readers`. Its name is what users
write: for a reader the suffix of its files, else the part before the first colon, as in `--model NAME:REST`.
docs/extending.md has a plugin of each kind.
"""

from __future__ import annotations

import logging
import os
import pathlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from openbook.errors import OpenbookError, PluginError, SettingsError
from openbook.settings import Secret

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PluginKind = Literal["readers", "embedders", "engines", "executors", "models", "judges", "rerankers", "stores", "tools"]

PLUGIN_KINDS: tuple[PluginKind, ...] = get_args(PluginKind)

_OWN_PACKAGE = "openbook"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, order=True)
class Plugin:
    """An entry point of an installed package. It is not imported before `load`."""

    kind: PluginKind
    name: str
    target: str
    """`package.module:attribute`."""
    package: str
    """Name and version of its package, such as `openbook-ini 1.2`."""

    @property
    def is_built_in(self) -> bool:
        """Whether it is part of Openbook."""
        return self.package.partition(" ")[0] == _OWN_PACKAGE

    def load(self) -> Any:
        """Import the plugin.

        Raises:
            PluginError: It cannot be imported, or is not callable.
        """
        from importlib.metadata import EntryPoint

        try:
            loaded = EntryPoint(self.name, self.target, f"openbook.{self.kind}").load()
        except (Exception, SystemExit) as exc:  # importing third-party code can raise anything
            raise PluginError(
                f"cannot load {self.kind.removesuffix('s')} {self.name!r} of {self.package}:"
                f" {type(exc).__name__}: {exc}",
                hint=f"reinstall or remove {self.package.partition(' ')[0]}; `openbook plugins` lists all",
            ) from exc
        if not callable(loaded):
            raise PluginError(
                f"{self.kind.removesuffix('s')} {self.name!r} of {self.package} is not callable",
                hint=f"{self.target} has to be a function or a class, see docs/extending.md",
            )
        return loaded


def plugins(kind: PluginKind) -> Mapping[str, Plugin]:
    """Return the plugins of a kind, sorted by name.

    If several packages use the same name, Openbook's own wins, else the first package by name.
    """
    return _by_name(kind, tuple(sys.path))


def load_plugin(kind: PluginKind, name: str) -> Any | None:
    """Import the plugin with a name; None if it does not exist.

    Raises:
        PluginError: It cannot be imported, or is not callable.
    """
    found = plugins(kind).get(name)
    return None if found is None else found.load()


def open_plugin(kind: PluginKind, name: str | Secret, checked: Callable[[Any], Any] | None = None) -> Any | None:
    """Call the plugin `NAME` of `NAME:REST` with `REST`; None if it does not exist.

    `checked` takes what it returns, and returns it or raises an error.

    Raises:
        PluginError: It cannot be imported, or its call fails. The message never contains a secret.
        OpenbookError: Raised by the plugin.
    """
    head, _, rest = (name.reveal() if isinstance(name, Secret) else name).partition(":")
    factory = load_plugin(kind, head)
    if factory is None:
        return None
    try:
        opened = factory(rest)
        return checked(opened) if checked else opened
    except OpenbookError:
        raise
    except (Exception, SystemExit) as exc:  # noqa: BLE001 - raised again, without secrets that it may contain
        is_secret = isinstance(name, Secret)
        reason = type(exc).__name__ if is_secret else f"{type(exc).__name__}: {exc}"
        raise PluginError(
            f"{kind.removesuffix('s')} {head!r} of {plugins(kind)[head].package} failed: {reason}",
            hint="see the documentation of that package",
        ) from (None if is_secret else exc)


def having(*parts: str) -> Callable[[Any], Any]:
    """Return a check for `open_plugin`: an object without one of these attributes is a `TypeError`."""

    def checked(opened: Any) -> Any:
        if missing := [part for part in parts if not hasattr(opened, part)]:
            raise TypeError(f"{type(opened).__name__} has no {' and no '.join(missing)}, see docs/extending.md")
        return opened

    return checked


def require_plugin(
    kind: PluginKind, name: str | Secret, variable: str, checked: Callable[[Any], Any] | None = None
) -> Any:
    """Call the plugin of a setting, `NAME:ADDRESS`, with the address. `checked`: see `open_plugin`.

    Raises:
        SettingsError: The plugin does not exist, or rejects the address.
        PluginError: It cannot be imported, or its call fails.
    """
    opened = open_plugin(kind, name, checked)
    if opened is None:
        # A secret without a name may start with a password.
        shown = "of that name" if isinstance(name, Secret) else repr(name.partition(":")[0])
        raise SettingsError(
            f"there is no {kind.removesuffix('s')} {shown}",
            hint=f"write {variable} as name:address; {kind} that are installed: {', '.join(plugins(kind)) or 'none'};"
            " others come with packages, see docs/extending.md",
        )
    return opened


def load_all(kind: PluginKind) -> dict[str, Any]:
    """Import all plugins of a kind. Those that cannot be imported are logged and left out."""
    loaded = {}
    for name, plugin in plugins(kind).items():
        try:
            loaded[name] = plugin.load()
        except PluginError as exc:
            _logger.warning("%s; %s", exc, exc.hint)
    return loaded


@cache
def _by_name(kind: PluginKind, path: tuple[str, ...]) -> Mapping[str, Plugin]:
    group = f"openbook.{kind}"
    if not any(_declares(folder, f"[{group}]".encode()) for folder in path):
        return MappingProxyType({})
    from importlib.metadata import entry_points

    found: dict[str, Plugin] = {}
    described = (_described(kind, entry) for entry in entry_points(group=group))
    for plugin in sorted(described, key=lambda each: (each.name, not each.is_built_in, each.package)):
        found.setdefault(plugin.name, plugin)
    return MappingProxyType(found)


def _described(kind: PluginKind, entry: EntryPoint) -> Plugin:
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
    return Plugin(kind, entry.name, entry.value, package)


def _declares(folder: str, header: bytes) -> bool:
    """Return whether any package in a folder has entry points of a group.

    Reading the files takes 1 ms; importing `importlib.metadata` takes 45 ms, which every search would pay.
    """
    try:
        with os.scandir(folder or ".") as entries:
            packages = [entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    for name in packages:
        try:
            with pathlib.Path(f"{folder}/{name}/entry_points.txt").open("rb") as file:
                if header in file.read():
                    return True
        except OSError:
            continue
    return False
