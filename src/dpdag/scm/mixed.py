"""Mechanisms of several kinds on one graph: every column has its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..columns import TypedColumns
from ..evidence.mixture import MixtureEvidence
from ..evidence.noise import NOISES
from ..evidence.splines import SplineBasis
from ..evidence.switches import SWITCH
from .additive import fit_additive, fit_linear
from .gp import fit_gp
from .model import Mechanisms, UncertainMechanisms

_FURTHEST = 3.0  # log sizes are kept within, however far from the data a parent is
_FUNCTIONS = 0.85  # of all time, that fitting processes may end at
_CURVES = "processes as functions (sums of curves predict)"


@dataclass(frozen=True)
class MixedMechanisms:
    r"""Every node from its parents by a function of its own kind, and noise of a size they decide.

    .. math:: x_j = f_j(x) + e^{g_j(x)} \epsilon_j, \qquad
              g_j(x) = \sum_{i \in \mathrm{pa}(j)} \sum_k v_{ikj}\, u_{ik}(x_i)

    Arguments:
        parts: Mechanisms of every kind in use.
        kind: (n,) which of them each node has.
        noise: (n,) variance of every node's noise.
        basis: The functions u.
        size_weight: (n, k, n) v: parent, function, child; zero where the size does not vary.
    """

    parts: tuple[Mechanisms, ...]
    kind: Tensor
    noise: Tensor
    basis: SplineBasis
    size_weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        value = torch.zeros_like(x)
        for k, part in enumerate(self.parts):
            value = torch.where(self.kind == k, part(x), value)
        return value

    def scale(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Size of every node's noise, relative to that of its residuals."""
        if not bool(self.size_weight.any()):
            return torch.ones_like(x)
        log_size = torch.einsum("rik,ikj->rj", self.basis(x), self.size_weight)
        return log_size.clamp(-_FURTHEST, _FURTHEST).exp()

    def variance(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Of each node given its parents: noise, and for processes what is not known of them."""
        value = self.noise * self.scale(x).square()
        for k, part in enumerate(self.parts):
            if isinstance(part, UncertainMechanisms):
                constant = (self.kind == k) & ~self.size_weight.any(0).any(0)
                value = torch.where(constant, part.variance(x), value)
        return value


def fit_mixed(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    evidence: MixtureEvidence,
    types: TypedColumns | None = None,
) -> MixedMechanisms:
    """The functions that hold most of each column's evidence, and sizes of noise that vary.

    A column whose causes switch it between modes has the function that comes nearest to that.
    """
    n, functions = len(graph), evidence.functions
    terms = evidence.terms(torch.arange(n), graph.T.contiguous())  # (n, f, k)
    is_function = torch.tensor([name != SWITCH for name in functions])
    worth = terms.logsumexp(-1).masked_fill(~is_function, -torch.inf)
    best = worth.argmax(-1)
    categories = () if types is None else types.categories
    if types is not None:
        graph = graph & ~types.discrete  # which have distributions of their own
    used = best[graph.any(0)].unique()
    kind = torch.searchsorted(used, best).clamp(max=max(len(used) - 1, 0))
    parts = tuple(
        _fit_part(functions[k], x, graph & (best == k), evidence, categories) for k in used.tolist()
    )
    basis = evidence.sums.basis.splines
    size_weight = x.new_zeros(n, basis.size, n)
    varies = len(NOISES) // 2
    for child in graph.any(0).nonzero()[:, 0].tolist():
        if terms[child, best[child]].softmax(-1)[varies:].sum() > 0.5:
            parents = graph[:, child]
            weight = evidence.size_weights(functions[best[child]], child, parents)
            size_weight[parents, : weight.shape[1], child] = weight
    model = MixedMechanisms(parts, kind, x.new_ones(n), basis, size_weight)
    scaled = (x - model(x)) / model.scale(x)
    return replace(model, noise=scaled.square().mean(0))


def _fit_part(
    function: str,
    x: Tensor,  # (rows, n)
    graph: Tensor,  # (n, n) bool
    evidence: MixtureEvidence,
    categories: Sequence[int],
) -> Mechanisms:
    """Functions of one kind; of processes, for which there is no time, sums of curves."""
    if function in evidence.processes:
        with evidence.deadline.stage(_CURVES, until=_FUNCTIONS):
            process = evidence.processes[function]
            return fit_gp(x, graph, evidence=process, categories=categories)
    if function == "linear" and not graph[list(categories)].any():
        return fit_linear(x, graph)
    return fit_additive(
        x, graph, n_functions=1 if function == "linear" else 8, categories=categories
    )
