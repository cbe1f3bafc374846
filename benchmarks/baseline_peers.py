"""Public implementations of the baselines, measured on the benchmark's data: gCastle and DAGMA.

They need an environment of their own, without ``dpdag`` (torch first, so that nothing replaces it):

    python3 -m venv peers
    peers/bin/pip install torch==2.13.0
    peers/bin/pip install gcastle==1.0.4 dagma==1.1.1
    OMP_NUM_THREADS=1 peers/bin/python benchmarks/baseline_peers.py --out baseline_peers.jsonl

Every fit (method, data set, index) is one JSON line: seconds, optimiser steps, all settings, the
weights before any threshold and the 0/1 graph after it; entry [i][j] is i -> j. A fit that crashed
or ran out of time has ``error`` in place of the matrices. Fits that are in the file are skipped;
delete a line to repeat its fit. Each fit has a process and one thread of its own: gCastle changes
torch's default type, DAGMA its own default arguments.
"""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import wraps
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

os.environ.setdefault("TQDM_DISABLE", "1")
ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("DPDAG_DATA", ROOT.parent / "shared" / "data"))
FITS = [("ER-10-10", index) for index in range(5)] + [("Sachs", 0)]
SEED = 0  # where the implementation sets none itself


class Answer(NamedTuple):
    """What one fit found; matrices are (n, n), [i, j] is i -> j."""

    weights: np.ndarray
    graph: np.ndarray
    more: dict[str, Any] | None = None  # further fields of the record


class Learner(NamedTuple):
    """One method, ready to fit: only ``fit`` is timed."""

    fit: Callable[[], Any]
    answer: Callable[[Any], Answer]  # from what `fit` returned
    settings: dict[str, Any]
    note: str = ""


def settings(learner: object) -> dict[str, Any]:
    """The public arguments of a gCastle learner."""
    names = inspect.signature(type(learner).__init__).parameters
    return {name: getattr(learner, name) for name in names if hasattr(learner, name)}


def defaults(function: Callable[..., Any], **given: Any) -> dict[str, Any]:
    """The keyword arguments of a function, those given in place of its defaults."""
    own = inspect.signature(function).parameters.values()
    found = {p.name: p.default for p in own if p.default is not inspect.Parameter.empty}
    return {**found, **given}


def gran_dag(X: np.ndarray) -> Learner:
    from castle.algorithms import GraNDAG
    from castle.algorithms.gradient.gran_dag.torch.base import compute_jacobian_avg

    class Kept(GraNDAG):
        """Keeps the weights of which `_to_dag` makes a 0/1 graph."""

        def _to_dag(self, train_data: Any) -> Any:
            jacobian = compute_jacobian_avg(self.model, train_data, train_data.n_samples)
            self.weights = jacobian.t().detach().numpy()
            self.paths = self.model.get_w_adj().detach().numpy()
            return super()._to_dag(train_data)

    learner = Kept(input_dim=X.shape[1])
    return Learner(
        lambda: learner.learn(X),
        lambda _: Answer(
            learner.weights, learner.causal_matrix, {"path_weights": learner.paths.tolist()}
        ),
        settings(learner),
        "no neighbour selection, no pruning; weights: mean absolute Jacobian of log-likelihoods, "
        "after the clamping of edges during training",
    )


def mcsl(X: np.ndarray) -> Learner:
    from castle.algorithms import MCSL

    learner = MCSL(model_type="nn")
    return Learner(
        lambda: learner.learn(X),
        lambda _: Answer(learner.causal_matrix_weight, learner.causal_matrix),
        settings(learner),
        "weights: sigmoid(logits / temperature)",
    )


def dag_gnn(X: np.ndarray) -> Learner:
    from castle.algorithms import DAG_GNN

    class Kept(DAG_GNN):
        """Keeps the matrix that `learn` makes 0/1 in place."""

        def _train(self, *args: Any, **kwargs: Any) -> Any:
            loss, A = super()._train(*args, **kwargs)
            self.weights = A.detach().numpy().copy()
            return loss, A

    learner = Kept()
    return Learner(
        lambda: learner.learn(X),
        lambda _: Answer(learner.weights, learner.causal_matrix),
        settings(learner),
        "weights: sinh(3 A)",
    )


def notears_nonlinear(X: np.ndarray) -> Learner:
    from castle.algorithms import NotearsNonlinear

    learner = NotearsNonlinear(bias=True)
    return Learner(
        lambda: learner.learn(X),
        lambda _: Answer(learner.weight_causal_matrix, learner.causal_matrix),
        settings(learner),
        "weights: norms of the first layer",
    )


def notears(X: np.ndarray) -> Learner:
    from castle.algorithms import Notears

    learner = Notears()
    return Learner(
        lambda: learner.learn(X),
        lambda _: Answer(learner.weight_causal_matrix, learner.causal_matrix),
        settings(learner),
        "weights: coefficients",
    )


def dagma_nonlinear(X: np.ndarray) -> Learner:
    from dagma.nonlinear import DagmaMLP, DagmaNonlinear

    learner = DagmaNonlinear(DagmaMLP(dims=[X.shape[1], 10, 1], bias=True))
    chosen = defaults(learner.fit, lambda1=0.02, lambda2=0.005)
    threshold = chosen["w_threshold"]
    return Learner(
        lambda: learner.fit(X, **{**chosen, "w_threshold": 0.0}),
        lambda W: Answer(W, np.abs(W) >= threshold),
        {"dims": learner.model.dims, **chosen},
        "weights: norms of the first layer",
    )


def dagma_linear(X: np.ndarray) -> Learner:
    from dagma.linear import DagmaLinear

    learner = DagmaLinear(loss_type="l2")
    chosen = defaults(learner.fit)
    threshold = chosen["w_threshold"]
    return Learner(
        lambda: learner.fit(X, **{**chosen, "w_threshold": 0.0}),
        lambda W: Answer(W, np.abs(W) >= threshold),
        {"loss_type": "l2", **chosen, "s": list(chosen["s"])},  # `fit` changes its own list
        "weights: coefficients",
    )


METHODS: dict[str, Callable[[np.ndarray], Learner]] = {
    "gCastle Notears": notears,
    "DAGMA linear": dagma_linear,
    "gCastle GraNDAG": gran_dag,
    "gCastle NotearsNonlinear": notears_nonlinear,
    "gCastle DAG_GNN": dag_gnn,
    "gCastle MCSL": mcsl,
    "DAGMA MLP": dagma_nonlinear,
}


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Counts backward passes, SciPy's evaluations of objectives and DAGMA's NumPy Adam steps."""
    import scipy.optimize
    import torch
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


def load(folder: Path, dataset: str, index: int) -> np.ndarray:
    """(rows, n), every column of mean 0 and standard deviation 1."""
    with np.load(folder / f"{dataset}.npz") as arrays:
        X = arrays["X"][index].astype(np.float64)
    return (X - X.mean(0)) / X.std(0)


def give_up(*_: Any) -> None:
    raise TimeoutError("out of time")


def measure(method: str, X: np.ndarray, limit: int) -> dict[str, Any]:
    """Fits once; at most `limit` seconds."""
    import torch

    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    np.random.seed(SEED)  # noqa: NPY002
    torch.manual_seed(SEED)
    learner = METHODS[method](X.copy())
    record: dict[str, Any] = {"settings": learner.settings, "note": learner.note}
    signal.signal(signal.SIGALRM, give_up)
    with counted() as counts:
        start, cpu = perf_counter(), process_time()
        signal.alarm(limit)
        try:
            found = learner.fit()
        except Exception as error:
            found, record["error"] = None, f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
        record["seconds"], record["cpu_seconds"] = perf_counter() - start, process_time() - cpu
    record["steps"] = max(counts.values())  # one of them, or two that count the same
    if "error" not in record:
        answer = learner.answer(found)
        record["weights"] = np.asarray(answer.weights, dtype=float).tolist()
        record["graph"] = np.asarray(answer.graph).astype(int).tolist()
        record |= answer.more or {}
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the .npz files")
    parser.add_argument("--out", type=Path, default=Path("baseline_peers.jsonl"))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--limit", type=int, default=900, help="seconds until a fit is given up")
    args = parser.parse_args()

    lines = args.out.read_text().splitlines() if args.out.exists() else []
    done = {(r["method"], r["dataset"], r["index"]) for r in map(json.loads, lines)}
    os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that are started
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for method in args.methods:
            for dataset, index in FITS:
                if (method, dataset, index) in done:
                    continue
                X = load(args.data, dataset, index)
                record = {"method": method, "dataset": dataset, "index": index}
                record |= pool.submit(measure, method, X, args.limit).result()
                with args.out.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                said = record.get("error") or f"{np.sum(record['graph'])} edges"
                print(
                    f"{method}, {dataset} {index}: {record['seconds']:.1f} s, "
                    f"{record['steps']} steps, {said}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
