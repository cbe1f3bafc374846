"""Noise whose shape follows the level of a discrete cause."""

import math

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from dpdag.columns import table_of
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.noise import Levels, level_gain, noise_factors, noise_sizes
from dpdag.evidence.typed import TypedEvidence

FORWARD, BACKWARD = torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]).bool()  # parents of each


def normal(rows: int, seed: int = 0) -> Tensor:
    return torch.randn(rows, generator=torch.Generator().manual_seed(seed)).double()


def preference(cause: Tensor, effect: Tensor) -> float:
    """Nats for a 0/1 cause of a continuous effect over the other direction."""
    values = torch.stack([cause, effect], -1)
    table = table_of(values)
    discrete = DiscreteEvidence(table.x, values, ["binary", "continuous"])
    own = TypedEvidence(table, discrete, functions=("linear", "additive"))
    right, wrong = (own.log_evidence(torch.arange(2), sets).sum() for sets in (FORWARD, BACKWARD))
    return float(right - wrong)


def test_densities_of_levels_integrate_to_one() -> None:
    u = torch.linspace(-200, 200, 400_001, dtype=torch.float64)[:, None]  # one row, one level
    log_normal = -0.5 * (1 + math.log(2 * math.pi))  # at the size that u was divided by
    density = (level_gain(u, torch.zeros(1).long()) + log_normal).exp()
    assert abs(torch.trapezoid(density, u[:, 0]).item() - 1) < 1e-2


def test_names_of_levels_and_order_of_rows_do_not_matter() -> None:
    u, code = normal(300)[None], torch.arange(300) % 3
    shuffle = torch.randperm(300, generator=torch.Generator().manual_seed(1))
    gain = level_gain(u, code)
    torch.testing.assert_close(level_gain(u[:, shuffle], (7 - 3 * code)[shuffle]), gain)


def test_shapes_by_level_cost_no_more_than_their_choice() -> None:
    residual, features = normal(200).repeat(2, 1), normal(200, 1).repeat(2, 1, 1)
    causes = [Levels(torch.tensor([True, False]), (normal(200, k) > 0).long()) for k in (2, 3)]
    plain = noise_factors(residual, features)
    averaged = noise_factors(residual, features, causes)
    torch.testing.assert_close(averaged[1], plain[1])
    assert (averaged[0] >= plain[0] - math.log(3) - 1e-9).all()


def test_a_cause_that_shapes_its_effect_does_not_look_like_an_effect() -> None:
    rows, found = 1000, []
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        cause = torch.randint(2, (rows,), generator=generator).double()
        u = torch.rand(rows, generator=generator).double()
        skewed, even = -torch.log(u) - 1, 3.4 * u - 1.7
        found.append(preference(cause, torch.where(cause == 1, skewed, even) + 0.7 * cause))
    assert sum(found) / len(found) > -10  # some 90 nats of one shape for both


def test_a_cause_that_only_shifts_its_effect_is_known_as_before() -> None:
    cause = (normal(1000, 5) > 0).double()
    assert preference(cause, 4 * cause + normal(1000)) > 10


def test_sizes_of_heavy_tailed_noise_are_found_to_the_end() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(6, 5, 400)) ** 3
    size = np.exp(0.5 * np.tanh(features).sum(1))
    residual = rng.standard_t(1.5, size=(6, 400)) * size
    found = noise_sizes(torch.from_numpy(residual), torch.from_numpy(features))

    def loss(weight: np.ndarray, k: int) -> float:
        log_size = weight @ features[k]
        level = (np.abs(residual[k]) * np.exp(-log_size)).mean()
        return float(400 * np.log(level) + log_size.sum() + 0.5 * (weight**2).sum())

    for k in range(6):
        best = minimize(loss, np.zeros(5), args=(k,)).fun
        assert loss(found.weight[k].numpy(), k) < best + 0.1


def test_sizes_of_one_column_do_not_depend_on_others_of_the_batch() -> None:
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(8, 4, 200, generator=generator, dtype=torch.float64)
    residual = torch.randn(8, 200, generator=generator, dtype=torch.float64) ** 3
    together = noise_sizes(residual, features)
    for k in range(8):
        alone = noise_sizes(residual[k : k + 1], features[k : k + 1])
        assert torch.allclose(alone.gain, together.gain[k : k + 1], atol=1e-9)
