"""Table of the appendix: a known DAG recovered by the gradient of the squared error of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator

from ...distributions import DPDAG
from ...metrics import edge_auc
from ...seeding import torch_generator
from ...training import ReplicaAdam
from ..experiment import Experiment, Method, Source, listed_experiment
from ..measures import Fitted, Values
from ..sources import graph_alone
from ..views import Metric, Table

SETTINGS = (
    "ER-10-10",
    "ER-10-40",
    "ER-20-80",
    "ER-50-50",
    "ER-100-100",
    "ER-100-200",
    "ER-100-400",
    "SF-10-10",
    "SF-10-40",
    "SF-20-20",
    "SF-20-80",
    "SF-50-50",
    "SF-50-200",
    "SF-100-100",
    "SF-100-400",
)


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
        truth = torch.as_tensor(np.asarray(self.adjacency), dtype=torch.float32).to(self.device)
        dags = DPDAG(len(truth), self.permutation, batch_shape=(len(self.rates),)).to(self.device)
        rate = torch.tensor(self.rates, device=self.device)
        parameters = dict(dags.named_parameters())
        adam = ReplicaAdam(parameters, dict.fromkeys(parameters, rate))
        generator = torch_generator(self.random_state, device=self.device)
        for step in range(self.steps):
            adam.zero_grad()
            (dags().rsample(generator=generator) - truth).square().sum().backward()
            adam.step(scale=1 - step / self.steps)  # so that the noise averages out at the end
        self.scores_ = dags().modal_edge_probabilities.detach().cpu().numpy()
        return self


def recovery(fitted: Fitted) -> Values:
    """Directed AUCs, the mean over all rates and those of each rate."""
    own = [edge_auc(scores, fitted.data.adjacency) for scores in fitted.learner.scores_]
    names = ("Dir-AUC-PR", "Dir-AUC-ROC")
    values: Values = {name: float(np.mean([one[name] for one in own])) for name in names}
    rates = fitted.learner.rates
    return values | {f"Dir-AUC-PR, rate {r:g}": one["Dir-AUC-PR"] for r, one in zip(rates, own)}


listed_experiment(
    Experiment(
        name="direct-learning",
        summary="A known DAG recovered from samples, the mean over four learning rates",
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
)
