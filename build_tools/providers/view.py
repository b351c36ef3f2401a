"""Read-only views of the places that AITER's code objects come from: a folder, or a wheel or zip file.

Nothing of a source is trusted: objects are read one by one under a size limit, links and special files are never followed,
and no member of an archive is ever written under its own name.
"""

from __future__ import annotations

import re
from typing import Final, Protocol

from build_tools.providers.lock import Provider

MAX_OBJECT_BYTES: Final = 16 << 20
"""No MLA code object is near this; a larger one is not read."""

MAX_LICENCE_BYTES: Final = 1 << 20
OBJECT_PATH: Final = re.compile(r"hsa/(gfx[0-9a-f]+)/mla/([A-Za-z0-9_][A-Za-z0-9_.-]*\.co)")
"""Where AITER keeps the objects, below a checkout or below ``aiter_meta``."""


class Source(Protocol):
    """A place that holds code objects."""

    @property
    def provider(self) -> Provider:
        """What the place says of itself."""

    def archs(self) -> tuple[str, ...]:
        """The archs it has objects for, sorted."""

    def files(self, arch: str) -> tuple[str, ...]:
        """The file names of an arch's objects, sorted."""

    def read(self, arch: str, file: str) -> bytes:
        """The bytes of one object."""

    def licence(self) -> bytes:
        """The licence text that goes with the objects."""
