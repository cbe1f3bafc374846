"""Download a file, verify it by its git blob id, and only then put it in place."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def blob_id(content: bytes) -> str:
    r"""The id git gives a file: sha1("blob " + size + NUL + content).

    Example:
        >>> blob_id(b"hello\n")
        'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def verify(path: Path, blob: str) -> None:
    """Refuse a file whose content is not the one with this blob id."""
    found = blob_id(path.read_bytes())
    if found != blob:
        raise ValueError(
            f"{path} is truncated or changed: its git blob id is {found[:12]}…, not {blob[:12]}…. "
            "Delete it to download it again."
        )


def fetch(url: str, path: Path, *, blob: str, other_folder: Path | None = None) -> Path:
    """Download ``url`` to ``path``; whatever fails, no partial file is left there.

    Arguments:
        url: Where the file is.
        path: Where it goes.
        blob: Git blob id of the content expected.
        other_folder: Where the user may put the file by hand, for the message.
    """
    import pooch

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.stem, suffix=".part", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        try:
            pooch.HTTPDownloader(timeout=30)(url, str(partial), None)
        except Exception as error:  # requests and urllib3 raise many kinds
            folder = other_folder or path.parent
            raise OSError(
                f"{path.name} could not be downloaded ({type(error).__name__}): "
                f"get it from {url} and put it in {folder}, or set DPDAG_DATA to its folder."
            ) from error
        found = blob_id(partial.read_bytes())
        if found != blob:
            raise OSError(
                f"The download of {path.name} is truncated or changed: its git blob id is "
                f"{found[:12]}…, not {blob[:12]}…. Try again, or get it from {url}."
            )
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
