"""VI-DP-DAG: variational DAG learning from observational data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from ..distributions import Constraints, DAGMixture, Knowledge
from ..evidence.budget import TIME_BUDGET
from ..mechanisms import Mechanism
from ..ops.graphs import reachability
from ..scm import Mechanisms
from ..seeding import torch_generator
from ..training import ProgressBar, Spinner
from .answers import ModelLearner
from .base import Array, Job, Solution
from .checks import resolve_device
from .families import Resources
from .holes import fit_with_holes
from .networks import Networks, take_replicas
from .parameters import check_parameters, is_trained
from .settings import design_of, hypers_of, start_orders
from .solver import Plan, integrate
from .validation import warn_of_ids
from .variational import Replicas, fit_replicas, posterior

__all__ = ["VIDPDAG"]


class VIDPDAG(ModelLearner):
    r"""Learn a posterior over DAGs, and the mechanisms on them, from observational data.

    .. math:: \max_{\theta, \phi, \psi}\; \mathbb{E}_{A \sim P_{\phi,\psi}}
        [\log P_\theta(X \mid A)] - \lambda\, \mathrm{KL}(P_\phi \,\|\, P_\text{prior})

    Columns are standardised inside; every answer is in the original units.
    ``VIDPDAG.paper()`` is the configuration of the paper.

    Arguments:
        permutation: "topk" or "sinkhorn".
        mechanism: With the functions integrated out, "gp" (Gaussian processes over all parents
            jointly), "network" (the same for infinitely wide networks, which can follow jumps),
            "additive" or "linear", with Gaussian noise; "free-noise", additive with noise of any
            shape; "location-scale", where the size of the noise depends on the parents too;
            "mlp", a trained network per node as in the paper; or "auto", which lets the evidence
            choose among all but the last and among transformations of all columns or of single
            skewed ones. Where that is "gp" or "network" and there are more rows than its search
            can use, trained networks on the graph found take the place of its functions if they
            predict held-out rows better. ``choice_`` says what was chosen and why.
        n_restarts: Fits combined: networks train as one batch; with the functions integrated out,
            the graph is found with all rows and then mended for random halves of them, and
            probabilities are averaged over all. By default one, or four for up to 30 columns
            where one posterior would be too sure: where noise that was taken to be Gaussian is
            not, or has any shape. Halves of the rows show what chance decides; they cannot reveal
            a wrong family of mechanisms, which misleads them all alike.
        combine: "mixture" averages the restarts' posteriors, "best" keeps the one of lowest
            validation loss.
        edge_prior: Prior probability of an edge; by default 0.1, for trained networks 0.02.
        time_budget: Seconds that one search with "gp" or "network" may take on one CPU core or on
            the GPU, roughly: it looks at as many rows as that and the free memory allow, but at
            no less than 1000 for want of time. What comes before and after is not counted.
        hidden_units: Width of the networks' hidden layers; this and all that follows up to
            ``validation_fraction`` is for ``mechanism="mlp"``.
        n_layers: Number of the networks' linear layers.
        init: "search" starts the order from a greedy additive search (each restart from a
            bootstrap resample's), "random" from nothing; or a given order of columns.
        likelihood: "gaussian" with a learned variance per node or "mse" as in the paper.
        kl_weight: λ.
        edge_start: Probability that all edges start from.
        learning_rate: Of the mechanisms; ``order_learning_rate`` of ψ, ``edge_learning_rate``
            of φ.
        temperature, edge_temperature: τ of the relaxed permutation and edges.
        max_epochs, batch_size, patience, validation_fraction: Training stops when the loss on
            the held-out rows, checked every second epoch, has not improved ``patience`` times;
            never before ``max_epochs`` when ``patience`` is None.
        missing: "error" refuses NaN; "impute" learns with them: the holes are drawn anew from
            the learned model between fits, from usual values at first.
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
        edge_scores_: (n, n) nats that each edge of the graph carries, plus one, and less than one
            for others; with ``mechanism="mlp"`` the paper's score, the probability under the modal
            order.
        mechanism_: The kind of functions on the graph, and ``choice_``: why, after "auto", and how
            the graph was found.
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

    edge_probabilities_: Array
    posterior_: DAGMixture
    mechanism_: str
    choice_: str | None
    validation_loss_: float

    def __init__(
        self,
        *,
        permutation: str = "topk",
        mechanism: str = "auto",
        hidden_units: int = 16,
        n_layers: int = 3,
        n_restarts: int | None = None,
        combine: str = "mixture",
        init: str | Sequence[Any] = "search",
        likelihood: str = "gaussian",
        kl_weight: float = 0.05,
        edge_prior: float | None = None,
        time_budget: float = TIME_BUDGET,
        edge_start: float = 0.5,
        learning_rate: float = 3e-3,
        order_learning_rate: float = 1e-3,
        edge_learning_rate: float = 1e-2,
        temperature: float = 1.0,
        edge_temperature: float = 1.0,
        max_epochs: int = 150,
        batch_size: int = 64,
        patience: int | None = None,
        validation_fraction: float = 0.1,
        missing: str = "error",
        knowledge: Knowledge | None = None,
        pns: Any = None,
        prune: bool | float = False,
        device: str = "auto",
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 10,
        callbacks: Sequence[Any] = (),
        random_state: Any = None,
        verbose: bool = True,
    ) -> None:
        self.permutation = permutation
        self.mechanism = mechanism
        self.hidden_units = hidden_units
        self.n_layers = n_layers
        self.n_restarts = n_restarts
        self.combine = combine
        self.init = init
        self.likelihood = likelihood
        self.kl_weight = kl_weight
        self.edge_prior = edge_prior
        self.time_budget = time_budget
        self.edge_start = edge_start
        self.learning_rate = learning_rate
        self.order_learning_rate = order_learning_rate
        self.edge_learning_rate = edge_learning_rate
        self.temperature = temperature
        self.edge_temperature = edge_temperature
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.missing = missing
        self.knowledge = knowledge
        self.pns = pns
        self.prune = prune
        self.device = device
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every
        self.callbacks = callbacks
        self.random_state = random_state
        self.verbose = verbose

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

    def fit(self, X: Any, y: Any = None, *, resume_from: str | Path | None = None) -> Self:
        """Learn from the columns of ``X`` (rows, n); ``y`` is ignored.

        Arguments:
            resume_from: A checkpoint folder to continue from.
        """
        check_parameters(self)
        warn_of_ids(X)
        self._resume_from = None if resume_from is None else Path(resume_from)
        try:
            if self.missing == "impute":
                fit_with_holes(self, X, self._fit)
                return self
            return self._fit(X)
        finally:
            del self._resume_from

    # What the posterior answers --------------------------------------------------------------

    def sample_dags(self, k: int, random_state: Any = None) -> np.ndarray:  # -> (k, n, n)
        """Draw DAGs from the posterior, 0/1 integers."""
        self._fitted()
        generator = torch_generator(random_state, "dags")
        return self.posterior_.sample((k,), generator=generator).numpy().astype(int)

    def ancestor_probabilities(self, k: int = 1000, random_state: Any = 0) -> Array:  # -> (n, n)
        """Probability that i is an ancestor of j, over ``k`` sampled DAGs."""
        graphs = torch.from_numpy(self.sample_dags(k, random_state))
        return reachability(graphs).double().mean(0).numpy()

    # Steps of fit ----------------------------------------------------------------------------

    def _learn(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n)
        if is_trained(self.mechanism):
            return self._train(x, constraints)
        return self._integrate(x, constraints)

    def _companions(self) -> Any:
        check_parameters(self)
        if not is_trained(self.mechanism):
            return None
        return design_of(self), self.n_restarts, isinstance(self.init, str) and self.init

    def _learn_together(self, jobs: Sequence[Job]) -> list[Solution]:
        hypers = [hypers_of(job.learner) for job in jobs]
        orders = [start_orders(*job) for job in jobs]
        known = [order for order in orders if order is not None]
        with ProgressBar(enabled=bool(self.verbose)) as bar:
            replicas = fit_replicas(
                torch.stack([job.x.float() for job, own in zip(jobs, hypers) for _ in own]),
                [hyper for own in hypers for hyper in own],
                design=design_of(self),
                constraints=jobs[0].constraints,
                orders=torch.cat(known) if known else None,
                callbacks=[bar],
            )
        ends = list(accumulate(map(len, hypers), initial=0))
        return [
            job.learner._adopt(replicas.take(slice(*ends_)))
            for job, ends_ in zip(jobs, pairwise(ends))
        ]

    def _integrate(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n)
        """Search with the evidence, then fit the posterior around what was found."""
        plan = Plan(
            mechanism=self.mechanism,
            any_noise=self.missing != "impute",  # values drawn for holes blur its shape
            n_restarts=self.n_restarts,
            edge_prior=0.1 if self.edge_prior is None else self.edge_prior,
            resources=Resources(resolve_device(self.device), self.time_budget),
            random_state=self.random_state,
            names=self._names(x.shape[1]),
        )
        with Spinner("searching a graph", enabled=bool(self.verbose)) as spinner:
            found = integrate(x, constraints, plan, spinner)
        self.posterior_, self.columns_ = found.posterior, found.columns
        self.mechanism_, self.choice_ = found.mechanism, found.choice
        return found.solution

    def _train(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n)
        """Train networks and the distribution over graphs together."""
        with ProgressBar(enabled=bool(self.verbose)) as bar:
            replicas = fit_replicas(
                x[None],
                hypers_of(self),
                design=design_of(self),
                constraints=constraints,
                orders=start_orders(self, x, constraints),
                callbacks=[bar, *self.callbacks],
                checkpoint=None if self.checkpoint is None else Path(self.checkpoint),
                checkpoint_every=self.checkpoint_every,
                resume_from=self._resume_from,
            )
        return self._adopt(replicas.take(slice(None)))

    def _adopt(self, replicas: Replicas) -> Solution:
        """Make trained fits, already alone and on the CPU, this learner's own."""
        self.columns_, self.choice_, self.mechanism_ = None, None, self.mechanism
        self.posterior_ = posterior(replicas, self.combine)
        self.validation_loss_ = float(replicas.held_out.min())
        best = int(replicas.outcome.validation.argmin())
        networks = take_replicas(replicas.mechanism, slice(best, best + 1))
        return Solution(
            self.posterior_.modal_edge_probabilities,
            self.posterior_.mode.bool(),
            partial(self._functions, networks),
            self.posterior_.mode_order,
            history=replicas.outcome.rows(),
        )

    def _functions(self, networks: Mechanism, x: Tensor, adjacency: Tensor) -> Mechanisms:
        """Networks that knew another graph, or several, are trained on with this one."""
        modal = self.posterior_.mode.bool()
        if len(self.posterior_.weights) > 1 or not torch.equal(adjacency, modal):
            networks = Networks.of(self).train(x, adjacency, start=networks)
        return networks.freeze(adjacency)

    def _finish(self, x: Tensor, solution: Solution) -> None:
        super()._finish(x, solution)
        self.edge_probabilities_ = self.posterior_.edge_marginals.double().numpy()
