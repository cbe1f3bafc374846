"""Protein signalling in human cells (Sachs et al., 2005), shipped with the package."""

from __future__ import annotations

import gzip
from importlib import resources

import numpy as np

from .record import Dataset, Provenance

Edges = tuple[tuple[str, str], ...]

# Column of the measurements → name of the protein in the publication and in the graphs.
PROTEINS = {
    "praf": "Raf",
    "pmek": "Mek",
    "plcg": "Plcg",
    "PIP2": "PIP2",
    "PIP3": "PIP3",
    "p44/42": "Erk",
    "pakts473": "Akt",
    "PKA": "PKA",
    "PKC": "PKC",
    "P38": "P38",
    "pjnk": "Jnk",
}


def _edges(text: str) -> Edges:
    """``"PKC: Raf Mek; Raf: Mek"`` → pairs (source, target)."""
    blocks = [block.split(":") for block in text.split(";")]
    return tuple((cause.strip(), effect) for cause, rest in blocks for effect in rest.split())


# The graphs in circulation whose source can be named. Only "consensus" is the truth of a data
# set; "cdt" has the cycle Plcg → PIP2 → PIP3 → Plcg and is here to be compared with.
SACHS_GRAPHS: dict[str, Edges] = {
    # The 17 arcs of Figure 3 of the publication, the usual truth in the literature.
    "consensus": _edges(
        "PKC: Raf Mek PKA P38 Jnk; PKA: Raf Mek Erk Akt P38 Jnk; Raf: Mek; Mek: Erk; Erk: Akt; "
        "Plcg: PIP2 PIP3; PIP3: PIP2"
    ),
    # The 18 arcs of cyto_full_target.csv in the Python package cdt 0.6.0.
    "cdt": _edges(
        "PKC: Raf Mek P38 Jnk; PKA: Raf Mek Erk Akt P38 Jnk; Raf: Mek; Mek: Erk; "
        "Plcg: PIP2 PKC; PIP2: PIP3 PKC; PIP3: Plcg Akt"
    ),
}

CITATION = (
    "K. Sachs, O. Perez, D. Pe'er, D. A. Lauffenburger, G. P. Nolan: Causal protein-signaling "
    "networks derived from multiparameter single-cell data. Science 308(5721), 523-529, 2005."
)


def sachs() -> Dataset:
    r"""853 observational measurements of 11 proteins and phospholipids, with 17 edges of truth.

    The truth is stored as pairs of names and laid out over the columns by name.

    Example:
        >>> data = sachs()
        >>> data
        Dataset('Sachs', rows=853, nodes=11, edges=17, source='packaged')
        >>> data.truth.loc["PKA", "Erk"]
        np.int64(1)
    """
    packed = resources.files(__package__).joinpath("resources/sachs.csv.gz").read_bytes()
    header, *lines = gzip.decompress(packed).decode().splitlines()
    names = [PROTEINS[column] for column in header.split(",")]
    return Dataset(
        X=np.array([line.split(",") for line in lines], dtype=np.float64),
        adjacency=sachs_adjacency(names),
        names=names,
        name="Sachs",
        provenance=Provenance(
            source="packaged",
            details=(
                "The first 853 rows (observational: anti-CD3/CD28) of cyto_full_data.csv in the "
                "Python package cdt 0.6.0; the 17-edge consensus graph."
            ),
            citation=CITATION,
            license="MIT (cdt, copyright 2018 Diviyan Kalainathan)",
            url="https://pypi.org/project/cdt/0.6.0/",
        ),
    )


def sachs_adjacency(names: list[str]) -> np.ndarray:
    """(n, n) 0/1 matrix of the consensus graph, in the order of ``names``."""
    edges = set(SACHS_GRAPHS["consensus"])
    return np.array([[int((cause, effect) in edges) for effect in names] for cause in names])
