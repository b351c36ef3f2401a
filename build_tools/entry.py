"""From the bare interpreter into the private environment, and there to the command."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from build_tools.environment import bootstrap
from build_tools.errors import BuildError, SettingInvalid

ROOT: Final = Path(__file__).resolve().parent.parent

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "wheel": ("build", "build, verify and try the wheel"),
    "test": ("test", "build, then run every tier of tests and checks"),
    "lock": ("build", "write the lock files of an AITER source"),
    "verify": ("build", "check a wheel file"),
    "diff": ("build", "compare two wheels"),
    "reproduce": ("build", "build three times under different conditions and compare the bytes"),
    "coverage": ("build", "count the served problems; write the kept counts and the support matrix"),
    "prove": ("test", "run kernels on the emulator and write what was right as evidence"),
    "import-report": ("build", "import a record of a real device; the only way a hardware gate is lifted"),
    "inspect": ("build", "print what a code object says of itself"),
    "bootstrap": ("", "make the private environment .env/"),
    "_step": ("", "one step of the build graph"),
}
"""Every command: the set of packages it needs (empty: runs on any interpreter) and one line of help."""


INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors go to stderr, or to stdout as JSON with ``--json``."""
    name = arguments[0] if arguments else ""
    try:
        if name in COMMANDS and COMMANDS[name][0]:
            python = bootstrap.ensure(ROOT, COMMANDS[name][0], report)
            if Path(sys.prefix).resolve() != (ROOT / bootstrap.DIRECTORY).resolve():
                enter(python, arguments)
        return dispatch(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BuildError as error:
        if "--json" in arguments:
            print(json.dumps({"schema": 1, "command": name, "error": error.to_json()}))
        else:
            print(error, file=sys.stderr)
        return error.exit_code


def enter(python: Path, arguments: Sequence[str]) -> None:
    """Replace this process by the same command in the private environment. Relative paths keep their meaning."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "PYTHONSTARTUP")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONNOUSERSITE": "1"}
    sys.stderr.flush()
    os.execve(python, [str(python), "-m", "build_tools", *arguments], environment)


class _Parser(argparse.ArgumentParser):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options | {"allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        raise SettingInvalid(message, cause="the command line was not understood", remedy=f"see `{self.prog} --help`")


def dispatch(arguments: Sequence[str]) -> int:
    """Parse the command line and run the command, in this interpreter."""
    parser = _Parser(prog="python3 -m build_tools", description="Builds and checks the aiter-mla-aot wheel.")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for name, (_, help_text) in COMMANDS.items():
        if arguments and name == arguments[0]:
            importlib.import_module(f"build_tools.commands.{name.lstrip('_').replace('-', '_')}").add_parser(subparsers)
        elif not name.startswith("_"):
            # Only the chosen command is imported: the others may need packages that this interpreter does not have.
            subparsers.add_parser(name, help=help_text)
    parsed = parser.parse_args(arguments)
    code: int = parsed.run(parsed)
    return code


def report(line: str) -> None:
    """Show a line of progress."""
    print(f"build_tools: {line}", file=sys.stderr, flush=True)
