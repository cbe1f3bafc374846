"""Packages that only some features need."""

from __future__ import annotations

from importlib import import_module
from shlex import quote
from typing import Any


def optional(module: str, *, needed_by: str, install: str) -> Any:
    """A module, or an error in one line that says how to install it.

    Arguments:
        needed_by: What cannot be done without it.
        install: What pip is to install.

    Example:
        >>> optional("cryptex", needed_by="Deciphering", install="cryptex>=2")
        Traceback (most recent call last):
        ImportError: Deciphering needs the package cryptex: pip install 'cryptex>=2'.
    """
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        reason = "" if error.name in (package, None) else f" ({error})"
        raise ImportError(
            f"{needed_by} needs the package {package}: pip install {quote(install)}{reason}."
        ) from error
