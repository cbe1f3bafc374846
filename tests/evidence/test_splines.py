"""Spline functions are orthonormal, natural cubics, and survive difficult columns."""

import pytest
import torch
from scipy.interpolate import CubicSpline

from dpdag.evidence.splines import SPACING, _curvature, _knots, _natural_spline, fit_splines


def columns(rows: int = 300) -> torch.Tensor:
    """A normal, a binary, a heavily tied, a heavy-tailed and a bimodal column, standardised."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 5, dtype=torch.float64, generator=generator)
    x[:, 1] = (x[:, 1] > 0.5).double()
    x[:, 2] = x[:, 2].round()
    x[:, 3] = (3 * x[:, 3]).exp()
    x[:, 4] = x[:, 4].sign() * 5 + x[:, 4] * 0.01
    return (x - x.mean(0)) / x.std(0, correction=0)


def test_functions_are_centred_and_orthonormal_in_the_data():
    x = columns()
    basis = fit_splines(x, n_functions=8)
    u = basis(x)
    gram = torch.einsum("rnk,rnl->nkl", u, u) / len(x)
    torch.testing.assert_close(gram, torch.diag_embed(basis.used.double()), atol=1e-8, rtol=0)
    assert u.mean(0).abs().max() < 1e-9


def test_the_smoothest_function_is_the_variable_itself():
    x = columns()
    u = fit_splines(x, n_functions=4)(x)[:, :, 0]
    assert (u.abs() - x.abs()).abs().max() < 1e-5


def test_roughness_grows_along_the_functions():
    basis = fit_splines(columns(), n_functions=8)
    steps = basis.roughness.diff(dim=-1)
    assert (steps[basis.used[:, 1:]] > 0).all()


def test_a_column_with_few_values_has_one_function_less_than_values():
    used = fit_splines(columns(), n_functions=8).used.sum(-1)
    assert used[1] == 1
    assert used[2] == columns()[:, 2].unique().numel() - 1


def test_more_functions_than_rows_are_cut_to_what_the_rows_determine():
    x = columns(rows=5)[:, [0]]
    basis = fit_splines(x, n_functions=10)
    assert basis.used.sum() == 4
    assert basis(x).isfinite().all()


def test_cardinal_splines_agree_with_scipy_inside_and_are_linear_outside():
    knots = torch.tensor([[-1.0, -0.3, 0.1, 0.9, 1.5]], dtype=torch.float64)
    curvature, penalty = _curvature(knots)
    inside = torch.linspace(-1, 1.5, 50, dtype=torch.float64)
    values = torch.tensor([0.3, -1.0, 2.0, 0.5, 1.0], dtype=torch.float64)
    column = values[None, :, None]

    def ours(x: torch.Tensor) -> torch.Tensor:
        return _natural_spline(x[:, None], knots, column, curvature @ column)[:, 0, 0]

    theirs = CubicSpline(knots[0].numpy(), values.numpy(), bc_type="natural")
    torch.testing.assert_close(ours(inside), torch.from_numpy(theirs(inside.numpy())))

    beyond = torch.linspace(1.5, 3.0, 4, dtype=torch.float64)
    line = ours(beyond)
    assert line.diff().diff().abs().max() < 1e-12
    slope = (line[1] - line[0]) / (beyond[1] - beyond[0])
    assert slope.item() == pytest.approx(float(theirs(1.5, 1)))

    fine = torch.linspace(-1, 1.5, 20001, dtype=torch.float64)
    bending = torch.from_numpy(theirs(fine.numpy(), 2)).square()
    integral = torch.trapezoid(bending, fine)
    assert (values @ penalty[0] @ values).item() == pytest.approx(integral.item(), rel=1e-6)


def test_knots_are_strictly_increasing_whatever_the_ties():
    knots = _knots(columns(), 20)
    assert (knots.diff() >= SPACING - 1e-12).all()
