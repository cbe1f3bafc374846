"""CPU milliseconds of a training step of the baselines, beside gCastle's and DAGMA's.

    OMP_NUM_THREADS=1 python benchmarks/baselines.py            # one fit, and ten as a batch
    OMP_NUM_THREADS=1 python benchmarks/baselines.py --peers Notears DAGMALinear

Data are the files of the benchmark (folder DPDAG_DATA). Networks and rows per step are as gCastle
has them, so that a step is the same work. Peers (``studies/baseline_peers.py`` says what they need)
are fitted to the end, and their time is divided by the steps that were counted.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from dpdag import DAGGNN, NOTEARS, GraNDAG, Knowledge, MaskedDAG, datasets

LEARNERS: dict[str, Any] = {
    "GraN-DAG": GraNDAG(hidden_units=10),
    "Masked-DAG": MaskedDAG(n_layers=5, batch_size=None),
    "DAG-GNN": DAGGNN(hidden_units=64, n_layers=2, batch_size=100),
    "NOTEARS-MLP": NOTEARS(mechanism="mlp", batch_size=None),
    "NOTEARS": NOTEARS(batch_size=None),
}
STEPS = 300


def milliseconds(learner: Any, x: torch.Tensor) -> float:  # (fits, rows, n)
    """Of a step of one fit, where all train as one batch; the median of three runs."""
    in_epoch = 1 if learner.batch_size is None else -(-900 // learner.batch_size)
    learner.set_params(max_epochs=STEPS // in_epoch, verbose=False, device="cpu")
    seeds, nothing_known = list(range(len(x))), Knowledge().resolve(x.shape[-1])
    nothing_set = torch.zeros_like(x, dtype=torch.bool)
    seconds = []
    for _ in range(3):
        start = time.process_time()
        learner._minimise(x, seeds, nothing_known, nothing_set)
        seconds.append(time.process_time() - start)
    return 1000 * float(np.median(seconds)) / (learner.max_epochs * in_epoch) / len(x)


def peer_milliseconds(peer: Any, X: np.ndarray) -> tuple[float, int]:
    """Of a step, and how many there were."""
    with counted() as counts:
        start = time.process_time()
        peer.fit(X)
        spent = time.process_time() - start
    steps = max(counts.values())  # one of them, or two that count the same
    return 1000 * spent / steps, steps


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Counts backward passes, SciPy's evaluations of objectives and DAGMA's NumPy Adam steps."""
    import scipy.optimize
    from dagma.linear import DagmaLinear

    counts = {"backward": 0, "evaluations": 0, "adam": 0}

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return call

    minimize = scipy.optimize.minimize

    def minimize_counted(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return minimize(counting("evaluations", fun), *args, **kwargs)

    with (
        mock.patch.object(scipy.optimize, "minimize", minimize_counted),
        mock.patch.object(torch.Tensor, "backward", counting("backward", torch.Tensor.backward)),
        mock.patch.object(DagmaLinear, "_adam_update", counting("adam", DagmaLinear._adam_update)),
    ):
        yield counts


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", nargs="+", help="classes of studies/baseline_peers.py")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    tables = [datasets.load("ER-10-10", k, source="original").X for k in range(10)]
    if asked.peers:
        sys.path.insert(0, str(Path(__file__).parents[1] / "studies"))
        import baseline_peers

        print("| method | ms a step | steps |\n|---|---|---|")
        for name in asked.peers:
            taken, steps = peer_milliseconds(getattr(baseline_peers, name)(0), tables[0])
            print(f"| {name} | {taken:.2f} | {steps} |", flush=True)
        return
    x = torch.stack([torch.from_numpy((X - X.mean(0)) / X.std(0)) for X in tables])
    print("| method | ms a step | of ten as a batch |\n|---|---|---|")
    for name, learner in LEARNERS.items():
        alone, batch = (milliseconds(learner, x[:count]) for count in (1, 10))
        print(f"| {name} | {alone:.2f} | {batch:.2f} |", flush=True)


if __name__ == "__main__":
    main()
