r"""Whether a graph is any good, where nobody knows the true one.

The evidence of a graph is a held-out likelihood: by the chain rule it sums the log density of every
row predicted from those before it,

.. math:: \log p(x) = \sum_r \log p(x_r \mid x_1, \dots, x_{r-1}),

so that causes that explain nothing cost. Nats per row over a graph without edges say how much a
graph explains; the same graph with its columns in an order of chance says what any would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..columns import order_by_values
from ..evidence.mixture import MixtureEvidence

__all__ = ["found_again", "nats_per_row", "quality"]

RANDOM, _LEAST = 20, 3  # graphs to compare with, at most and at least
_COLUMNS = 500  # of all of them together: the more columns, the more alike are random graphs
_UNTIL = 0.8  # of all time
_FEW = 3  # columns up to which graphs of chance are the same graph


def quality(
    evidence: MixtureEvidence, graph: Tensor, halves: Sequence[Tensor] = ()
) -> dict[str, Any]:  # (n, n) bool, (n, n) bool each
    """What a graph explains, and what graphs of chance do, as plain data.

    Graphs are compared by lines and sums of curves where these are among the functions: processes
    of all causes together would take as long as the search.

    Arguments:
        evidence: That the graph was found with.
        halves: Graphs found on random halves of the rows.
    """
    cheap = evidence.without_processes() or evidence
    by_chance: list[float] = []
    drawn = _shuffled(graph, order_by_values(evidence.table.x))
    with evidence.deadline.stage("random graphs to compare with", until=_UNTIL):
        by_chance = nats_per_row(cheap, drawn).tolist()
    return {
        "nats_per_row": float(nats_per_row(evidence, graph[None])),
        "by_curves": float(nats_per_row(cheap, graph[None])),
        "random_graphs": by_chance,
        "found_again": found_again(graph, halves) if len(halves) and bool(graph.any()) else None,
    }


def _shuffled(graph: Tensor, order: Tensor) -> Tensor:  # (n, n) bool, (n,) -> (k, n, n)
    """The graph with its columns in orders of chance, the same ones however a table lists them.

    What links the same columns as the graph does is no graph of chance.
    """
    n, generator = len(graph), torch.Generator().manual_seed(0)
    if n <= _FEW or not bool(graph.any()):
        return graph.new_empty(0, n, n)
    place = order.argsort()
    count = min(RANDOM, max(_LEAST, _COLUMNS // n))
    drawn = [order[torch.randperm(n, generator=generator)[place]] for _ in range(count)]
    graphs = torch.stack([graph[one][:, one] for one in drawn])
    same = ((graphs | graphs.mT) == (graph | graph.mT)).flatten(1).all(-1)
    return graphs[~same]


def nats_per_row(evidence: MixtureEvidence, graphs: Tensor) -> Tensor:  # (k, n, n) bool -> (k,)
    """What graphs explain of a row more than a graph without edges."""
    k, n, _ = graphs.shape
    rows = torch.tensor([evidence.part(v).n_rows for v in range(n)]).double()
    child, parents = torch.arange(n).repeat(k), graphs.mT.reshape(-1, n).contiguous()
    some = parents.any(-1)
    nats = torch.zeros(k * n, dtype=torch.float64)
    child, parents = child[some], parents[some]
    if len(child):
        alone = evidence.log_evidence(child, torch.zeros_like(parents))
        nats[some] = evidence.log_evidence(child, parents) - alone
    return (nats.reshape(k, n) / rows).sum(-1)


def found_again(graph: Tensor, halves: Sequence[Tensor]) -> dict[str, float]:  # (n, n) bool
    """The shares of the graph's links, and of its arrows, that the graphs of halves have too."""
    own = torch.stack(list(halves))
    linked = own | own.mT
    return {
        "links": float(linked[:, graph].double().mean()),
        "arrows": float(own[:, graph].double().mean()),
    }
