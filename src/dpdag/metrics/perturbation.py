"""Does a model trust the true graph more than graphs near it? (Appendix of the paper.)"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ops.named_graphs import Names, read_graph, scores_and_truth
from ..seeding import numpy_generator

N_GRAPHS = 10  # as in the paper


class RelativeConfidence(NamedTuple):
    """Relative confidence scores of perturbed graphs: mean, standard deviation, all values."""

    mean: float
    std: float
    values: NDArray[np.float64]


def perturb(
    truth: Any, moved: int, *, random_state: Any = None
) -> NDArray[np.int64]:  # (n, n) -> (n, n)
    r"""Move edges of a graph to random pairs of nodes that were free before.

    Arguments:
        truth: True DAG.
        moved: Number of edges to move. The result need not be acyclic.
        random_state: None, an integer, or a numpy generator.

    Example:
        >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        >>> other = perturb(chain, 1, random_state=0)
        >>> int(other.sum()), int((chain & other).sum())
        (2, 1)
    """
    A = read_graph(truth, "truth", acyclic=True).values
    source = np.flatnonzero(A)
    free = np.flatnonzero(1 - A - np.eye(len(A), dtype=np.int64))
    most = min(source.size, free.size)
    if not 0 <= moved <= most:
        raise ValueError(
            f"'moved' must be in 0 … {most} for {source.size} edges and {free.size} free places; "
            f"got {moved}."
        )
    rng = numpy_generator(random_state, "perturb")
    flat = A.ravel().copy()
    flat[rng.permutation(source)[:moved]] = 0
    flat[rng.permutation(free)[:moved]] = 1
    return flat.reshape(A.shape)


def relative_confidence(
    scores: Any, truth: Any, moved: int, *, random_state: Any = 0, names: Names = None
) -> RelativeConfidence:
    r"""Score of ten randomly perturbed graphs relative to the score of the true one.

    .. math:: \textstyle\sum_{ij} S_{ij} \tilde A_{ij} \,/\, \sum_{ij} S_{ij} A^*_{ij}

    Arguments:
        scores: (n, n) edge scores or probabilities.
        truth: True DAG.
        moved: Number of edges moved in each perturbed graph.
        random_state: None, an integer, or a numpy generator.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> relative_confidence(chain, chain, 1).mean  # one of two edges is left
        0.5
    """
    S, A = scores_and_truth(scores, truth, names)
    whole = float((S * A).sum())
    if whole == 0:
        raise ValueError("'scores' of the true edges sum to zero: the ratio is undefined.")
    seeds = numpy_generator(random_state, "perturbations").integers(2**63, size=N_GRAPHS)
    graphs = np.stack([perturb(A, moved, random_state=int(seed)) for seed in seeds])
    values = (S * graphs).sum((1, 2)) / whole
    return RelativeConfidence(float(values.mean()), float(values.std()), values)
