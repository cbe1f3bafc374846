"""Share of cause–effect pairs whose direction is found, by published kind.

    OMP_NUM_THREADS=1 python studies/pairs.py --count 50                  # own draws
    OMP_NUM_THREADS=1 DPDAG_DATA=folder python studies/pairs.py --files   # pairs-*.npz there

AN, LS and MN have additive, location-scale and multiplicative noise, "-s" sigmoids instead of
Gaussian-process draws (Tagasovska et al., 2020); SIM have noise inside the function, "-c" a
confounder, "-ln" little noise, "-G" nearly Gaussian distributions (Mooij et al., 2016).
"""

from __future__ import annotations

import argparse
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from dpdag import DAGPosterior

KINDS = ("AN", "AN-s", "LS", "LS-s", "MN-U", "SIM", "SIM-c", "SIM-ln", "SIM-G")
ROWS = 1000


def smooth(rng: np.random.Generator, x: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """A draw of a Gaussian process at the rows of ``x`` (rows, d)."""
    z = x.reshape(len(x), -1) / np.asarray(scale)
    distance = ((z[:, None] - z) ** 2).sum(-1)
    factor = np.linalg.cholesky(np.exp(-distance / 2) + 1e-5 * np.eye(len(z)))
    return factor @ rng.normal(size=len(z))


def sigmoid(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    height, steep = rng.exponential(0.25) + 1, rng.uniform(0.5, 2) * rng.choice([-1, 1])
    bend = steep * (x + rng.uniform(-2, 2))
    return height * bend / (1 + np.abs(bend))


def odd(rng: np.random.Generator, *, gaussian: bool) -> np.ndarray:
    """Values of a random smooth distribution: a normal one through a random increasing curve."""
    x = np.sort(rng.normal(size=ROWS))
    slope = np.exp(smooth(rng, x, rng.gamma(1e6, 1e-3) if gaussian else rng.gamma(5, 0.1)))
    steps = np.diff(x) * (slope[1:] + slope[:-1]) / 2
    return rng.permutation(standard(np.concatenate([[0.0], np.cumsum(steps)])))


def standard(x: np.ndarray) -> np.ndarray:
    return (x - x.mean()) / x.std()


def draw(kind: str, index: int) -> np.ndarray:  # (rows, 2), the cause first
    rng = np.random.default_rng(zlib.crc32(f"{kind}-{index}".encode()))
    if kind.startswith("SIM"):
        return noise_inside(kind, rng)
    x = rng.normal(size=ROWS) * np.sqrt(rng.uniform(1, 2))
    sigmoids = kind.endswith("-s") or kind == "MN-U"

    def function() -> np.ndarray:
        return sigmoid(rng, x) if sigmoids else smooth(rng, x, 1.0)

    if kind == "MN-U":
        return np.stack([x, function() * rng.uniform(size=ROWS)], axis=1)
    noise = rng.normal(size=ROWS) * rng.uniform(0.2, np.sqrt(2) / 5)
    size = function() if kind.startswith("LS") else 1.0
    return np.stack([x, function() + size * noise], axis=1)


def noise_inside(kind: str, rng: np.random.Generator) -> np.ndarray:
    own, other = (odd(rng, gaussian=kind == "SIM-G") for _ in range(2))
    low = kind == "SIM-ln"
    hidden = [odd(rng, gaussian=False)] if kind == "SIM-c" else []

    def effect(*inputs: np.ndarray) -> np.ndarray:
        scales = [rng.gamma(2, 1.5), *(rng.gamma(2, 300 if low else 15) for _ in inputs[1:])]
        return standard(smooth(rng, np.stack(inputs, 1), np.array(scales)))

    x = effect(own, *hidden) if hidden else own
    y = effect(x, other, *hidden)
    measured = [v + rng.gamma(2, 0.01 if low else 0.1) * rng.normal(size=ROWS) for v in (x, y)]
    return np.stack(measured, axis=1)


def from_files() -> Iterator[tuple[str, list[np.ndarray]]]:
    for path in sorted(Path(os.environ["DPDAG_DATA"]).glob("pairs-*.npz")):
        data = np.load(path)
        forward = zip(data["X"], data["first_causes_second"])
        yield path.stem, [x.astype(float) if right else x[:, ::-1] for x, right in forward]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--kinds", nargs="*", default=KINDS)
    parser.add_argument("--files", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    own = ((kind, [draw(kind, k) for k in range(options.count)]) for kind in options.kinds)
    for kind, pairs in from_files() if options.files else own:
        start, leads = perf_counter(), []
        for X in pairs:
            learner = DAGPosterior(random_state=0, resamples=0, device="cpu", verbose=False)
            p = learner.fit(np.ascontiguousarray(X)).edge_probabilities_
            leads.append(p[0, 1] - p[1, 0])
        lead = np.array(leads)
        sure = np.abs(lead) > 0.95
        print(
            f"{kind:12} {len(lead)} pairs: {100 * np.mean(lead > 0):.0f} % right, "
            f"{sure.sum()} stated, {(sure & (lead < 0)).sum()} of them wrong, "
            f"{(perf_counter() - start) / len(lead):.1f} s each",
            flush=True,
        )


if __name__ == "__main__":
    main()
