"""The environment that git runs in."""

from __future__ import annotations

import os


def environment_of_git() -> dict[str, str]:
    """Return an environment in which git never prompts, and no variable redirects it to another repository.

    Connection settings, such as `GIT_SSH_COMMAND` and proxies, are kept.
    """
    kept = ("GIT_SSH", "GIT_SSL", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
    harmless = {name: os.environ[name] for name in os.environ if name.startswith(kept) or not name.startswith("GIT_")}
    silent = {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never", "GIT_LFS_SKIP_SMUDGE": "1"}
    return {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes", **harmless, **silent, "LC_ALL": "C"}
