"""Probabilities of discrete columns: normalised, near the exact integrals, inventing nothing."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.features import curves
from dpdag.evidence.laplace import laplace
from dpdag.evidence.likelihoods import Likelihood, NegativeBinomial, Ordered, Softmax

KINDS = ["continuous", "continuous", "binary", "category", "ordinal", "count"]
DISCRETE = [2, 3, 4, 5]
TYPE_IDS = [KINDS[v] for v in DISCRETE]


def table(rows: int = 200, seed: int = 0) -> Tensor:  # (rows, 6), 0 → 2, 3, 4, 5
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 2, generator=generator).double()
    a = x[:, 0]
    binary = torch.bernoulli(torch.sigmoid(3 * torch.sin(2 * a)), generator=generator)
    logits = torch.stack([2 * a, torch.zeros_like(a), a.square() - 1], -1)
    category = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0].double()
    latent = 2 * torch.tanh(2 * a) + torch.randn(rows, generator=generator).double()
    ordinal = torch.bucketize(latent, torch.tensor([-2.0, -0.5, 1.0, 2.0]).double()).double()
    count = torch.poisson(torch.exp(1 + a), generator=generator)
    return torch.cat([x, torch.stack([binary, category, ordinal, count], -1)], -1)


def evidence(values: Tensor, **options) -> DiscreteEvidence:
    return DiscreteEvidence(standardise(values)[0], values, KINDS, **options)


def sets(*members: list[int], n: int = 6) -> Tensor:
    out = torch.zeros(len(members), n, dtype=torch.bool)
    for k, row in enumerate(members):
        out[k, row] = True
    return out


CHILD = torch.tensor([2, 3, 4, 5, 2, 5, 3])
PARENTS = sets([0], [0], [0], [0, 1], [0, 3], [3, 4], [5, 1])


# Integrals -----------------------------------------------------------------------------------


def log_sum(likelihood: Likelihood, values: Tensor, precision: Tensor) -> Tensor:
    """Log of the sum of approximate probabilities of many columns, each set of causes its own."""
    x = torch.linspace(-1.5, 1.5, values.shape[1], dtype=torch.float64)
    every = torch.arange(len(values))
    phi = torch.stack([x, x.square() - x.square().mean()], -1).expand(len(values), -1, -1)
    nothing = phi[..., :0], phi.new_zeros(len(values), 1, 0)
    found = laplace(likelihood, every, phi, precision.expand(len(values), -1, -1)).value
    missed = likelihood.log_root()[..., None] - laplace(likelihood, every, *nothing).value
    return (found + missed).logsumexp(0)


@pytest.mark.parametrize("amplitude", [0.3, 3.0])
def test_probabilities_sum_to_one_over_all_values(amplitude: float) -> None:
    """Laplace's method misses some per cent on seven rows, more where functions are large."""
    precision = torch.full((1, 1, 2), amplitude, dtype=torch.float64)
    coins = torch.tensor(list(product([0, 1], repeat=7)))
    mixed = coins[coins.float().var(-1) > 0]
    total = log_sum(Ordered(mixed, 2), mixed, precision).exp()
    constant = 2 / 8  # two sequences of one value each have 1 / (7 + 1) without causes
    assert total.item() == pytest.approx(1 - constant, abs=0.12)
    threes = torch.tensor(list(product([0, 1, 2], repeat=6)))
    threes = threes[(torch.nn.functional.one_hot(threes).sum(1) > 0).all(-1)]
    lacking = log_sum_without(threes, 3)
    for likelihood in (Ordered(threes, 3), Softmax(threes, 3)):
        total = log_sum(likelihood, threes, precision).exp()
        assert total.item() == pytest.approx(lacking, abs=0.15)


def log_sum_without(values: Tensor, count: int) -> float:
    """Probability, without causes, of the sequences in which every value occurs."""
    return float(Ordered(values, count).log_root().exp().sum())


def test_probabilities_of_counts_without_causes_sum_to_one() -> None:
    total = NegativeBinomial(torch.arange(5000).double()[:, None]).log_root().exp().sum(0)
    torch.testing.assert_close(total, torch.ones_like(total), atol=0.01, rtol=0)


def integrated(likelihood: Likelihood, x: Tensor, precision: float) -> Tensor:  # -> (h,)
    """Levels and one slope on a fine grid, for one level or one cut."""
    slope = torch.linspace(-12, 12, 801, dtype=torch.float64)
    level = likelihood.start()[0] + torch.linspace(-6, 6, 601, dtype=torch.float64)
    h = likelihood.n_shapes
    values = []
    for weight in slope:
        levels = level[None, None, :, None].expand(1, h, -1, 1)
        functions = (weight * x).expand(1, h, len(level), 1, -1)
        values.append(likelihood.expand(torch.zeros(1).long(), levels, functions).value[0])
    joint = torch.stack(values, -1)  # (h, levels, slopes)
    joint = joint - 0.5 * precision * slope.square() + 0.5 * math.log(precision / (2 * math.pi))
    step = math.log(float(slope[1] - slope[0])) + math.log(float(level[1] - level[0]))
    return joint.flatten(1).logsumexp(-1) + step


@pytest.mark.parametrize("precision", [0.3, 3.0])
@pytest.mark.parametrize("rows", [12, 40])
def test_laplace_is_near_the_integral(rows: int, precision: float) -> None:
    generator = torch.Generator().manual_seed(rows)
    x = torch.randn(rows, generator=generator).double()
    coins = torch.bernoulli(torch.sigmoid(2 * x), generator=generator).long()[None]
    counts = torch.poisson(torch.exp(0.5 + x), generator=generator)[None]
    for likelihood in (Ordered(coins, 2), NegativeBinomial(counts)):
        prior = torch.full((1, 1, 1), precision, dtype=torch.float64)
        found = laplace(likelihood, torch.zeros(1).long(), x[None, :, None], prior).value[0, :, 0]
        torch.testing.assert_close(found, integrated(likelihood, x, precision), atol=0.12, rtol=0)


@pytest.mark.parametrize("make", [lambda y: Ordered(y, 4), lambda y: Softmax(y, 4)])
def test_laplace_is_near_importance_sampling_where_parameters_are_many(make) -> None:
    generator = torch.Generator().manual_seed(0)
    rows = 60
    x = torch.randn(rows, 1, generator=generator).double()
    features = curves(standardise(x)[0])
    y = torch.bucketize(
        x[:, 0] + 0.5 * torch.randn(rows, generator=generator), torch.tensor([-0.7, 0.0, 0.7])
    )
    likelihood = make(y[None])
    phi, prior = features.values[None], features.precision[None, 3:4]
    found = float(laplace(likelihood, torch.zeros(1).long(), phi, prior).value)
    assert found == pytest.approx(sampled(likelihood, phi, prior, generator), abs=0.6)


def sampled(likelihood: Likelihood, phi: Tensor, prior: Tensor, generator) -> float:
    """Importance sampling from a heavy-tailed proposal around the mode, found by autograd."""
    q, c, m = likelihood.start().shape[-1], likelihood.n_functions, phi.shape[-1]
    wide = prior.repeat(1, 1, c)[0, 0]

    def joint(points: Tensor) -> Tensor:  # (s, p) -> (s,)
        levels, weight = points[None, None, :, :q], points[:, q:].unflatten(-1, (c, m))
        functions = (weight @ phi[0].T)[None, None]
        value = likelihood.expand(torch.zeros(1).long(), levels, functions).value[0, 0]
        own = 0.5 * (wide.log() - math.log(2 * math.pi)).sum()
        return value - 0.5 * (wide * points[:, q:].square()).sum(-1) + own

    point = torch.cat([likelihood.start()[0], torch.zeros(c * m).double()])
    for _ in range(50):
        slope = torch.autograd.functional.jacobian(lambda p: joint(p[None])[0], point)
        bend = -torch.autograd.functional.hessian(lambda p: joint(p[None])[0], point)
        point = point + 0.7 * torch.linalg.solve(bend, slope)
    factor, free = torch.linalg.cholesky(torch.linalg.inv(bend)), 8.0
    z = torch.randn(40_000, len(point), generator=generator).double()
    chi = torch.randn(len(z), int(free), generator=generator).double().square().sum(-1)
    radius = (free / chi).sqrt()[:, None]
    points = point + 1.1 * radius * z @ factor.T
    p = len(point)
    square = (radius * z).square().sum(-1)
    log_t = (
        math.lgamma((free + p) / 2)
        - math.lgamma(free / 2)
        - p / 2 * math.log(free * math.pi)
        - (free + p) / 2 * torch.log1p(square / free)
        - float(factor.diagonal().log().sum())
        - p * math.log(1.1)
    )
    ratio = (joint(points) - log_t).nan_to_num(nan=-math.inf)
    return float(ratio.logsumexp(0)) - math.log(len(ratio))


# Invariance ----------------------------------------------------------------------------------


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    values = table()
    plain = evidence(values).terms(CHILD, PARENTS)
    shuffled = values[torch.randperm(len(values), generator=torch.Generator().manual_seed(1))]
    torch.testing.assert_close(evidence(shuffled).terms(CHILD, PARENTS), plain, atol=0.05, rtol=0)
    order = torch.tensor([3, 5, 0, 2, 4, 1])
    place = order.argsort()
    moved = evidence(values).relabelled(order).terms(place[CHILD], PARENTS[:, order])
    torch.testing.assert_close(moved, plain, atol=0.05, rtol=0)


def test_units_of_causes_and_names_of_categories_do_not_matter() -> None:
    values = table()
    plain = evidence(values).terms(CHILD, PARENTS)
    other = values.clone()
    other[:, :2] = values[:, :2] * torch.tensor([1e3, 1e-3]) + 5
    other[:, 2] = 1 - values[:, 2]
    other[:, 3] = torch.tensor([2.0, 0.0, 1.0])[values[:, 3].long()]
    other[:, 4] = values[:, 4].max() - values[:, 4]
    torch.testing.assert_close(evidence(other).terms(CHILD, PARENTS), plain, atol=0.05, rtol=0)


def test_a_category_of_two_is_a_binary_column() -> None:
    x = standardise(table())[0]
    kinds = [KINDS, [*KINDS[:2], "category", *KINDS[3:]]]
    one, two = (DiscreteEvidence(x, table(), own).terms(CHILD, PARENTS) for own in kinds)
    torch.testing.assert_close(two, one, atol=0.05, rtol=0)


def test_batches_equal_single_sets() -> None:
    own = evidence(table())
    together = own.terms(CHILD, PARENTS)
    alone = torch.cat([own.terms(v[None], s[None]) for v, s in zip(CHILD, PARENTS)])
    torch.testing.assert_close(together, alone, atol=0.02, rtol=0)


# Honesty -------------------------------------------------------------------------------------


@pytest.mark.parametrize("child", DISCRETE, ids=TYPE_IDS)
@pytest.mark.parametrize("rows", [30, 100, 1000])
def test_a_cause_that_is_noise_costs_on_average(rows: int, child: int) -> None:
    draws = 12 if rows < 1000 else 3
    gains = []
    for seed in range(draws):
        values = table(rows, seed)
        apart = torch.Generator().manual_seed(seed)
        values[:, child] = values[torch.randperm(rows, generator=apart), child]
        own = evidence(values)
        causes = sets(*[[k] for k in range(6) if k != child])
        one = torch.full((len(causes),), child)
        gains.append(own.log_evidence(one, causes) - own.log_root[child])
    assert torch.cat(gains).mean() < -0.5


@pytest.mark.parametrize("child", DISCRETE, ids=TYPE_IDS)
def test_a_cause_is_seen_and_a_useless_one_beside_it_costs(child: int) -> None:
    own = evidence(table(400))
    one = torch.full((3,), child)
    root, given, more = own.log_evidence(one, sets([], [0], [0, 1]))
    assert given > root + 20
    assert more < given


def test_what_causes_do_together_is_left_to_processes() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 3, generator=generator).double()
    x[:, 2] = torch.bernoulli(torch.sigmoid(4 * x[:, 0] * x[:, 1]), generator=generator)
    own = DiscreteEvidence(standardise(x)[0], x, ["continuous", "continuous", "binary"])
    line, curve, process = own.terms(torch.tensor([2]), sets([0, 1], n=3))[0]
    assert process > max(line, curve) + 30
    asked = own.terms(torch.tensor([2]), sets([0, 1], n=3), torch.tensor([False]))[0]
    assert asked[2] == -math.inf
