"""The version of what evidence means."""

from typing import Final

SEMANTICS_VERSION: Final = 1
"""Raised when the emulator, the planner, the inputs or the bars change so that any outcome changes. Evidence of another version is
not evidence; a sample that comes out differently under the same version fails the build."""
