"""What a serving process pays once: import, verified load, one explanation, a batch of questions.

    python benchmarks/startup.py --python ENV/bin/python

ENV holds the installed wheel and no torch. Every figure is the median of runs in fresh processes, with its range; "load" reads and
hashes every code object of one arch through the verified read and parses its table, which is all of loading that needs no GPU.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

IMPORT = "import time; s = time.perf_counter(); import aiter_mla_aot; print(time.perf_counter() - s)"
READY = "import time; s = time.perf_counter(); from aiter_mla_aot import Problem, resolve; print(time.perf_counter() - s)"
LOAD = """
import time
from aiter_mla_aot import table
from aiter_mla_aot.integrity import load_object
start = time.perf_counter()
for kernel in table.load("{arch}").kernels:
    if kernel.shipped:
        load_object("{arch}", kernel.file)
print(time.perf_counter() - start)
"""
EXPLAIN = """
import time
start = time.perf_counter()
from aiter_mla_aot import Problem, explain
explain(Problem("{arch}", "persistent", "bf16", "fp8", 16, 5, 1))
print(time.perf_counter() - start)
"""
COMMAND = """
import subprocess, sys, time
start = time.perf_counter()
subprocess.run([sys.executable, "-I", "-m", "aiter_mla_aot", {arguments}], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - start)
"""


def measure(python: str, code: str, runs: int) -> str:
    """Median and range in milliseconds of the time that the code prints, each run in a fresh interpreter."""
    times = []
    for _ in range(runs):
        done = subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True)
        times.append(float(done.stdout) * 1000)
    return f"{statistics.median(times):8.1f} ms   ({min(times):.1f} .. {max(times):.1f}, {runs} runs)"


def problems(count: int) -> str:
    """JSON lines of random problems, seeded."""
    numbers = random.Random(4365)
    lines = []
    for _ in range(count):
        lines.append(
            json.dumps(
                {
                    "arch": numbers.choice(["gfx942", "gfx950"]),
                    "mode": numbers.choice(["persistent", "split"]),
                    "q_dtype": numbers.choice(["bf16", "fp8"]),
                    "kv_dtype": numbers.choice(["bf16", "fp8"]),
                    "heads": numbers.randint(1, 128),
                    "q_len": numbers.randint(1, 16),
                    "page_size": numbers.choice([1, 1, 64]),
                    "kv_bytes": numbers.randint(0, 1 << 33),
                }
            )
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="interpreter of the environment that holds the wheel")
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    print("import                 ", measure(args.python, IMPORT, args.runs))
    print("import, resolve ready   ", measure(args.python, READY, args.runs))
    for arch in ("gfx942", "gfx950"):
        print(f"verify + load {arch}   ", measure(args.python, LOAD.format(arch=arch), args.runs))
        print(f"explain {arch}, in process", measure(args.python, EXPLAIN.format(arch=arch), args.runs))
    explain = '"explain", "--arch", "gfx950", "--heads", "16", "--q-dtype", "bf16", "--kv-dtype", "fp8", "--q-len", "5", "--page-size", "1"'
    print("explain, as a command  ", measure(args.python, COMMAND.format(arguments=explain), args.runs))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "problems.jsonl")
        path.write_text(problems(100_000), encoding="utf-8")
        batch = f'"resolve", "--batch", {str(path)!r}, "--json"'
        print("resolve, 100,000 lines ", measure(args.python, COMMAND.format(arguments=batch), 3))


if __name__ == "__main__":
    main()
