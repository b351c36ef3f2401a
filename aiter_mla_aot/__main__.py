"""``python -m aiter_mla_aot``: the same as ``aiter-mla-aot``."""

from .cli import main

raise SystemExit(main())
