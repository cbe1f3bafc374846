"""What is answered from the posteriors that searches found: the graph, scores, records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..columns import ColumnType
from ..distributions import DAGDistribution, DAGMixture, EdgeDistribution, GumbelTopK
from ..distributions.knowledge import Constraints
from ..evidence.mixture import MixtureEvidence
from ..evidence.noise import NOISES
from ..ops.graphs import acyclic_part
from ..posterior import Doubt
from .posterior_solver import Found

_TIE = 1e-3  # between probabilities
_ROOM = 0.01  # for edges that no order of the posterior has room for
# By which an edge must be likelier right than one too many: off the model probabilities are a bit
# too high. Of 0 to 0.7 the least mean distance over sixty kinds of tables (docs/uncertainty.md).
_MARGIN = 0.3


def guessed(found: Sequence[Found], constraints: Constraints) -> Tensor:  # -> (n, n)
    """Probabilities of edges as if all columns were measured finely.

    A graph and a ranking have to prefer a direction also where none can be stated.
    """
    p = torch.stack([one.guessed for one in found]).mean(0).double()
    return p.masked_fill(~constraints.allowed, 0.0)


def least_wrong(
    edge: Tensor,  # (n, n) probabilities
    constraints: Constraints,
    possible: Tensor,  # (n, n) bool
) -> Tensor:  # -> (n, n) bool
    r"""The graph of least expected structural Hamming distance, as far as it is acyclic.

    .. math:: i \to j \iff P(i \to j) > 0.3 + 1 - P(i \to j) - P(j \to i)

    An edge is right with the first probability and one too many with what stands behind the margin;
    where it points the wrong way, it is no worse than none. Only ``possible`` edges count: of
    others a search that was not finished knows no direction.
    """
    likely = possible & (2 * edge + edge.mT > 1 + _MARGIN)
    return acyclic_part(edge, likely | constraints.required, keep=constraints.required)


def ranked(found: Sequence[Found], constraints: Constraints) -> Tensor:  # (n, n)
    r"""How sure edges are, by what may be guessed of them and by what they carry.

    .. math:: \bigl(P(i \to j) + 0.01\bigr)\, \frac{s_{ij}}{1 + s_{ij}}

    with s the nats of single edges, which still differ where probabilities are held back to the
    same or, since an order leaves no room for it, zero; and with directions guessed at columns of
    few values, where none is stated.
    Beside a coarsened posterior, which knows of edges that the graph does not have, nats only break
    ties.
    """
    p = guessed(found, constraints)
    nats = found[0].graph.edge_scores(constraints)
    carried = nats / (1 + nats)
    return (p + _ROOM) * carried if found[0].possible is None else p + _TIE * carried


def mixture(found: Sequence[Found], constraints: Constraints) -> DAGMixture:
    """Equal parts of the posteriors of several searches."""
    parts = [part for one in found for part in zip(one.posteriors, one.weights)]
    order = torch.cat([one.orders.logits for one, _ in parts])
    edges = torch.cat([one.edge_logits.expand(len(one.orders.weights), -1, -1) for one, _ in parts])
    weights = torch.cat([one.orders.weights * weight for one, weight in parts]) / len(found)
    components = DAGDistribution(
        GumbelTopK(order.float(), constraints=constraints),
        EdgeDistribution(edges.float(), constraints=constraints),
    )
    return DAGMixture(components, weights.float())


def records(
    evidence: MixtureEvidence,
    graph: Tensor,  # (n, n) bool
    names: Sequence[Any],
    kinds: Sequence[str],
    types: Sequence[ColumnType],
    doubt: Doubt,
) -> list[dict[str, Any]]:
    """Which nats, rows and families decided, one record per column."""
    found = []
    for v, (name, kind, own_type) in enumerate(zip(names, kinds, types)):
        own, parents = evidence.weights(v, graph[:, v]), int(graph[:, v].sum())
        weights = dict(zip(evidence.functions, own.functions.tolist()))
        found.append(
            {
                "column": str(name),
                "type": str(own_type),
                "parents": parents,
                "transformation": kind,
                "functions": weights if parents else {},
                "noise": {} if own_type.discrete else dict(zip(NOISES, own.noise.tolist())),
                "log_evidence": own.log_evidence,
                "nats_over_root": own.over_root,
                "misfit": float(doubt.misfit[v]),
                "rows": own.rows,
            }
        )
    return found
