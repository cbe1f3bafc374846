"""Simulated data follow the structural equations, under interventions too."""

import numpy as np
import pytest
import torch

from dpdag.datasets import GP, NONLINEARITIES, Linear, Noise, erdos_renyi, simulate
from dpdag.ops.graphs import reachability

CHAIN = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])


def test_linear_data_satisfy_the_structural_equations():
    data = simulate(CHAIN, 5000, mechanism="linear", noise=Noise(variance=0.01), random_state=0)
    for parent, child in ((0, 1), (1, 2)):
        slope = np.polyfit(data.X[:, parent], data.X[:, child], 1)[0]
        residual = data.X[:, child] - slope * data.X[:, parent]
        assert 0.49 < abs(slope) < 2.01
        assert residual.var() == pytest.approx(0.01, rel=0.1)


def test_roots_have_their_own_noise():
    data = simulate(np.zeros((40, 40)), 4000, root_noise=Noise(variance=(1.0, 2.0)), random_state=0)
    variance = data.X.var(0)
    assert 0.9 < variance.min() < 1.2
    assert 1.8 < variance.max() < 2.2


def test_gp_residuals_have_the_noise_variance():
    data = simulate([[0, 1], [0, 0]], 1500, noise=Noise(variance=0.05), random_state=1)
    parent, child = data.X.T
    kernel = np.exp(-0.5 * np.square(parent[:, None] - parent)) + 0.05 * np.eye(1500)
    residual = 0.05 * np.linalg.solve(kernel, child)  # child − posterior mean
    assert residual.var() == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("mechanism", ["gp", "linear", "mlp", "polynomial", "additive-gp"])
def test_interventions_change_descendants_only(mechanism):
    graph = erdos_renyi(8, 12, random_state=3)
    target = int(graph.sum(1).argmax())
    options = {"mechanism": mechanism, "random_state": 4}
    plain = simulate(graph, 50, **options)
    forced = simulate(graph, 50, do={target: 5.0}, **options)
    below = reachability(torch.from_numpy(graph))[target].numpy()
    changed = (plain.X != forced.X).any(0)
    assert changed[below].all()
    assert not changed[~below & (np.arange(8) != target)].any()
    assert (forced.X[:, target] == 5.0).all()


def test_the_mask_tells_where_values_were_set():
    data = simulate(CHAIN, 20, do=[{}, {"x1": 2.0}, {0: -1.0, "x2": None}], random_state=0)
    assert data.X.shape == (60, 3)
    assert data.mask.reshape(3, 20, 3).all(1).tolist() == [
        [False, False, False],
        [False, True, False],
        [True, False, True],
    ]
    assert (data.X[data.mask[:, 1], 1] == 2.0).all()
    assert data.X[40:, 2].std() > 0.5  # drawn, not fixed
    assert data.mask[:, 1].sum() == 20
    assert data.conditions.tolist() == [0] * 20 + [1] * 20 + [2] * 20
    assert simulate(CHAIN, 20, random_state=0).mask is None


def test_environments_share_their_functions():
    data = simulate(
        [[0, 1], [0, 0]],
        400,
        noise=Noise(variance=1e-6),
        do=[{}, {"x0": 0.3}],
        random_state=0,
    )
    observed, forced = data.X[:400], data.X[400:]
    near = np.abs(observed[:, 0] - 0.3).argmin()
    assert forced[:, 1].std() < 0.01
    assert forced[0, 1] == pytest.approx(observed[near, 1], abs=0.1)


@pytest.mark.parametrize("post", list(NONLINEARITIES))
def test_post_nonlinearity_acts_on_nodes_with_parents_only(post):
    options = {"mechanism": "linear", "random_state": 0}
    plain = simulate([[0, 1], [0, 0]], 50, **options)
    bent = simulate([[0, 1], [0, 0]], 50, post=post, **options)
    assert (plain.X[:, 0] == bent.X[:, 0]).all()
    np.testing.assert_allclose(NONLINEARITIES[post](plain.X[:, 1]), bent.X[:, 1])
    order = np.argsort(plain.X[:, 1])
    assert (np.diff(bent.X[order, 1]) >= 0).all()  # invertible: strictly increasing


def test_any_function_may_be_the_post_nonlinearity():
    data = simulate([[0, 1], [0, 0]], 50, post=lambda values: 0 * values + 7, random_state=0)
    assert (data.X[:, 1] == 7).all()


def test_relabelling_is_only_a_matter_of_names():
    data = simulate(CHAIN, 10, names=["a", "b", "c"], do={"b": 1.0}, random_state=0)
    assert data.names == ["a", "b", "c"]
    assert list(data.frame.columns) == ["a", "b", "c"]


def test_a_thousand_nodes_are_drawn():
    graph = erdos_renyi(1000, 4000, random_state=0)
    for mechanism in (Linear(0.1, 0.4), GP()):
        data = simulate(graph, 60, mechanism=mechanism, random_state=0)
        assert data.X.shape == (60, 1000)


def test_more_rows_than_a_kernel_matrix_could_hold():
    data = simulate(CHAIN, 60_000, mechanism=GP(n_features=100), random_state=0)
    assert data.X.shape == (60_000, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"adjacency": [[0, 1], [1, 0]]}, r"must be acyclic; it has the cycle x0 → x1 → x0"),
        ({"adjacency": [[0, 2], [0, 0]]}, r"'adjacency' of 'simulated' must hold only 0 and 1"),
        ({"adjacency": [[0, 1]]}, r"must be \(1, 1\); got \(1, 2\)"),
        ({"rows": 0}, r"'rows' must be at least 1; got 0"),
        ({"do": {"x9": 1.0}}, r"Unknown node 'x9' in 'do'\. Known: x0, x1, x2"),
        ({"do": {7: 1.0}}, r"Unknown node 7 in 'do'\."),
        ({"do": {"x0": float("nan")}}, r"'do' must set finite values; got nan for 'x0'"),
        ({"names": ["a", "b"]}, r"'names'.* must have 3 entries; got 2"),
        ({"names": ["a", "b", "a"]}, r"\['a'\] stand there more than once"),
        ({"post": "cubes"}, r"Unknown post-nonlinearity 'cubes'. Did you mean 'cube'"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, message):
    call = {"adjacency": CHAIN, "rows": 5, "random_state": 0} | arguments
    with pytest.raises(ValueError, match=message) as caught:
        simulate(**call)
    assert "\n" not in str(caught.value)
