"""What every learner shares: checked input, one way to fit, the attributes of a fitted graph."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, overload

import networkx as nx
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..ops.columns import FITTED_WAY_OUT, MISSING_WAY_OUT, refuse_degenerate, refuse_missing
from ..ops.graphs import topological_order
from ..scm import Categories, Mechanisms, MonotoneColumns, Observed, StructuralModel
from ..scm.plot import draw_graph
from ..seeding import torch_generator
from ..selection import neighbours, prune
from .exporting import GraphExports
from .interventions import interventions
from .storage import save_learner
from .validation import Rows, fitted_columns, known_levels, like_input, validated, warn_of_ids

__all__ = ["DAGLearner", "Solution"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes:
        edge_scores: (n, n) larger = more certain.
        adjacency: (n, n) bool, a DAG.
        fit: From (rows, n) columns and an (n, n) adjacency, the functions on that graph; called
            with what pruning leaves of it.
        order: (n,) nodes, causes first; from ``adjacency`` when None.
        history: Rows of the training curve.
    """

    edge_scores: Tensor
    adjacency: Tensor
    fit: Callable[[Tensor, Tensor], Mechanisms]
    order: Tensor | None = None
    history: Sequence[Mapping[str, Any]] = ()


class DAGLearner(GraphExports, BaseEstimator, ABC):
    r"""A scikit-learn estimator that learns a DAG.

    A subclass stores its parameters in ``__init__`` and implements :meth:`_learn`. It may have the
    parameters ``knowledge``, ``pns``, ``prune`` and ``random_state``, which are handled here.

    Answers about a DataFrame are DataFrames, with its columns in its order but for those that were
    not fitted, which are ignored; answers about an array are arrays.

    Attributes:
        edge_scores_: (n, n) scores, larger = more certain; ``[i, j]`` is i → j.
        adjacency_: (n, n) 0/1 integers, a DAG.
        causal_order_: Node indices, causes first.
        graph_: ``networkx.DiGraph`` with the column names, edges carrying ``score``.
        history_: DataFrame of the training curve.
        model_: The :class:`~dpdag.scm.StructuralModel` in standardised units.
        location_: (n,) means, and ``scale_``: (n,) standard deviations of the columns.
        columns_: The transformation of the columns that ``model_`` works on, None for none.
        levels_: All categories of variables that are given as 0/1 columns, where they are known.
        observed_: The ranges of the columns; None for a model saved without them.
    """

    min_rows: ClassVar[int] = 5
    knowledge: Knowledge | None = None
    pns: Any = None
    prune: bool | float = False
    random_state: Any = None
    columns_: MonotoneColumns | None = None
    levels_: dict[str, list[str]] | None = None
    observed_: Observed | None = None

    @abstractmethod
    def _learn(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n) standardised
        """Solve for the graph; every constraint must hold in what comes back."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the graph of the columns of ``X`` (rows, n); ``y`` is ignored."""
        warn_of_ids(X)
        return self._fit(X)

    def _fit(self, X: Any) -> Self:
        x = self._standardise(self._validate(X, reset=True))
        constraints = self._select(x, self._constraints())
        self._finish(x, self._prune(x, self._learn(x, constraints), constraints))
        return self

    # What the fitted model answers -----------------------------------------------------------

    @overload
    def predict(self, X: Any, *, return_std: Literal[False] = False) -> Rows: ...

    @overload
    def predict(self, X: Any, *, return_std: Literal[True]) -> tuple[Rows, Rows]: ...

    def predict(self, X: Any, *, return_std: bool = False) -> Rows | tuple[Rows, Rows]:
        """Every column's value (m, n) from its learned parents; roots get their mean.

        Where the model works on transformed columns, means are taken there, so that in original
        units they lie nearer the median. Causes far outside what was observed are warned of.

        Arguments:
            return_std: Also return how far values lie from there, typically: the standard
                deviation of the noise and, where the functions are Gaussian processes, of what is
                not known about them; half the width of that range on transformed columns.
        """
        model, own = self._fitted(), fitted_columns(self, X)
        given = self._validate(own, reset=False)
        self._warn_of_strays(given)
        x = self._model_units(given)
        mean = model.predict(x)
        values = like_input(self._original(mean), own, X)
        if not return_std:
            return values
        std = model.deviation(x)
        width = self._original(mean + std) - self._original(mean - std)
        return values, like_input(width / 2, own, X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean Gaussian log-likelihood per value in standardised units; higher is better."""
        model = self._fitted()
        values = self._validate(fitted_columns(self, X), reset=False)
        density = model.log_likelihood(self._model_units(values)).mean()
        if self.columns_ is not None:  # of the columns themselves, not of their images
            density = density + self.columns_.log_slope(self._standard_units(values)).mean()
        return float(density)

    def impute(self, X: Any) -> Rows:  # (m, n) with NaN -> (m, n)
        """Fill every NaN from its learned parents; other values are untouched."""
        model, own = self._fitted(), fitted_columns(self, X)
        values = validated(self, own, reset=False)
        filled = self._settled(model.impute(self._model_units(values)))
        return like_input(np.where(np.isnan(values), filled, values), own, X)

    def sample(
        self, n_samples: int = 1, do: Mapping[Any, Any] | None = None, random_state: Any = None
    ) -> Rows:  # -> (n_samples, n)
        """Draw rows from the learned model, under interventions such as ``{"PKA": 2.0}``.

        Columns "site=B" and "site=C" of 0 and 1 are drawn as one variable: at most one is 1, and
        ``do={"site": "B"}`` sets both; the first category is known by name where the columns were
        made by :func:`dpdag.datasets.one_hot`. Any other column of two values is drawn as one of
        them, and may be set to any number. Values far outside what was observed are warned of.
        """
        model = self._fitted()
        generator = torch_generator(random_state, "sample")
        if n_samples < 1:
            raise ValueError(f"'n_samples' must be a whole number above 0; got {n_samples!r}.")
        given = self._interventions(do)
        x = model.sample(n_samples, do=self._held(given), generator=generator)
        rows = self._settled(x, given)
        names = getattr(self, "feature_names_in_", None)
        return rows if names is None else pd.DataFrame(rows, columns=names)

    def counterfactual(self, X: Any, do: Mapping[Any, Any]) -> Rows:  # (m, n) -> (m, n)
        """What the rows of ``X`` would have been, their own noise kept, had ``do`` been done."""
        model, own = self._fitted(), fitted_columns(self, X)
        x, given = self._model_units(self._validate(own, reset=False)), self._interventions(do)
        rows = self._settled(model.counterfactual(x, do=self._held(given)), given)
        return like_input(rows, own, X)

    @property
    def graph_(self) -> nx.DiGraph[Any]:
        """The learned graph with the column names, edges carrying ``score``."""
        return self.to_networkx()

    def save(self, folder: str | Path) -> None:
        """Write the fitted model as tensors and JSON; :func:`dpdag.load` reads it back."""
        self._fitted()
        save_learner(self, folder)

    def plot(self, ax: Any = None, threshold: float | None = None) -> Any:
        """Draw the graph with matplotlib and return the axes.

        Arguments:
            ax: Axes to draw in; a new figure by default.
            threshold: Draw all edges of at least this probability (or score) instead.
        """
        check_is_fitted(self, "adjacency_")
        probable = hasattr(self, "edge_probabilities_")
        return draw_graph(
            self.adjacency_,
            [str(name) for name in self._names(self.n_features_in_)],
            order=self.causal_order_,
            strengths=self.edge_probabilities_ if probable else self.edge_scores_,
            threshold=threshold,
            label="probability" if probable else "score",
            ax=ax,
        )

    # Steps of fit ----------------------------------------------------------------------------

    def _validate(self, X: Any, *, reset: bool) -> Array:  # -> (rows, n)
        values = validated(self, X, reset=reset, min_rows=self.min_rows if reset else 1)
        way_out = MISSING_WAY_OUT if reset else FITTED_WAY_OUT
        refuse_missing(values, self._names(values.shape[1]), way_out=way_out)
        if reset:
            refuse_degenerate(values, self._names(values.shape[1]))
            self.levels_ = known_levels(X)
        return values

    def _standardise(self, values: Array) -> Tensor:  # (rows, n) -> (rows, n)
        self.location_ = values.mean(0)
        self.scale_ = values.std(0)
        self.observed_ = Observed.of(values)
        return torch.from_numpy((values - self.location_) / self.scale_)

    def _constraints(self) -> Constraints:
        known = Knowledge() if self.knowledge is None else self.knowledge
        if not isinstance(known, Knowledge):
            raise ValueError(f"'knowledge' must be a dpdag.Knowledge or None; got {known!r}.")
        names = getattr(self, "feature_names_in_", None)
        return known.resolve(self.n_features_in_, None if names is None else list(names))

    def _select(self, x: Tensor, constraints: Constraints) -> Constraints:
        """Keep only the edges that the neighbour selection ``pns`` leaves possible."""
        if self.pns is None or self.pns is False:
            return constraints
        if isinstance(self.pns, (str, bool)):
            method = self.pns if isinstance(self.pns, str) else "additive"
            mask = neighbours(x.numpy(), method=method, random_state=self.random_state)
        else:
            mask = np.asarray(self.pns, dtype=bool)
            if mask.shape != (n := x.shape[1], n):
                raise ValueError(f"'pns' must be a method or a ({n}, {n}) mask; got {mask.shape}.")
        possible = constraints.required | torch.from_numpy(mask)
        return replace(constraints, allowed=constraints.allowed & possible)

    def _prune(self, x: Tensor, solution: Solution, constraints: Constraints) -> Solution:
        """Drop insignificant edges; what is left ranks above all else, in its own order."""
        if self.prune is False or self.prune is None:
            return solution
        alpha = 0.001 if self.prune is True else self.prune
        kept = torch.from_numpy(
            prune(x.numpy(), solution.adjacency.numpy(), alpha=alpha, keep=constraints.required)
        ).bool()
        scores = _rank_first(solution.edge_scores, kept)
        return replace(solution, edge_scores=scores, adjacency=kept)

    def _finish(self, x: Tensor, solution: Solution) -> None:
        """Set every fitted attribute."""
        adjacency = solution.adjacency != 0
        order = topological_order(adjacency) if solution.order is None else solution.order
        self.edge_scores_ = solution.edge_scores.double().numpy()
        self.adjacency_ = adjacency.numpy().astype(int)
        self.causal_order_ = order.numpy()
        self.history_ = pd.DataFrame(solution.history)
        values = x * torch.from_numpy(self.scale_) + torch.from_numpy(self.location_)
        x = x if self.columns_ is None else self.columns_(x)
        mechanisms = solution.fit(x, adjacency)
        categories = Categories.named(self._names(x.shape[1]), values, x)
        self.model_ = StructuralModel.of_data(x, adjacency, mechanisms, categories)

    # Units and names -------------------------------------------------------------------------

    def _names(self, n: int) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(n)))

    def _fitted(self) -> StructuralModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _standard_units(self, values: Array) -> Tensor:  # (m, n) -> (m, n)
        return torch.from_numpy((values - self.location_) / self.scale_)

    def _model_units(self, values: Array) -> Tensor:  # (m, n) -> (m, n)
        """Standardised, and transformed where the model works on transformed columns."""
        x = self._standard_units(values)
        return x if self.columns_ is None else self.columns_(x)

    def _original(self, x: Tensor) -> Array:  # (m, n) -> (m, n)
        """Back from the model's units."""
        x = x if self.columns_ is None else self.columns_.inverse(x)
        return x.numpy() * self.scale_ + self.location_

    def _settled(self, x: Tensor, given: Mapping[int, float] | None = None) -> Array:
        """Back from the model's units (m, n); columns of two values and ``given`` ones exactly."""
        values, categories = self._original(x), self.model_.categories
        binary = [k for group in categories.groups for k in group]
        values[:, binary] = values[:, binary].round()
        if self.observed_ is not None:
            low, high = self.observed_.low, self.observed_.high
            for k in categories.twofold:
                values[:, k] = np.where(values[:, k] > (low[k] + high[k]) / 2, high[k], low[k])
        for column, value in (given or {}).items():
            values[:, column] = value
        return values

    def _interventions(self, do: Mapping[Any, Any] | None) -> dict[int, float]:
        """Interventions by column index, with a warning of values far outside the data."""
        names, groups = self._names(self.n_features_in_), self.model_.categories.groups
        values = interventions(do, names, groups, self.levels_)
        for leap in self.observed_.leaps(values, names) if self.observed_ else ():
            warnings.warn(leap, UserWarning, stacklevel=3)
        return values

    def _warn_of_strays(self, values: Array) -> None:  # (m, n)
        """Warn where values that predictions are made from lie far outside the data."""
        causes = np.flatnonzero(self.adjacency_.any(1)).tolist()
        names, given = self._names(self.n_features_in_), {k: values[:, k] for k in causes}
        said = self.observed_.strays(given, names) if self.observed_ else None
        if said:
            warnings.warn(said, UserWarning, stacklevel=3)

    def _held(self, values: Mapping[int, float]) -> dict[int, float]:
        """Interventions in the model's units."""
        row = np.array(self.location_, dtype=float)
        row[list(values)] = list(values.values())
        x = self._model_units(row[None])[0]
        return {k: float(x[k]) for k in values}


def _rank_first(scores: Tensor, kept: Tensor) -> Tensor:  # (n, n), (n, n) bool -> (n, n)
    """Shrink the non-negative scores of all entries outside ``kept`` below those inside."""
    if not bool(kept.any()) or bool(kept.all()):
        return scores
    highest, lowest = scores[~kept].max(), scores[kept].min()
    if highest < lowest:
        return scores
    return torch.where(kept, scores, scores * (0.99 * lowest / highest))
