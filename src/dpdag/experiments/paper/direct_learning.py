"""Table of the appendix: a known DAG recovered by the gradient of the squared error of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from ...distributions import DPDAG, Knowledge, Noise
from ...learners.base import Job
from ...learners.many import fit_together
from ...metrics import edge_auc
from ...objectives.base import streams
from ...ops.noise import to_gumbel, to_logistic
from ...seeding import torch_generator
from ...training import ReplicaAdam
from ..experiment import Method, Source, list_experiment
from ..measures import Fitted, Values
from ..sources import graph_alone
from ..views import Metric, Table

ERDOS_RENYI = ("10-10", "10-40", "20-80", "50-50", "100-100", "100-200", "100-400")
SCALE_FREE = ("10-10", "10-40", "20-20", "20-80", "50-50", "50-200", "100-100", "100-400")
SETTINGS = (*(f"ER-{size}" for size in ERDOS_RENYI), *(f"SF-{size}" for size in SCALE_FREE))
BLOCK = 20  # steps for which noise is drawn at once


@dataclass(eq=False, repr=False)
class DirectLearner(BaseEstimator):
    r"""A distribution over DAGs fitted to a DAG that is given.

    .. math:: \min_{\phi, \psi}\; \mathbb{E}_{A \sim P_{\phi,\psi}} \|A - A^*\|^2

    Arguments:
        adjacency: (n, n) the DAG.
        permutation: "topk" or "sinkhorn".
        rates: Learning rates; all train as one batch.
        steps: Samples, one for each step.
        device: "cpu" or "cuda".
        random_state: Seed.

    Example:
        >>> learner = DirectLearner([[0, 1], [0, 0]], rates=(0.1,), steps=200, random_state=0)
        >>> learner.fit(None).scores_.round().tolist()
        [[[0.0, 1.0], [0.0, 0.0]]]
    """

    adjacency: Any = None
    permutation: str = "topk"
    rates: Sequence[float] = (1.0, 1e-1, 1e-2, 1e-3)
    steps: int = 6000
    device: str = "cpu"
    random_state: Any = None

    def fit(self, X: Any) -> Self:
        """Learn from the DAG alone; ``X`` is ignored."""
        fit_together([(self, X, None)])
        return self

    # What ``fit_together`` asks for ----------------------------------------------------------

    def _companions(self) -> Any:
        return self.permutation, tuple(self.rates), self.steps, self.device

    def _coded(self, X: Any) -> Any:
        return X

    def _prepare(self, X: Any, interventions: Any = None) -> Job:
        truth = torch.as_tensor(np.asarray(self.adjacency), dtype=torch.float32)
        return Job(self, truth, Knowledge().resolve(len(truth)), torch.zeros_like(truth).bool())

    def _learn_together(self, jobs: Sequence[Job]) -> list[Tensor]:  # (rates, n, n) each
        truth = torch.stack([job.x for job in jobs]).unsqueeze(1).to(self.device)
        shape = len(jobs), len(self.rates)
        dags = DPDAG(truth.shape[-1], self.permutation, batch_shape=shape).to(self.device)
        parameters = dict(dags.named_parameters())
        rate = torch.tensor(self.rates, device=self.device).expand(shape)
        adam = ReplicaAdam(parameters, dict.fromkeys(parameters, rate))
        seeds = [job.learner.random_state for job in jobs]
        generators = [torch_generator(seed, device=self.device) for seed in seeds]
        for step in range(self.steps):
            if step % BLOCK == 0:
                order = to_gumbel(streams(dags.order_logits, BLOCK, generators))
                edges = to_logistic(streams(dags.edge_logits, BLOCK, generators))
            noise = Noise(order[step % BLOCK], edges[step % BLOCK])
            adam.zero_grad()
            (dags(validate_args=False).dags_from(noise) - truth).square().sum().backward()
            adam.step(scale=1 - step / self.steps)  # so that the noise averages out at the end
        return list(dags().modal_edge_probabilities.detach().cpu())

    def _prune(self, job: Job, solution: Tensor) -> Tensor:
        return solution

    def _finish(self, job: Job, solution: Tensor) -> None:
        self.scores_ = solution.numpy()


def recovery(fitted: Fitted) -> Values:
    """Directed AUCs, the mean over all rates and those of each rate."""
    own = [edge_auc(scores, fitted.data.adjacency) for scores in fitted.learner.scores_]
    names = ("Dir-AUC-PR", "Dir-AUC-ROC")
    values: Values = {name: float(np.mean([one[name] for one in own])) for name in names}
    rates = fitted.learner.rates
    return values | {f"Dir-AUC-PR, rate {r:g}": one["Dir-AUC-PR"] for r, one in zip(rates, own)}


list_experiment(
    "direct-learning",
    "A known DAG recovered from samples, the mean over four learning rates",
    sources=tuple(Source(name, graph_alone) for name in SETTINGS),
    methods=(
        Method("Gumbel-Sinkhorn", DirectLearner, {"permutation": "sinkhorn"}),
        Method("Gumbel-Top-k", DirectLearner, {"permutation": "topk"}),
    ),
    measures=(recovery,),
    views=(
        Table(
            (Metric("Dir-AUC-PR", digits=2), Metric("Dir-AUC-ROC", digits=2)),
            columns="methods",
            paper=("direct_learning",),
        ),
    ),
)
