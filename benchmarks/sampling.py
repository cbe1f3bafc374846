"""Time per sampled DAG, beside the paper's listing, and the paper's sampling-time figure.

Writes ``sampling.md`` and ``sampling.png`` beside this file. Run with ``make bench`` or

    OMP_NUM_THREADS=1 python benchmarks/sampling.py
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import matplotlib
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from dpdag import DPDAG

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
NAMES = {"topk": "Gumbel-Top-k", "sinkhorn": "Gumbel-Sinkhorn"}


class PaperListing:
    """Figure 2 of the paper, read plainly: one DAG at a time, by matrix products."""

    def __init__(self, n_nodes: int, permutation: str) -> None:
        self.n_nodes = n_nodes
        self.sample_permutation = getattr(self, permutation)
        shape = (n_nodes,) if permutation == "topk" else (n_nodes, n_nodes)
        self.order_logits = torch.zeros(shape, requires_grad=True)
        self.edge_logits = torch.zeros(n_nodes, n_nodes, 2, requires_grad=True)

    def gumbel(self) -> Tensor:
        return -torch.log(-torch.log(torch.rand_like(self.order_logits)))

    def topk(self) -> Tensor:
        scores = self.order_logits + self.gumbel()
        ordered = scores.sort(descending=True).values
        soft = torch.softmax(-(ordered[:, None] - scores[None, :]).abs(), -1)
        hard = torch.zeros_like(soft).scatter_(-1, soft.argmax(-1, keepdim=True), 1.0)
        return hard - soft.detach() + soft

    def sinkhorn(self) -> Tensor:
        log_p = self.order_logits + self.gumbel()
        for _ in range(20):
            log_p = log_p - log_p.logsumexp(-1, keepdim=True)
            log_p = log_p - log_p.logsumexp(-2, keepdim=True)
        soft = log_p.exp()
        rows, columns = linear_sum_assignment(-soft.detach().numpy())
        hard = torch.zeros_like(soft)
        hard[rows, columns] = 1.0
        return hard - soft.detach() + soft

    def sample(self) -> Tensor:
        P = self.sample_permutation()
        edges = functional.gumbel_softmax(self.edge_logits, hard=True)[..., 1]
        mask = torch.triu(torch.ones(self.n_nodes, self.n_nodes), 1)
        return edges * (P.T @ mask @ P)


def seconds(calls: dict[str, Callable[[], object]], *, budget: float) -> dict[str, float]:
    """Shortest durations of calls that take turns, over at least 3 rounds and about ``budget``."""
    for call in calls.values():
        call()
    found = dict.fromkeys(calls, float("inf"))
    begun, rounds = perf_counter(), 0
    while rounds < 3 or (perf_counter() - begun < budget and rounds < 1000):
        for name, call in calls.items():
            start = perf_counter()
            call()
            found[name] = min(found[name], perf_counter() - start)
        rounds += 1
    return found


def measure(n: int, permutation: str, *, batch: int, budget: float) -> dict[str, float]:
    """Milliseconds per DAG, ours and the listing's, without and with gradients."""
    dags, listing = DPDAG(n, permutation), PaperListing(n, permutation)
    q, shape = dags(), (batch,) if batch > 1 else ()

    def listing_forward() -> None:
        with torch.no_grad():
            listing.sample()

    calls = {
        "ours": lambda: q.sample(shape),
        "listing": listing_forward,
        "ours+grad": lambda: dags().rsample(shape).sum().backward(),
        "listing+grad": lambda: listing.sample().sum().backward(),
    }
    found = seconds(calls, budget=budget)
    return {name: 1e3 * s / (batch if "ours" in name else 1) for name, s in found.items()}


def table(rows: list[tuple[str, int, int, dict[str, float]]]) -> str:
    lines = [
        "| permutation | n | batch | listing | ours | ratio | listing+grad | ours+grad | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for permutation, n, batch, ms in rows:
        forward, backward = ms["listing"] / ms["ours"], ms["listing+grad"] / ms["ours+grad"]
        lines.append(
            f"| {permutation} | {n} | {batch} | {ms['listing']:.3f} | {ms['ours']:.4f} "
            f"| {forward:.1f}× | {ms['listing+grad']:.3f} | {ms['ours+grad']:.4f} "
            f"| {backward:.1f}× |"
        )
    return "\n".join(lines)


def figure(rows: list[tuple[str, int, int, dict[str, float]]], path: Path) -> None:
    fig, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    colors = {"topk": "#0072B2", "sinkhorn": "#D55E00"}
    for axis, suffix, title in zip(axes, ("", "+grad"), ("sampling", "sampling and gradient")):
        for permutation, name in NAMES.items():
            color = colors[permutation]
            for batch, style in ((1, "-"), (100, "-.")):
                points = [(n, ms) for p, n, b, ms in rows if p == permutation and b == batch]
                if not points:
                    continue
                nodes = [n for n, _ in points]
                label = f"{name}, dpdag" + (", batch of 100" if batch > 1 else "")
                ours = [ms[f"ours{suffix}"] for _, ms in points]
                axis.loglog(nodes, ours, style, marker="o", ms=4, color=color, label=label)
                if batch == 1:
                    listing = [ms[f"listing{suffix}"] for _, ms in points]
                    label = f"{name}, paper's listing"
                    axis.loglog(nodes, listing, ":", marker="s", ms=4, color=color, label=label)
        axis.set_title(f"DAG {title}, one CPU thread")
        axis.set_xlabel("nodes")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("milliseconds per DAG")
    axes[0].legend(fontsize=8)
    fig.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per measurement")
    parser.add_argument("--out", type=Path, default=HERE)
    args = parser.parse_args()
    torch.set_num_threads(1)
    sizes = {
        "topk": [5, 10, 20, 50, 100, 200, 500, 1000, 2000],
        "sinkhorn": [5, 10, 20, 50, 100, 200, 1000],
    }
    rows = [
        (permutation, n, batch, measure(n, permutation, batch=batch, budget=args.budget))
        for permutation in NAMES
        for n in sizes[permutation]
        for batch in ((1, 100) if n <= 100 else (1,))
    ]
    text = (
        "# Sampling\n\nMilliseconds per DAG, best of up to 1000, one CPU thread, torch "
        f"{torch.__version__}, {platform.machine()}; the listing is the paper's Figure 2, one DAG "
        "at a time, in turns with ours. Made by `python benchmarks/sampling.py`.\n\n"
        f"{table(rows)}\n\n![sampling time](sampling.png)\n"
    )
    (args.out / "sampling.md").write_text(text)
    figure(rows, args.out / "sampling.png")
    print(text)


if __name__ == "__main__":
    main()
