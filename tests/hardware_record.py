"""What `aiter-mla-aot smoke --record` writes, made by hand: no device takes part in tests."""

from __future__ import annotations

from typing import Any

from aiter_mla_aot.smoke.record import KIND


def record(*requests: dict[str, Any]) -> dict[str, Any]:
    """A record of a device with these requests."""
    return {
        "schema": 1,
        "kind": KIND,
        "date": "2026-12-01T00:00:00Z",
        "tier": "device",
        "device": {"name": "AMD Instinct MI300X", "arch": "gfx942", "target_id": "gfx942:sramecc+:xnack-", "compute_units": 304},
        "rocm": "7.0",
        "package": {"version": "0.1.0", "table_sha256": "0" * 64, "lock_sha256": "1" * 64},
        "requests": list(requests),
    }
