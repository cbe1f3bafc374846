"""Are the generated benchmarks like the original ones? Compare distributions and print a table.

Needs the original files (DPDAG_DATA). For each setting the ten original data sets are compared
with generated ones in their graphs, their variances, what a Gaussian process fitted on the true
parents finds, and the scores of two fixed methods that know nothing of the generator.

    python studies/match_benchmark.py --sets 20
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
from scipy.stats import ks_2samp
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from dpdag.datasets import Dataset, load
from dpdag.metrics import edge_auc, sortability

SETTINGS = ("ER-10-10", "ER-10-40", "SF-10-10")
ROWS_OF_FIT = 250


def graph_statistics(data: Dataset) -> dict[str, np.ndarray]:
    """What the graph and the columns look like."""
    A, variance = data.adjacency, data.X.var(0)
    parents = A.sum(0)
    return {
        "edges": A.sum(keepdims=True).ravel(),
        "in-degree, all nodes": parents,
        "largest in-degree": parents.max(keepdims=True),
        "out-degree, all nodes": A.sum(1),
        "largest out-degree": A.sum(1).max(keepdims=True),
        "variance of roots": variance[parents == 0],
        "variance of other nodes": variance[parents > 0],
        "size of the mean of other nodes": np.abs(data.X.mean(0))[parents > 0],
    }


def gp_statistics(data: Dataset) -> dict[str, np.ndarray]:
    """Maximum-likelihood GP of each node given its true parents: noise, bandwidth, amplitude."""
    fits = []
    for node in np.flatnonzero(data.adjacency.sum(0)):
        parents = data.X[:ROWS_OF_FIT, data.adjacency[:, node] == 1]
        kernel = ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)
        model = GaussianProcessRegressor(kernel).fit(parents, data.X[:ROWS_OF_FIT, node])
        fitted = model.kernel_
        fits.append((fitted.k2.noise_level, fitted.k1.k2.length_scale, fitted.k1.k1.constant_value))
    noise, bandwidth, amplitude = np.array(fits).T
    return {
        "GP fit: noise variance": noise,
        "GP fit: bandwidth": bandwidth,
        "GP fit: amplitude²": amplitude,
    }


def score_statistics(data: Dataset) -> dict[str, np.ndarray]:
    """AUCs of two fixed methods on standardised columns, and how sortable the data is."""
    Z = (data.X - data.X.mean(0)) / data.X.std(0)
    n = Z.shape[1]
    scores = np.zeros((n, n))
    for node in range(n):
        others = np.arange(n) != node
        forest = ExtraTreesRegressor(50, min_samples_leaf=5, random_state=0)
        scores[others, node] = forest.fit(Z[:, others], Z[:, node]).feature_importances_
    correlation = np.abs(np.corrcoef(Z.T)) - np.eye(n)
    forest_auc, correlation_auc = (
        edge_auc(values, data.adjacency) for values in (scores, correlation)
    )
    sorted_by = sortability(data.X, data.adjacency)
    values = {
        "tree importance: Dir-AUC-PR": forest_auc["Dir-AUC-PR"],
        "tree importance: Un-AUC-PR": forest_auc["Un-AUC-PR"],
        "correlation: Un-AUC-PR": correlation_auc["Un-AUC-PR"],
        "varsortability": sorted_by.varsortability,
        "R²-sortability": sorted_by.r2_sortability,
    }
    return {name: np.array([value]) for name, value in values.items()}


STATISTICS: tuple[Callable[[Dataset], dict[str, np.ndarray]], ...] = (
    graph_statistics,
    gp_statistics,
    score_statistics,
)


def collect(sets: Iterable[Dataset]) -> dict[str, np.ndarray]:
    """All values of every statistic, over data sets (and nodes)."""
    found: dict[str, list[np.ndarray]] = {}
    for data in sets:
        for statistic in STATISTICS:
            for name, values in statistic(data).items():
                found.setdefault(name, []).append(np.asarray(values, dtype=float))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def log_likelihood(tree: np.ndarray, weight: Callable[[int, bool], float]) -> float:
    """Log-probability of a grown tree, summed over all orders in which its nodes may arrive.

    Every node but the first is a parent of one earlier node, drawn in proportion to
    ``weight(number of its parents, whether it is the first)``.
    """
    n, first = len(tree), int(np.flatnonzero(tree.sum(1) == 0)[0])
    child = tree.argmax(1)

    @cache
    def rest(arrived: frozenset[int]) -> float:
        if len(arrived) == n:
            return 1.0
        parents = Counter(child[node] for node in arrived - {first})
        weights = {node: weight(parents[node], node == first) for node in arrived}
        ready = [node for node in range(n) if node not in arrived and child[node] in arrived]
        return sum(weights[child[node]] * rest(arrived | {node}) for node in ready) / sum(
            weights.values()
        )

    return float(np.log(rest(frozenset({first}))))


ATTACHMENTS: dict[str, Callable[[int, bool], float]] = {
    "1 + number of parents (ours)": lambda parents, first: 1 + parents,
    "total degree": lambda parents, first: max(parents + (not first), 1),
    "uniform": lambda parents, first: 1,
}


def main() -> None:
    """Print one markdown table per setting, then how well rules of attachment explain SF-10-10."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20, help="generated data sets per setting")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # a fit at the edge of its range is a value
    for name in SETTINGS:
        real = collect(load(name, index, source="original") for index in range(10))
        ours = collect(load(name, index) for index in range(chosen.sets))
        print(f"\n**{name}**: 10 original sets, {chosen.sets} generated\n")
        print("| | original | generated | KS p |\n|---|---|---|---|")
        for statistic, a in real.items():
            b = ours[statistic]
            p = ks_2samp(a, b).pvalue
            row = f"{a.mean():.2f} ± {a.std():.2f} | {b.mean():.2f} ± {b.std():.2f} | {p:.2f}"
            if "noise" in statistic:
                row = f"{a.mean():.3f} ± {a.std():.3f} | {b.mean():.3f} ± {b.std():.3f} | {p:.2f}"
            print(f"| {statistic} | {row} |")
        sys.stdout.flush()
    trees = [load("SF-10-10", index, source="original").adjacency for index in range(10)]
    print("\nLog-likelihood of the ten original SF-10-10 graphs by rule of attachment:\n")
    for rule, weight in ATTACHMENTS.items():
        print(f"- {rule}: {sum(log_likelihood(tree, weight) for tree in trees):.1f}")


if __name__ == "__main__":
    main()
