"""How long fits with processes take, and what takes long.

    python benchmarks/gpu.py --columns 50 100 200 --mechanisms auto gp --draws 3
    python benchmarks/gpu.py --columns 5000 --mechanisms linear+additive --draws 1

Random graphs with two edges per column, Gaussian process mechanisms, 1000 rows. Prints one line
after each fit, and writes medians with their range to ``gpu.md`` beside this file, or to ``--out``.
With ``--profile`` one more fit of each kind says by function, and with ``--kernels`` by kernel too,
where its time went, how many factors of what size it took, and how often the host waited.
"""

from __future__ import annotations

import argparse
import cProfile
import math
import pstats
import resource
import statistics
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch

from dpdag import DAGPosterior, datasets, metrics
from dpdag.training import Stages

HERE = Path(__file__).parent
MOST = 45  # lines of a profile
FACTORS = ("cholesky", "cholesky_ex")
HEAD = """# Gaussian processes on many columns

Random graphs with two edges per column (`ER-n-2n`), Gaussian process mechanisms, {rows} rows.
{machine}, one fit at a time. Seconds of the whole fit and of its stages, median and (least–most)
of {draws} draws; Dir-AUC-PR in percent, SHD, GB of the device at most.
Made by `python benchmarks/gpu.py{arguments}`.

| columns | mechanism | seconds | stages | Dir-AUC-PR | SHD | GB |
|---|---|---|---|---|---|---|
"""


class Fit(NamedTuple):
    """What one fit took and found."""

    seconds: float
    stages: dict[str, float]
    auc: float
    shd: float
    gigabytes: float


def fit(columns: int, mechanism: str, draw: int, *, rows: int, device: str) -> Fit:
    """Learn one draw, everything included."""
    data = datasets.benchmarks.benchmark(f"ER-{columns}-{2 * columns}", draw, rows=rows)
    kinds: str | list[str] = mechanism.split("+") if "+" in mechanism else mechanism
    learner = DAGPosterior(mechanism=kinds, device=device, random_state=0, verbose=False)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with timed_stages() as stages, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        learner.fit(data.X)
        seconds = time.perf_counter() - start
    found = metrics.edge_auc(learner.edge_scores_, data.adjacency)["Dir-AUC-PR"]
    shd = metrics.shd(learner.adjacency_, data.adjacency)
    return Fit(seconds, stages(start + seconds), 100 * found, shd, peak(device))


def peak(device: str) -> float:
    """GB in use at most: of the device since the last reset, of a CPU's process ever."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@contextmanager
def timed_stages() -> Iterator[Callable[[float], dict[str, float]]]:
    """Notes when each stage of a fit begins; called with its end, says how long each took."""
    begun: list[tuple[str, float]] = []
    show = Stages.show

    def noted(self: Stages, stage: str, *others: Any) -> None:
        begun.append((stage.split()[-1], time.perf_counter()))
        show(self, stage, *others)

    def taken(end: float) -> dict[str, float]:
        ends = [at for _, at in begun[1:]] + [end]
        return {name: round(then - at, 1) for (name, at), then in zip(begun, ends)}

    Stages.show = noted
    try:
        yield taken
    finally:
        Stages.show = show


@contextmanager
def counted_factors() -> Iterator[Counter[tuple[int, ...]]]:
    """How many Cholesky factors of each (rows, in one call) are taken."""
    counts: Counter[tuple[int, ...]] = Counter()
    kept = {name: getattr(torch.linalg, name) for name in FACTORS}

    def counting(name: str) -> Callable[..., Any]:
        def factor(matrix: torch.Tensor, **options: Any) -> Any:
            batch = math.prod(matrix.shape[:-2])
            counts[matrix.shape[-1], batch] += 1
            return kept[name](matrix, **options)

        return factor

    for name in FACTORS:
        setattr(torch.linalg, name, counting(name))
    try:
        yield counts
    finally:
        for name, function in kept.items():
            setattr(torch.linalg, name, function)


def profile(run: Callable[[], Fit], *, kernels: bool) -> None:
    """Print where the time of a fit goes."""
    watched = cProfile.Profile()
    found: Fit | str = "interrupted"
    with counted_factors() as counts, suppress(KeyboardInterrupt):
        found = watched.runcall(run)
    print(f"\nprofiled: {found}", flush=True)
    factors: Counter[int] = Counter()
    for (size, batch), calls in counts.items():
        factors[size] += calls * batch
    print("factors by size:", dict(factors.most_common(12)))
    print("calls by size and batch:", dict(counts.most_common(20)), flush=True)
    table = pstats.Stats(watched).stats  # type: ignore[attr-defined]
    for title, column in (("own", 2), ("cumulative", 3)):
        print(f"\n{'calls':>9} {'own':>8} {'cumul.':>8}  by {title} seconds")
        for place, numbers in sorted(table.items(), key=lambda one: -one[1][column])[:MOST]:
            file, line, name = place
            where = "/".join(Path(file).parts[-2:])
            print(f"{numbers[1]:9d} {numbers[2]:8.2f} {numbers[3]:8.2f}  {where}:{line} {name}")
    if kernels:
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities, acc_events=True) as seen:
            run()
        print(seen.key_averages().table(sort_by="self_cuda_time_total", row_limit=30))


def spread(values: list[float], digits: int = 1) -> str:
    """Median and range."""
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def line(columns: int, mechanism: str, fits: list[Fit]) -> str:
    """Cells of the table."""
    stages = ", ".join(
        f"{name} {statistics.median([one.stages.get(name, 0.0) for one in fits]):.1f}"
        for name in fits[0].stages
    )
    values = (
        spread([one.seconds for one in fits]),
        stages,
        spread([one.auc for one in fits]),
        spread([one.shd for one in fits], 0),
        spread([one.gigabytes for one in fits]),
    )
    return f"| {columns} | {mechanism} | " + " | ".join(values) + " |\n"


def machine(device: str) -> str:
    """In words."""
    if device == "cuda":
        return f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    return f"CPU, {torch.get_num_threads()} threads, torch {torch.__version__}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="+", default=[50, 100, 200, 500, 1000])
    parser.add_argument("--mechanisms", nargs="+", default=["auto", "gp"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "gpu.md")
    asked = parser.parse_args()
    device, rows = asked.device, asked.rows
    given = vars(asked)
    arguments = "".join(
        f" --{name} {' '.join(map(str, given[name]))}" for name in ("columns", "mechanisms")
    )
    arguments += f" --draws {asked.draws}"
    text = HEAD.format(rows=rows, machine=machine(device), draws=asked.draws, arguments=arguments)
    fit(10, "auto", 0, rows=rows, device=device)  # libraries are loaded, streams are made
    for columns in asked.columns:
        for mechanism in asked.mechanisms:
            fits = []
            for draw in range(asked.first, asked.first + asked.draws):
                fits.append(fit(columns, mechanism, draw, rows=rows, device=device))
                print(columns, mechanism, draw, *fits[-1], flush=True)
            if fits:
                text += line(columns, mechanism, fits)
                print(text.splitlines()[-1], flush=True)
                asked.out.write_text(text)
            if asked.profile:
                profile(
                    lambda c=columns, m=mechanism: fit(c, m, asked.first, rows=rows, device=device),
                    kernels=asked.kernels,
                )


if __name__ == "__main__":
    main()
