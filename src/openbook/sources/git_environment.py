"""The environment that git runs in, and how it is called in a repository that must not be trusted."""

from __future__ import annotations

import os

LOCAL_GIT = (
    *("git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath="),
    # Files of a checkout can look like a repository without a working tree, with a configuration of its own.
    *("-c", "safe.bareRepository=explicit"),
)
"""Git that writes nothing, and runs nothing that the configuration of a repository names.

It needs `environment_of_local_git`.
"""


def environment_of_git() -> dict[str, str]:
    """Return an environment in which git never prompts, and no variable redirects it to another repository.

    Connection settings, such as `GIT_SSH_COMMAND` and proxies, are kept.
    """
    kept = ("GIT_SSH", "GIT_SSL", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
    harmless = {name: os.environ[name] for name in os.environ if name.startswith(kept) or not name.startswith("GIT_")}
    silent = {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS": "", "GCM_INTERACTIVE": "never", "GIT_LFS_SKIP_SMUDGE": "1"}
    return {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes", **harmless, **silent, "LC_ALL": "C"}


def environment_of_local_git() -> dict[str, str]:
    """Return an environment in which git also fetches nothing.

    Git fetches objects that a repository lacks from where its configuration says, which can be a command (`ext::`).
    `protocol.allow=never` does not prevent that, because a repository that sets `protocol.ext.allow` goes first.
    """
    return {**environment_of_git(), "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
