"""``python3 -m build_tools COMMAND``: runs on a bare CPython >= 3.11."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):
    # Nothing else of this repository is importable on an older Python, so the error is written here and not raised.
    sys.stderr.write(
        f"MLA561: Python {sys.version_info[0]}.{sys.version_info[1]} cannot run build_tools\n"
        "  cause: the build reads TOML with the standard library, which Python has since 3.11\n"
        "  remedy: start it with a newer interpreter, for example `python3.11 -m build_tools`\n"
    )
    raise SystemExit(17)

from build_tools.entry import main

raise SystemExit(main(sys.argv[1:]))
