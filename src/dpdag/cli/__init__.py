"""The command line: parses, calls, prints."""

import sys
from typing import NoReturn

__all__ = ["main"]

STOPPED = "Stopped; nothing was written."


def main() -> NoReturn:
    """Run a command; see :func:`dpdag.cli.app.main`."""
    try:
        from .app import main as run
    except KeyboardInterrupt:  # already while importing
        print(f"dpdag: {STOPPED}", file=sys.stderr)
        sys.exit(130)
    run()
