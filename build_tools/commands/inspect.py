"""``inspect FILE``: what a code object says of itself."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from build_tools.code_object import CodeObject, KernelInfo, check_arch, read_file


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of ``build_tools``."""
    parser = subparsers.add_parser("inspect", help="print what a code object says of itself")
    parser.add_argument("file", type=Path, help="a code object (.co)")
    parser.add_argument("--arch", help="fail unless the object is for this arch, such as gfx942")
    parser.add_argument("--json", action="store_true", help="print JSON (schema 1)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, check and print the object; raises ``CodeObjectError``."""
    obj = read_file(args.file)
    if args.arch is not None:
        check_arch(obj, args.arch)
    print(json.dumps({"schema": 1, "command": "inspect", "object": obj.to_json()}) if args.json else describe(obj))
    return 0


def describe(obj: CodeObject) -> str:
    """The object as text."""
    rocm = f", needs ROCm {obj.minimum_rocm}" if obj.minimum_rocm else ""
    lines = [
        ascii(obj.name)[1:-1],
        f"  sha256       {obj.sha256}",
        f"  bytes        {obj.size}",
        f"  target       {obj.target_id} (e_flags {obj.e_flags:#x}: xnack {obj.xnack}, sramecc {obj.sramecc})",
        f"  code object  version {obj.code_object_version} (ABI version {obj.elf_abiversion}){rocm}",
    ]
    for kernel in obj.kernels:
        lines += _kernel(kernel)
    return "\n".join(lines)


def _kernel(kernel: KernelInfo) -> list[str]:
    # Names come from the file: escaped, so that they cannot steer a terminal.
    workgroup = "any" if kernel.reqd_workgroup_size is None else " x ".join(map(str, kernel.reqd_workgroup_size))
    return [
        f"  kernel {kernel.name!a}",
        f"    symbol     {kernel.symbol!a} at {kernel.descriptor.address:#x}",
        f"    entry      {kernel.entry_address:#x}, {kernel.entry_in_section:#x} in its section",
        f"    workgroup  {workgroup} (at most {kernel.max_flat_workgroup_size}), wave {kernel.wavefront_size}",
        f"    LDS        {kernel.group_segment_fixed_size}, private {kernel.private_segment_fixed_size}",
        f"    registers  vgpr {kernel.vgpr_count}, agpr {_known(kernel.agpr_count)}, sgpr {kernel.sgpr_count}",
        f"    spilled    vgpr {_known(kernel.vgpr_spill_count)}, sgpr {_known(kernel.sgpr_spill_count)}",
        f"    descriptor {kernel.descriptor.allocated_vgprs} vector registers, accumulation from {kernel.descriptor.accum_offset}",
        f"    kernarg    {kernel.kernarg_segment_size} bytes, align {_known(kernel.kernarg_segment_align)}",
        f"    arguments  end at {kernel.last_arg_end}",
        *(
            f"      {item.offset:5} {item.size:4}  {ascii(item.value_kind)[1:-1]:16} {ascii(item.name)[1:-1]}".rstrip()
            for item in kernel.args
        ),
    ]


def _known(value: int | None) -> str:
    return "not stated" if value is None else str(value)
