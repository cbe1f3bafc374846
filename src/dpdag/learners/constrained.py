"""What the methods share that learn a weighted adjacency and make it acyclic on the way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..objectives import CONSTRAINTS
from ..objectives.score import Score
from ..ops.graphs import acyclic_part
from ..scm import Mechanisms
from ..seeding import torch_generator
from ..training import (
    ADAM,
    AugmentedLagrangian,
    Data,
    Outcome,
    ProgressBar,
    Schedule,
    split_rows,
    train,
)
from .base import Array, DAGLearner, Job, Solution
from .checks import Range, check_ranges, resolve_device, warn_caller
from .model_learner import ModelLearner
from .networks import Networks, repeated, restart_seeds, settings_of, take_replicas

CHECKED_STEPS = 30  # between two looks at the held-out rows


class NotConvergedWarning(ConvergenceWarning):
    """A fit ended before it was done, for want of epochs or of time; its best state is kept."""


@dataclass(frozen=True)
class Minimum:
    """Trained replicas, side by side.

    Attributes:
        score: With the parameters of all of them.
        weights: (r, n, n) their weighted adjacencies.
        loss: (r,) the score on the held-out rows.
        h: (r,) how far from acyclic.
        outcome: Of the training.
    """

    score: Score
    weights: Tensor
    loss: Tensor
    h: Tensor
    outcome: Outcome

    @classmethod
    @torch.no_grad()
    def of(cls, lagrangian: AugmentedLagrangian, data: Data, outcome: Outcome) -> Minimum:
        """What training left, judged on the validation rows."""
        score, h = lagrangian.score, lagrangian.acyclicity()
        x = data.validation.expand(len(h), -1, -1)
        loss = lagrangian.value(x, None, *data.validation_weight)
        return cls(score, score.edge_scores(x), loss, h, outcome)

    def take(self, which: slice) -> Minimum:
        """Some of the replicas, as a batch of their own on the CPU."""
        return Minimum(
            take_replicas(self.score, which),
            self.weights[which].cpu(),
            self.loss[which].double().cpu(),
            self.h[which].cpu(),
            self.outcome.take(which),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class ConstrainedLearner(DAGLearner):
    r"""A method that minimises a score subject to acyclicity, by the augmented Lagrangian.

    .. math:: \min_\theta\; \mathrm{score}(x, \theta) \quad \text{subject to} \quad h(A_\theta) = 0

    A subclass adds its parameters as fields and makes its score. The parameters of all:

    Arguments:
        learning_rate: Of the optimiser.
        threshold: Edges above this weight make the graph.
        constraint: h, "exponential" or "polynomial".
        tolerance: On h.
        penalty: c at the start of the augmented Lagrangian; λ starts at zero.
        max_epochs, batch_size: Passes over the rows at most, and rows per step; all rows where
            ``batch_size`` is None.
        patience: Checks without improvement on held-out rows, some 30 steps apart, after which a
            subproblem is taken for solved.
        improvement: What the loss must fall by to count as improved.
        slowing: Factor on the learning rate with every subproblem: each is stiffer than the last.
        validation_fraction: Share of held-out rows.
        standardise: False keeps the scales of the columns in proportion, as some of the originals
            do. Where all noise has one variance, as in many simulations, they give the order away;
            real units mean nothing of the kind.
        n_restarts: Fits from different starts, trained as one batch; the acyclic one of lowest
            held-out score is kept.
        knowledge: A :class:`~dpdag.Knowledge`; forbidden edges and tiers are honoured by all.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: CAM pruning afterwards, at level 0.001 or the level given.
        device: "auto", "cpu" or "cuda".
        random_state: Seed.
        verbose: Show a progress bar in a terminal.
    """

    learning_rate: float = 1e-2
    threshold: float = 0.3
    constraint: str = "exponential"
    tolerance: float = 1e-8
    penalty: float = 1e-3
    max_epochs: int = 5000
    batch_size: int | None = 64
    patience: int = 5
    improvement: float = 1e-3
    slowing: float = 0.7
    validation_fraction: float = 0.1
    standardise: bool = True
    n_restarts: int = 1
    pns: Any = None
    device: str = "auto"
    verbose: bool = True

    betas: ClassVar[tuple[float, float]] = ADAM
    ranges: ClassVar[Mapping[str, Range]] = {"batch_size": Range(1, integer=True, optional=True)}
    guarantees_required: ClassVar[bool] = False  # whether required edges are there by construction

    def _standardise(self, values: Array, was_set: NDArray[np.bool_]) -> Tensor:  # (rows, n)
        x = super()._standardise(values, was_set)
        if self.standardise:
            return x
        common = np.full_like(self.scale_, np.sqrt(np.square(self.scale_).mean()))
        x = x * torch.from_numpy(self.scale_ / common)
        self.scale_ = common
        return x

    @abstractmethod
    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        """The score of n nodes before training, one replica per seed."""

    @abstractmethod
    def _functions(self, score: Any, x: Tensor, adjacency: Tensor) -> Any:  # (rows, n), (n, n)
        """From a trained score of one replica, a model of rows on a graph."""

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        return self._learn_together([Job(self, x, constraints, was_set)])[0]

    def _companions(self) -> Any:
        params = self.get_params(deep=False)
        own = {name: params[name] for name in params if name not in ("random_state", "verbose")}
        return type(self), repr(own)

    def _learn_together(self, jobs: Sequence[Job]) -> list[Solution]:
        self._check(jobs[0].constraints)
        seeds = [restart_seeds(job.learner) for job in jobs]
        x = repeated([job.x for job in jobs], seeds)
        was_set = repeated([job.was_set for job in jobs], seeds)
        found = self._minimise(x, [*chain(*seeds)], jobs[0].constraints, was_set)
        ends = pairwise(accumulate(map(len, seeds), initial=0))
        return [job.learner._adopt(found.take(slice(*own)), job) for job, own in zip(jobs, ends)]

    def _check(self, constraints: Constraints) -> None:
        """Refuse parameters that cannot be."""
        check_ranges(self)
        CONSTRAINTS[self.constraint]
        if not self.guarantees_required and bool(constraints.required.any()):
            raise ValueError(
                f"{type(self).__name__} cannot guarantee 'required' edges: their weights are "
                "learned and may vanish. Use MaskedDAG, CAM or DAGPosterior, or put the causes "
                "into an earlier tier."
            )

    def _minimise(
        self,
        x: Tensor,  # (r or 1, rows, n) standardised
        seeds: list[int],
        constraints: Constraints,
        was_set: Tensor,  # (r or 1, rows, n) bool
    ) -> Minimum:
        """Train one replica per seed, each as if it were alone."""
        device = resolve_device(self.device)
        score = self._score(x.shape[-1], seeds, constraints)
        lagrangian = AugmentedLagrangian(
            score,
            len(seeds),
            constraint=CONSTRAINTS[self.constraint],
            tolerance=self.tolerance,
            penalty=self.penalty,
        ).to(device)
        data = split_rows(x, seeds, self.validation_fraction, device, was_set)
        rows = data.train.shape[-1]
        size = min(self.batch_size or rows, rows)
        every = max(1, CHECKED_STEPS * size // rows)
        with ProgressBar(enabled=bool(self.verbose)) as bar:
            outcome = train(
                lagrangian,
                data,
                rates={name: self.learning_rate for name, _ in lagrangian.named_parameters()},
                schedule=settings_of(self, Schedule, batch_size=size, check_every=every),
                generators=[torch_generator(seed, "train", device=device) for seed in seeds],
                callbacks=[bar],
            )
        return Minimum.of(lagrangian, data, outcome)

    def _adopt(self, found: Minimum, job: Job) -> Solution:
        """Make the best of trained replicas, already on the CPU, this learner's own."""
        constraints = job.constraints
        there = found.outcome.settled & (found.h <= self.tolerance)
        # Without any that is there, the nearest of those that did not diverge.
        near = found.h.masked_fill(found.outcome.diverged, torch.inf)
        eligible = there if bool(there.any()) else near <= near.min()
        best = int(found.loss.masked_fill(~eligible, torch.inf).argmin())
        self.converged_ = bool(there[best])
        weights = found.weights[best].double()
        candidates = (weights > self.threshold) & constraints.allowed
        adjacency = acyclic_part(weights, candidates, keep=constraints.required)
        self.n_removed_ = int((candidates & ~adjacency).sum())
        if not self.converged_:
            warn_caller(
                f"{type(self).__name__} did not converge in {found.outcome.epochs} epochs: "
                f"{self._reason(found, best)}. Its last good state is kept, and {self.n_removed_} "
                "edges were removed to make the graph acyclic. Raise 'max_epochs', or lower "
                "'learning_rate' if the loss diverged.",
                NotConvergedWarning,
            )
        score = take_replicas(found.score, slice(best, best + 1))
        fit = partial(self._functions, score)
        return Solution(weights, adjacency, fit, history=found.outcome.rows())

    def _reason(self, found: Minimum, replica: int) -> str:
        """Why a replica is not where it should be."""
        if bool(found.outcome.diverged[replica]):
            return "the loss became infinite"
        h = float(found.h[replica])
        return f"h is {h:.1e}, " + (
            f"above 'tolerance' {self.tolerance:.0e}"
            if h > self.tolerance
            else "but the loss still fell"
        )


class NetworkFunctions(ModelLearner):
    """Trained networks of a score, ``score.mechanism``, trained on with the graph found."""

    def _functions(self: Any, score: Any, x: Tensor, adjacency: Tensor) -> Mechanisms:
        size = self.batch_size or len(x)
        networks = Networks.of(self, max_epochs=200, patience=10, batch_size=size)
        return networks.train(x, adjacency, start=score.mechanism).freeze(adjacency)
