"""The paper's generated benchmarks by name: ER-n-m and SF-n-m with Gaussian-process mechanisms."""

from __future__ import annotations

import re
from dataclasses import replace

from ..seeding import derive_seed
from .mechanisms import GP
from .noise import Noise
from .random_graphs import GRAPHS
from .record import Dataset, Provenance, checked_index
from .simulation import simulate

# Every generated setting in the tables of the paper and of the benchmark it takes them from.
PAPER_BENCHMARKS = tuple(
    f"{family}-{n}-{degree * n}"
    for family in ("ER", "SF")
    for n in (10, 20, 50, 100)
    for degree in (1, 4)
)

PATTERN = re.compile(r"(ER|SF|BA|BP|WS)-([0-9]+)-([0-9]+)", re.IGNORECASE)


def canonical_name(name: str) -> str | None:
    """``"er-010-40"`` → ``"ER-10-40"``; None for anything that is no such name."""
    match = PATTERN.fullmatch(name)
    return match and f"{match[1].upper()}-{int(match[2])}-{int(match[3])}"


def benchmark(name: str, index: int = 0, *, rows: int = 1000) -> Dataset:
    r"""Draw data set number ``index`` of the setting ``name``, always the same one.

    The graph is Erdős–Rényi ("ER"), scale-free ("SF", or "BA" with flatter hubs), bipartite
    ("BP") or small-world ("WS").
    Roots have a variance of U(1, 2). Every other node is a joint Gaussian process of its parents
    with an RBF kernel of bandwidth one, plus Gaussian noise of variance U(0.04, 0.08).

    Arguments:
        name: Family, nodes and edges, for example "ER-50-200".
        index: Number of the data set; name and index are the seed.
        rows: Number of rows. The graph is the same for any; the values are another draw.

    Example:
        >>> benchmark("SF-10-10", 3)
        Dataset('SF-10-10', rows=1000, nodes=10, edges=9, source='generated')
    """
    canonical = canonical_name(name)
    if canonical is None:
        raise ValueError(f"'name' must be like 'ER-50-200' (family-nodes-edges); got {name!r}.")
    index = checked_index(index)
    family, n_nodes, n_edges = canonical.split("-")
    seed = derive_seed(canonical, index)
    adjacency = GRAPHS[family](int(n_nodes), int(n_edges), random_state=seed)
    data = simulate(
        adjacency,
        rows,
        mechanism=GP(),
        noise=Noise(variance=(0.04, 0.08)),
        root_noise=Noise(variance=(1.0, 2.0)),
        name=canonical,
        random_state=seed,
    )
    details = f"{canonical}, data set {index}, seed {seed}: {data.provenance.details}"
    return replace(data, provenance=Provenance(source="generated", details=details))
