"""``build_tools prove``: run kernels on the emulator and write what was right as evidence."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from build_tools import settings
from build_tools.build_graph import pipeline
from build_tools.build_graph.layout import EMULATOR, OBJECTS
from build_tools.build_graph.steps import zig_environment
from build_tools.entry import ROOT, report
from build_tools.environment.pip_run import report_os_errors
from build_tools.errors import SettingInvalid
from build_tools.prove import evidence, plot, recheck, subjects, table_text
from build_tools.prove.battery import LEVELS
from build_tools.prove.errors import EvidenceInvalid
from build_tools.prove.kernels import OBJECTS_AT_A_TIME, ObjectProof, prove_objects
from build_tools.prove.libraries import Libraries, planner_in
from build_tools.prove.session import Session, Store, cache_folder, make_executor
from build_tools.providers.aiter import write

HSA = ROOT / "hsa"
DESCRIPTION = """Runs the exact bytes of kernels on the emulator, class of problems by class, against a float64 reference.
An error of a kernel is a result, not a failure of the command; with --code-object the exit code is 1 if no recipe is right."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "prove", help="run kernels on the emulator and write what was right as evidence", description=DESCRIPTION
    )
    parser.add_argument("--arch", help="one arch only; of the object with --code-object")
    parser.add_argument("--kernel", default="*", metavar="GLOB", help="names of catalogued kernels")
    parser.add_argument("--code-object", type=Path, metavar="PATH", help="prove this object, catalogued or not; nothing is written")
    parser.add_argument("--check", action="store_true", help="run a sample of the recorded evidence again; nothing is written")
    parser.add_argument("--sample", type=_count(0), default=1, metavar="N", help="classes of each finding that --check runs, 0 for all")
    parser.add_argument("--quick", action="store_true", help="a few classes in seconds; nothing is written")
    parser.add_argument("--jobs", type=_count(1), default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--executor", metavar="MODULE:FACTORY", help="run on this concurrent.futures executor instead of processes")
    parser.add_argument("--aiter-source", type=Path, metavar="PATH", help="AITER checkout, installed aiter_meta, or wheel (default: PyPI)")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "prove", metavar="DIR", help="folder of known outcomes")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the error over the number of keys")
    parser.add_argument("--json", action="store_true", help="print JSON (schema 1)")
    parser.set_defaults(run=run)


def _count(least: int) -> Callable[[str], int]:
    """A number of ``least`` or more, as argparse reads it."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise ValueError
        return value

    number.__name__ = f"number of {least} or more"
    return number


def run(args: argparse.Namespace) -> int:
    """Prove, print, and write evidence."""
    archs = settings.select_archs(HSA, [args.arch] if args.arch else [])
    if args.check:
        return _check(args, archs)
    level = LEVELS[0] if args.quick else LEVELS[1]
    # A given object is looked at before anything is built.
    given = _given(args) if args.code_object is not None else []
    libraries = _libraries(args)
    wanted = given or _locked(archs, args.kernel)
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
        with report_os_errors(args.svg):
            write(args.svg, plot.svg(found).encode())
    if args.json:
        print(json.dumps(_payload(args, found, level, session.ran, sorted(written))))
    else:
        if sys.stderr.isatty():
            print(f"\r{' ' * 60}\r", end="", file=sys.stderr, flush=True)
        print(table_text.table(found))
        print("\n".join(plot.text(proof) for one in found for proof in one.proofs if args.code_object is not None))
        print(f"{session.ran} cases run in {seconds:.0f} s; {len(written)} evidence files written")
    return 0 if args.code_object is None or any(proof.right for one in found for proof in one.proofs) else 1


def _check(args: argparse.Namespace, archs: Sequence[str]) -> int:
    libraries, ran, classes = _libraries(args), 0, 0
    start = time.monotonic()
    # Outcomes that are known already prove nothing here: this store is thrown away.
    with make_executor(args.executor, args.jobs) as executor, tempfile.TemporaryDirectory() as scratch:
        session = Session(executor, libraries, Store(Path(scratch)), None if args.json else _progress)
        todo = []
        for wanted in _locked(archs, args.kernel):
            path = evidence.path_of(HSA, wanted.subject.arch, wanted.file, wanted.subject.sha256)
            # A kernel that is served must have evidence; the others may.
            if wanted.claimed or path.exists():
                shown = evidence.read(path)
                if shown.sha256 != wanted.subject.sha256:
                    raise EvidenceInvalid(
                        f"{path}: it is about {shown.sha256}", cause="it belongs to other bytes", remedy="prove the object"
                    )
                todo.append((wanted.subject, list(recheck.sample(shown, args.sample))))
        with ThreadPoolExecutor(OBJECTS_AT_A_TIME) as pool:
            ran = sum(pool.map(lambda one: recheck.recheck(session, *one), todo))
        classes = sum(len(recorded) for _, recorded in todo)
    payload = {"schema": 1, "command": "prove", "level": "check", "objects": len(todo), "classes": classes, "cases_run": ran}
    text = f"{len(todo)} objects, {classes} classes, {ran} cases give the recorded bits, {time.monotonic() - start:.0f} s"
    print(json.dumps(payload) if args.json else text)
    return 0


def _libraries(args: argparse.Namespace) -> Libraries:
    """The emulator as the wheel holds it, and the planner; the objects are fetched too."""
    chosen = settings.read(HSA, os.environ)
    if args.aiter_source:
        chosen = replace(chosen, aiter_source=args.aiter_source.absolute())
    # Not the table: it rests on the evidence that is to be written.
    pipeline.build(ROOT, chosen, report, kinds=("fetch", "link-emulator"))
    return Libraries(ROOT / EMULATOR, planner_in(ROOT / "build" / "lib", zig_environment(ROOT)))


def _locked(archs: Sequence[str], pattern: str) -> list[subjects.Wanted]:
    """The locked kernels whose file name matches."""
    found = subjects.catalogued(HSA, ROOT / OBJECTS, archs, pattern)
    if not found:
        raise SettingInvalid(
            f"no locked kernel matches {pattern!a}",
            cause=f"the locks of {', '.join(archs)} hold no such file",
            remedy="`aiter-mla-aot kernels` lists them; the pattern must match the whole name",
        )
    return found


def _given(args: argparse.Namespace) -> list[subjects.Wanted]:
    """The kernels of the object of ``--code-object``."""
    arch = args.arch or subjects.arch_of(args.code_object)
    found = subjects.load(args.code_object, arch, subjects.fp8_of(HSA, arch))
    return [subjects.Wanted(subject, args.code_object.name, None) for subject in found]


def _payload(args: argparse.Namespace, found: list[ObjectProof], level: str, ran: int, written: list[str]) -> dict[str, Any]:
    objects = []
    for one in found:
        made = one.evidence(level)
        verdict = "right" if any(proof.right for proof in one.proofs) else "none"
        names = {"arch": made.arch, "file": made.file, "sha256": made.sha256, "symbol": one.wanted.subject.symbol}
        objects.append(names | {"verdict": verdict, "findings": list(made.findings)})
    return {"schema": 1, "command": "prove", "level": level, "cases_run": ran, "written": written, "objects": objects}


def _progress(done: int, asked: int) -> None:
    if sys.stderr.isatty():
        filled = 30 * done // max(1, asked)
        print(f"\rprove [{'#' * filled}{'.' * (30 - filled)}] {done}/{asked}", end="", file=sys.stderr, flush=True)
