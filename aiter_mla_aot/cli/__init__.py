"""The ``aiter-mla-aot`` command: asks the package what will run, without a GPU, torch or a compiler.

Exit codes: 0 an answer was given (a refusal is an answer), 2 a wrong flag or an impossible value, 4 a damaged package,
5 a device or HIP error (or a smoke request that is not right), 6 standard output that cannot be written.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from ..errors import InvalidProblem, MlaError, OutputUnwritable
from . import output

COMMANDS: Final = {
    "explain": "say what runs for one problem, and why",
    "resolve": "answer problems given as JSON lines",
    "coverage": "count the problems this wheel serves",
    "kernels": "list the catalogued kernels",
    "verify": "re-hash every file of the installed package or of a wheel",
    "smoke": "run a few real requests on a device or on the emulator",
    "doctor": "report on this installation, its devices and its environment",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InvalidProblem(message, cause="the command line was not understood", remedy=f"see `{self.prog} --help`")


INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = _parse(given)
        code: int = parsed.run(parsed)
        output.flush()
    except output.ReaderGone:
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except MlaError as error:
        _report(given, error)
        return error.exit_code
    return code


def _parse(given: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="aiter-mla-aot", description="Precompiled MLA decode for AMD Instinct: what runs, and why.", allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="command", parser_class=_Parser)
    for name, text in COMMANDS.items():
        if name in given:
            importlib.import_module(f"{__name__}.{name}").add_parser(subparsers)
        else:
            # Only the commands that were named are imported: starting up is most of what a single question costs.
            subparsers.add_parser(name, help=text)
    parsed = parser.parse_args(given)
    if parsed.version:
        parsed.run = _version
    elif parsed.command is None:
        parser.error(f"a command is needed: {', '.join(COMMANDS)}")
    return parsed


def _version(_: argparse.Namespace) -> int:
    from ..build_info import load

    output.write(load()["version"])
    return 0


def _report(given: Sequence[str], error: MlaError) -> None:
    if "--json" in given and not isinstance(error, OutputUnwritable):
        command = next((word for word in given if word in COMMANDS), None)
        try:
            output.write(json.dumps({"schema": output.SCHEMA, "command": command, "error": error.to_json()}))
            output.flush()
        except (OutputUnwritable, output.ReaderGone):
            print(error, file=sys.stderr)
    else:
        print(error, file=sys.stderr)
