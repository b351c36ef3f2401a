"""``build_tools prove``: run kernels on the emulator and write what was right as evidence."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from build_tools import settings
from build_tools.build_graph import pipeline
from build_tools.build_graph.layout import EMULATOR, OBJECTS
from build_tools.build_graph.steps import zig_environment
from build_tools.data import catalog
from build_tools.entry import ROOT, report
from build_tools.prove import evidence, plot, recheck, subjects, table_text
from build_tools.prove.battery import LEVELS
from build_tools.prove.files import replace_text
from build_tools.prove.kernels import OBJECTS_AT_A_TIME, ObjectProof, prove_objects
from build_tools.prove.libraries import Libraries, planner_in
from build_tools.prove.session import Session, Store, cache_folder, make_executor

HSA = ROOT / "hsa"
DESCRIPTION = """Runs the exact bytes of kernels on the emulator, class of problems by class, against a float64 reference.
An error of a kernel is a result, not a failure of the command; with --code-object the exit code is 1 if no recipe is right."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "prove", help="run kernels on the emulator and write what was right as evidence", description=DESCRIPTION
    )
    parser.add_argument("--arch", help="one arch only; of the object with --code-object")
    parser.add_argument("--kernel", default="*", metavar="GLOB", help="file names of catalogued kernels")
    parser.add_argument("--code-object", type=Path, metavar="PATH", help="prove this object, catalogued or not; nothing is written")
    parser.add_argument("--check", action="store_true", help="run a sample of the recorded evidence again; nothing is written")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="classes of each finding that --check runs, 0 for all")
    parser.add_argument("--quick", action="store_true", help="a few classes in seconds; nothing is written")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--executor", metavar="MODULE:FACTORY", help="run on this concurrent.futures executor instead of processes")
    parser.add_argument("--aiter-source", type=Path, metavar="PATH", help="AITER checkout, installed aiter_meta, or wheel (default: PyPI)")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "prove", metavar="DIR", help="folder of known outcomes")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the error over the number of keys")
    parser.add_argument("--json", action="store_true", help="print JSON (schema 1)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prove, print, and write evidence."""
    if args.check:
        return _check(args)
    level = LEVELS[0] if args.quick else LEVELS[1]
    libraries = _libraries(args)
    wanted = _wanted(args)
    store = Store(cache_folder(args.cache, libraries))
    written: list[str] = []

    def keep(proof: ObjectProof) -> None:
        if args.code_object is None and not args.quick:
            written.append(str(evidence.write(HSA, proof.evidence(level))))

    start = time.monotonic()
    with make_executor(args.executor, args.jobs) as executor:
        session = Session(executor, libraries, store, None if args.json else _progress)
        found = prove_objects(session, wanted, level, keep)
    seconds = time.monotonic() - start
    if args.svg is not None:
        replace_text(args.svg, plot.svg(found))
    if args.json:
        print(json.dumps(_payload(args, found, level, session.ran, sorted(written))))
    else:
        if sys.stderr.isatty():
            print(f"\r{' ' * 60}\r", end="", file=sys.stderr, flush=True)
        print(table_text.table(found))
        print("\n".join(plot.text(proof) for one in found for proof in one.proofs if args.code_object is not None))
        print(f"{session.ran} cases run in {seconds:.0f} s; {len(written)} evidence files written")
    return 0 if args.code_object is None or any(proof.right for one in found for proof in one.proofs) else 1


def _check(args: argparse.Namespace) -> int:
    libraries, ran, classes = _libraries(args), 0, 0
    start = time.monotonic()
    # Outcomes that are known already prove nothing here: this store is thrown away.
    with make_executor(args.executor, args.jobs) as executor, tempfile.TemporaryDirectory() as scratch:
        session = Session(executor, libraries, Store(Path(scratch)), None if args.json else _progress)
        todo = []
        for wanted in _wanted(args):
            path = evidence.path_of(HSA, wanted.subject.arch, wanted.file, wanted.subject.sha256)
            if path.exists():
                todo.append((wanted.subject, list(recheck.sample(evidence.read(path), args.sample))))
        with ThreadPoolExecutor(OBJECTS_AT_A_TIME) as pool:
            ran = sum(pool.map(lambda one: recheck.recheck(session, *one), todo))
        classes = sum(len(recorded) for _, recorded in todo)
    payload = {"schema": 1, "command": "prove", "level": "check", "objects": len(todo), "classes": classes, "cases_run": ran}
    text = f"{len(todo)} objects, {classes} classes, {ran} cases give the recorded bits, {time.monotonic() - start:.0f} s"
    print(json.dumps(payload) if args.json else text)
    return 0


def _libraries(args: argparse.Namespace) -> Libraries:
    """The emulator as the wheel holds it, and the planner. The build also fetches the objects."""
    chosen = settings.read(HSA, os.environ)
    if args.aiter_source:
        chosen = replace(chosen, aiter_source=args.aiter_source.absolute())
    pipeline.build(ROOT, chosen, report)
    return Libraries(ROOT / EMULATOR, planner_in(ROOT / "build" / "lib", zig_environment(ROOT)))


def _wanted(args: argparse.Namespace) -> list[subjects.Wanted]:
    archs = [args.arch] if args.arch else list(catalog.archs(HSA))
    if args.code_object is None:
        return subjects.catalogued(HSA, ROOT / OBJECTS, archs, args.kernel)
    if args.arch is None:
        args.arch = subjects.arch_of(args.code_object)
    subject = subjects.load(args.code_object, args.arch, subjects.fp8_of(HSA, args.arch))
    return [subjects.Wanted(subject, args.code_object.name, None)]


def _payload(args: argparse.Namespace, found: list[ObjectProof], level: str, ran: int, written: list[str]) -> dict[str, Any]:
    objects = []
    for one in found:
        made = one.evidence(level)
        verdict = "right" if any(proof.right for proof in one.proofs) else "none"
        objects.append({"arch": made.arch, "file": made.file, "sha256": made.sha256, "verdict": verdict, "findings": list(made.findings)})
    return {"schema": 1, "command": "prove", "level": level, "cases_run": ran, "written": written, "objects": objects}


def _progress(done: int, asked: int) -> None:
    if sys.stderr.isatty():
        filled = 30 * done // max(1, asked)
        print(f"\rprove [{'#' * filled}{'.' * (30 - filled)}] {done}/{asked}", end="", file=sys.stderr, flush=True)
