"""What a learned graph with fitted functions answers, in the user's units."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..ops.labels import label_index
from ..scm import Categories, StructuralModel, fit_by_rows
from ..seeding import torch_generator
from .base import Array, DAGLearner, Job, Solution
from .interventions import interventions
from .validation import Rows, fitted_columns, like_input, validated

__all__ = ["ModelLearner"]


class ModelLearner(DAGLearner):
    r"""A learner whose solutions come with functions: it predicts, imputes, samples and answers
    what would have been.

    Answers about a DataFrame are DataFrames, with its columns in its order but for those that were
    not fitted, which are ignored; answers about an array are arrays.

    Attributes:
        model_: The :class:`~dpdag.scm.StructuralModel` in standardised units.
    """

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

    def score(self, X: Any, y: Any = None, *, interventions: Any = None) -> float:
        """Mean Gaussian log-likelihood per value in standardised units; higher is better.

        Arguments:
            interventions: As in :meth:`fit`; values that were set are not judged.
        """
        model = self._fitted()
        values = self._validate(fitted_columns(self, X), reset=False)
        density = model.log_likelihood(self._model_units(values))
        if self.columns_ is not None:  # of the columns themselves, not of their images
            density = density + self.columns_.log_slope(self._standard_units(values))
        judged = ~torch.from_numpy(self._was_set(values, interventions))
        if not bool(judged.any()):
            raise ValueError("'interventions' says that all values were set: none is to be judged.")
        return float(density.mean() if bool(judged.all()) else density[judged].mean())

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
        return rows if names is None else pd.DataFrame(rows, columns=label_index(names))

    def counterfactual(self, X: Any, do: Mapping[Any, Any]) -> Rows:  # (m, n) -> (m, n)
        """What the rows of ``X`` would have been, their own noise kept, had ``do`` been done."""
        model, own = self._fitted(), fitted_columns(self, X)
        x, given = self._model_units(self._validate(own, reset=False)), self._interventions(do)
        rows = self._settled(model.counterfactual(x, do=self._held(given)), given)
        return like_input(rows, own, X)

    # Steps of fit ----------------------------------------------------------------------------

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        x, was_set = job.x, job.was_set
        values = torch.from_numpy(self._original(x))
        adjacency = torch.from_numpy(self.adjacency_ != 0)
        if solution.knows_rows:
            mechanisms = solution.fit(x, adjacency)
        else:
            mechanisms = fit_by_rows(x, adjacency, was_set, lambda x, a, _: solution.fit(x, a))
        categories = Categories.named(self._names(x.shape[1]), values, x)
        self.model_ = StructuralModel.of_data(x, adjacency, mechanisms, categories, was_set)

    # Units -----------------------------------------------------------------------------------

    def _fitted(self) -> StructuralModel:
        check_is_fitted(self, "model_")
        return self.model_

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
        for k, own in enumerate(self.types_ or ()):
            values[:, k] = own.settle(values[:, k])
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
