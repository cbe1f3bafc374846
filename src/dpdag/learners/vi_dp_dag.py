"""VI-DP-DAG: variational DAG learning from observational data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from ..distributions import PERMUTATIONS, Constraints
from ..mechanisms import MECHANISMS, Mechanism
from ..objectives import LIKELIHOODS
from ..scm import Mechanisms
from ..training import ProgressBar
from .base import Job, Solution
from .checks import check_choice, check_ranges
from .model_learner import PosteriorLearner
from .networks import Networks, repeated, restart_seeds, settings_of, take_replicas
from .variational import Design, Hyper, Replicas, fit_replicas, posterior, search_orders


@dataclass(kw_only=True, eq=False, repr=False)
class VIDPDAG(PosteriorLearner):
    r"""VI-DP-DAG: networks and a distribution over DAGs, trained together.

    .. math:: \max_{\theta, \phi, \psi}\; \mathbb{E}_{A \sim P_{\phi,\psi}}
        [\log P_\theta(X \mid A)] - \lambda\, \mathrm{KL}(P_\phi \,\|\, P_\text{prior})

    Columns are standardised inside; every answer is in the original units.
    ``VIDPDAG.paper()`` is the configuration of the paper. :class:`~dpdag.DAGPosterior` integrates
    the functions out instead, and finds directions better.

    Arguments:
        permutation: "topk" or "sinkhorn".
        mechanism: "mlp", a network per node, or "linear".
        hidden_units: Width of the networks' hidden layers.
        n_layers: Number of the networks' linear layers.
        n_restarts: Fits that train as one batch and are combined.
        combine: "mixture" averages the restarts' posteriors, "best" keeps the one of lowest
            validation loss.
        init: "search" starts the order from a greedy additive search (each restart from a
            bootstrap resample's), "random" from nothing; or a given order of columns.
        likelihood: "gaussian" with a learned variance per node or "mse" as in the paper.
        kl_weight: λ.
        edge_prior, edge_start: Probability of an edge beforehand, and the one that all edges
            start from. Among more than 100 columns both stand for as many expected parents of a
            column as among 100.
        learning_rate: Of the mechanisms; ``order_learning_rate`` of ψ, ``edge_learning_rate``
            of φ.
        temperature, edge_temperature: τ of the relaxed permutation and edges.
        max_epochs, batch_size, patience, validation_fraction: Training stops when the loss on
            the held-out rows, checked every second epoch, has not improved ``patience`` times;
            never before ``max_epochs`` when ``patience`` is None.
        knowledge: A :class:`~dpdag.Knowledge`, honoured in every output.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: CAM pruning afterwards, at level 0.001 or the level given.
        device: "auto", "cpu" or "cuda".
        checkpoint: Folder to save the training state in every ``checkpoint_every`` epochs;
            ``fit(X, resume_from=folder)`` continues bit for bit.
        callbacks: Called after every epoch with its number and values.
        random_state: Seed.
        verbose: Show a progress bar in a terminal.

    Attributes:
        edge_probabilities_: (n, n) posterior probability of every edge.
        edge_scores_: (n, n) the paper's score: the probability under the modal order.
        posterior_: The :class:`~dpdag.distributions.DAGMixture` itself.
        validation_loss_: Reconstruction loss on the held-out rows, of the best restart.

    References:
        Charpentier, Kibler & Günnemann, *Differentiable DAG Sampling*, ICLR 2022.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=400)
        >>> X = np.stack([np.tanh(2 * a) + 0.2 * rng.normal(size=400), a], axis=1)
        >>> VIDPDAG(random_state=0).fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    permutation: str = "topk"
    mechanism: str = "mlp"
    hidden_units: int = 16
    n_layers: int = 3
    n_restarts: int = 1
    combine: str = "mixture"
    init: str | Sequence[Any] = "search"
    likelihood: str = "gaussian"
    kl_weight: float = 0.05
    edge_prior: float = 0.02
    edge_start: float = 0.5
    learning_rate: float = 3e-3
    order_learning_rate: float = 1e-3
    edge_learning_rate: float = 1e-2
    temperature: float = 1.0
    edge_temperature: float = 1.0
    max_epochs: int = 150
    batch_size: int = 64
    patience: int | None = None
    validation_fraction: float = 0.1
    pns: Any = None
    device: str = "auto"
    checkpoint: str | Path | None = None
    checkpoint_every: int = 10
    callbacks: Sequence[Any] = ()
    verbose: bool = True

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """The configuration of the paper: one cold start, squared error, early stopping.

        Where the paper gives a range that it searched, one point of it;
        :func:`dpdag.grid_search` searches the range.
        """
        settings: dict[str, Any] = {
            "mechanism": "mlp",
            "hidden_units": 16,
            "n_restarts": 1,
            "init": "random",
            "likelihood": "mse",
            "kl_weight": 0.01,
            "edge_prior": 0.01,
            "edge_start": 0.5,
            "learning_rate": 3e-3,
            "order_learning_rate": 1e-2,
            "edge_learning_rate": 1e-2,
            "max_epochs": 500,
            "patience": 10,
        }
        return cls(**{**settings, **overrides})

    takes_interventions: ClassVar[bool] = True

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        interventions: Any = None,
        resume_from: str | Path | None = None,
    ) -> Self:
        """Learn from the columns of ``X`` (rows, n); ``y`` is ignored.

        Arguments:
            interventions: What was set from outside: a (rows, n) mask, or for each row the name
                or names of columns, None for nothing. Such values count as causes only.
            resume_from: A checkpoint folder to continue from.
        """
        self._check()
        self._resume_from = None if resume_from is None else Path(resume_from)
        try:
            return super().fit(X, interventions=interventions)
        finally:
            del self._resume_from

    # Steps of fit ----------------------------------------------------------------------------

    def _check(self) -> None:
        check_ranges(self)
        PERMUTATIONS[self.permutation]
        MECHANISMS[self.mechanism]
        LIKELIHOODS[self.likelihood]
        check_choice("combine", self.combine, ("mixture", "best"))

    def _companions(self) -> Any:
        self._check()
        return settings_of(self, Design), self.n_restarts, isinstance(self.init, str) and self.init

    def _learn_together(self, jobs: Sequence[Job], **alone: Any) -> list[Solution]:
        seeds = [restart_seeds(job.learner) for job in jobs]
        orders = [start_orders(*job) for job in jobs]
        known = [order for order in orders if order is not None]
        with ProgressBar(enabled=bool(self.verbose)) as bar:
            replicas = fit_replicas(
                repeated([job.x for job in jobs], seeds),
                [
                    settings_of(job.learner, Hyper, seed=seed)
                    for job, own in zip(jobs, seeds)
                    for seed in own
                ],
                was_set=repeated([job.was_set for job in jobs], seeds),
                design=settings_of(self, Design),
                constraints=jobs[0].constraints,
                orders=torch.cat(known) if known else None,
                callbacks=[bar, *alone.pop("callbacks", ())],
                **alone,
            )
        ends = pairwise(accumulate(map(len, seeds), initial=0))
        return [job.learner._adopt(replicas.take(slice(*own)), job) for job, own in zip(jobs, ends)]

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        """Train networks and the distribution over graphs together."""
        (solution,) = self._learn_together(
            [Job(self, x, constraints, was_set)],
            callbacks=self.callbacks,
            checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
            checkpoint_every=self.checkpoint_every,
            resume_from=self._resume_from,
        )
        return solution

    def _adopt(self, replicas: Replicas, job: Job) -> Solution:
        """Make trained fits, already alone and on the CPU, this learner's own."""
        self.posterior_ = posterior(replicas, self.combine)
        self.validation_loss_ = float(replicas.held_out.min())
        best = int(replicas.outcome.validation.argmin())
        networks = take_replicas(replicas.mechanism, slice(best, best + 1))
        return Solution(
            self.posterior_.modal_edge_probabilities,
            self.posterior_.mode.bool(),
            partial(self._functions, networks, job.was_set),
            self.posterior_.mode_order,
            history=replicas.outcome.rows(),
            knows_rows=True,
        )

    def _functions(
        self, networks: Mechanism, was_set: Tensor, x: Tensor, adjacency: Tensor
    ) -> Mechanisms:
        """Networks that knew another graph, or several, are trained on with this one."""
        modal = self.posterior_.mode.bool()
        if len(self.posterior_.weights) > 1 or not torch.equal(adjacency, modal):
            networks = Networks.of(self).train(x, adjacency, was_set=was_set, start=networks)
        return networks.freeze(adjacency)


def start_orders(
    learner: Any,
    x: Tensor,  # (rows, n)
    constraints: Constraints,
    was_set: Tensor,  # (rows, n) bool
) -> Tensor | None:  # (r, n)
    """The orders that restarts begin with."""
    count = learner.n_restarts
    if isinstance(learner.init, str):
        if learner.init == "random":
            return None
        if learner.init != "search":
            raise ValueError(
                f"'init' must be 'search', 'random' or an order of columns; got {learner.init!r}."
            )
        seed = learner.random_state
        return search_orders(x, constraints, count, was_set=was_set, random_state=seed)
    position = {name: k for k, name in enumerate(learner._names(x.shape[1]))}
    try:
        order = torch.tensor([position[name] for name in learner.init])
    except KeyError as unknown:
        raise ValueError(f"'init' names the unknown column {unknown}.") from None
    if sorted(order.tolist()) != list(range(x.shape[1])):
        raise ValueError(f"'init' must hold each of the {x.shape[1]} columns once.")
    return order.expand(count, -1)
