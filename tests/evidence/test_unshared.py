"""Bounds of what one parent more explains, against the Schur complements themselves."""

import pytest
import torch

from dpdag.evidence import additive
from dpdag.evidence.additive import AdditiveEvidence

N, ROWS = 12, 200


def evidence_of(*, lines: bool) -> AdditiveEvidence:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, N, dtype=torch.float64, generator=generator)
    for v in range(1, N):
        x[:, v] += x[:, v - 1] if lines else (2 * x[:, v // 2]).sin()
    return AdditiveEvidence((x - x.mean(0)) / x.std(0, correction=0), n_functions=4)


def some_sets(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    child = torch.randint(N, (count,), generator=generator)
    parents = torch.rand(count, N, generator=generator) < 0.25
    parents[torch.arange(count), child] = False
    return child, parents


@pytest.mark.parametrize("lines", [False, True])
def test_bounds_are_below_the_value_and_equal_it_without_parents(lines: bool) -> None:
    evidence = evidence_of(lines=lines)
    for v, given in zip(*some_sets(20)):
        child, index = v[None], given.nonzero().T
        fit = evidence._fit(child, index)
        exact = evidence._extensions(fit, child, index, slice(None))
        explained = evidence._unshared.explained(fit.coefficients(), child, index)
        log_det = fit.log_det.unsqueeze(-1) + evidence._unshared.log_det.unsqueeze(1)
        bound = evidence._value(fit.residual.unsqueeze(-1) - explained, log_det)
        other = ~given
        other[v] = False
        assert bool((bound <= exact + 1e-9)[..., other].all())
        if not given.any():
            torch.testing.assert_close(bound[..., other], exact[..., other])


def test_copies_share_one_function_each_and_strangers_nothing() -> None:
    x = torch.randn(2000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x = torch.cat([x, x[:, :1]], -1)
    share = AdditiveEvidence((x - x.mean(0)) / x.std(0, correction=0))._unshared.share
    assert float(share[0, 2]) == pytest.approx(8, rel=0.02)  # of eight functions
    assert float(share[0, 1]) < 0.03


@pytest.mark.parametrize("lines", [False, True])
def test_what_promises_or_shares_something_is_exact_among_many_columns_too(
    lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, (child, parents) = evidence_of(lines=lines), some_sets(30)
    which = ~torch.nn.functional.one_hot(child, N).bool()
    exact = evidence.toggles(child, parents, which)
    monkeypatch.setattr(additive, "_MANY", 0)
    found = evidence.toggles(child, parents, which)
    bounded = (found - exact).abs() > 1e-9
    shared = torch.stack([evidence._unshared.share[given].sum(0) for given in parents])
    assert not bool((bounded & (shared > additive._SHARED)).any())
    now = evidence.log_evidence(child, parents)[:, None]
    assert not bool((bounded & (found > now - additive._HOPELESS)).any())
    assert bool((found <= exact + 1e-9)[which].all())
