"""Evidence from Gram matrices agrees with explicit regression and explicit Gaussian densities."""

import math
from itertools import product

import pytest
import torch

from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import CachedEvidence, Evidence
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.noise import log_gaussian

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
    "linear": LinearEvidence,
}
evidences = pytest.mark.parametrize("make", EVIDENCES.values(), ids=EVIDENCES.keys())


def test_additive_evidence_is_the_mean_marginal_density_over_the_grid():
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
            quadratic = x[:, v] @ torch.linalg.solve(shape, x[:, v])
            log_det = torch.logdet(shape) + math.log(ROWS + 1)  # of the mean
            values.append(log_gaussian(quadratic, log_det, ROWS))
        expected.append(torch.stack(values).logsumexp(0) - math.log(len(values)))
    torch.testing.assert_close(evidence.log_evidence(child, parents), torch.stack(expected))


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
def test_order_of_columns_does_not_matter(make):
    x = observations()
    shuffle = torch.tensor([3, 0, 4, 1, 2])
    child, parents = all_sets()
    place = shuffle.argsort()
    value = make(x[:, shuffle]).log_evidence(place[child], parents[:, shuffle])
    torch.testing.assert_close(value, make(x).log_evidence(child, parents))


def test_useless_parents_lower_the_evidence_on_average():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(400, 8, dtype=torch.float64, generator=generator)
    evidence = AdditiveEvidence((x - x.mean(0)) / x.std(0, correction=0))
    child, nothing, others = torch.arange(8), torch.zeros(8, 8).bool(), ~torch.eye(8).bool()
    alone = evidence.log_evidence(child, nothing)
    off = (evidence.toggles(child, nothing, others) - alone[:, None])[others]
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


@evidences
def test_residuals_are_those_of_rows_left_out_over_their_deviation(make):
    """One row at a time: refit without it, divide by the deviation of its prediction."""
    x = observations()[:60]
    x = (x - x.mean(0)) / x.std(0, correction=0)
    evidence = make(x)
    child, parents = torch.tensor([2]), torch.tensor([[True, True, False, False, False]])
    found = evidence.residuals(child, parents)[0]
    if isinstance(evidence, LinearEvidence):
        phi, ridge = x[:, :2], torch.full((2,), evidence._scale, dtype=x.dtype)
    else:
        phi = evidence.basis(x)[:, :2].flatten(1)
        ridge = evidence.best(child, parents)[0, :2].flatten()
    for row in (0, 17, 59):
        rest = torch.arange(60) != row
        gram = phi[rest].T @ phi[rest] + ridge.diag()
        weight = torch.linalg.solve(gram, phi[rest].T @ x[rest, 2])
        spread = (1 + phi[row] @ torch.linalg.solve(gram, phi[row])).sqrt()
        expected = (x[row, 2] - phi[row] @ weight) / spread
        assert found[row].item() == pytest.approx(expected.item(), rel=0.03, abs=0.01)
