"""The benchmark's original files: read from a data folder, else downloaded and verified.

A folder may hold the zip files of the GraN-DAG repository, or one ``NAME.npz`` per setting with
arrays ``X`` (sets, rows, nodes), ``A`` (sets, nodes, nodes) and, where there are any, ``names``.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .record import Dataset, Provenance, default_names
from .sachs import CITATION as SACHS_CITATION
from .sachs import PROTEINS


def blob_id(content: bytes) -> str:
    r"""The id git gives a file: sha1("blob " + size + NUL + content).

    Example:
        >>> blob_id(b"hello\n")
        'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


Arrays = tuple[NDArray[Any], NDArray[Any], list[str]]  # X, A, names

# Git blob ids, sha1("blob " + size + NUL + content), at the pinned commit.
BLOBS = {
    "data_p100_e100_n1000_GP.zip": "4d8c7917725d866c59fdd50555b842d92ca24819",
    "data_p100_e400_n1000_GP.zip": "1bd0040ceb22a818b28d6fd3f6971322cc8b84b4",
    "data_p10_e10_n1000_GP.zip": "681180ff7e962a050931a2f8e5a088b7a4d0151f",
    "data_p10_e40_n1000_GP.zip": "5dd75884538214951661ac9cfa535d8e3415d92e",
    "data_p20_e20_n1000_GP.zip": "2727cf070a836e39918966111f36bbd9efc95301",
    "data_p20_e80_n1000_GP.zip": "2377fb0ce99f3ff668124d1f7a141be1b37d6c62",
    "data_p50_e200_n1000_GP.zip": "91a71f890e8f528f0d2dd3776c739b6d7b7035be",
    "data_p50_e50_n1000_GP.zip": "f72681db9a329bc3e3ceb9dfd69bd4d291e5bb5d",
    "data_sf_p100_e100_n1000_GP.zip": "b8f8727b83242c03e739450cd737adad06477f79",
    "data_sf_p100_e400_n1000_GP.zip": "ec2a2ca7bea4190c6bd162b816fd8521cd353b5b",
    "data_sf_p10_e10_n1000_GP.zip": "482bb9ce6ce85ba46c88bf57476d2ec4536cb3c1",
    "data_sf_p10_e40_n1000_GP.zip": "e37ed96b5e57b8f8812576a2de00d10dde8013e8",
    "data_sf_p20_e20_n1000_GP.zip": "fcd96633508b00c007199a30cef7f76908b25ad2",
    "data_sf_p20_e80_n1000_GP.zip": "7e6f6d73ec531ab6fff51ffc02a97bf7e4cc3808",
    "data_sf_p50_e200_n1000_GP.zip": "1b60ae15331ff639c4c536667bf8b94e8c907bfe",
    "data_sf_p50_e50_n1000_GP.zip": "1b548b49e516bdb77ce6310ba25b6d8d0cad28a4",
    "sachs.zip": "071a934b90711b76e67c8fd84235c84486e8f62b",
    "syntren_p20.zip": "f10730bbba72c70f48e063139c0ed22d4bb34229",
}
COMMIT = "d86ab59325730d742d67b4a1c964bde5145a9b9c"
URL = f"https://raw.githubusercontent.com/kurowasan/GraN-DAG/{COMMIT}/data/"


def _setting(file: str) -> str:
    """``"data_sf_p10_e40_n1000_GP.zip"`` → ``"SF-10-40"``."""
    match = re.fullmatch(r"data_(sf_)?p(\d+)_e(\d+)_n1000_GP\.zip", file)
    if match:
        return f"{'SF' if match[1] else 'ER'}-{match[2]}-{match[3]}"
    return {"sachs.zip": "Sachs", "syntren_p20.zip": "SynTReN"}[file]


ORIGINALS = {_setting(file): file for file in BLOBS}

GRAN_DAG = (
    "S. Lachapelle, P. Brouillard, T. Deleu, S. Lacoste-Julien: Gradient-based neural DAG "
    "learning. ICLR 2020."
)
CITATIONS = {
    "Sachs": SACHS_CITATION,
    "SynTReN": (
        "T. Van den Bulcke et al.: SynTReN: a generator of synthetic gene expression data for "
        f"design and analysis of structure learning algorithms. BMC Bioinformatics 7:43, 2006. "
        f"Data sets of {GRAN_DAG}"
    ),
}


def data_folders() -> Iterator[Path]:
    """Where files are looked for, in this order: ``DPDAG_DATA``, then the user's cache."""
    given = os.environ.get("DPDAG_DATA")
    if given:
        yield Path(given).expanduser()
    import pooch

    yield Path(pooch.os_cache("dpdag"))


def original(name: str, index: int = 0) -> Dataset:
    r"""Data set number ``index`` of the benchmark's own files.

    Arguments:
        name: "SynTReN", "Sachs", or a setting such as "ER-50-200".
        index: Number of the data set, from 0.
    """
    if name not in ORIGINALS:
        raise ValueError(f"{name!r} has no original files. Known: {', '.join(sorted(ORIGINALS))}.")
    file = ORIGINALS[name]
    path = find(f"{name}.npz", file) or _download(file)
    if path.suffix == ".zip" and (wrong := _changed(path)):
        raise ValueError(f"{path} is {wrong} Delete it to download it again.")
    try:
        X, A, names = _read_npz(path, index) if path.suffix == ".npz" else _read_zip(path, index)
    except IndexError as error:
        raise ValueError(str(error)) from None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as the {name} data: {reason}") from error
    return Dataset(
        X=X,
        adjacency=A,
        names=names or (list(PROTEINS.values()) if name == "Sachs" else default_names(X.shape[1])),
        name=name,
        provenance=Provenance(
            source="original",
            details=f"{name}, data set {index}, from {path.name} ({file}).",
            citation=CITATIONS.get(name, GRAN_DAG),
            license="MIT (GraN-DAG repository)",
            url=URL + file,
        ),
    )


def _download(file: str) -> Path:
    """A file of the repository, now in the user's cache; whatever fails, no part is left there."""
    import pooch

    folders = list(data_folders())
    cache = folders[-1]
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        partial = Path(folder, file)
        try:
            pooch.HTTPDownloader(timeout=30)(URL + file, str(partial), None)
        except Exception as error:  # requests and urllib3 raise many kinds
            raise OSError(
                f"{file} could not be downloaded ({type(error).__name__}): "
                f"get it from {URL + file} and put it in {folders[0]}, or set DPDAG_DATA to its "
                "folder."
            ) from error
        if wrong := _changed(partial):
            raise OSError(
                f"The download of {file} is {wrong} Try again, or get it from {URL + file}."
            )
        return partial.replace(cache / file)


def _changed(path: Path) -> str:
    """How a file differs from the repository's of that name; nothing where it does not."""
    found, blob = blob_id(path.read_bytes()), BLOBS[path.name]
    if found == blob:
        return ""
    return f"truncated or changed: its git blob id is {found[:12]}…, not {blob[:12]}…."


def find(*files: str) -> Path | None:
    """The first of some files that is in a data folder."""
    places = (folder / file for folder in data_folders() for file in files)
    return next((place for place in places if place.is_file()), None)


def _pick(index: int, count: int) -> int:
    if not 0 <= index < count:
        raise IndexError(f"'index' must be in 0 … {count - 1}; got {index}.")
    return index


def _read_npz(path: Path, index: int) -> Arrays:
    # np.load leaves a file that it cannot read open, so it is opened here.
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        X, A = file["X"], file["A"]
        k = _pick(index, len(X))
        return X[k], A[k], [str(label) for label in file["names"]] if "names" in file else []


def _read_zip(path: Path, index: int) -> Arrays:
    with zipfile.ZipFile(path) as archive:
        # sachs.zip has more than one folder; the continuous measurements are the data set.
        members = [member for member in archive.namelist() if "__MACOSX" not in member]
        members = [member for member in members if "/continuous/" in f"/{member}"] or members
        by_name = {Path(member).name: member for member in members}
        count = sum(re.fullmatch(r"data\d+\.npy", file) is not None for file in by_name)
        k = _pick(index, count) + 1
        arrays = []
        for file in (f"data{k}.npy", f"DAG{k}.npy"):
            with archive.open(by_name[file]) as stream:
                arrays.append(np.lib.format.read_array(stream, allow_pickle=False))
        return arrays[0], arrays[1], []
