"""Protein signalling under nine conditions (Sachs et al., 2005), read from the data folder."""

from __future__ import annotations

import zipfile

import numpy as np

from .original import data_folders, find
from .record import Dataset, Provenance
from .sachs import CITATION, PROTEINS, sachs_adjacency

FILE = "Sachs-interventional.npz"

# What was given to the cells, and the protein it is commonly taken to set.
SACHS_CONDITIONS: dict[int, tuple[str, str | None]] = {
    1: ("anti-CD3/CD28", None),
    2: ("anti-CD3/CD28 + ICAM-2", None),
    3: ("anti-CD3/CD28 + Akt inhibitor", "Akt"),
    4: ("anti-CD3/CD28 + G06976", "PKC"),
    5: ("anti-CD3/CD28 + psitectorigenin", "PIP2"),
    6: ("anti-CD3/CD28 + U0126", "Mek"),
    7: ("anti-CD3/CD28 + LY294002", "Akt"),
    8: ("PMA", "PKC"),
    9: ("beta2cAMP", "PKA"),
}


def sachs_interventional() -> Dataset:
    r"""7466 measurements of 11 proteins and phospholipids under nine conditions.

    Columns and truth are those of ``load("Sachs")``, whose rows are the first condition. ``mask``
    has the targets as commonly used, for ``fit(data.frame, interventions=data.mask)``. They are
    imperfect interventions: the drugs change how active a protein is more than how much of it is
    measured, and LY294002 inhibits PI3K, above Akt: others take PIP3 for its target, or none.
    """
    path, names = find(FILE), list(PROTEINS.values())
    if path is None:
        raise FileNotFoundError(
            f"{FILE} is not in {' or '.join(map(str, data_folders()))}; put it there or set "
            "DPDAG_DATA to its folder. It holds the arrays X, condition, targets and names."
        )
    try:
        # np.load leaves a file that it cannot read open, so it is opened here.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            given = [str(name) for name in file["names"]]
            order = [given.index(name) for name in names]
            X, conditions = file["X"][:, order], file["condition"]
            mask = file["targets"][:, order][conditions]
        return Dataset(
            X=X,
            adjacency=sachs_adjacency(names),
            names=names,
            name="Sachs-interventional",
            provenance=Provenance(
                source="original",
                details=f"The nine conditions, from {path.name}; the 17-edge consensus graph.",
                citation=CITATION,
                url="https://github.com/felixleopoldo/benchpress",
            ),
            mask=mask,
            conditions=conditions,
        )
    except (OSError, EOFError, LookupError, ValueError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as Sachs-interventional: {reason}") from error
