"""Evidence with noise of any shape and size: explicit residuals, directions, awkward columns."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.free_noise import _SMOOTHNESS, FreeNoiseEvidence
from dpdag.evidence.transforms import standardise
from dpdag.ops.shape import shape_gain

N, ROWS = 4, 200
NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda rng, rows: rng.uniform(size=rows),
    "laplace": lambda rng, rows: rng.laplace(size=rows),
    "exponential": lambda rng, rows: rng.exponential(size=rows),
    "gaussian": lambda rng, rows: rng.normal(size=rows),
}


def observations() -> Tensor:  # (ROWS, N)
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(ROWS, N))
    x[:, 1] += np.sin(x[:, 0])
    x[:, 2] = x[:, 0] - x[:, 1] + np.exp(x[:, 1] / 2) * x[:, 2]
    return standardise(torch.from_numpy(x))[0]


def all_sets() -> tuple[Tensor, Tensor]:
    """Every (child, parent set) pair."""
    sets = torch.tensor(list(product([False, True], repeat=N)))
    pairs = [(v, s) for v in range(N) for s in sets if not s[v]]
    return torch.tensor([v for v, _ in pairs]), torch.stack([s for _, s in pairs])


def preference(cause: np.ndarray, effect: np.ndarray, *, scaled: bool = False) -> float:
    """Nats for cause → effect against the other direction."""
    x = standardise(torch.from_numpy(np.stack([cause, effect], axis=1)))[0]
    graphs = torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]).bool()  # parents of each
    evidence = FreeNoiseEvidence(x, scaled=scaled)
    right, wrong = (float(evidence.log_evidence(torch.arange(2), one).sum()) for one in graphs)
    return right - wrong


def test_value_is_gaussian_evidence_plus_the_gain_of_the_residuals_shape() -> None:
    x = observations()
    additive = AdditiveEvidence(x, smoothness=_SMOOTHNESS)
    features = additive.basis(x)
    child, parents = all_sets()
    gaussian, best = additive.log_evidence(child, parents), additive.best(child, parents)
    expected = []
    for k, (v, s) in enumerate(zip(child, parents)):
        phi, ridge = features[:, s].flatten(1), best[k, s].flatten()
        weight = torch.linalg.solve(phi.T @ phi + ridge.diag(), phi.T @ x[:, v])
        residual = standardise((x[:, v] - phi @ weight)[:, None])[0]
        expected.append(gaussian[k] + shape_gain(residual.T)[0])
    found = FreeNoiseEvidence(x).log_evidence(child, parents)
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_batch_equals_one_set_at_a_time(scaled: bool) -> None:
    evidence = FreeNoiseEvidence(observations(), scaled=scaled)
    child, parents = all_sets()
    alone = [evidence.log_evidence(v[None], s[None]) for v, s in zip(child, parents)]
    torch.testing.assert_close(evidence.log_evidence(child, parents), torch.cat(alone))


@pytest.mark.parametrize("scaled", [False, True])
def test_order_of_columns_does_not_matter(scaled: bool) -> None:
    x = observations()
    shuffle = torch.tensor([2, 0, 3, 1])
    child, parents = all_sets()
    moved = FreeNoiseEvidence(x[:, shuffle], scaled=scaled)
    torch.testing.assert_close(
        moved.log_evidence(shuffle.argsort()[child], parents[:, shuffle]),
        FreeNoiseEvidence(x, scaled=scaled).log_evidence(child, parents),
    )


@pytest.mark.parametrize("scaled", [False, True])
def test_units_of_columns_do_not_matter(scaled: bool) -> None:
    x = observations()
    child, parents = all_sets()
    torch.testing.assert_close(
        FreeNoiseEvidence(1.3 * x + 0.2, scaled=scaled).log_evidence(child, parents),
        FreeNoiseEvidence(x, scaled=scaled).log_evidence(child, parents),
        rtol=1e-3,  # knots are a given distance apart
        atol=0.5,
    )


@pytest.mark.parametrize("slope", [0.5, 2.0])
@pytest.mark.parametrize("noise", ["uniform", "laplace", "exponential"])
def test_the_shape_of_noise_tells_the_direction_of_a_straight_line(
    noise: str, slope: float
) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        cause = NOISES[noise](rng, 1000)
        assert preference(cause, slope * cause + NOISES[noise](rng, 1000)) > 10


def test_gaussian_noise_leaves_the_direction_of_a_straight_line_open() -> None:
    found = []
    for seed in range(8):
        cause, noise = np.random.default_rng(seed).normal(size=(2, 1000))
        found.append(preference(cause, cause + noise))
    assert max(map(abs, found)) < 10
    assert abs(np.mean(found)) < 5


@pytest.mark.parametrize("location", ["nothing", "line", "curve"])
def test_the_size_of_noise_tells_the_direction(location: str) -> None:
    function = {"nothing": np.zeros_like, "line": np.positive, "curve": np.tanh}[location]
    for seed in range(3):
        cause, noise = np.random.default_rng(seed).normal(size=(2, 1000))
        assert preference(cause, function(cause) + np.exp(cause / 2) * noise, scaled=True) > 5


def test_sizes_that_vary_are_used_only_where_they_pay() -> None:
    x = observations()
    child, parents = all_sets()
    plain, scaled = (
        FreeNoiseEvidence(x, scaled=scaled).log_evidence(child, parents) for scaled in (False, True)
    )
    assert (scaled >= plain).all()
    depends = (child == 2) & parents[:, 1]
    assert (scaled > plain + 5)[depends].all()


@pytest.mark.parametrize("scaled", [False, True])
def test_without_parents_only_the_shape_of_the_column_counts(scaled: bool) -> None:
    x = observations()
    nothing = torch.zeros(N, N, dtype=torch.bool)
    value = FreeNoiseEvidence(x, scaled=scaled).log_evidence(torch.arange(N), nothing)
    gaussian = torch.distributions.Normal(0.0, 1.0).log_prob(x).sum(0)
    torch.testing.assert_close(value, gaussian + shape_gain(x.T.contiguous()))


@pytest.mark.parametrize("scaled", [False, True])
def test_awkward_columns_have_finite_evidence(scaled: bool) -> None:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=150)
    columns = {
        "normal": normal,
        "copy": normal,
        "binary": normal > 0.3,
        "once": np.arange(150) == 7,
        "tied": normal.round(),
        "outlier": np.where(np.arange(150) == 3, 1e9, normal),
        "zeros": np.where(rng.random(150) < 0.9, 0.0, normal),
    }
    x = torch.from_numpy(np.stack(list(columns.values()), axis=1).astype(float))
    n = len(columns)
    evidence = FreeNoiseEvidence(standardise(x)[0], scaled=scaled)
    pairs = torch.eye(n, dtype=torch.bool).repeat(n, 1)
    child = torch.arange(n).repeat_interleave(n)
    apart = ~pairs[torch.arange(n * n), child]
    assert evidence.log_evidence(child[apart], pairs[apart]).isfinite().all()
    others = ~torch.eye(n, dtype=torch.bool)
    assert evidence.log_evidence(torch.arange(n), others).isfinite().all()
    assert evidence.size_weights(torch.ones(n, n).triu(1).bool()).isfinite().all()


def test_sizes_follow_the_parents_they_depend_on_and_no_others() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1000))
    x = np.stack([a, b, a + np.exp(b / 2) * c, a - b + rng.normal(size=1000)], axis=1)
    z = standardise(torch.from_numpy(x))[0]
    adjacency = torch.tensor([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]).bool()
    evidence = FreeNoiseEvidence(z, scaled=True)
    weight = evidence.size_weights(adjacency)  # (parent, function, child)
    assert weight.shape == (4, 8, 4)
    assert (weight[~adjacency.unsqueeze(1).expand_as(weight)] == 0).all()
    assert (weight[:, :, 3] == 0).all()  # of constant size
    log_size = torch.einsum("rik,ik->ir", evidence.additive.basis(z), weight[:, :, 2])
    slope = [np.polyfit(z[:, k], log_size[k], 1)[0] for k in range(2)]
    assert slope[1] == pytest.approx(0.5, abs=0.15)
    assert slope[0] == pytest.approx(0.0, abs=0.1)


def test_sizes_seldom_vary_where_noise_is_the_same_everywhere() -> None:
    generator = torch.Generator().manual_seed(0)
    varies = 0
    for _ in range(20):
        x = torch.randn(500, 3, generator=generator, dtype=torch.float64)
        x[:, 2] += x[:, 0] + x[:, 1].sin()
        graph = torch.tensor([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).bool()
        evidence = FreeNoiseEvidence(standardise(x)[0], scaled=True)
        varies += bool(evidence.size_weights(graph).any())
    assert varies <= 2
