"""Time per sampled DAG, beside the paper's listing, and the paper's sampling-time figure.

Writes ``sampling.md`` and ``sampling.png`` beside this file. Run with ``make bench`` or

    OMP_NUM_THREADS=1 python benchmarks/sampling.py
    python benchmarks/sampling.py --device cuda       # kernels, tensor operations, memory floor

The second writes ``sampling_cuda.md``.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from unittest.mock import patch

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from dpdag import DPDAG

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
    """Least CPU seconds of calls that take turns, over at least 3 rounds and about ``budget``."""
    for call in calls.values():
        call()
    found = dict.fromkeys(calls, float("inf"))
    begun, rounds = process_time(), 0
    while rounds < 3 or (process_time() - begun < budget and rounds < 1000):
        for name, call in calls.items():
            start = process_time()
            call()
            found[name] = min(found[name], process_time() - start)
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
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

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


@contextmanager
def without_kernels() -> Iterator[None]:
    """The tensor operations and the host's matching that the kernels stand in for."""
    with (
        patch("dpdag.distributions.dag.has_kernels", return_value=False),
        patch("dpdag.ops.matching.has_kernels", return_value=False),
    ):
        yield


def device_times(call: Callable[[], object], *, budget: float) -> list[float]:
    """Milliseconds of at least 5 calls, over about ``budget`` seconds."""
    for _ in range(3):
        call()
    found: list[float] = []
    begun = perf_counter()
    while len(found) < 5 or (perf_counter() - begun < budget and len(found) < 300):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end))
    return found


def spread(times: list[float]) -> str:
    ordered = sorted(times)
    low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    return f"{median(ordered):.3f} ({low:.3f}–{high:.3f})"


def on_device(device: str, budget: float) -> str:
    lines = [
        "| permutation | n | batch | floor | sample | × floor | tensors | gain | sample+grad "
        "| tensors+grad | gain |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    cases = [
        ("topk", 10, 1),
        ("topk", 10, 4096),
        ("topk", 100, 1),
        ("topk", 100, 4096),
        ("topk", 1000, 1),
        ("topk", 1000, 200),
        ("topk", 1000, 1000),
        ("topk", 10_000, 1),
        ("sinkhorn", 100, 100),
        ("sinkhorn", 500, 32),
        ("sinkhorn", 1000, 1),
    ]
    for permutation, n, batch in cases:
        dags, shape = DPDAG(n, permutation).to(device), (batch,)
        graphs = torch.empty(batch, n, n, device=device)

        def forward(dags: DPDAG = dags, shape: tuple[int, ...] = shape) -> None:
            dags(validate_args=False).sample(shape)

        def both(dags: DPDAG = dags, shape: tuple[int, ...] = shape) -> None:
            dags(validate_args=False).rsample(shape).sum().backward()

        # Gradients by tensor operations keep a dozen copies of the samples.
        differentiated = batch * n * n <= 3e8
        floor = device_times(lambda g=graphs: g.fill_(1.0), budget=budget)
        ours = device_times(forward, budget=budget)
        ours_both = device_times(both, budget=budget) if differentiated else []
        with without_kernels():
            theirs = device_times(forward, budget=budget)
            theirs_both = device_times(both, budget=budget) if differentiated else []
        gain = f"{median(theirs_both) / median(ours_both):.1f}×" if differentiated else ""
        lines.append(
            f"| {permutation} | {n} | {batch} | {spread(floor)} | {spread(ours)} "
            f"| {median(ours) / median(floor):.1f} | {spread(theirs)} "
            f"| {median(theirs) / median(ours):.1f}× | "
            f"{spread(ours_both) if differentiated else ''} | "
            f"{spread(theirs_both) if differentiated else ''} | {gain} |"
        )
        print(lines[-1], flush=True)
    return (
        "# Sampling on a GPU\n\nMilliseconds for the whole batch on one "
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}: medians, and in brackets all "
        "but the quickest and slowest tenth of 5 to 300 calls. The floor is writing the result "
        "once (`fill_`); tensors are the tensor operations and the host's matching that run where "
        "there are no kernels, in the same run. Gradients are of the sum of all edges. "
        "Made by `python benchmarks/sampling.py --device cuda`.\n\n" + "\n".join(lines) + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=float, default=3.0, help="seconds per measurement")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=HERE)
    args = parser.parse_args()
    if args.device != "cpu":
        text = on_device(args.device, args.budget)
        (args.out / f"sampling_{args.device}.md").write_text(text)
        return
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
        "# Sampling\n\nCPU milliseconds per DAG, best of up to 1000, one thread, torch "
        f"{torch.__version__}, {platform.machine()}; the listing is the paper's Figure 2, one DAG "
        "at a time, in turns with ours. Made by `python benchmarks/sampling.py`.\n\n"
        f"{table(rows)}\n\n![sampling time](sampling.png)\n"
    )
    (args.out / "sampling.md").write_text(text)
    figure(rows, args.out / "sampling.png")
    print(text)


if __name__ == "__main__":
    main()
