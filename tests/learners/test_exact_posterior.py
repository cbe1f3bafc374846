"""ExactPosterior: the estimator around the exact posterior."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from dpdag import ExactPosterior, Knowledge
from dpdag.columns import table_of
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.ops.enumeration import all_dags


def table(rows: int = 150, seed: int = 0) -> NDArray[np.float64]:  # (rows, 4): 3 → 2, (3, 2) → 1
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(rows, 4))
    c = np.sin(2 * noise[:, 3]) + 0.3 * noise[:, 2]
    b = np.cos(noise[:, 3] + 2 * c) + 0.3 * noise[:, 1]
    return np.stack([noise[:, 0], b, c, noise[:, 3]], -1)


TRUTH = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]])


def test_nonlinear_graph_is_recovered_with_certainty() -> None:
    learner = ExactPosterior().fit(table())
    assert np.array_equal(learner.adjacency_, TRUTH)
    assert learner.edge_probabilities_[TRUTH == 1].min() > 0.9
    assert learner.edge_probabilities_[TRUTH == 0].max() < 0.3
    assert learner.ancestor_probabilities_[3, 1] > 0.9
    assert learner.precedence_probabilities_[3, 1] > 0.9


@pytest.mark.parametrize("mechanism", ["gp", "network", "additive", "linear"])
def test_linear_gaussian_direction_is_left_open(mechanism: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=300)
    x = np.stack([a, a + rng.normal(size=300)], -1)
    p = ExactPosterior(mechanism=mechanism).fit(x).edge_probabilities_
    assert p[0, 1] + p[1, 0] > 0.95
    if mechanism != "additive":
        assert abs(p[0, 1] - p[1, 0]) < 0.1


@pytest.mark.parametrize("mechanism", ["additive", "linear"])
def test_posterior_with_noise_of_any_shape_is_that_over_all_graphs(mechanism: str) -> None:
    x = np.random.default_rng(0).laplace(size=(60, 3))
    x[:, 1] += 0.6 * x[:, 0]
    x[:, 2] += 0.5 * x[:, 1]
    z = torch.from_numpy((x - x.mean(0)) / x.std(0))
    evidence = MixtureEvidence(table_of(z), functions=[mechanism])
    orders = torch.tensor([list(order) for order in permutations(range(3))])
    dags = all_dags(3).bool()  # (25, 3, 3)
    place = orders.argsort(-1)
    along = place[:, :, None] < place[:, None, :]  # (6, 3, 3)
    count = (~dags[:, None] | along).all((-2, -1)).sum(-1)  # orders that each agrees with
    value = torch.stack([evidence.log_evidence(torch.arange(3), dag.T).sum() for dag in dags])
    share = (value + math.log(0.1 / 0.9) * dags.sum((1, 2)) + count.log()).softmax(0)
    expected = torch.einsum("g,gij->ij", share, dags.double())
    found = ExactPosterior(mechanism=mechanism).fit(x).edge_probabilities_
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["shape", "size"])
def test_the_noise_tells_directions_of_straight_lines(kind: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(size=500)
    noise = rng.uniform(-1, 1, size=500) if kind == "shape" else rng.normal(size=500)
    size = 1.0 if kind == "shape" else np.exp(a / 2)
    learner = ExactPosterior(mechanism="linear").fit(np.stack([a + size * noise, a], axis=1))
    assert learner.edge_probabilities_[1, 0] > 0.99
    low, high = (learner.sample(2000, {1: at}, random_state=0)[:, 0].std() for at in (-1.0, 1.0))
    assert (high > 2 * low) == (kind == "size")


def test_samples_are_graphs_of_the_posterior() -> None:
    learner = ExactPosterior().fit(table())
    graphs = learner.sample_dags(200, random_state=0)
    assert graphs.shape == (200, 4, 4)
    assert np.abs(graphs.mean(0) - learner.edge_probabilities_).max() < 0.15
    assert np.array_equal(graphs, learner.sample_dags(200, random_state=0))


def test_knowledge_is_honoured() -> None:
    learner = ExactPosterior(knowledge=Knowledge(forbidden=[(3, 2)], required=[(0, 1)]))
    p = learner.fit(table()).edge_probabilities_
    assert p[3, 2] == 0
    assert p[0, 1] == pytest.approx(1.0)


def test_column_order_does_not_matter() -> None:
    x = table()
    order = [2, 0, 3, 1]
    plain = ExactPosterior().fit(x).edge_probabilities_
    moved = ExactPosterior().fit(x[:, order]).edge_probabilities_
    assert np.allclose(moved, plain[np.ix_(order, order)], atol=1e-3)


def test_predictions_follow_the_parents() -> None:
    x = table()
    learner = ExactPosterior().fit(x)
    error = ((learner.predict(x) - x) ** 2).mean(0) / x.var(0)
    assert error[1] < 0.5
    assert error[2] < 0.5


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="Did you mean 'gp'"):
        ExactPosterior(mechanism="gpp").fit(table())
    with pytest.raises(ValueError, match="up to 14 columns; got 20"):
        ExactPosterior().fit(np.random.default_rng(0).normal(size=(50, 20)))
    with pytest.raises(ValueError, match="'edge_prior' must be in"):
        ExactPosterior(edge_prior=0).fit(table())
