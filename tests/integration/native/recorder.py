"""Python face of the HIP recorder (``tests/native/hip_recorder``)."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any


class Recorder:
    """One loaded copy of the recorder library; copies do not share state."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = ctypes.CDLL(str(path))
        self._library.recorder_report.restype = ctypes.c_void_p
        self._library.recorder_free.argtypes = [ctypes.c_void_p]
        self._library.recorder_set_capturing.argtypes = [ctypes.c_uint64]

    def set_devices(self, *target_ids: str, compute_units: int = 304, warp_size: int = 64) -> None:
        """Describes the devices, one per target id such as ``gfx942:sramecc+:xnack-``."""
        self._library.recorder_set_device_count(len(target_ids))
        for index, target_id in enumerate(target_ids):
            self._library.recorder_set_device(index, target_id.encode(), compute_units, warp_size)

    def set_runtime_version(self, version: int) -> None:
        """HIP's number: major * 10'000'000 + minor * 100'000 + patch."""
        self._library.recorder_set_runtime_version(version)

    def set_capturing(self, stream: int) -> None:
        """Marks a stream as being captured into a graph."""
        self._library.recorder_set_capturing(stream)

    def inject(self, call: str, error: int, *, skip: int = 0, count: int = 1) -> None:
        """Makes ``call`` return ``error``, ``count`` times after ``skip`` calls that work."""
        self._library.recorder_inject(call.encode(), error, skip, count)

    def set_current_device(self, device: int) -> int:
        """hipSetDevice of this thread."""
        return int(self._library.hipSetDevice(device))

    def last_error(self) -> int:
        """hipGetLastError of this thread, which clears it."""
        return int(self._library.hipGetLastError())

    def report(self) -> dict[str, Any]:
        """Everything recorded so far: ``current_device``, ``set_device_calls``, ``loads`` and ``launches``."""
        text = self._library.recorder_report()
        try:
            report: dict[str, Any] = json.loads(ctypes.string_at(text))
        finally:
            self._library.recorder_free(text)
        return report
