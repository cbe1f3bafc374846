"""Pruning keeps its level, has power, and refuses what it cannot test."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpdag.selection import edge_p_values, prune


def collider(rows: int, seed: int, *, parents: int = 4, effect: float = 0.0, noise: str = "normal"):
    """Columns 0 … parents − 1 point into the last one, which only depends on column 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, parents + 1))
    X[:, -1] = effect * np.sin(2 * X[:, 0]) + getattr(rng, noise)(size=rows)
    A = np.zeros((parents + 1, parents + 1), dtype=int)
    A[:-1, -1] = 1
    return X, A


def test_p_values_are_uniform_without_effects():
    p = np.concatenate([edge_p_values(*collider(150, seed))[:-1, -1] for seed in range(200)])
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert 0.03 < (p < 0.05).mean() < 0.07


def test_level_holds_beside_a_strong_parent_and_under_skewed_noise():
    p = np.concatenate(
        [
            edge_p_values(*collider(300, seed, effect=2.0, noise="standard_exponential"))[1:-1, -1]
            for seed in range(150)
        ]
    )
    assert (p < 0.05).mean() < 0.09


def test_power_grows_to_certainty_with_the_effect():
    kept = [
        np.mean([prune(*collider(300, seed, effect=e))[0, -1] for seed in range(30)])
        for e in (0.0, 0.4, 1.0)
    ]
    assert kept[0] <= 0.05
    assert kept[0] < kept[1] < kept[2] + 1e-9
    assert kept[2] == 1.0


def test_statistic_equals_two_explicit_regressions():
    X, A = collider(80, 0, parents=2, effect=0.5)
    X[:, 1] = np.round(X[:, 1])  # few values: fewer functions
    from torch import from_numpy

    from dpdag.evidence.splines import fit_splines

    z = from_numpy((X - X.mean(0)) / X.std(0))
    basis = fit_splines(z, n_functions=8)
    u = basis(z).numpy()
    used = basis.used.numpy()

    def residual(columns: list[int]) -> float:
        design = np.concatenate([u[:, j][:, used[j]] for j in columns], axis=1)
        fit = np.linalg.lstsq(design, z[:, 2].numpy(), rcond=None)[0]
        return float(np.square(z[:, 2].numpy() - design @ fit).sum())

    full, left = residual([0, 1]), 80 - 1 - used[:2].sum()
    for parent, other in ((0, 1), (1, 0)):
        k = used[parent].sum()
        f = (residual([other]) - full) / k / (full / left)
        assert edge_p_values(X, A)[parent, 2] == pytest.approx(stats.f.sf(f, k, left), rel=1e-4)


def test_absent_edges_have_no_p_value_and_stay_absent():
    X, A = collider(100, 0, effect=3.0)
    assert np.isnan(edge_p_values(X, A)[A == 0]).all()
    assert prune(X, A)[A == 0].sum() == 0
    assert prune(X, 0 * A).sum() == 0


def test_kept_edges_stay():
    X, A = collider(100, 0)
    keep = np.zeros_like(A)
    keep[2, -1] = keep[0, 1] = 1
    assert prune(X, A, keep=keep)[2, -1] == 1
    assert prune(X, A, keep=keep)[0, 1] == 0  # not an edge to begin with


def test_results_do_not_depend_on_column_order_or_scale():
    X, A = collider(200, 0, effect=0.5)
    p = edge_p_values(X, A)
    shuffle = np.array([2, 4, 0, 1, 3])
    moved = edge_p_values((X * 7.0 - 3.0)[:, shuffle], A[np.ix_(shuffle, shuffle)])
    np.testing.assert_allclose(moved, p[np.ix_(shuffle, shuffle)], rtol=1e-6)


def test_few_rows_shrink_the_terms():
    X, A = collider(15, 0, parents=4, effect=3.0)
    p = edge_p_values(X, A)[:-1, -1]
    assert ((p >= 0) & (p <= 1)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, A: (X[:, :-1], A), r"'adjacency' must be \(4, 4\), as X has 4 columns"),
        (lambda X, A: (X, A + A.T), "'adjacency' must be acyclic; it has the cycle"),
        (lambda X, A: (X * [0, 1, 1, 1, 1], A), r"X is constant in columns \[0\]"),
        (lambda X, A: (np.where(X > 2, np.inf, X), A), "X contains infinity in columns"),
        (lambda X, A: (X[:6], A), "'adjacency' has a node with 4 parents; 6 rows are too few"),
        (lambda X, A: (X[:, 0], A), r"X must be \(rows, columns\)"),
    ],
)
def test_bad_input_is_refused_by_name(change, message):
    with pytest.raises(ValueError, match=message):
        prune(*change(*collider(100, 0)))


def test_bad_level_and_bad_columns_are_named():
    X, A = collider(50, 0)
    with pytest.raises(ValueError, match=r"'alpha' must be in \(0, 1\]; got 0"):
        prune(X, A, alpha=0)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["c"] = frame["a"] * 2 + 1
    with pytest.raises(ValueError, match=r"copies.*\('a', 'c'\)"):
        prune(frame, A)
