"""LDS that waves share without a barrier, or before what they did to it was waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulator.machine.hazards import ARCHS, Bodies
from tests.emulator.machine.hip import Hip

NEIGHBOUR = "v_xor_b32 v4, 0x100, v1\n"  # 4 * lane of the workgroup, of the wave beside
WRITE, READ = "ds_write_b32 v1, v0", "ds_read_b32 v9, v1"
WRITE_NEXT, READ_NEXT = "ds_write_b32 v4, v0", "ds_read_b32 v9, v4"
PAIRS = [
    (WRITE, READ_NEXT, "lds_read_after_write", "lds_before_wait"),
    (READ, WRITE_NEXT, "lds_write_after_read", "lds_write_before_wait"),
    (WRITE, WRITE_NEXT, "lds_write_after_write", "lds_before_wait"),
]
TO_LDS = "global_load_lds_dword v1, s[4:5]\n"
BUFFER_TO_LDS = "buffer_load_dword v1, s[12:15], 0 offen lds\n"
# Each wave fills its part, from M0 on, and reads the other's.
OWN_PART = "v_readfirstlane_b32 s20, v1\ns_mov_b32 m0, s20\nv_mbcnt_lo_u32_b32 v5, -1, 0\nv_mbcnt_hi_u32_b32 v5, -1, v5\n"
LOAD_AND_BARRIER = f"{NEIGHBOUR}{OWN_PART}v_lshlrev_b32 v5, 2, v5\nglobal_load_lds_dword v5, s[4:5]\n{{}}{{}}s_nop 15\n{READ_NEXT}"
WAIT_FIRST = ("s_waitcnt vmcnt(0)\n", "s_barrier\n")
WAIT_LATE = ("s_barrier\n", "s_waitcnt vmcnt(0)\n")
FIRST_FOUR = "v_and_b32 v4, 15, v1\n"
ATOMICS = FIRST_FOUR + "ds_add_u32 v4, v0\nds_add_u32 v4, v0\nds_append v9 offset:64\nds_consume v9 offset:64"
ATOMIC_AND_READ = FIRST_FOUR + "ds_add_u32 v4, v0\ns_nop 7\nds_read_b32 v9, v4"
SHARED_APERTURE = "s_mov_b64 s[20:21], src_shared_base\nv_mov_b32 v5, s21\n"
FLAT_WAIT = "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
FLAT = f"{NEIGHBOUR}{SHARED_APERTURE}{WRITE}\ns_waitcnt lgkmcnt(0)\ns_nop 7\nflat_load_dword v9, v[4:5]"
FLAT_WAITED = f"{NEIGHBOUR}{SHARED_APERTURE}v_mov_b32 v6, v1\nv_mov_b32 v7, s21\nflat_store_dword v[6:7], v0\n{{}}s_barrier\n{READ_NEXT}"
LATE = f"{NEIGHBOUR}ds_write_b32 v1, v0\ns_nop 7\nds_read_b32 v9, v4\nv_mov_b32 v10, v9\nv_readfirstlane_b32 s20, v10"


def unordered(first: str, second: str) -> str:
    return f"{NEIGHBOUR}{first}\ns_waitcnt lgkmcnt(0)\ns_nop 7\n{second}"


def not_waited(first: str, second: str) -> str:
    return f"{NEIGHBOUR}{first}\ns_barrier\n{second}"


def clean(first: str, second: str) -> str:
    return f"{NEIGHBOUR}{first}\ns_waitcnt lgkmcnt(0)\ns_barrier\n{second}"


BODIES = Bodies()
for _first, _second, *_ in PAIRS:
    BODIES.add(*(body(_first, _second) for body in (unordered, not_waited, clean)))
for _load in (TO_LDS, BUFFER_TO_LDS):
    BODIES.add(_load + READ, f"{_load}s_waitcnt vmcnt(0)\n{READ}", f"{_load}{READ} offset:256", _load + WRITE)
BODIES.add(*(LOAD_AND_BARRIER.format(*order) for order in (WAIT_LATE, WAIT_FIRST)))
BODIES.add(ATOMICS, ATOMIC_AND_READ, FLAT, LATE, *(FLAT_WAITED.format(wait) for wait in ("", FLAT_WAIT)))


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("first", "second", "kind", "_"), PAIRS)
def test_lds_that_waves_share_without_a_barrier(hip: Hip, kernels: Path, arch: str, first: str, second: str, kind: str, _: str) -> None:
    found = BODIES.findings(hip, kernels, arch, unordered(first, second), block=256)
    assert kind in {finding["kind"] for finding in found}
    finding = next(finding for finding in found if finding["kind"] == kind)
    assert (finding["source"]["instruction"], finding["use"]["instruction"]) == (first, second)
    assert finding["clocks"] > 0
    assert finding["count"] % 64 == 0
    assert BODIES.findings(hip, kernels, arch, clean(first, second), block=256) == []


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("first", "second", "_", "kind"), PAIRS)
def test_a_barrier_orders_only_what_was_waited_for(hip: Hip, kernels: Path, arch: str, first: str, second: str, _: str, kind: str) -> None:
    (finding,) = BODIES.findings(hip, kernels, arch, not_waited(first, second), block=128)
    assert (finding["kind"], finding["source"]["instruction"], finding["use"]["instruction"]) == (kind, first, second)
    # Of one wave the accesses are in order.
    assert BODIES.findings(hip, kernels, arch, not_waited(first, second), block=64) == []


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("load", [TO_LDS, BUFFER_TO_LDS])
def test_lds_touched_before_the_wait_for_the_load_that_fills_it(hip: Hip, kernels: Path, arch: str, load: str) -> None:
    for use in (READ, WRITE):
        (finding,) = BODIES.findings(hip, kernels, arch, load + use)
        assert (finding["kind"], finding["where"]) == ("lds_before_wait", 0)
        assert finding["source"]["instruction"] == load.strip()
    assert BODIES.findings(hip, kernels, arch, f"{load}s_waitcnt vmcnt(0)\n{READ}") == []
    assert BODIES.findings(hip, kernels, arch, f"{load}{READ} offset:256") == []


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("timing", ["instant", "latency"])
def test_a_load_to_lds_is_waited_for_before_the_barrier(hip: Hip, kernels: Path, arch: str, timing: str) -> None:
    options = f",timing={timing}"
    found = BODIES.findings(hip, kernels, arch, LOAD_AND_BARRIER.format(*WAIT_LATE), block=128, options=options)
    assert "global_load_lds_dword v5, s[4:5]" in {finding["source"]["instruction"] for finding in found}
    assert {finding["use"]["instruction"] for finding in found} == {READ_NEXT}
    assert BODIES.findings(hip, kernels, arch, LOAD_AND_BARRIER.format(*WAIT_FIRST), block=128, options=options) == []


@pytest.mark.parametrize("arch", ARCHS)
def test_atomics_need_no_order_among_themselves(hip: Hip, kernels: Path, arch: str) -> None:
    assert BODIES.findings(hip, kernels, arch, ATOMICS, block=256) == []
    assert {finding["kind"] for finding in BODIES.findings(hip, kernels, arch, ATOMIC_AND_READ, block=256)} >= {"lds_read_after_write"}


def test_flat_accesses_to_lds_are_looked_at(hip: Hip, kernels: Path) -> None:
    (finding,) = BODIES.findings(hip, kernels, "gfx942", FLAT, block=128)
    assert (finding["kind"], finding["use"]["instruction"]) == ("lds_read_after_write", "flat_load_dword v9, v[4:5]")


def test_a_flat_access_to_lds_is_waited_for_before_the_barrier(hip: Hip, kernels: Path) -> None:
    (finding,) = BODIES.findings(hip, kernels, "gfx942", FLAT_WAITED.format(""), block=128)
    assert (finding["kind"], finding["source"]["instruction"]) == ("lds_before_wait", "flat_store_dword v[6:7], v0")
    assert BODIES.findings(hip, kernels, "gfx942", FLAT_WAITED.format(FLAT_WAIT), block=128) == []


def test_findings_do_not_depend_on_threads(hip: Hip, kernels: Path) -> None:
    reports = []
    for threads in (1, 3):
        reports.append(BODIES.run(hip, kernels, "gfx942", LATE, block=256, grid=20, options=f",timing=random,threads={threads}"))
    assert reports[0] == reports[1]
    assert len(reports[0]["findings"]) >= 3
