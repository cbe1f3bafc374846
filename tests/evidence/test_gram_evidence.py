"""Evidence from Gram matrices agrees with explicit regression and explicit Gaussian densities."""

import math
from itertools import product

import pytest
import torch

from dpdag.evidence.additive import RESIDUAL_FLOOR, AdditiveEvidence
from dpdag.evidence.base import CachedEvidence, Evidence
from dpdag.evidence.free_roots import FreeRoots
from dpdag.evidence.gram import equal_sets
from dpdag.evidence.linear import LinearEvidence

ROWS, N = 120, 5


def observations() -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, N, dtype=torch.float64, generator=generator)
    x[:, 1] += (2 * x[:, 0]).sin()
    x[:, 2] += x[:, 0] * 0.5 + x[:, 1].square()
    x[:, 4] = (x[:, 4] + x[:, 2] > 0).double()  # binary
    return (x - x.mean(0)) / x.std(0, correction=0)


def all_sets() -> tuple[torch.Tensor, torch.Tensor]:
    """Every (child, parent set) pair."""
    sets = torch.tensor(list(product([False, True], repeat=N)))
    pairs = [(v, s) for v in range(N) for s in sets if not s[v]]
    return torch.tensor([v for v, _ in pairs]), torch.stack([s for _, s in pairs])


EVIDENCES = {
    "additive": lambda x, **kw: AdditiveEvidence(x, n_functions=5, **kw),
    "linear": lambda x, **kw: LinearEvidence(x, **kw),
    "bic": lambda x, **kw: LinearEvidence(x, criterion="bic", **kw),
}
evidences = pytest.mark.parametrize("make", EVIDENCES.values(), ids=EVIDENCES.keys())


def test_additive_evidence_is_the_best_gaussian_marginal_density():
    x = observations()
    evidence = AdditiveEvidence(x, n_functions=5)
    features = evidence.basis(x)
    child, parents = all_sets()
    expected = []
    for v, s in zip(child, parents):
        values = []
        for precision in evidence.precision:
            phi, prior = features[:, s].flatten(1), precision[s].flatten()
            shape = torch.eye(ROWS, dtype=x.dtype) + phi @ torch.diag(1 / prior) @ phi.T
            variance = x[:, v] @ torch.linalg.solve(shape, x[:, v]) / ROWS
            normal = torch.distributions.MultivariateNormal(
                x.new_zeros(ROWS), covariance_matrix=variance * shape
            )
            values.append(normal.log_prob(x[:, v]))
        expected.append(torch.stack(values).max())
    torch.testing.assert_close(evidence.log_evidence(child, parents), torch.stack(expected))


def test_coefficients_are_those_of_ridge_regression_under_the_best_precisions():
    x = observations()
    evidence = AdditiveEvidence(x, n_functions=5)
    features = evidence.basis(x)
    child, parents = all_sets()
    best = evidence.best(child, parents)
    for rows, index in equal_sets(parents, numbers=1):
        weight, value = evidence.coefficients(child[rows], index)
        torch.testing.assert_close(value, evidence.log_evidence(child[rows], parents[rows]))
        for row, found in zip(rows, weight):
            s, expected = parents[row], torch.zeros(N, 5, dtype=x.dtype)
            phi, ridge = features[:, s].flatten(1), best[row, s].flatten()
            expected[s] = torch.linalg.solve(
                phi.T @ phi + ridge.diag(), phi.T @ x[:, child[row]]
            ).reshape(-1, 5)
            torch.testing.assert_close(found, expected)


def test_bic_is_least_squares_minus_half_log_rows_per_parent():
    x = observations()
    child, parents = all_sets()
    expected = []
    for v, s in zip(child, parents):
        fit = torch.linalg.lstsq(x[:, s], x[:, [v]]).solution if s.any() else None
        residual = x[:, v] - (x[:, s] @ fit)[:, 0] if fit is not None else x[:, v]
        variance = residual.square().mean()
        likelihood = -0.5 * ROWS * (math.log(2 * math.pi) + 1 + variance.log())
        expected.append(likelihood - 0.5 * s.sum() * math.log(ROWS))
    value = LinearEvidence(x, criterion="bic").log_evidence(child, parents)
    torch.testing.assert_close(value, torch.stack(expected), rtol=1e-6, atol=1e-6)


@evidences
def test_toggles_by_schur_complements_equal_one_evaluation_per_set(make):
    evidence = make(observations())
    child, parents = all_sets()
    which = torch.nn.functional.one_hot(child, N) == 0
    fast = evidence.toggles(child, parents, which)
    slow = Evidence.toggles(evidence, child, parents, which)
    torch.testing.assert_close(fast, slow, equal_nan=True)
    assert (fast.isnan() == ~which).all()


@evidences
def test_additions_leave_parents_and_child_unchanged(make):
    evidence = make(observations())
    child, parents = all_sets()
    added = evidence.additions(child, parents)
    fixed = parents | torch.nn.functional.one_hot(child, N).bool()
    now = evidence.log_evidence(child, parents).unsqueeze(-1).expand_as(added)
    torch.testing.assert_close(added[fixed], now[fixed])


@evidences
def test_replicas_equal_separate_evidences_of_the_rows_they_hold(make):
    x = observations()
    weights = torch.zeros(2, ROWS, dtype=torch.float64)
    weights[0, :80], weights[1, 40:] = 1, 1
    evidence = make(x, weights=weights)
    assert evidence.n_replicas == 2
    child, parents = all_sets()
    both = evidence.log_evidence(torch.cat([child, child + N]), parents.repeat(2, 1)).view(2, -1)
    for replica in range(2):
        alone = make(x, weights=weights[[replica]]).log_evidence(child, parents)
        torch.testing.assert_close(both[replica], alone)


def test_a_replica_of_all_rows_equals_no_replicas():
    x = observations()
    child, parents = all_sets()
    whole = AdditiveEvidence(x, weights=torch.ones(1, ROWS, dtype=torch.float64))
    torch.testing.assert_close(
        whole.log_evidence(child, parents), AdditiveEvidence(x).log_evidence(child, parents)
    )


@evidences
def test_order_of_columns_does_not_matter(make):
    x = observations()
    shuffle = torch.tensor([3, 0, 4, 1, 2])
    child, parents = all_sets()
    place = shuffle.argsort()
    value = make(x[:, shuffle]).log_evidence(place[child], parents[:, shuffle])
    torch.testing.assert_close(value, make(x).log_evidence(child, parents))


def test_an_exact_function_of_the_parents_has_finite_evidence():
    x = observations()
    x[:, 3] = x[:, 0]
    evidence = LinearEvidence(x, criterion="bic")
    value = evidence.log_evidence(torch.tensor([3]), torch.eye(N, dtype=torch.bool)[[0]])
    limit = -0.5 * ROWS * (math.log(2 * math.pi * RESIDUAL_FLOOR) + 1)
    assert value.item() <= limit


def test_useless_parents_lower_the_evidence_on_average():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 8, dtype=torch.float64, generator=generator)
    evidence = AdditiveEvidence((x - x.mean(0)) / x.std(0, correction=0))
    nothing = torch.zeros(8, 8, dtype=torch.bool)
    change = evidence.additions(torch.arange(8), nothing) - evidence.log_evidence(
        torch.arange(8), nothing
    ).unsqueeze(-1)
    off = change[~torch.eye(8, dtype=torch.bool)]
    assert off.mean() < 0
    assert (off < 3).all()


def test_cache_asks_once_and_answers_the_same():
    evidence = AdditiveEvidence(observations(), n_functions=3)
    cached = CachedEvidence(evidence)
    child, parents = all_sets()
    torch.testing.assert_close(
        cached.log_evidence(child, parents), evidence.log_evidence(child, parents)
    )
    assert len(cached) == len(child)
    cached.log_evidence(child, parents)
    assert len(cached) == len(child)


def test_bad_arguments_are_refused_by_name():
    with pytest.raises(ValueError, match="'n_functions' must be at least 1; got 0"):
        AdditiveEvidence(observations(), n_functions=0)
    with pytest.raises(ValueError, match="'criterion' must be one of"):
        LinearEvidence(observations(), criterion="aic")


def test_free_roots_change_the_evidence_of_roots_only() -> None:
    inner, density = AdditiveEvidence(observations()), torch.arange(float(N)).double()
    free = FreeRoots(inner, density)
    child, parents = all_sets()
    expected = torch.where(parents.any(-1), inner.log_evidence(child, parents), density[child])
    torch.testing.assert_close(free.log_evidence(child, parents), expected)
    slow = Evidence.additions(free, child, parents)
    torch.testing.assert_close(free.additions(child, parents), slow)
