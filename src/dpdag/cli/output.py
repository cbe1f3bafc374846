"""Results on disk: all of them or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["new_file", "new_folder"]


@contextmanager
def new_folder(target: Path, *, overwrite: bool, marker: str) -> Iterator[Path]:
    """A folder to write into, which becomes ``target`` at the end and vanishes on any error.

    Arguments:
        target: What must not exist yet.
        overwrite: Replace an earlier result, and nothing else.
        marker: File by which an earlier result is recognised.
    """
    _check_folder(target, overwrite=overwrite, marker=marker)
    partial = _beside(target)
    partial.mkdir()
    try:
        yield partial
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def new_file(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A file name to write to, which becomes ``target`` at the end and vanishes on any error."""
    if target.is_dir():
        raise ValueError(f"{target} is a folder; --out must name a file.")
    if target.exists() and not overwrite:
        raise ValueError(f"{target} exists; choose another --out or add --overwrite.")
    partial = _beside(target)
    partial = partial.with_name(partial.name + "".join(target.suffixes))
    try:
        partial.touch()
        yield partial
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _check_folder(target: Path, *, overwrite: bool, marker: str) -> None:
    if target.is_file():
        raise ValueError(f"{target} is a file; --out must name a folder.")
    if not target.exists() or not any(target.iterdir()):
        return
    if not overwrite:
        raise ValueError(f"{target} exists; choose another --out or add --overwrite.")
    if not (target / marker).is_file():
        raise ValueError(f"{target} holds other files than results of dpdag; choose another --out.")


def _beside(target: Path) -> Path:
    """A new name in the nearest folder that exists, hence on the same disk."""
    folder = target.absolute().parent
    while not folder.is_dir():
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written to; choose another --out.")
    return folder / f".{target.name}.partial-{os.getpid()}"


def _replace(target: Path, partial: Path) -> None:
    """Move ``partial`` to ``target``; what was there is removed only after that."""
    if not target.exists():
        partial.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        partial.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
