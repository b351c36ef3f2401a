"""Makes locks from a source: only objects that the code object reader accepts are locked."""

from __future__ import annotations

import hashlib

from build_tools import code_object
from build_tools.code_object.errors import CodeObjectError
from build_tools.errors import ObjectRejected
from build_tools.providers.lock import Lock, LockedObject
from build_tools.providers.view import Source


def lock_source(source: Source) -> tuple[Lock, ...]:
    """A lock for every arch that the source has objects for.

    Raises ``ObjectRejected`` for the first object that is damaged or of another arch than its folder; ``ProviderError`` kinds
    for a source that cannot be read.
    """
    provider = source.provider
    locks = []
    for arch in source.archs():
        objects = []
        for file in source.files(arch):
            data = source.read(arch, file)
            _accept(arch, file, data)
            objects.append(LockedObject(file, hashlib.sha256(data).hexdigest(), len(data)))
        locks.append(Lock(arch, provider, tuple(objects)))
    return tuple(locks)


def _accept(arch: str, file: str, data: bytes) -> None:
    try:
        found = code_object.read(data, name=file).arch
    except CodeObjectError as error:
        raise ObjectRejected(f"{arch}/{file} cannot be locked: {error.fact}", cause=error.cause, remedy=error.remedy) from error
    if found != arch:
        cause = f"it is an object of {found}"
        raise ObjectRejected(f"{arch}/{file} cannot be locked", cause=cause, remedy="move it to the folder of its arch")
