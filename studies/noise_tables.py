"""Edges found in tables of independent columns, where there are none.

OMP_NUM_THREADS=1 python studies/noise_tables.py
"""

from __future__ import annotations

from functools import partial
from time import perf_counter

import numpy as np
import torch

from dpdag import DAGPosterior

SHAPES = ((50, 200), (100, 100), (200, 100), (100, 30))
LAWS = ("normal", "exponential", "lognormal", "standard_t")


def main() -> None:
    torch.set_num_threads(1)
    for shape in SHAPES:
        for law in LAWS:
            rng = np.random.default_rng(7)
            draw = partial(rng.standard_t, 3) if law == "standard_t" else getattr(rng, law)
            start = perf_counter()
            model = DAGPosterior(random_state=0, device="cpu", verbose=False).fit(draw(size=shape))
            p = model.edge_probabilities_
            print(
                f"{shape[0]} × {shape[1]} {law:12} {model.adjacency_.sum()} edges, "
                f"{(p > 0.9).sum()} above 0.9, largest {p.max():.2f}, "
                f"{perf_counter() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
