"""One module a command: ``add_parser`` and ``run``."""
