"""What every learner shares: checked input, one way to fit, the attributes of a fitted graph."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import networkx as nx
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..columns import ColumnType
from ..distributions.knowledge import Constraints, Knowledge
from ..ops.columns import FITTED_WAY_OUT, MISSING_WAY_OUT, refuse_degenerate, refuse_missing
from ..ops.graphs import topological_order
from ..ops.labels import label_texts
from ..ops.rows import row_groups
from ..scm import Observed
from ..scm.plot import draw_graph
from ..selection import neighbours, prune
from .checks import Range
from .exporting import GraphExports
from .storage import save_learner
from .targets import in_rows_of, set_by_design, told_apart, what_was_set
from .validation import (
    as_frame,
    coded,
    plain_types,
    refuse_twice,
    validated,
    warn_of_row_numbers,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """What a solver found.

    Attributes:
        edge_scores: (n, n) larger = more certain.
        adjacency: (n, n) bool, a DAG.
        fit: From (rows, n) columns and an (n, n) adjacency, the functions (or what else a method
            has) on that graph; called with what pruning leaves of it.
        order: (n,) nodes, causes first; from ``adjacency`` when None.
        history: Rows of the training curve.
        knows_rows: Whether ``fit`` by itself leaves out of a column's fit the rows in which it was
            set; otherwise it is called once for every set of rows.
    """

    edge_scores: Tensor
    adjacency: Tensor
    fit: Callable[[Tensor, Tensor], Any]
    order: Tensor | None = None
    history: Sequence[Mapping[str, Any]] = ()
    knows_rows: bool = False


class Job(NamedTuple):
    """A learner with all that it learns from."""

    learner: Any
    x: Tensor  # (rows, n) standardised
    constraints: Constraints
    was_set: Tensor  # (rows, n) bool


@dataclass(kw_only=True, eq=False, repr=False)
class DAGLearner(GraphExports, BaseEstimator, ABC):
    r"""A scikit-learn estimator that learns a DAG.

    A subclass stores its parameters in ``__init__``, as a dataclass does, and implements
    :meth:`_learn`. The parameters ``knowledge``, ``prune`` and ``random_state`` are handled here,
    and ``pns`` where it has that.

    Attributes:
        edge_scores_: (n, n) scores, larger = more certain; ``[i, j]`` is i → j.
        adjacency_: (n, n) 0/1 integers, a DAG.
        causal_order_: Node indices, causes first.
        graph_: ``networkx.DiGraph`` with the column names, edges carrying ``score``.
        history_: DataFrame of the training curve.
        location_: (n,) means, and ``scale_``: (n,) standard deviations of the columns.
        columns_: The transformation of the columns that ``model_`` works on, None for none.
        types_: The :class:`~dpdag.columns.ColumnType` of every column.
        observed_: The ranges of the columns; None for a model saved without them.
        informing_rows_: (n,) how many rows inform each column: those in which it was not set.
        settled_: (n, n) bool, edges of the graph of which an experiment set one end alone: what
            the other end did then settles the direction.
    """

    min_rows: ClassVar[int] = 5
    takes_interventions: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, Range]] = {}  # where they are not those of the parameter's name
    knowledge: Knowledge | None = None
    prune: bool | float = False
    random_state: Any = None

    @abstractmethod
    def _learn(
        self,
        x: Tensor,  # (rows, n) standardised
        constraints: Constraints,
        was_set: Tensor,  # (rows, n) bool, all false where interventions are not taken
    ) -> Solution:
        """Solve for the graph; every constraint must hold in what comes back."""

    def fit(self, X: Any, y: Any = None, *, interventions: Any = None) -> Self:
        """Learn the graph of the columns of ``X`` (rows, n); ``y`` is ignored.

        Arguments:
            interventions: What was set from outside: a (rows, n) mask, or for each row the name
                or names of columns, None for nothing. A value that was set says nothing of the
                causes of its column, and what it is of the effects.
        """
        warn_of_row_numbers(X)
        return self._fit(self._coded(X), interventions)

    def _fit(self, X: Any, interventions: Any = None) -> Self:
        job = self._prepare(X, interventions)
        self._finish(job, self._prune(job, self._learn(*job[1:])))
        return self

    # Fits side by side -----------------------------------------------------------------------

    def _prepare(self, X: Any, interventions: Any = None) -> Job:
        """Check, standardise and select."""
        values = self._validate(X, reset=True)
        mask, constraints = self._experiments(values, in_rows_of(X, interventions))
        x, was_set = self._standardise(values, mask), torch.from_numpy(mask)
        x, was_set = self._seen(x, constraints, was_set)
        return self._selected(Job(self, x, constraints, was_set))

    def _companions(self) -> Any:
        """What fits on data of one shape must share to train as one batch; None: each is alone."""

    def _learn_together(self, jobs: Sequence[Job]) -> list[Solution]:
        """What :meth:`_learn` of each would find, for learners that have companions."""
        raise NotImplementedError

    @property
    def graph_(self) -> nx.DiGraph[Any]:
        """The learned graph with the column names, edges carrying ``score``."""
        return self.to_networkx()

    def save(self, folder: str | Path) -> None:
        """Write the fitted model as tensors and JSON; :func:`dpdag.load` reads it back."""
        check_is_fitted(self, "adjacency_")
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
            label_texts(self._names(self.n_features_in_)),
            order=self.causal_order_,
            strengths=self.edge_probabilities_ if probable else self.edge_scores_,
            threshold=threshold,
            label="probability" if probable else "score",
            ax=ax,
        )

    # Steps of fit ----------------------------------------------------------------------------

    def _coded(self, X: Any) -> Any:  # (rows, n) -> (rows, n)
        """Find out the types of the columns, and put numbers in the place of labels."""
        X = as_frame(X)
        if not isinstance(X, pd.DataFrame):
            self.types_ = self._types(validated(self, X, reset=True, min_rows=self.min_rows))
            return X
        refuse_twice(X)
        self.types_ = self._types(X)
        return coded(X, self.types_)

    def _types(self, X: Any) -> tuple[ColumnType, ...]:  # (rows, n)
        return plain_types(X, type(self).__name__)

    def _validate(self, X: Any, *, reset: bool) -> Array:  # -> (rows, n)
        values = validated(self, X, reset=reset, min_rows=self.min_rows if reset else 1)
        way_out = MISSING_WAY_OUT if reset else FITTED_WAY_OUT
        refuse_missing(values, self._names(values.shape[1]), way_out=way_out)
        if reset:
            refuse_degenerate(values, self._names(values.shape[1]))
        return values

    def _was_set(self, values: Array, interventions: Any) -> NDArray[np.bool_]:  # (rows, n)
        """Where values were set, refused by learners that cannot take that into account."""
        if interventions is not None and not self.takes_interventions:
            raise ValueError(
                f"{type(self).__name__} cannot take 'interventions': it has no likelihood of each "
                "column by itself. Leave such rows out, or use DAGPosterior, VIDPDAG or CAM."
            )
        return what_was_set(interventions, self._names(values.shape[1]), len(values))

    def _experiments(
        self, values: Array, interventions: Any
    ) -> tuple[NDArray[np.bool_], Constraints]:  # (rows, n)
        """What was set where something can be learned without it; all other columns are roots."""
        was_set, constraints = self._was_set(values, interventions), self._constraints()
        self.informing_rows_ = (~was_set).sum(0)
        self.settled_ = told_apart(was_set)  # of any graph; see _finish
        if not was_set.any():
            return was_set, constraints
        names = self._names(values.shape[1])
        roots = set_by_design(values, was_set, names, min_rows=self.min_rows)
        allowed = constraints.allowed & ~torch.from_numpy(roots) | constraints.required
        return was_set & ~roots, replace(constraints, allowed=allowed)

    def _standardise(self, values: Array, was_set: NDArray[np.bool_]) -> Tensor:  # (rows, n)
        seen = np.ma.array(values, mask=was_set) if was_set.any() else values
        self.location_ = np.asarray(seen.mean(0))
        self.scale_ = np.asarray(seen.std(0))
        self.observed_ = Observed.of(values, was_set)
        return torch.from_numpy((values - self.location_) / self.scale_)

    def _seen(
        self, x: Tensor, constraints: Constraints, was_set: Tensor
    ) -> tuple[Tensor, Tensor]:  # (rows, n) twice
        """Standardised columns, and what was set, as the learner works on them."""
        return x, was_set

    def _constraints(self) -> Constraints:
        known = Knowledge() if self.knowledge is None else self.knowledge
        if not isinstance(known, Knowledge):
            raise ValueError(f"'knowledge' must be a dpdag.Knowledge or None; got {known!r}.")
        names = getattr(self, "feature_names_in_", None)
        return known.resolve(self.n_features_in_, None if names is None else list(names))

    def _selected(self, job: Job) -> Job:
        """Keep only the edges that the neighbour selection ``pns`` leaves possible."""
        pns, constraints, n = getattr(self, "pns", None), job.constraints, job.x.shape[1]
        if pns is None or pns is False:
            return job
        if isinstance(pns, (str, bool)):
            method = pns if isinstance(pns, str) else "additive"
            mask = np.zeros((n, n), dtype=bool)
            for columns, rows in row_groups(job.was_set):
                found = neighbours(
                    job.x[rows].numpy(), method=method, random_state=self.random_state
                )
                mask[:, columns] = found[:, columns]
        else:
            mask = np.asarray(pns, dtype=bool)
            if mask.shape != (n, n):
                raise ValueError(f"'pns' must be a method or a ({n}, {n}) mask; got {mask.shape}.")
        possible = constraints.required | torch.from_numpy(mask)
        return job._replace(
            constraints=replace(constraints, allowed=constraints.allowed & possible)
        )

    def _prune(self, job: Job, solution: Solution) -> Solution:
        """Drop insignificant edges; what is left ranks above all else, in its own order."""
        if self.prune is False or self.prune is None:
            return solution
        alpha = 0.001 if self.prune is True else self.prune
        keep = job.constraints.required
        kept = torch.zeros_like(solution.adjacency, dtype=torch.bool)
        for columns, rows in row_groups(job.was_set):
            edges = torch.zeros_like(kept)
            edges[:, columns] = solution.adjacency[:, columns] != 0
            kept |= torch.from_numpy(prune(job.x[rows], edges, alpha=alpha, keep=keep)) != 0
        scores = _rank_first(solution.edge_scores, kept)
        return replace(solution, edge_scores=scores, adjacency=kept)

    def _finish(self, job: Job, solution: Solution) -> None:
        """Set every fitted attribute of the graph."""
        adjacency = solution.adjacency != 0
        order = topological_order(adjacency) if solution.order is None else solution.order
        self.edge_scores_ = solution.edge_scores.double().numpy()
        self.adjacency_ = adjacency.numpy().astype(int)
        self.causal_order_ = order.numpy()
        self.history_ = pd.DataFrame(solution.history)
        self.settled_ = (self.adjacency_ != 0) & self.settled_

    # Units and names -------------------------------------------------------------------------

    def _names(self, n: int) -> list[Any]:
        return list(getattr(self, "feature_names_in_", range(n)))


def _rank_first(scores: Tensor, kept: Tensor) -> Tensor:  # (n, n), (n, n) bool -> (n, n)
    """Shrink the non-negative scores of all entries outside ``kept`` below those inside."""
    if not bool(kept.any()) or bool(kept.all()):
        return scores
    highest, lowest = scores[~kept].max(), scores[kept].min()
    if highest < lowest:
        return scores
    return torch.where(kept, scores, scores * (0.99 * lowest / highest))
