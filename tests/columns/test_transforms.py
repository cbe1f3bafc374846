"""Marginal transformations: monotone, standardised, with the right Jacobian."""

import math

import pytest
import torch
from torch import Tensor

from dpdag.columns import TRANSFORMS, transform
from dpdag.columns.transforms import PARAMETERS


def columns(rows: int = 500) -> Tensor:  # (rows, 3): normal, log-normal, heavy-tailed
    noise = torch.randn(rows, 4, generator=torch.Generator().manual_seed(0)).double()
    heavy = noise[:, 2] / noise[:, 3].abs().clamp(min=0.05)
    return torch.stack([noise[:, 0], (1.5 * noise[:, 1]).exp(), heavy], -1)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations_are_monotone_and_standardised(name: str) -> None:
    x = columns()
    z, log_jacobian = transform(x, [name] * 3)
    assert torch.allclose(z.mean(0), torch.zeros(3).double(), atol=1e-8)
    assert torch.allclose(z.square().mean(0), torch.ones(3).double(), atol=1e-8)
    order = x.argsort(0)
    assert (z.gather(0, order).diff(dim=0) >= 0).all()
    assert log_jacobian.isfinite().all()


@pytest.mark.parametrize("name", ["signed logarithm", "logarithm"])
def test_jacobian_equals_finite_differences(name: str) -> None:
    x = columns(200)
    z, log_jacobian = transform(x, [name] * 3)
    standard = (x - x.mean(0)) / x.std(0, correction=0)
    order = standard.argsort(0)
    u, v = standard.gather(0, order), z.gather(0, order)
    # The mean slope between neighbours, summed over the inner values.
    slope = ((v[2:] - v[:-2]) / (u[2:] - u[:-2])).log().sum(0)
    assert ((slope - log_jacobian).abs() / len(x) < 0.1).all()


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_single_columns_are_transformed_and_the_others_left(kind: str) -> None:
    x = columns()
    plain = transform(x, ["identity"] * 3).z
    z, log_jacobian = transform(x, ["identity", kind, "identity"])
    torch.testing.assert_close(z[:, [0, 2]], plain[:, [0, 2]])
    assert log_jacobian[[0, 2]].tolist() == [0, 0]
    order = x[:, 1].argsort()
    assert (z[order, 1].diff() >= 0).all()
    assert float(z[:, 1].square().mean()) == pytest.approx(1)


def test_logarithms_find_their_end_and_its_side() -> None:
    log_normal = columns()[:, 1:2]
    x = torch.cat([log_normal, -log_normal], -1)
    right = transform(x, ["logarithm", "reflected logarithm"])
    wrong = transform(x, ["reflected logarithm", "logarithm"])
    assert (right.log_jacobian > wrong.log_jacobian + len(x)).all()
    torch.testing.assert_close(right.z[:, 0], -right.z[:, 1])
    truth = transform(log_normal.log(), ["identity"]).z
    assert torch.corrcoef(torch.stack([right.z[:, 0], truth[:, 0]]))[0, 1] > 0.99


def test_units_do_not_matter() -> None:
    x = columns()
    for name in TRANSFORMS:
        plain, scaled = transform(x, [name] * 3), transform(100 * x + 3, [name] * 3)
        assert torch.allclose(plain.z, scaled.z, atol=1e-6)
        assert torch.allclose(plain.log_jacobian, scaled.log_jacobian, atol=1e-4)


def test_each_column_gains_most_by_what_straightens_it() -> None:
    x = columns()
    paid = {name: PARAMETERS[name] * math.log(len(x)) / 2 for name in TRANSFORMS}
    gains = [transform(x, [name] * 3).log_jacobian - paid[name] for name in TRANSFORMS]
    normal, log_normal, heavy = torch.stack(gains).argmax(0)
    assert TRANSFORMS[normal] in ("identity", "normal scores")
    assert TRANSFORMS[log_normal] in ("logarithm", "normal scores")
    assert TRANSFORMS[heavy] in ("signed logarithm", "normal scores")


def test_a_logit_straightens_what_saturates_at_both_ends() -> None:
    z = torch.randn(500, 1, generator=torch.Generator().manual_seed(0)).double()
    shares = torch.sigmoid(2 * z + 1)
    gains = {name: float(transform(shares, [name]).log_jacobian) for name in TRANSFORMS}
    assert gains["logit"] > gains["logarithm"] + 20
    found = transform(shares, ["logit"]).z
    assert float(torch.corrcoef(torch.cat([found, z], -1).T)[0, 1]) > 0.99


def test_ties_and_constants_stay_together() -> None:
    values = torch.arange(30.0).repeat_interleave(2)
    x = torch.stack([values, torch.ones(60)], -1).double()
    for name in TRANSFORMS:
        z = transform(x[:, :1], [name]).z
        assert z[0, 0] == z[1, 0]
        assert z.isfinite().all()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="Unknown transformation 'sqrt'"):
        transform(columns(), ["identity", "sqrt", "identity"])
