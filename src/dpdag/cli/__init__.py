"""The command line: parses, calls, prints."""

from .app import app, main

__all__ = ["app", "main"]
