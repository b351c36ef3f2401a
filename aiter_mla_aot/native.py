"""Loads the dispatch extension and joins it to this package: its layout, its errors, its kernels."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Final, cast

from .errors import NativeAbiMismatch, PackageFileMissing
from .native_errors import from_native
from .native_types import Native

KERNEL_DIRECTORY: Final = Path(__file__).resolve().parent / "kernels"
"""Folder of this package's code objects, ``<arch>/<file>``."""

ABI: Final = {"abi_version": 1, "sizeof_status": 2056, "sizeof_problem": 72, "sizeof_plan": 16, "launch_arguments": 17}
"""What ``_native.abi_info()`` must answer for these Python files."""


def check_abi(native: Native) -> None:
    """Raises ``NativeAbiMismatch`` unless the extension has the layout that these Python files were written for."""
    found = dict(native.abi_info())
    if found != ABI:
        raise NativeAbiMismatch(
            f"the extension says {found}",
            cause=f"these Python files need {ABI}",
            remedy="install the package again; remove other copies of aiter_mla_aot from sys.path",
        )


@cache
def load() -> Native:
    """The extension, ready to use: its errors are those of ``errors`` and its kernels are this package's.

    Loading needs neither a GPU nor HIP nor torch. Raises ``PackageFileMissing`` where the extension cannot be imported and
    ``NativeAbiMismatch`` where it belongs to another build of the package.
    """
    try:
        native = cast("Native", importlib.import_module("._native", __package__))
    except ImportError as error:
        raise PackageFileMissing(
            "the dispatch extension cannot be loaded",
            cause=str(error),
            remedy="install the wheel; a source tree has no extension until it is built",
        ) from error
    check_abi(native)
    native.error_factory = from_native
    native.set_kernel_directory(KERNEL_DIRECTORY)
    return native
