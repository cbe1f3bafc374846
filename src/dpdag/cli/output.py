"""Results on disk: all of them or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path


def new_folder(target: Path, *, overwrite: bool, marker: str) -> AbstractContextManager[Path]:
    """A folder to write into, which becomes ``target`` at the end and vanishes on any error.

    Arguments:
        target: What must not exist yet.
        overwrite: Replace an earlier result, and nothing else.
        marker: File by which an earlier result is recognised.
    """

    def check() -> None:
        if target.is_file():
            raise ValueError(f"{target} is a file; --out must name a folder.")
        if not target.exists() or not any(target.iterdir()):
            return
        if not overwrite:
            raise ValueError(f"{target} exists; choose another --out or add --overwrite.")
        if not (target / marker).is_file():
            raise ValueError(
                f"{target} holds other files than results of dpdag; choose another --out."
            )

    return _claimed(target, Path.mkdir, check, _replace)


def new_file(target: Path, *, overwrite: bool) -> AbstractContextManager[Path]:
    """A file name to write to, which becomes ``target`` at the end and vanishes on any error."""

    def check() -> None:
        if target.is_dir():
            raise ValueError(f"{target} is a folder; --out must name a file.")
        if target.exists() and not overwrite:
            raise ValueError(f"{target} exists; choose another --out or add --overwrite.")

    return _claimed(target, partial(Path.touch, exist_ok=False), check, os.replace)


@contextmanager
def _claimed(
    target: Path,
    create: Callable[[Path], None],
    check: Callable[[], None],
    move: Callable[[Path, Path], None],
) -> Iterator[Path]:
    """A name beside ``target`` to be moved there, removed on any error.

    Who creates it may write; so nobody else removes it, not even after it was moved.
    """
    own = _beside(target)
    theirs = own.exists()
    try:
        try:
            create(own)  # a signal may come as soon as it is there
        except FileExistsError:
            theirs = True
            raise ValueError(
                f"{target} is being written by another command; wait for it or choose another "
                f"--out. If that command was killed, remove {own}."
            ) from None
        check()
        yield own
        check()
        target.parent.mkdir(parents=True, exist_ok=True)
        move(own, target)
    except BaseException:
        if not theirs and own.is_dir():
            shutil.rmtree(own, ignore_errors=True)
        elif not theirs:
            own.unlink(missing_ok=True)
        raise


def _beside(target: Path) -> Path:
    """A new name in the nearest folder that exists, hence on the same disk."""
    folder = target.absolute().parent
    while not folder.is_dir():
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written to; choose another --out.")
    words = target.absolute().relative_to(folder).with_suffix("").parts
    return folder / f".{'-'.join(words)}.partial{target.suffix}"


def _replace(own: Path, target: Path) -> None:
    """Move ``own`` to ``target``; what was there is removed only after that."""
    if not target.exists():
        own.rename(target)
        return
    old = target.with_name(f".{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        own.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
