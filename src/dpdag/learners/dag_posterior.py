"""A posterior over DAGs, functions integrated out and families averaged by evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from ..columns import ColumnType, column_types
from ..deadline import Deadline
from ..distributions import Constraints
from ..evidence.families import AUTO, FUNCTIONS
from ..evidence.gp import TIME_BUDGET
from ..ops.graphs import topological_order
from ..ops.rows import drawn_rows
from ..ops.threads import threads_for
from ..posterior import moving_together, quality
from ..scm import fit_mixed_by_rows
from ..training import Stages
from .base import Solution
from .checks import check_choice, check_mechanism, check_ranges, resolve_device, warn_caller
from .constrained import NotConvergedWarning
from .missing import fit_with_missing
from .model_learner import PosteriorLearner
from .pair_facts import counted_share
from .posterior_answers import guessed, least_wrong, mixture, ranked, records
from .posterior_solver import (
    Chosen,
    Plan,
    choose_columns,
    expected_seconds,
    forecast,
    solve,
)
from .validation import warn_of_row_numbers

# Rows from which functions and their noise are known to a percent; more would only take longer.
ENOUGH_ROWS = 20_000


@dataclass(kw_only=True, eq=False, repr=False)
class DAGPosterior(PosteriorLearner):
    r"""A posterior over DAGs: functions integrated out, families averaged for every column.

    .. math:: P(A \mid x) \propto P(A) \prod_v p(x_v \mid x_{\mathrm{pa}_A(v)}), \qquad
        p(x_v \mid x_S) = \sum_{f, k} \pi_f\, \pi_k \int p_k(x_v \mid f(x_S))\, dP(f)

    over functions f (lines, sums of curves, Gaussian processes over all causes jointly, infinitely
    wide networks) and noise k (Gaussian or of any shape, of constant size or of one that follows
    the causes); causes may also switch a column between two modes. Columns without causes have
    densities of any shape too. Every column may first be transformed, by the same evidence with the
    Jacobian counted. The best graph is found by a search, the posterior is a DP-DAG around it; over
    all graphs for up to 5 columns. No link and no direction is stated more surely than experience
    with data off the model allows (:mod:`dpdag.posterior.doubt`); ``adjacency_`` is the graph of
    least expected distance (SHD).

    Arguments:
        mechanism: "auto" averages all kinds of functions; or one or several of "linear",
            "additive", "gp" and "network", without transformations.
        edge_prior: Probability of an edge; by default its density is learned too, half a parent
            per column being expected beforehand.
        resamples: Searches on random halves of the rows whose posteriors are averaged with that of
            all rows.
        time_budget: Seconds that the fit may take. It reads as many rows as they and the free
            memory allow, but no less than 1000 for want of time; what else there is no time for is
            left out, with a warning, and named in ``left_out_``. None reads as many rows as 120
            seconds allow, and takes its time; but of so many columns that processes would take
            more than ten minutes, "auto" leaves out these and transformations. Of more than
            20 000 rows so many are drawn.
        types: Types of columns by name, "continuous", "binary", "category", "ordinal" or "count";
            inferred for others. A discrete column has a probability given its causes: logistic,
            softmax, ordered logistic, Poisson or negative binomial.
        missing: "error" refuses NaN; "impute" learns with them: missing values are drawn from the
            learned model between fits, given causes and effects.
        knowledge: A :class:`~dpdag.Knowledge`, honoured in every output.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: CAM pruning afterwards, at level 0.001 or the level given.
        device: "auto", "cpu" or "cuda".
        random_state: Seed.
        verbose: Show what is being done in a terminal, and of long fits how long it takes.

    Attributes:
        edge_probabilities_: (n, n) posterior probability of every edge.
        linked_probabilities_: (n, n) probability of an edge in either direction.
        edge_scores_: (n, n) for ranking: probabilities of edges, less where they carry few nats,
            and at columns of few values of the direction that has more of them.
        choice_: One record per column: type, transformation, weights of functions (none without
            causes) and of noise (none of discrete columns), evidence, nats over a column
            without causes, rows read that inform it.
        hidden_causes_: Pairs without a link that move together beyond what the graph explains, one
            record each: source, target, nats.
        quality_: What the graph explains in nats per row more than no graph (``nats_per_row``, and
            ``by_curves`` as the ``random_graphs`` of the same size do), and the share of its links
            and arrows ``found_again`` on halves of the rows, with ``resamples``.
        left_out_: What there was no time for.
        rows_used_: How many rows were learned from.
        types_: The type of every column, its levels too.
        posterior_: The :class:`~dpdag.distributions.DAGMixture` itself.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=400)
        >>> X = np.stack([np.tanh(2 * a) + 0.2 * rng.normal(size=400), a], axis=1)
        >>> DAGPosterior(random_state=0).fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    mechanism: str | Sequence[str] = "auto"
    edge_prior: float | None = None
    resamples: int = 0
    time_budget: float | None = None
    types: Mapping[Any, str] | None = None
    missing: str = "error"
    pns: Any = None
    device: str = "auto"
    verbose: bool = True

    takes_interventions: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, *, interventions: Any = None) -> Self:
        """Learn from the columns of ``X`` (rows, n); ``y`` is ignored.

        Arguments:
            interventions: What was set from outside: a (rows, n) mask, or for each row the name
                or names of columns, None for nothing. The evidence of a column leaves out the rows
                in which it was set; as a cause its values count as they are.
        """
        self._check()
        warn_of_row_numbers(X)
        whole = Deadline(self.time_budget)
        X = self._coded(X)
        if self.missing == "impute":
            fit_with_missing(self, X, partial(self._fit_within, whole), interventions, whole)
        else:
            self._fit_within(whole, X, interventions)
        self.left_out_ += whole.left_out
        if self.left_out_:
            why, way_out = f"{self.n_features_in_} columns", "Set a 'time_budget'"
            if self.time_budget is not None:
                why, way_out = f"A 'time_budget' of {self.time_budget:g} s", "Raise it"
            warn_caller(
                f"{why} left no time for {'; '.join(self.left_out_)}. {way_out}, or give fewer "
                "rows or columns.",
                NotConvergedWarning,
            )
        return self

    # Steps of fit ----------------------------------------------------------------------------

    def _fit_within(self, whole: Deadline, X: Any, interventions: Any, until: float = 1.0) -> None:
        """Fit until a share of all time is spent."""
        self._deadline = Deadline(max(until * whole.seconds - whole.spent, 0.0))
        columns = len(self.types_ or ())
        plan = self._plan(columns, len(X))
        if tuple(plan.functions) != self._functions():
            self._deadline.left_out.append("transformations and processes (curves decide)")
        expected = expected_seconds(columns, len(X), plan)
        shown = Stages(min(expected, self._deadline.seconds), enabled=bool(self.verbose))
        with threads_for(expected), shown as self._stages:
            self._fit(X, interventions)
        self.left_out_ = self._deadline.left_out
        del self._deadline, self._stages

    def _check(self) -> None:
        check_ranges(self)
        check_choice("missing", self.missing, ("error", "impute"))
        given = [self.mechanism] if isinstance(self.mechanism, str) else self.mechanism
        for name in given:
            check_mechanism(name, ("auto", *FUNCTIONS))

    def _functions(self) -> tuple[str, ...]:
        if isinstance(self.mechanism, str):
            return AUTO if self.mechanism == "auto" else (self.mechanism,)
        return tuple(self.mechanism)

    def _types(self, X: Any) -> tuple[ColumnType, ...]:  # (rows, n)
        return column_types(X, self.types)

    def _plan(self, columns: int, rows: int) -> Plan:
        plan = Plan.within(
            columns,
            TIME_BUDGET if self.time_budget is None else self._deadline.seconds,
            resolve_device(self.device),
            functions=self._functions(),
            edge_prior=self.edge_prior,
            resamples=self.resamples,
            random_state=self.random_state,
            deadline=self._deadline,
        )
        unasked = self.mechanism == "auto" and self.time_budget is None
        return plan.within_patience(columns, rows) if unasked else plan

    def _seen(
        self, x: Tensor, constraints: Constraints, was_set: Tensor
    ) -> tuple[Tensor, Tensor]:  # (rows, n) twice
        """Columns are transformed first, so that selection sees what the search will see."""
        if len(x) > ENOUGH_ROWS:
            rows = drawn_rows(x, was_set, ENOUGH_ROWS).sort().values
            x, was_set = x[rows], was_set[rows]
        self.rows_used_ = len(x)
        self._chosen = Chosen(("identity",) * x.shape[1])
        plan = replace(self._plan(x.shape[1], len(x)), types=self._typed())
        if self.mechanism == "auto" and tuple(plan.functions) == AUTO and x.shape[1] > 1:
            self._stages.show("comparing transformations", 0.0, 0.05)
            self._chosen = choose_columns(x, was_set, constraints, plan)
        self.columns_ = self._chosen.columns
        return (x if self.columns_ is None else self.columns_(x)), was_set

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        plan = replace(self._plan(x.shape[1], len(x)), types=self._typed())
        if expected := forecast(x.shape[1], len(x), plan):
            self._stages.say(expected)
        plain = x if self.columns_ is None else self.columns_.inverse(x)
        start = self._chosen.graph
        found, evidence = solve(x, plain, was_set, constraints, plan, self._stages, start)
        self._stages.show("fitting functions", 0.9, 1.0)
        best = found[0].graph
        self.posterior_, self.doubt_ = mixture(found, constraints), found[0].doubt
        possible = best.adjacency if found[0].possible is None else found[0].possible
        graph = least_wrong(guessed(found, constraints), constraints, possible)
        names, types = self._names(x.shape[1]), self.types_ or ()
        kinds = self._chosen.kinds
        self.choice_ = records(evidence, graph, names, kinds, types, found[0].doubt)
        continuous = torch.tensor([not own.discrete for own in types])
        pairs = moving_together(evidence, graph, counted_share(x, was_set), continuous)
        self.hidden_causes_: list[dict[str, Any]] = [
            {"source": str(names[i]), "target": str(names[j]), "nats": nats} for i, j, nats in pairs
        ]
        self.quality_ = quality(evidence, graph, [one.graph.adjacency for one in found[1:]])
        del self._chosen
        history = [
            {"resample": k, "step": step, "log_evidence": value}
            for k, one in enumerate(found)
            for step, value in enumerate(one.graph.history)
        ]
        return Solution(
            ranked(found, constraints),
            graph,
            partial(fit_mixed_by_rows, was_set=was_set, evidence=evidence, types=plan.types),
            topological_order(graph | constraints.before),
            history,
            knows_rows=True,
        )
