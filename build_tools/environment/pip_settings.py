"""The environment in which the build runs pip.

A user's settings say *where* packages come from (index, proxy, certificates, cache) and are kept. Everything else that pip
reads from ``PIP_*`` variables and configuration files (another target, a constraint, no hash checking, extra requirements)
would change *what* is installed, and is dropped.
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Mapping
from typing import Final

from build_tools.errors import BootstrapFailed

KEPT: Final = frozenset(
    {
        "index-url",
        "extra-index-url",
        "find-links",
        "no-index",
        "trusted-host",
        "cert",
        "client-cert",
        "proxy",
        "timeout",
        "default-timeout",
        "retries",
        "cache-dir",
        "no-cache-dir",
        "keyring-provider",
    }
)
"""Settings that say where packages come from and how to reach the place."""

_PYTHON_VARIABLES: Final = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE")


def command(python: str, *, isolated: bool = True) -> list[str]:
    """The start of a pip command. isolated: False where pip itself is found by PYTHONPATH, as in pip's own build environments."""
    return [python, *(["-I"] if isolated else ["-P", "-s"]), "-m", "pip"]


def environment(python: str, *, keep_python_path: bool = False, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for pip: that of this process with only the kept settings of pip.

    Costs one start of pip, which reads its own configuration files. Raises ``BootstrapFailed`` if pip cannot.
    """
    current = dict(os.environ if base is None else base)
    listing = [*command(python, isolated=not keep_python_path), "config", "list"]
    done = subprocess.run(listing, capture_output=True, text=True, env=current, check=False)
    if done.returncode != 0:
        raise BootstrapFailed(
            "pip cannot read its own configuration",
            cause=done.stderr.strip() or done.stdout.strip(),
            remedy="correct the pip configuration file named above, or remove it",
        )
    dropped = set(_PYTHON_VARIABLES) - ({"PYTHONPATH"} if keep_python_path else set())
    result = {name: value for name, value in current.items() if not name.startswith("PIP_") and name not in dropped}
    for name, value in kept_settings(done.stdout).items():
        result["PIP_" + name.upper().replace("-", "_")] = value
    result |= {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PYTHONNOUSERSITE": "1"}
    return result


def kept_settings(listing: str) -> dict[str, str]:
    """The kept settings of what ``pip config list`` prints; a variable wins over a file, a command's section over the global one."""
    found: dict[str, tuple[int, str]] = {}
    for line in listing.splitlines():
        key, separator, text = line.partition("=")
        section, _, name = key.rpartition(".")
        rank = {"global": 0, "install": 1, "download": 1, ":env:": 2}.get(section)
        if not separator or rank is None or name not in KEPT:
            continue
        try:
            value = ast.literal_eval(text)
        except (SyntaxError, ValueError):
            continue
        if name not in found or rank >= found[name][0]:
            found[name] = (rank, " ".join(str(value).split("\n")).strip())
    return {name: value for name, (_, value) in found.items()}
