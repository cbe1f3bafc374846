"""Seconds per epoch of VI-DP-DAG, beside a plain reading of the paper in the same run.

    OMP_NUM_THREADS=1 python benchmarks/training.py            # one CPU thread
    python benchmarks/training.py --device cuda                # ER-100-400, one fit and 50 at once

Writes ``training.md`` or ``training_cuda.md`` beside this file.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import torch
from sampling import PaperListing
from torch import Tensor, nn

from dpdag import datasets
from dpdag.learners.variational import Design, Hyper, fit_replicas

HERE = Path(__file__).parent
HYPER = Hyper(3e-3, 1e-2, 1e-2, kl_weight=0.01, edge_prior=0.01)
ROWS, BATCH = 1000, 64


class PlainReading(nn.Module):
    """One ``nn.Sequential`` per node, a masked copy of the data for each, matrix-product masks."""

    def __init__(self, n: int, hidden: int = 16) -> None:
        super().__init__()
        self.dags = PaperListing(n, "topk")
        self.networks = nn.ModuleList(
            nn.Sequential(
                nn.Linear(n, hidden),
                nn.LeakyReLU(),
                nn.Linear(hidden, hidden),
                nn.LeakyReLU(),
                nn.Linear(hidden, 1),
            )
            for _ in range(n)
        )
        parameters = [*self.parameters(), self.dags.order_logits, self.dags.edge_logits]
        self.adam = torch.optim.Adam(parameters, lr=HYPER.learning_rate)

    def step(self, x: Tensor) -> None:  # (b, n)
        masked = x.unsqueeze(-1) * self.dags.sample()  # (b, parent, child)
        outputs = [network(masked[:, :, j]) for j, network in enumerate(self.networks)]
        error = (x - torch.cat(outputs, dim=1)).square().mean()
        p = self.dags.edge_logits.softmax(-1)[..., 1]
        q = HYPER.edge_prior
        kl = (p * (p / q).log() + (1 - p) * ((1 - p) / (1 - q)).log()).mean()
        self.adam.zero_grad()
        (error + HYPER.kl_weight * kl).backward()
        self.adam.step()

    def epoch(self, x: Tensor) -> None:  # (rows, n)
        for rows in torch.randperm(len(x)).split(BATCH):
            self.step(x[rows])


def epoch_seconds(epoch: Callable[[], None], *, repetitions: int) -> float:
    epoch()
    durations = []
    for _ in range(repetitions):
        start = perf_counter()
        epoch()
        durations.append(perf_counter() - start)
    return min(durations)


def fit_seconds(x: Tensor, *, replicas: int, epochs: int, device: str = "cpu") -> list[float]:
    """Durations of the epochs of one batch of fits, warm-up and checks included."""
    stamps = [perf_counter()]

    def stamp(_: object) -> None:
        if device != "cpu":
            torch.cuda.synchronize()
        stamps.append(perf_counter())

    fit_replicas(
        x,
        [HYPER for _ in range(replicas)],
        design=Design(max_epochs=epochs, patience=None, batch_size=BATCH, device=device),
        callbacks=[stamp],
    )
    return [after - before for before, after in pairwise(stamps[1:])]


def on_cpu() -> str:
    torch.set_num_threads(1)
    lines = ["| n | plain reading | dpdag | ratio |", "|---|---|---|---|"]
    for n, repetitions in ((10, 10), (50, 5), (100, 3)):
        x = torch.randn(ROWS, n, generator=torch.Generator().manual_seed(0))
        reference = PlainReading(n)
        training = x[: int(0.9 * ROWS)]
        plain = epoch_seconds(lambda r=reference, t=training: r.epoch(t), repetitions=repetitions)
        ours = min(fit_seconds(x[None], replicas=1, epochs=4 * repetitions))
        lines.append(f"| {n} | {1e3 * plain:.1f} | {1e3 * ours:.2f} | {plain / ours:.1f}× |")
    x = torch.randn(1, ROWS, 10, generator=torch.Generator().manual_seed(0))
    single = min(fit_seconds(x, replicas=1, epochs=30))
    many = min(fit_seconds(x, replicas=32, epochs=10))
    return "\n".join(
        [
            "Milliseconds per epoch, best of several, one CPU thread.",
            "",
            *lines,
            "",
            f"32 restarts at n = 10 cost as much as {many / single:.1f} single fits "
            f"({1e3 * many:.1f} against {1e3 * single:.2f} ms per epoch).",
        ]
    )


@contextmanager
def launched_apart() -> Iterator[None]:
    """Every operation of a step launched by itself, as before graphs were recorded."""
    with patch("dpdag.training.captured.Captured.__call__", lambda self, *x: self.function(*x)):
        yield


def on_device(device: str, *, repetitions: int = 5) -> str:
    x = torch.tensor(datasets.load("ER-100-400", 0).X, dtype=torch.float32)
    x = ((x - x.mean(0)) / x.std(0))[None]

    def seconds(replicas: int, epochs: int) -> float:
        torch.cuda.synchronize()
        start = perf_counter()
        fit_seconds(x, replicas=replicas, epochs=epochs, device=device)
        torch.cuda.synchronize()
        return perf_counter() - start

    lines = ["| fits at once | seconds | launched apart | gain | paper, one fit |"]
    lines.append("|---|---|---|---|---|")
    for replicas in (1, 50):
        seconds(replicas, 8)
        ours = sorted(seconds(replicas, 100) for _ in range(repetitions))
        with launched_apart():
            seconds(replicas, 2)
            apart = seconds(replicas, 100)
        middle = ours[repetitions // 2]
        lines.append(
            f"| {replicas} | {middle:.2f} ({ours[0]:.2f}–{ours[-1]:.2f}) | {apart:.1f} "
            f"| {apart / middle:.1f}× | 191 |"
        )
        print(lines[-1], flush=True)
    name = torch.cuda.get_device_name() if device != "cpu" else platform.machine()
    return "\n".join(
        [
            f"ER-100-400, 100 epochs, {name}: the median and range of {repetitions} fits after one "
            "of 8 epochs that compiles the kernels, and once with every operation launched apart.",
            "",
            *lines,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=HERE)
    args = parser.parse_args()
    text = on_cpu() if args.device == "cpu" else on_device(args.device)
    name = "training.md" if args.device == "cpu" else f"training_{args.device}.md"
    text = (
        f"# Training\n\n{text}\n\nMade by `python benchmarks/training.py --device {args.device}`, "
        f"torch {torch.__version__}.\n"
    )
    (args.out / name).write_text(text)
    print(text)


if __name__ == "__main__":
    main()
