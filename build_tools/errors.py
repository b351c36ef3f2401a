"""Errors of the build: codes ``MLA5xx``, exit codes 10 and up. Never shipped; see ``aiter_mla_aot.errors`` for the run time."""

from __future__ import annotations

from aiter_mla_aot.errors import MlaError


class BuildError(MlaError):
    """Base of everything that stops a build."""

    code = "MLA500"
    exit_code = 10


class ExtensionCompileFailed(BuildError):
    """The dispatch extension could not be compiled or linked."""

    code = "MLA560"
    exit_code = 16
