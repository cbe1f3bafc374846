"""Learned mechanisms inside DoWhy's graphical causal models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..columns import Units
from ..ops.labels import label_index
from ..optional import optional
from ..scm import StructuralModel
from .graph import LearnedGraph
from .network import to_networkx

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LearnedFunction:
    """One node's learned function, as DoWhy calls a prediction model; fitting leaves it as it is.

    Arguments:
        model: The learned mechanisms.
        units: Of the model. Predictions are in original units where columns are only
            standardised, and else in the model's, to be turned by :class:`ColumnUnits`.
        node: Whose value is predicted.
        parents: In the order in which DoWhy passes them.
    """

    model: StructuralModel
    units: Units
    node: int
    parents: Sequence[int]

    def fit(self, X: Array, Y: Array) -> None:
        """Keep what was learned."""

    def predict(self, X: Array) -> Array:  # (m, parents) -> (m, 1)
        """The node's value from its parents' values."""
        found = self.model.predict(self.units.given(self.parents, X))
        if self.units.columns is not None:
            return found[:, [self.node]].numpy()
        return self.units.to_original(found)[:, [self.node]]

    def clone(self) -> LearnedFunction:
        """The same function."""
        return self


@dataclass(frozen=True)
class ColumnUnits:
    """One column's way from the model's units to its own, as DoWhy calls an invertible function."""

    units: Units
    node: int

    def evaluate(self, X: Array) -> Array:  # (m, 1) -> (m, 1)
        """To original values."""
        x = torch.zeros(len(X), len(self.units.scale), dtype=torch.float64)
        x[:, self.node] = torch.from_numpy(np.asarray(X, dtype=np.float64)).flatten()
        return self.units.to_original(x)[:, [self.node]]

    def evaluate_inverse(self, X: Array) -> Array:  # (m, 1) -> (m, 1)
        """To the model's units."""
        values = np.asarray(X, dtype=np.float64).reshape(-1, 1)
        return self.units.given([self.node], values)[:, [self.node]].numpy()


@dataclass(frozen=True)
class ScaledNoiseModel:
    r"""One node whose noise varies in size, as DoWhy calls an invertible mechanism.

    .. math:: x_j = g_j\bigl(f_j(x_{\mathrm{pa}(j)}) + s_j(x_{\mathrm{pa}(j)})\, \epsilon_j\bigr)

    Arguments:
        model: The learned mechanisms f and the sizes s of their noise.
        units: Of the model; g is the column's way to its own.
        node: Whose mechanism it is.
        parents: In the order in which DoWhy passes them.
        noise: DoWhy's distribution of :math:`\epsilon`; all that :meth:`fit` changes.
    """

    model: StructuralModel
    units: Units
    node: int
    parents: Sequence[int]
    noise: Any

    def fit(self, X: Array, Y: Array) -> None:
        """Keep the functions that were learned; the noise is what they leave unexplained."""
        self.noise.fit(self.estimate_noise(Y, X))

    def evaluate(self, parent_samples: Array, noise_samples: Array) -> Array:  # -> (m, 1)
        """The node's value from its parents' values and its noise."""
        location, size = self._given(parent_samples)
        epsilon = np.asarray(noise_samples, dtype=np.float64).reshape(-1, 1)
        return ColumnUnits(self.units, self.node).evaluate(location + size * epsilon)

    def estimate_noise(self, target_samples: Array, parent_samples: Array) -> Array:  # -> (m, 1)
        """The noise that made each value."""
        location, size = self._given(parent_samples)
        value = ColumnUnits(self.units, self.node).evaluate_inverse(target_samples)
        return (value - location) / size

    def draw_noise_samples(self, num_samples: int) -> Array:  # -> (m, 1)
        """Draws from the noise."""
        return self.noise.draw_samples(num_samples)

    def draw_samples(self, parent_samples: Array) -> Array:  # (m, parents) -> (m, 1)
        """Draws of the node given its parents' values."""
        return self.evaluate(parent_samples, self.draw_noise_samples(len(parent_samples)))

    def clone(self) -> ScaledNoiseModel:
        """The same functions, with noise yet to be fitted."""
        return replace(self, noise=self.noise.clone())

    def _given(self, parent_samples: Array) -> tuple[Array, Array]:  # -> (m, 1), (m, 1)
        x = self.units.given(self.parents, parent_samples)
        location, size = self.model.predict(x), self.model.scale(x)
        return location[:, [self.node]].numpy(), size[:, [self.node]].numpy()


def to_dowhy(graph: LearnedGraph, model: StructuralModel, *, units: Units) -> Any:
    r"""A ``dowhy.gcm.InvertibleStructuralCausalModel`` with the learned mechanisms, ready for use.

    .. math:: x_j = g_j\bigl(f_j(x_{\mathrm{pa}(j)}) + s_j(x_{\mathrm{pa}(j)})\, \epsilon_j\bigr)

    :math:`f` are the learned functions, s the size of the noise (1 for most nodes, which become
    DoWhy's own additive or post-nonlinear models), :math:`g` the units of the columns, and the
    noise is drawn from the residuals, so that DoWhy needs no fitting of its own: samples,
    interventions, counterfactuals and attributions follow.

    Arguments:
        graph: Names and edges.
        model: The mechanisms.
        units: What the model's values mean.
    """
    gcm, fitting, mechanisms, graphs = (
        optional(f"dowhy.{part}", needed_by="This export", install="dowhy")
        for part in ("gcm", "gcm.fitting_sampling", "gcm.causal_mechanisms", "graph")
    )
    invertible = mechanisms.InvertibleFunctionalCausalModel
    invertible.register(ScaledNoiseModel)  # by its methods: dowhy may be missing, its bases too
    causal = gcm.InvertibleStructuralCausalModel(to_networkx(graph))
    free = torch.zeros_like(model.residuals, dtype=torch.bool)
    x = model.propagate(model.residuals, fixed=free, values=model.residuals)  # the rows of the fit
    varies = (model.scale(x) != 1).any(0).tolist()
    rows = pd.DataFrame(units.to_original(x), columns=label_index(graph.names))
    position = {name: k for k, name in enumerate(graph.names)}
    for name, k in position.items():
        parents = [
            position[parent] for parent in graphs.get_ordered_predecessors(causal.graph, name)
        ]
        noise = mechanism = gcm.EmpiricalDistribution()
        if parents and varies[k]:
            mechanism = ScaledNoiseModel(model, units, k, parents, noise)
        elif parents:
            function = LearnedFunction(model, units, k, parents)
            mechanism = gcm.AdditiveNoiseModel(function, noise)
            if units.columns is not None:
                mechanism = gcm.PostNonlinearModel(function, noise, ColumnUnits(units, k))
        causal.set_causal_mechanism(name, mechanism)
        fitting.fit_causal_model_of_target(causal, name, rows)
    return causal
