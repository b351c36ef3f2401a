"""Reading the package's own files: whole, regular files only, with errors that say what to do."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from .errors import PackageFileDamaged, PackageFileMissing

REINSTALL: Final = "install the package again from a wheel whose hash is known to be right; `aiter-mla-aot verify` lists all damage"
LIMIT: Final = 64 << 20
"""No file of the package is nearly as large; what is, is not read into memory."""


def read(path: Path) -> bytes:
    """The bytes of a file of the package.

    Raises ``PackageFileMissing`` if there is none, and ``PackageFileDamaged`` if it is no regular file, too large or unreadable.
    """
    try:
        # Without O_NONBLOCK a FIFO in the file's place would block for ever.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LIMIT:
                raise PackageFileDamaged(
                    f"{path} is no file of this package", cause="it is no regular file, or far too large", remedy=REINSTALL
                )
            return stream.read()
    except FileNotFoundError as error:
        raise PackageFileMissing(f"{path} is missing", cause="the package is not complete", remedy=REINSTALL) from error
    except OSError as error:
        raise PackageFileDamaged(f"{path} cannot be read", cause=error.strerror or str(error), remedy=REINSTALL) from error
