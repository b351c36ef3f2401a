"""Runs a kernel that a gate forbids, to see on a device what it does there.

The extension launches what the table says and nothing else; that stays so. Here the object is loaded and launched through HIP
directly, with the arguments that ``csrc/dispatch/kernarg.cpp`` gives it. Only gates that rest on what devices did can be forced:
a kernel that takes other dtypes, heads or masks, or that has no evidence, stays refused.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from .. import files, kernarg, table
from ..dispatch import Plan, refused_at_sight
from ..errors import NotForcible, ObjectHashMismatch
from ..native import KERNEL_DIRECTORY
from ..problem import Problem
from ..rules import HARDWARE, failures, layout, one_token_items
from .memory import Memory
from .request import QK, Launch


def plan(problem: Problem, name: str) -> Plan:
    """The plan by which a kernel of this wheel runs the problem although gates that rest on devices forbid it.

    Raises ``NotForcible`` where anything else stands against it.
    """
    code = refused_at_sight(problem)
    data = None if code else table.load(problem.arch)
    kernel = next((row for row in data.kernels if row.name == name and row.shipped), None) if data else None
    if data is None or kernel is None:
        raise _not_forcible(
            name, f"this wheel holds no such kernel for {problem.arch}" if code is None else f"the problem is refused: {code}"
        )
    claim = kernel.claim
    if claim is None:
        raise _not_forcible(name, kernel.not_served or "dispatch does not use it")
    if (claim.mode, claim.q_dtype, claim.kv_dtype) != (problem.mode, problem.q_dtype, problem.kv_dtype):
        raise _not_forcible(name, f"it takes {claim.mode} {claim.q_dtype}/{claim.kv_dtype}")
    reported = {report["gate"] for report in data.reports if "gate" in report}
    gates = tuple(data.gates[gate] for gate in kernel.gates)
    found = failures(claim, gates, data.folds, problem.heads, problem.q_len, table.flags(problem), data.lifts(kernel))
    forced = [failure for failure in found if failure.source in reported or failure.code == HARDWARE]
    codes = {failure.code for failure in forced}
    left = [failure for failure in found if failure not in forced and not (failure.source == "claim" and failure.code in codes)]
    if left:
        raise _not_forcible(name, f"it is refused for more than a gate that rests on devices: {left[0].code} by {left[0].source}")
    single = one_token_items(claim, problem.heads, problem.q_len, table.flags(problem))
    return Plan(problem, kernel, single, layout(claim, problem.heads, problem.q_len, single), kernel.preconditions)


def _not_forcible(name: str, cause: str) -> NotForcible:
    return NotForcible(
        f"{name} cannot be forced here", cause=cause, remedy="`aiter-mla-aot explain --catalog full` names what stands against each kernel"
    )


@contextmanager
def loaded(plan: Plan, memory: Memory) -> Iterator[ctypes.c_void_p]:
    """The function of a plan's kernel, from the verified bytes of this wheel.

    Raises ``HipError``, ``ObjectHashMismatch``, ``PackageFileMissing`` and ``PackageFileDamaged``.
    """
    path = KERNEL_DIRECTORY / plan.problem.arch / plan.kernel.file
    content = files.read(path)
    if hashlib.sha256(content).hexdigest() != plan.kernel.sha256:
        raise ObjectHashMismatch(
            f"{path} is not the object of the table", cause="its SHA-256 differs", remedy="check the installation with aiter-mla-aot verify"
        )
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    memory.call("hipModuleLoadData", ctypes.byref(module), content)
    try:
        memory.call("hipModuleGetFunction", ctypes.byref(function), module, plan.kernel.symbol.encode())
        yield function
    finally:
        memory.unload(module)


def run(launch: Launch, memory: Memory, function: ctypes.c_void_p) -> None:
    """Launches the function of the batch's plan and waits for the end. Raises ``HipError``."""
    content = arguments(launch)
    block = ctypes.create_string_buffer(content, len(content))
    size = ctypes.c_size_t(len(content))
    extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(block), 2, ctypes.addressof(size), 3)
    threads = launch.batch.plan.kernel.info["max_workgroup"]
    sizes = [ctypes.c_uint(extent) for extent in (*launch.grid(), threads, 1, 1, 0)]
    memory.call("hipModuleLaunchKernel", function, *sizes, None, None, extra)
    memory.wait()


def arguments(launch: Launch) -> bytes:
    """The argument block, as many bytes as the kernel declares."""
    kernel, problem = launch.batch.plan.kernel, launch.batch.plan.problem
    null_out = kernel.recipe == "split_null"
    width = launch.batch.width
    values: dict[str, int | float] = {
        **launch.addresses(),
        "softmax_scale": QK**-0.5,
        "rows": width if kernel.recipe == "persistent_rows" else width * launch.batch.plan.fold.tokens_per_item,
        "kv_split": launch.pieces,
        "q_batch_stride": width * QK * launch.batch.q_bytes * problem.q_len,
        "page_stride": problem.page_size * QK * launch.batch.kv_bytes,
        "log2_page": problem.page_size.bit_length() - 1,
        "out_16_nosplit": 0 if null_out else launch.pieces,
        "cp_world_size": 1,
    }
    if null_out:
        values["out"] = 0
    return kernarg.pack(kernel.info["kernarg_segment_size"], values)
