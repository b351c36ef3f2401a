"""Runs pip, passes its progress on and turns its failures into typed errors."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from build_tools.environment import pip_settings
from build_tools.errors import BootstrapFailed, DiskFull, DownloadHashMismatch, NetworkUnavailable, NotWritable

_PROGRESS: Final = ("Downloading ", "Installing collected packages", "Successfully installed")
_TAIL: Final = 15

_FAILURES: Final[tuple[tuple[tuple[str, ...], type[BootstrapFailed], str], ...]] = (
    (("No space left on device", "Disk quota exceeded"), DiskFull, "free some space (the environment takes about 3 GB) and run again"),
    (("Read-only file system", "Permission denied"), NotWritable, "use a source tree that you may write to"),
    (
        ("DO NOT MATCH THE HASHES",),
        DownloadHashMismatch,
        "the index served another file than the lock names: check the index or mirror that pip is set to use",
    ),
    (
        (
            "NewConnectionError",
            "NameResolutionError",
            "ConnectTimeoutError",
            "ReadTimeoutError",
            "Max retries exceeded",
            "ProxyError",
            "ConnectionResetError",
            "ProtocolError",
            "SSLError",
            "Could not fetch URL",
        ),
        NetworkUnavailable,
        "check the network, or set PIP_INDEX_URL, PIP_PROXY or PIP_CERT as your site needs them",
    ),
)


def run_pip(
    python: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    report: Callable[[str], None],
    *,
    isolated: bool = True,
) -> None:
    """Run pip and report its downloads.

    environment: from ``pip_settings.environment``. Raises ``BootstrapFailed`` or the kind that fits what pip printed.
    """
    command = [*pip_settings.command(python, isolated=isolated), *arguments]
    lines: list[str] = []
    merged = subprocess.STDOUT
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=merged, text=True, errors="replace", env=environment) as process:
        if process.stdout is not None:
            for line in process.stdout:
                lines.append(line.rstrip())
                if line.lstrip().startswith(_PROGRESS):
                    report(f"{line.strip():.160}")
    if process.returncode != 0:
        raise failure(arguments[0], "\n".join(lines))


def failure(command: str, output: str) -> BootstrapFailed:
    """The typed error for what pip printed."""
    cause = "\n".join(output.splitlines()[-_TAIL:])
    for texts, kind, remedy in _FAILURES:
        if any(text in output for text in texts):
            return kind(f"pip {command} failed", cause=cause, remedy=remedy)
    return BootstrapFailed(f"pip {command} failed", cause=cause, remedy="read pip's message above")


_REFUSED: Final = (
    *(errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST),
    *(errno.EISDIR, errno.ENOTEMPTY, errno.EBUSY, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT, errno.EIO),
)


@contextmanager
def report_os_errors(path: Path) -> Iterator[None]:
    """Turn what the file system refuses into typed errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space left for {path}", cause=str(error), remedy="free some space there and run again") from error
        if error.errno in _REFUSED:
            raise NotWritable(f"{path} cannot be written", cause=str(error), remedy="name a place that you may write to") from error
        raise
