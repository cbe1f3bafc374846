"""Learned mechanisms inside DoWhy's graphical causal models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..scm import StructuralModel
from .graph import LearnedGraph
from .network import imported, to_networkx

__all__ = ["LearnedFunction", "to_dowhy"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LearnedFunction:
    """One node's learned function, as DoWhy calls a prediction model; fitting leaves it as it is.

    Arguments:
        model: In standardised units.
        location: (n,) means, and ``scale``: (n,) standard deviations of the columns.
        node: Whose value is predicted.
        parents: In the order in which DoWhy passes them.
    """

    model: StructuralModel
    location: Array
    scale: Array
    node: int
    parents: Sequence[int]

    def fit(self, X: Array, Y: Array) -> None:
        """Keep what was learned."""

    def predict(self, X: Array) -> Array:  # (rows, parents) -> (rows, 1)
        """The node's value from its parents', in original units."""
        parents = list(self.parents)
        x = np.zeros((len(X), len(self.scale)))
        x[:, parents] = (X.astype(np.float64) - self.location[parents]) / self.scale[parents]
        found = self.model.predict(torch.from_numpy(x))[:, self.node].numpy()
        return (found * self.scale[self.node] + self.location[self.node])[:, None]

    def clone(self) -> LearnedFunction:
        """The same function."""
        return self


def to_dowhy(
    graph: LearnedGraph, model: StructuralModel, *, location: Array, scale: Array
) -> Any:  # (n,), (n,)
    r"""A ``dowhy.gcm.InvertibleStructuralCausalModel`` with the learned mechanisms, ready for use.

    .. math:: x_j = f_j(x_{\mathrm{pa}(j)}) + \epsilon_j

    :math:`f` are the learned functions and the noise is drawn from the residuals, so that DoWhy
    needs no fitting of its own: samples, interventions, counterfactuals and attributions follow.

    Arguments:
        graph: Names and edges.
        model: The mechanisms, in standardised units.
        location: Means, and ``scale``: standard deviations of the columns.
    """
    gcm = imported("dowhy.gcm", "dowhy")
    fitting = imported("dowhy.gcm.fitting_sampling", "dowhy")
    ordered = imported("dowhy.graph", "dowhy").get_ordered_predecessors
    causal = gcm.InvertibleStructuralCausalModel(to_networkx(graph))
    rows = pd.DataFrame(training_rows(model).numpy() * scale + location, columns=graph.names)
    position = {name: k for k, name in enumerate(graph.names)}
    for name, k in position.items():
        parents = [position[parent] for parent in ordered(causal.graph, name)]
        mechanism = gcm.EmpiricalDistribution()
        if parents:
            function = LearnedFunction(model, location, scale, k, parents)
            mechanism = gcm.AdditiveNoiseModel(function, mechanism)
        causal.set_causal_mechanism(name, mechanism)
        fitting.fit_causal_model_of_target(causal, name, rows)
    return causal


def training_rows(model: StructuralModel) -> torch.Tensor:  # -> (rows, n)
    """The rows that the residuals came from: the structural equations solved for them."""
    free = torch.zeros_like(model.residuals, dtype=torch.bool)
    return model.propagate(model.residuals, fixed=free, values=model.residuals)
