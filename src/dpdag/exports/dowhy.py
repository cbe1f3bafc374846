"""Learned mechanisms inside DoWhy's graphical causal models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..scm import MonotoneColumns, StructuralModel
from .graph import LearnedGraph
from .network import imported, to_networkx

__all__ = ["ColumnUnits", "LearnedFunction", "Units", "to_dowhy"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """Between original values and those that a model works on.

    Arguments:
        location: (n,) means, and ``scale``: (n,) standard deviations of the columns.
        columns: What the standardised columns are transformed by, if anything.
    """

    location: Array
    scale: Array
    columns: MonotoneColumns | None = None

    def to_model(self, values: Array) -> Tensor:  # (m, n) -> (m, n)
        """Standardised and transformed."""
        x = torch.from_numpy((values - self.location) / self.scale)
        return x if self.columns is None else self.columns(x)

    def to_original(self, x: Tensor) -> Array:  # (m, n) -> (m, n)
        """Back again."""
        x = x if self.columns is None else self.columns.inverse(x)
        return x.numpy() * self.scale + self.location


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
        values = np.tile(self.units.location, (len(X), 1))
        values[:, list(self.parents)] = X
        found = self.model.predict(self.units.to_model(values))
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
        values = np.tile(self.units.location, (len(X), 1))
        values[:, self.node] = np.ravel(X)
        return self.units.to_model(values)[:, [self.node]].numpy()


def to_dowhy(graph: LearnedGraph, model: StructuralModel, *, units: Units) -> Any:
    r"""A ``dowhy.gcm.InvertibleStructuralCausalModel`` with the learned mechanisms, ready for use.

    .. math:: x_j = g_j(f_j(x_{\mathrm{pa}(j)}) + \epsilon_j)

    :math:`f` are the learned functions, :math:`g` the units of the columns, and the noise is drawn
    from the residuals, so that DoWhy needs no fitting of its own: samples, interventions,
    counterfactuals and attributions follow.

    Arguments:
        graph: Names and edges.
        model: The mechanisms.
        units: What the model's values mean.
    """
    gcm = imported("dowhy.gcm", "dowhy")
    fitting = imported("dowhy.gcm.fitting_sampling", "dowhy")
    ordered = imported("dowhy.graph", "dowhy").get_ordered_predecessors
    causal = gcm.InvertibleStructuralCausalModel(to_networkx(graph))
    rows = pd.DataFrame(units.to_original(training_rows(model)), columns=graph.names)
    position = {name: k for k, name in enumerate(graph.names)}
    for name, k in position.items():
        parents = [position[parent] for parent in ordered(causal.graph, name)]
        noise = mechanism = gcm.EmpiricalDistribution()
        if parents:
            function = LearnedFunction(model, units, k, parents)
            mechanism = gcm.AdditiveNoiseModel(function, noise)
            if units.columns is not None:
                mechanism = gcm.PostNonlinearModel(function, noise, ColumnUnits(units, k))
        causal.set_causal_mechanism(name, mechanism)
        fitting.fit_causal_model_of_target(causal, name, rows)
    return causal


def training_rows(model: StructuralModel) -> Tensor:  # -> (rows, n)
    """The rows that the residuals came from: the structural equations solved for them."""
    free = torch.zeros_like(model.residuals, dtype=torch.bool)
    return model.propagate(model.residuals, fixed=free, values=model.residuals)
