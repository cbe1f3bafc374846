"""Columns of two modes, in which causes decide between the modes."""

import numpy as np
import pytest
import torch

from dpdag import DAGPosterior
from dpdag.columns import Table, upper_modes
from dpdag.evidence.families import AUTO
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.switches import SWITCH, SwitchEvidence


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def switched(rows: int = 400, seed: int = 0) -> torch.Tensor:  # -> (rows, 3)
    """0 and 1 switch 2."""
    x = normal(rows, 3, seed=seed)
    x[:, 2] = 6 * (x[:, 0] - x[:, 1] > 0.2) + x[:, 2]
    return (x - x.mean(0)) / x.std(0)


def test_one_mode_is_not_parted_whatever_its_tails() -> None:
    noise = normal(300, 40)
    two, above = upper_modes(
        torch.cat([noise, noise.exp(), noise[:, :10] * noise[:, :10].abs()], 1)
    )
    assert (above[:, two].double().mean(0) > 0.05).all()
    assert two[:40].double().mean() < 0.1


def test_modes_do_not_depend_on_units_or_on_the_order_of_rows() -> None:
    x = switched()[:, 2:]
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))
    two, above = upper_modes(torch.cat([x, -x, torch.ones_like(x)], 1))
    assert two.tolist() == [True, True, False]
    assert torch.equal(upper_modes(1e-3 * x[order] + 7)[1], above[order, :1])
    assert torch.equal(above[:, 0], ~above[:, 1])


def test_the_density_of_modes_is_a_sum_of_kernels() -> None:
    """By a naive sum over all values."""
    x = switched()[:, 2]
    size = min(float(x.std()), float(x.quantile(0.75) - x.quantile(0.25)) / 1.349)
    place = torch.linspace(float(x.min()), float(x.max()), 256).double()
    width = 0.9 * size * len(x) ** -0.2
    density = torch.exp(-0.5 * ((place[:, None] - x) / width).square()).sum(-1)
    inner = (place > x[x < 0].mean()) & (place < x[x > 0].mean())
    valley = place[inner][density[inner].argmin()]
    above = upper_modes(x[:, None])[1][:, 0]
    assert (above != (x > valley)).sum() <= 1


def test_probabilities_of_the_modes_sum_to_one_so_that_densities_do() -> None:
    """Of each row's mode given all other rows: Σ_m P(m | x_S, other rows) = 1."""
    x = switched(60)
    column, sets = torch.tensor([2]), torch.tensor([[True, True, False]])
    low, high = x.clone(), x.clone()
    mode = upper_modes(x)[1][:, 2]
    low[0, 2], high[0, 2] = x[~mode, 2].median(), x[mode, 2].median()
    both = []
    for values in (low, high):
        table = Table(values, values)
        evidence = SwitchEvidence(table, torch.zeros(3).double())
        whole = evidence.log_evidence(column, sets) + evidence._modes.log_root[2]
        rest = Table(values[1:], values[1:])
        less = SwitchEvidence(rest, torch.zeros(3).double())
        both.append(whole - less.log_evidence(column, sets) - less._modes.log_root[2])
    assert float(torch.stack(both).exp().sum()) == pytest.approx(1.0, abs=0.05)


def test_columns_of_one_mode_and_columns_without_causes_have_their_own_density() -> None:
    x, root = normal(200, 3), torch.tensor([-3.0, -5.0, -7.0]).double()
    evidence = SwitchEvidence(Table(x, x), root)
    every = torch.arange(3)
    assert torch.equal(evidence.log_evidence(every, ~torch.eye(3, dtype=torch.bool)), root)
    on_and_off = switched()
    other = SwitchEvidence(Table(on_and_off, on_and_off), root)
    assert torch.equal(other.log_evidence(every, torch.zeros(3, 3, dtype=torch.bool)), root)


def test_toggles_tell_which_causes_are_worth_a_look() -> None:
    """Roughly; of those that are not asked for nothing changes."""
    x = torch.cat([switched(), normal(400, 1, seed=3)], 1)
    evidence = SwitchEvidence(Table(x, x), torch.zeros(4).double())
    parents = torch.tensor([[True, False, False, False]])
    which = torch.tensor([[True, True, False, True]])
    toggled = evidence.toggles(torch.tensor([2]), parents, which)[0]
    change = toggled - evidence.log_evidence(torch.tensor([2]), parents)
    assert change[1] > 50
    assert change[0] < -20
    assert -15 < change[3] < 5
    assert change[2] == 0.0


def test_a_switch_is_told_from_its_causes_where_functions_are_misled() -> None:
    x = switched()
    with_it = MixtureEvidence(x, functions=("linear", "additive", SWITCH))
    without = MixtureEvidence(x, functions=("linear", "additive"))
    column = torch.tensor([2])
    causes, none = torch.tensor([[True, True, False]]), torch.zeros(1, 3, dtype=torch.bool)
    gain = [
        float(e.log_evidence(column, causes) - e.log_evidence(column, none))
        for e in (with_it, without)
    ]
    assert gain[0] > gain[1] + 50
    assert SWITCH in AUTO


def test_the_default_finds_what_switches_a_column() -> None:
    model = DAGPosterior(random_state=0, verbose=False).fit(switched(300).numpy())
    assert model.adjacency_.tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert model.choice_[2]["functions"][SWITCH] > 0.9
    drawn = model.sample(2000, random_state=0)
    assert abs(float(np.mean(drawn[:, 2])) - float(switched(300)[:, 2].mean())) < 0.15
