"""Whether what the server needs is installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from openbook.errors import MissingExtraError

# What is imported, beside the packages that every installation has.
_MODULES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "nh3", "pygments")


def check_installed(modules: Sequence[str] = _MODULES) -> None:
    """Refuse to go on without the packages of the extra.

    Raises:
        MissingExtraError: One is missing.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the server needs {', '.join(missing)}", hint="install it with: pip install 'openbook[server]'"
        )
