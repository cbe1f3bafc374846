"""Figure 3 of the paper: seconds to draw a DAG, one at a time."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

from sklearn.base import BaseEstimator

from ...distributions import DPDAG
from ...seeding import torch_generator
from ..experiment import Method, Source, list_experiment
from ..measures import Fitted, Values
from ..sources import nodes_alone
from ..views import Figure

DRAWN = 30


@dataclass(eq=False, repr=False)
class Sampler(BaseEstimator):
    """Draws DAGs with as many nodes as there are columns, with gradients as in training."""

    permutation: str = "topk"
    device: str = "cpu"
    random_state: Any = None

    def fit(self, X: Any) -> Self:
        """Draw, after two draws that do not count."""
        dags = DPDAG(X.shape[1], self.permutation).to(self.device)
        generator = torch_generator(self.random_state, "sampling", device=self.device)
        durations = []
        for _ in range(DRAWN + 2):
            start = perf_counter()
            dags().rsample(generator=generator).sum().item()
            durations.append(perf_counter() - start)
        self.seconds_ = durations[2:]
        return self


def sampling(fitted: Fitted) -> Values:
    """Number of nodes, and mean milliseconds of a draw."""
    seconds = fitted.learner.seconds_
    return {"nodes": len(fitted.data.names), "milliseconds": 1e3 * sum(seconds) / len(seconds)}


list_experiment(
    "sampling-time",
    "Time to draw a DAG of 10 to 200 nodes, one at a time, 30 each",
    sources=tuple(Source(f"{n} nodes", nodes_alone) for n in (10, 20, 30, 50, 75, 100, 150, 200)),
    methods=(
        Method("Gumbel-Sinkhorn", Sampler, {"permutation": "sinkhorn"}),
        Method("Gumbel-Top-k", Sampler, {"permutation": "topk"}),
    ),
    measures=(sampling,),
    views=(Figure("nodes", "milliseconds", "nodes", "milliseconds", panels=False, log="xy"),),
    sets=3,
    alone=True,
)
