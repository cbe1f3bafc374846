"""What a learned graph with fitted functions, or a density, answers in the user's units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from ..columns import TypedColumns
from ..distributions import DAGMixture
from ..ops.graphs import reachability
from ..ops.labels import label_index
from ..scm import StructuralModel, fit_by_rows, fit_discrete
from ..seeding import torch_generator
from .base import Array, DAGLearner, Job, Solution
from .checks import check_count, warn_caller
from .targets import in_rows_of, interventions
from .validation import Rows, decoded, fitted_columns, like_input, validated

ANSWERS = ("predict", "impute", "sample", "counterfactual")


class ModelLearner(DAGLearner):
    r"""A learner whose solutions come with functions: it predicts, imputes, samples and answers
    what would have been.

    Answers about a DataFrame are DataFrames, with its columns in its order but for those that were
    not fitted, which are ignored; answers about an array are arrays. Labels are answered by
    labels: categories come back as categories, truth values as truth values.

    Attributes:
        model_: The :class:`~dpdag.scm.StructuralModel` in standardised units.
    """

    @overload
    def predict(self, X: Any, *, return_std: Literal[False] = False) -> Rows: ...

    @overload
    def predict(self, X: Any, *, return_std: Literal[True]) -> tuple[Rows, Rows]: ...

    def predict(self, X: Any, *, return_std: bool = False) -> Rows | tuple[Rows, Rows]:
        """Every column's value (m, n) from its learned parents; roots get their mean.

        Numbers are means, also of 0/1 columns and counts; of labels the likeliest is said. Where
        the model works on transformed columns, means are taken there, so that in original units
        they lie nearer the median. Causes far outside what was observed are warned of.

        Arguments:
            return_std: Also return how far values typically lie from there: standard deviations
                given the causes, in the units of the columns, with what is not known about the
                functions where these are Gaussian processes; NaN for labels.
        """
        model, own = self._fitted(), fitted_columns(self, X)
        given = self._checked(own)
        values = like_input(self._means(given), own, X, [own.means for own in self.types_ or ()])
        if not return_std:
            return values
        x = self._units.to_model(given)
        noise = model.residuals / model.residuals.square().mean(0).sqrt().clamp_min(1e-12)
        std = self._units.deviation(model.predict(x), model.deviation(x), noise)
        std[:, self._labelled()] = np.nan
        return values, like_input(std, own, X)

    def predict_probabilities(self, X: Any) -> dict[Any, pd.DataFrame]:
        """The probabilities (m, levels) of all levels given the causes, by column that has levels.

        Example:
            >>> from dpdag import GroundTruthDAG
            >>> X = pd.DataFrame({"age": np.linspace(20, 80, 200)})
            >>> X["ill"] = np.sin(X.index) + X["age"] / 20 > 2.5
            >>> model = GroundTruthDAG([[0, 1], [0, 0]], mechanism="linear").fit(X)
            >>> model.predict_probabilities(X.iloc[[0, -1]])["ill"].round(1)[True].tolist()
            [0.0, 1.0]
        """
        model, own = self._fitted(), fitted_columns(self, X)
        given = self._checked(own)
        if model.discrete is None:
            return {}
        names, types = self._names(self.n_features_in_), self.types_ or ()
        found = model.discrete.probabilities(self._units.to_model(given))
        return {
            names[k]: pd.DataFrame(p.numpy(), getattr(own, "index", None), list(types[k].levels))
            for k, p in found.items()
            if types[k].levels
        }

    def score(self, X: Any, y: Any = None, *, interventions: Any = None) -> float:
        """Mean Gaussian log-likelihood per value in standardised units; higher is better.

        Arguments:
            interventions: As in :meth:`fit`; values that were set are not judged.
        """
        model = self._fitted()
        values = self._validate(fitted_columns(self, X), reset=False)
        density = model.log_likelihood(self._units.to_model(values))
        if self.columns_ is not None:  # of the columns themselves, not of their images
            density = density + self.columns_.log_slope(self._units.standardised(values))
        judged = ~torch.from_numpy(self._was_set(values, in_rows_of(X, interventions)))
        if not bool(judged.any()):
            raise ValueError("'interventions' says that all values were set: none is to be judged.")
        return float(density.mean() if bool(judged.all()) else density[judged].mean())

    def impute(self, X: Any) -> Rows:  # (m, n) with NaN -> (m, n)
        """Fill every NaN from its learned parents, columns of whole numbers with whole numbers;
        other values are untouched."""
        model, own = self._fitted(), fitted_columns(self, X)
        values = validated(self, own, reset=False)
        filled = self._settled(model.impute(self._units.to_model(values)))
        if self.observed_ is not None:
            filled = self.observed_.rounded(filled)
        return like_input(np.where(np.isnan(values), filled, values), own, X, self.types_ or ())

    def sample(
        self, n_samples: int = 1, do: Mapping[Any, Any] | None = None, random_state: Any = None
    ) -> Rows:  # -> (n_samples, n)
        """Draw rows from the learned model, under interventions such as ``{"PKA": 2.0}``.

        A column is set to a value of its own kind: one of its levels, a whole number for a count.
        Values far outside what was observed are warned of.
        """
        model = self._fitted()
        generator = torch_generator(random_state, "sample")
        check_count("n_samples", n_samples)
        given = self._interventions(do)
        x = model.sample(n_samples, do=self._held(given), generator=generator)
        rows = self._settled(x, given)
        names = getattr(self, "feature_names_in_", None)
        return rows if names is None else decoded(rows, label_index(names), self.types_ or ())

    def counterfactual(self, X: Any, do: Mapping[Any, Any]) -> Rows:  # (m, n) -> (m, n)
        """What the rows of ``X`` would have been, their own noise kept, had ``do`` been done."""
        model, own = self._fitted(), fitted_columns(self, X)
        x, given = self._units.to_model(self._validate(own, reset=False)), self._interventions(do)
        rows = self._settled(model.counterfactual(x, do=self._held(given)), given)
        return like_input(rows, own, X, self.types_ or ())

    # Steps of fit ----------------------------------------------------------------------------

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        x, was_set, types = job.x, job.was_set, self._typed()
        adjacency = torch.from_numpy(self.adjacency_ != 0)
        if solution.knows_rows:
            mechanisms = solution.fit(x, adjacency)
        else:
            mechanisms = fit_by_rows(x, adjacency, was_set, lambda x, a, _: solution.fit(x, a))
        known = bool(types.discrete.any())
        discrete = fit_discrete(x, adjacency, types, was_set) if known else None
        self.model_ = StructuralModel.of_data(x, adjacency, mechanisms, discrete, was_set)

    def _typed(self) -> TypedColumns:
        kinds = tuple(own.kind for own in self.types_ or ())
        return TypedColumns(kinds, torch.from_numpy(self.location_), torch.from_numpy(self.scale_))

    # Units -----------------------------------------------------------------------------------

    def _fitted(self) -> StructuralModel:
        check_is_fitted(self, "model_")
        return self.model_

    def _checked(self, own: Any) -> Array:  # (m, n)
        """Rows to predict from, with a warning of causes far outside the data."""
        values = self._validate(own, reset=False)
        causes = np.flatnonzero(self.adjacency_.any(1)).tolist()
        names, given = self._names(self.n_features_in_), {k: values[:, k] for k in causes}
        said = self.observed_.strays(given, names) if self.observed_ else None
        if said:
            warn_caller(said)
        return values

    def _means(self, values: Array) -> Array:  # (m, n) -> (m, n)
        """Predictions as numbers, of labels the likeliest."""
        model, x = self._fitted(), self._units.to_model(values)
        means, labels = self._units.to_original(model.predict(x)), self._labelled()
        if labels:
            means[:, labels] = self._units.to_original(model.likeliest(x))[:, labels].round()
        return means

    def _labelled(self) -> list[int]:
        return [k for k, own in enumerate(self.types_ or ()) if own.labelled]

    def _settled(self, x: Tensor, given: Mapping[int, float] | None = None) -> Array:
        """Back from the model's units (m, n), values of every type as they may be."""
        values = self._units.to_original(x)
        if self.observed_ is not None and self.observed_.bounds is not None:
            values = values.clip(*self.observed_.bounds)
        for k, own in enumerate(self.types_ or ()):
            values[:, k] = own.settle(values[:, k])
        for column, value in (given or {}).items():
            values[:, column] = value
        return values

    def _interventions(self, do: Mapping[Any, Any] | None) -> dict[int, float]:
        """Interventions by column index, with a warning of values far outside the data."""
        names = self._names(self.n_features_in_)
        values = interventions(do, names, self.types_ or ())
        for leap in self.observed_.leaps(values, names) if self.observed_ else ():
            warn_caller(leap)
        return values

    def _held(self, values: Mapping[int, float]) -> dict[int, float]:
        """Interventions in the model's units."""
        x = self._units.given([*values], np.array([[*values.values()]]))[0]
        return {k: float(x[k]) for k in values}


class PosteriorLearner(ModelLearner):
    """A learner whose solution is a distribution over DAGs.

    Attributes:
        posterior_: The :class:`~dpdag.distributions.DAGMixture` itself.
        edge_probabilities_: (n, n) posterior probability of every edge.
        linked_probabilities_: (n, n) probability of an edge in either direction.
    """

    posterior_: DAGMixture
    edge_probabilities_: Array
    linked_probabilities_: Array

    def sample_dags(self, k: int, random_state: Any = None) -> np.ndarray:  # -> (k, n, n)
        """Draw DAGs from the posterior, 0/1 integers."""
        self._fitted()
        check_count("k", k)
        generator = torch_generator(random_state, "dags")
        return self.posterior_.sample((k,), generator=generator).numpy().astype(int)

    def ancestor_probabilities(self, k: int = 1000, random_state: Any = 0) -> Array:  # -> (n, n)
        """Probability that i is an ancestor of j, over ``k`` sampled DAGs."""
        graphs = torch.from_numpy(self.sample_dags(k, random_state))
        return reachability(graphs).double().mean(0).numpy()

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        self.edge_probabilities_ = self.posterior_.edge_marginals.double().numpy()
        self.linked_probabilities_ = self.edge_probabilities_ + self.edge_probabilities_.T


class DensityLearner(DAGLearner):
    """A learner whose solutions come with a density; what needs functions is refused by name.

    Attributes:
        density_: From standardised rows (rows, n), the log density of each, or a lower bound.
    """

    density_: Callable[[Tensor], Tensor]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density per value in standardised units, or its bound; higher is better."""
        check_is_fitted(self, "density_")
        values = self._validate(fitted_columns(self, X), reset=False)
        x = self._units.standardised(values)
        return float(self.density_(x).mean()) / x.shape[1]

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        self.density_ = solution.fit(job.x, solution.adjacency != 0)

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in ANSWERS:
            raise AttributeError(
                f"{kind} has no functions from parents to values, so it cannot {name!r}. Fit some "
                f"on its graph: dpdag.GroundTruthDAG(learner.adjacency_).fit(X).{name}(…)."
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
