"""How far the accuracy on the Sachs table hangs on its rows: fits of random parts of them.

    OMP_NUM_THREADS=1 python studies/sachs_rows.py --count 12 --share 0.8

Prints mean and standard deviation of Dir-AUC-PR and Un-AUC-PR in percent, and of SHD.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

from dpdag import DAGPosterior, datasets, metrics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=12, help="parts of the rows")
    parser.add_argument("--share", type=float, default=0.8, help="of the rows in each")
    args = parser.parse_args()
    torch.set_num_threads(1)
    data, found = datasets.load("Sachs"), []
    for seed in range(args.count):
        order = np.random.default_rng(seed).permutation(len(data.X))
        rows = order[: int(args.share * len(order))]
        model = DAGPosterior(random_state=0, device="cpu", verbose=False).fit(data.X[rows])
        scores = metrics.edge_auc(model.edge_scores_, data.adjacency)
        shd = metrics.shd(model.adjacency_, data.adjacency)
        found.append([100 * scores["Dir-AUC-PR"], 100 * scores["Un-AUC-PR"], shd])
    for name, one in zip(("Dir-AUC-PR", "Un-AUC-PR", "SHD"), np.transpose(found)):
        print(f"{name}: {one.mean():.1f} (standard deviation {one.std(ddof=1):.1f})")


if __name__ == "__main__":
    main()
