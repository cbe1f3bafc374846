"""Ancestral computations over any mechanisms on any DAG."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import torch
from torch import Tensor

from .discrete import DiscreteMechanisms


class Mechanisms(Protocol):
    """Every node's value from its parents, all nodes at once."""

    def __call__(self, x: Tensor, /) -> Tensor:  # (rows, n) -> (rows, n)
        ...


@runtime_checkable
class ScaledMechanisms(Mechanisms, Protocol):
    """Mechanisms whose noise varies in size with the parents."""

    def scale(self, x: Tensor, /) -> Tensor:  # (rows, n) -> (rows, n)
        """What the noise of every node is multiplied by."""


@runtime_checkable
class UncertainMechanisms(Mechanisms, Protocol):
    """Mechanisms that know how well they are known."""

    def variance(self, x: Tensor, /) -> Tensor:  # (rows, n) -> (rows, n)
        """Of every node's value given its parents, noise included."""


def scale_of(mechanisms: Mechanisms, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
    """What the noise of every node is multiplied by."""
    return mechanisms.scale(x) if isinstance(mechanisms, ScaledMechanisms) else torch.ones_like(x)


@dataclass(frozen=True)
class StructuralModel:
    r"""A DAG, its mechanisms and its noise: a structural causal model.

    .. math:: x_j = f_j(x_{\mathrm{pa}(j)}) + s_j(x_{\mathrm{pa}(j)})\, \epsilon_j

    with s = 1 for all but :class:`ScaledMechanisms`. The noise of a node is its empirical
    residuals, so no shape is assumed of it. A discrete node is the quantile of its distribution
    given its parents at a uniform number, which is its noise.

    Arguments:
        adjacency: (n, n) the DAG.
        mechanisms: :math:`f`, reading only parents under ``adjacency``.
        residuals: (rows, n) noise :math:`\epsilon` seen in the data the mechanisms were fitted to.
        discrete: Distributions of nodes that have probabilities, where there are some.

    References:
        Pearl, *Causality*, 2009, chapter 7: abduction, action, prediction.

    Example:
        >>> weight = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
        >>> model = StructuralModel(weight != 0, lambda x: x @ weight, torch.zeros(1, 2))
        >>> model.counterfactual(torch.tensor([[1.0, 2.5]]), do={0: 3.0}).tolist()
        [[3.0, 6.5]]
        >>> model.impute(torch.tensor([[1.0, torch.nan]])).tolist()
        [[1.0, 2.0]]
    """

    adjacency: Tensor
    mechanisms: Mechanisms
    residuals: Tensor
    discrete: DiscreteMechanisms | None = None

    @classmethod
    def of_data(
        cls,
        x: Tensor,  # (rows, n)
        adjacency: Tensor,  # (n, n)
        mechanisms: Mechanisms,
        discrete: DiscreteMechanisms | None = None,
        was_set: Tensor | None = None,  # (rows, n) bool
    ) -> Self:
        """The model whose noise is what the mechanisms leave unexplained of ``x``.

        Values that were set from outside have none; others stand in for them.
        """
        model = cls(adjacency, mechanisms, torch.zeros_like(x), discrete)
        residuals = model.abduct(x)
        if was_set is not None:
            residuals = _filled(residuals, was_set)
        return replace(model, residuals=residuals)

    def predict(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Every node's value from its parents' values in the same row."""
        return self._or_drawn(self.mechanisms(x), DiscreteMechanisms.means, x)

    def likeliest(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """The same, but the likeliest value of discrete nodes."""
        none = torch.full_like(x, math.nan)
        return self._or_drawn(self.mechanisms(x), DiscreteMechanisms.quantiles, x, none)

    def scale(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """What every node's noise is multiplied by."""
        return scale_of(self.mechanisms, x)

    def _or_drawn(
        self, value: Tensor, ask: Callable[..., Tensor], *given: Tensor
    ) -> Tensor:  # (m, n) -> (m, n)
        """``value``, but what is asked of the distributions of nodes that are drawn from some."""
        if self.discrete is None:
            return value
        return ask(self.discrete, *given).where(self.discrete.places, value)

    def deviation(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Standard deviation of each value given its parents."""
        noise = self.scale(x) * self.residuals.square().mean(0).sqrt()
        if isinstance(self.mechanisms, UncertainMechanisms):
            known = self.mechanisms.variance(x).clamp_min(0).sqrt()
            noise = torch.where((self.adjacency != 0).any(0), known, noise)
        return self._or_drawn(noise, lambda discrete: discrete.variances(x).clamp_min(0).sqrt())

    def abduct(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """The noise that made each row."""
        noise = (x - self.predict(x)) / self.scale(x)
        return self._or_drawn(noise, DiscreteMechanisms.ranks, x)

    def log_likelihood(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Gaussian log density of each value given its parents, with the residuals' variances;
        log probabilities of discrete values."""
        scale = self.scale(x) * self.residuals.square().mean(0).sqrt().clamp_min(1e-6)
        z = (x - self.predict(x)) / scale
        density = -0.5 * z.square() - scale.log() - 0.5 * math.log(2 * math.pi)
        return self._or_drawn(density, DiscreteMechanisms.log_probabilities, x)

    def impute(self, x: Tensor) -> Tensor:  # (m, n) with NaN -> (m, n)
        """Fill each NaN with its node's prediction from (filled) parents, the likeliest value of a
        discrete one; the rest is untouched."""
        none = self._or_drawn(torch.zeros_like(x), lambda _: torch.full_like(x, math.nan))
        return self.propagate(none, fixed=~x.isnan(), values=x)

    def sample(
        self, count: int, *, do: Mapping[int, float], generator: torch.Generator
    ) -> Tensor:  # -> (count, n)
        """Draw rows of the model, with the nodes in ``do`` held at given values."""
        noise = self.noise(count, generator=generator)
        return self.propagate(noise, **_held(noise, do))

    def noise(self, count: int, *, generator: torch.Generator) -> Tensor:  # -> (count, n)
        """Draws from the residuals of every node, each on its own."""
        rows, n = self.residuals.shape
        drawn = torch.randint(rows, (count, n), generator=generator)
        noise = self.residuals.gather(0, drawn)
        return self._or_drawn(
            noise, lambda _: torch.rand(noise.shape, generator=generator, dtype=noise.dtype)
        )

    def counterfactual(self, x: Tensor, *, do: Mapping[int, float]) -> Tensor:  # (m, n) -> (m, n)
        """What each row would have been, its own noise kept, had ``do`` been done."""
        return self.propagate(self.abduct(x), **_held(x, do))

    def propagate(
        self,
        noise: Tensor,  # (m, n)
        *,
        fixed: Tensor,  # (m, n) bool
        values: Tensor,  # (m, n)
    ) -> Tensor:  # (m, n)
        """Solve the structural equations from the roots down, some entries fixed to ``values``."""
        held = values.nan_to_num()
        x = torch.where(fixed, held, noise.nan_to_num())
        for _ in range(_longest_path(self.adjacency) + 1):
            made = self.mechanisms(x) + self.scale(x) * noise
            made = self._or_drawn(made, DiscreteMechanisms.quantiles, x, noise)
            x = torch.where(fixed, held, made)
        return x


def _filled(residuals: Tensor, was_set: Tensor) -> Tensor:  # (rows, n), (rows, n) bool
    """Other residuals of its column in place of each where a value was set."""
    for column in was_set.any(0).nonzero()[:, 0].tolist():
        gaps = was_set[:, column]
        seen, count = residuals[~gaps, column], int(gaps.sum())
        residuals[gaps, column] = seen[torch.arange(count) * len(seen) // count]
    return residuals


def _held(like: Tensor, do: Mapping[int, float]) -> dict[str, Tensor]:
    values = torch.zeros_like(like)
    fixed = torch.zeros_like(like, dtype=torch.bool)
    for node, value in do.items():
        values[:, node] = value
        fixed[:, node] = True
    return {"fixed": fixed, "values": values}


def _longest_path(adjacency: Tensor) -> int:  # (n, n)
    edges, length = adjacency != 0, -1
    ends = torch.ones(edges.shape[-1], dtype=torch.bool)
    while bool(ends.any()):
        ends = (edges & ends[:, None]).any(0)
        length += 1
    return max(length, 0)
