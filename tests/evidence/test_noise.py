"""Noise whose shape follows the level of a discrete cause."""

import math

import torch
from torch import Tensor

from dpdag.columns import table_of
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.noise import Levels, level_gain, noise_factors
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
