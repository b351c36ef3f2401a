"""Time of a table lookup in C++: ``.env/bin/python -m benchmarks.lookup`` after ``python3 -m build_tools wheel``.

Compiles ``benchmarks/lookup_cpp`` with the sources and flags of the extension over the table of the last build, and prints
nanoseconds per lookup as JSON: the leaf alone, and the checked problem with its whole plan.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from build_tools.build_graph.extension import COMPILE_FLAGS, CORE_SOURCES, SOURCE_DIR, compile_command

ROOT = Path(__file__).resolve().parent.parent

ZIG = (sys.executable, "-m", "ziglang")
GENERATED = ROOT / "build" / "generated"


def main() -> int:
    """Compiles, runs and prints; the exit code is that of the benchmark."""
    if not (GENERATED / "dispatch_table.hpp").is_file():
        print("build/generated/dispatch_table.hpp is not there: run `python3 -m build_tools wheel` first", file=sys.stderr)
        return 1
    sources = [SOURCE_DIR / name for name in CORE_SOURCES] + [ROOT / "benchmarks" / "lookup_cpp" / "lookup_benchmark.cpp"]
    with tempfile.TemporaryDirectory() as scratch:
        objects = [Path(scratch, f"{source.stem}.o") for source in sources]
        for source, obj in zip(sources, objects, strict=True):
            subprocess.run([*compile_command(ZIG, source, GENERATED, obj), f"-I{SOURCE_DIR}"], check=True)
        program = Path(scratch, "lookup_benchmark")
        target = COMPILE_FLAGS[:2]
        subprocess.run([*ZIG, "c++", *target, "-nostdlib++", *map(str, objects), "-o", str(program)], check=True)
        done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    print(json.dumps({"schema": 1, "benchmark": "lookup", **json.loads(done.stdout)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
