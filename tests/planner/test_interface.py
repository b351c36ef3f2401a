"""The C interface: struct layouts, typed refusals, and headers that a device compiler takes."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ziglang
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from build_tools.prove.libraries import PLANNER_DIR
from tests.planner import structs
from tests.planner.library import CANARY, NONE, REQUEST, Batch, Planner, PlannerError, Settings, address

BASE = Settings(q_len=4)


def test_struct_sizes_agree(planner: Planner) -> None:
    sizes = [planner.library.amla_planner_struct_size(number) for number in range(len(structs.BY_NUMBER) + 1)]
    assert sizes == [*(ctypes.sizeof(struct) for struct in structs.BY_NUMBER), 0]
    assert planner.library.amla_planner_abi_version() == 1


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"q_len": 0}, "q_len"),
        ({"heads": 0}, "heads"),
        ({"kernel_heads": 129}, "kernel_heads"),
        ({"kernel_tokens": 0}, "kernel_tokens"),
        ({"min_tokens": 5}, "min_tokens"),
        ({"page_size": 3}, "page_size"),
        ({"page_size": 0}, "page_size"),
        ({"kv_granularity": 24}, "kv_granularity"),
        ({"workgroups": 0}, "workgroups"),
        ({"max_split_per_batch": 0}, "max_split_per_batch"),
        ({"top_k": 0, "one_token_items": True}, "top_k"),
        ({"item_cost": -1}, "item_cost"),
        ({"mask": 3}, "mask"),
        ({"heads": 32}, "one_token_items"),
        ({"top_k": 64}, "one_token_items"),
        ({"mask": NONE}, "one_token_items"),
        ({"mask": NONE, "one_token_items": True, "page_size": 16}, "page_size"),
        ({"context_parallel": True}, "context_parallel"),
        ({"context_parallel": True, "mask": REQUEST, "kernel_tokens": 2}, "context_parallel"),
    ],
)
def test_requests_without_meaning_are_refused(planner: Planner, changes: dict[str, Any], argument: str) -> None:
    for call in (planner.bounds, lambda wanted, _: planner.schedule(wanted, Batch((4,), (64,)))):
        with pytest.raises(PlannerError) as caught:
            call(BASE.but(**changes), 1)
        assert caught.value.args[:2] == (1, argument)


def test_rows_that_do_not_count_in_32_bits_are_refused(planner: Planner) -> None:
    with pytest.raises(PlannerError, match="32 bits"):
        planner.bounds(BASE.but(q_len=1024, heads=128, kernel_heads=1, one_token_items=True), 1 << 20)


@pytest.mark.parametrize(
    ("changed", "value", "argument", "index"),
    [
        ("qo", [1, 4, 8], "qo_indptr", 0),
        ("qo", [0, 4, 3], "qo_indptr", 2),
        ("qo", [0, 5, 8], "qo_indptr", 1),
        ("kv", [-1, 4, 8], "kv_indptr", 0),
        ("kv", [0, 4, 3], "kv_indptr", 2),
        ("kv", [0, 2**28, 2**28 + 1], "kv_indptr", 1),
        ("last", [0, 16], "kv_last_page_lens", 0),
        ("last", [16, 17], "kv_last_page_lens", 1),
        ("qo", None, "qo_indptr", -1),
        ("kv", None, "kv_indptr", -1),
        ("last", None, "kv_last_page_lens", -1),
    ],
)
def test_wrong_index_tensors_are_refused_before_any_write(
    planner: Planner, changed: str, value: list[int] | None, argument: str, index: int
) -> None:
    arrays = {"qo": [0, 4, 8], "kv": [0, 4, 8], "last": [16, 16]} | {changed: value}
    made = {name: None if values is None else np.array(values, np.int32) for name, values in arrays.items()}
    tensors = structs.IndexTensors(*(address(array) for array in made.values()))
    wanted = BASE.but(page_size=16)
    words = np.full((40, 8), CANARY, np.int32)
    out = structs.ScheduleTensors(*[words.ctypes.data] * 6, 81, 40, 3, 2, 40)
    with pytest.raises(PlannerError) as caught:
        planner.call("amla_schedule_make", *map(ctypes.byref, (wanted.request(2), tensors, out, structs.Counts())))
    assert caught.value.args[1] == argument
    assert caught.value.args[4] == index
    assert (words == CANARY).all()


def test_last_page_lengths_are_not_read_at_page_size_1(planner: Planner) -> None:
    batch = Batch((4,), (64,))
    qo, kv = batch.qo_indptr, batch.kv_indptr
    without = structs.IndexTensors(address(qo), address(kv), None)
    assert planner.schedule(BASE, batch, without).rows.tolist() == planner.schedule(BASE, batch).rows.tolist()


def test_context_parallel_items_keep_all_keys_of_the_rank(planner: Planner) -> None:
    wanted = BASE.but(context_parallel=True, mask=REQUEST, workgroups=1)
    assert planner.schedule(wanted, Batch((4,), (2,))).rows.tolist() == [[0, -1, 0, 4, 0, 2, 0, 0]]
    rows = planner.schedule(wanted.but(workgroups=3), Batch((4,), (51,))).rows.tolist()
    assert [row[4:6] for row in rows] == [[0, 16], [16, 32], [32, 51]]


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_shared_headers_compile_for_the_device(arch: str, tmp_path: Path) -> None:
    source = tmp_path / "use.hip"
    source.write_text(
        '#include "empty_rows.hpp"\n#include "item.hpp"\n#include "numbers.hpp"\n'
        "__attribute__((global)) void use(amla_schedule_request r, amla_index_tensors t, planner::Item* out, float* f) {\n"
        "    const planner::Geometry g = planner::geometry_of(r);\n"
        "    const planner::Sequence s = planner::sequence_of(g, t, 0);\n"
        "    const planner::Tile tile = planner::tile_of(g, s, 0);\n"
        "    const planner::Line line = planner::line_of(g, tile.blocks);\n"
        "    *out = planner::item_of(g, s, tile, 0, planner::piece_of(line, 0, tile.blocks, 0), -1);\n"
        "    *f = planner::exp_of(*f) + planner::log_of(*f) + static_cast<float>(planner::bfloat_of(*f) + planner::half_of(*f));\n"
        "    f[1] = static_cast<float>(planner::unseeing_tokens(s.keys, s.q_len, g.causal, 1, 0));\n"
        "}\n"
    )
    resources = Path(ziglang.__file__).parent / "lib"
    flags = ["-x", "hip", "--offload-device-only", f"--offload-arch={arch}", "-nogpuinc", "-nogpulib", "-nostdlibinc"]
    flags += ["-resource-dir", str(resources), "-ffreestanding", "-O3", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fuse-cuid=none"]
    command = [sys.executable, "-m", "ziglang", "clang", *flags, f"-I{PLANNER_DIR}", "-S", str(source), "-o", str(tmp_path / "use.s")]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "use.s").read_text()
    assert "use" in text
    assert re.search(r"s_setpc|s_swappc", text) is None, "everything is inlined: nothing of the host is called"


def test_the_library_needs_nothing_but_libc(planner: Planner) -> None:
    with Path(planner.library._name).open("rb") as file:
        dynamic = ELFFile(file).get_section_by_name(".dynamic")
        assert isinstance(dynamic, DynamicSection)
        needed = {str(vars(tag)["needed"]) for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
    assert {name.split(".so")[0] for name in needed} <= {"libc", "libdl", "ld-linux-x86-64"}
