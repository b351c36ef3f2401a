"""Precompiled AITER MLA decode for AMD Instinct gfx942 and gfx950.

Nothing is compiled at run time. ``resolve`` answers every problem with a plan or a refusal and needs neither GPU nor torch;
``prepare`` loads the verified kernels onto a device.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .device import prepare
    from .dispatch import Plan, Refusal, resolve, supports
    from .errors import MlaError
    from .explanation import explain
    from .problem import Problem

__all__ = ["MlaError", "Plan", "Problem", "Refusal", "explain", "prepare", "resolve", "supports"]

_HOMES = {
    "MlaError": "errors",
    "Plan": "dispatch",
    "Problem": "problem",
    "Refusal": "dispatch",
    "explain": "explanation",
    "prepare": "device",
    "resolve": "dispatch",
    "supports": "dispatch",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs next to nothing."""
    if name == "__version__":
        return import_module(".build_info", __name__).load()["version"]
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
