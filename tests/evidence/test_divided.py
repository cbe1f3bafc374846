"""Evidence of rows under intervention: that of each column on the rows in which it was not set."""

import pytest
import torch

from dpdag.columns import table_of
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.divided import divided, divided_mixture, divided_sums
from dpdag.evidence.gp import GridGPEvidence
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.learners.posterior_solver import Plan
from dpdag.ops.rows import evenly_ordered
from dpdag.search.bagging import subsamples

N, n = 240, 4
EVERY = torch.cartesian_prod(*[torch.tensor([False, True])] * n)


def table() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(N, n, generator=generator, dtype=torch.float64)
    x[:, 1] += torch.sin(2 * x[:, 0])
    x[:, 2] += x[:, 1] - x[:, 3]
    return x


def mask() -> torch.Tensor:
    was_set = torch.zeros(N, n, dtype=torch.bool)
    was_set[100:150, 1] = True
    was_set[140:200, 2] = True  # in some rows both
    was_set[230:] = True  # rows that say nothing of any column
    return was_set


def pairs(child: int) -> tuple[torch.Tensor, torch.Tensor]:
    sets = EVERY[~EVERY[:, child]]
    return torch.full((len(sets),), child), sets


def mixture(rows: torch.Tensor) -> MixtureEvidence:
    return MixtureEvidence(table_of(table()[rows]))


MAKERS = {
    "lines": lambda rows: LinearEvidence(table_of(table()[rows]).y),
    "sums": lambda rows: AdditiveEvidence(table_of(table()[rows]).x),
    "grid": lambda rows: GridGPEvidence(table()[rows]),
    "mixture": mixture,
}


@pytest.mark.parametrize("name", MAKERS)
def test_evidence_under_a_mask_is_evidence_on_the_subset_of_rows(name: str) -> None:
    make = MAKERS[name]
    build = divided_mixture if name == "mixture" else divided
    own = build(mask(), make)
    for child in range(n):
        alone = make((~mask()[:, child]).nonzero()[:, 0])
        asked = pairs(child)
        torch.testing.assert_close(own.log_evidence(*asked), alone.log_evidence(*asked))
        others = ~torch.nn.functional.one_hot(asked[0], n).bool()
        torch.testing.assert_close(
            own.toggles(*asked, others), alone.toggles(*asked, others), equal_nan=True
        )


def test_values_that_were_set_say_nothing_of_their_causes_but_of_their_effects() -> None:
    x, was_set = table(), mask()
    changed = x.clone()
    changed[was_set[:, 1], 1] += 3 * x[was_set[:, 1], 0]
    before, after = (
        divided_mixture(was_set, lambda rows, x=x: MixtureEvidence(table_of(x[rows])))
        for x in (x, changed)
    )
    torch.testing.assert_close(before.log_evidence(*pairs(1)), after.log_evidence(*pairs(1)))
    effect = torch.tensor([2]), torch.tensor([[False, True, False, False]])
    assert bool((before.log_evidence(*effect) - after.log_evidence(*effect)).abs() > 1)


def test_everything_a_search_asks_for_is_that_of_the_part() -> None:
    own = divided_mixture(mask(), mixture)
    parents = torch.zeros(n, n, dtype=torch.bool)
    parents[1, 0] = parents[2, 1] = parents[2, 3] = True
    every = torch.arange(n)
    screens, goal = own.screens(every, parents), torch.full((n,), -1e9, dtype=torch.float64)
    reached = own.reach(every, parents, goal)
    for child in range(n):
        rows = (~mask()[:, child]).nonzero()[:, 0]
        alone, one = mixture(rows), torch.tensor([child])
        assert own.weights(child, parents[child]).rows == len(rows)
        torch.testing.assert_close(
            screens[child], alone.screens(one, parents[child : child + 1])[0]
        )
        value = alone.log_evidence(one, parents[child : child + 1])[0]
        torch.testing.assert_close(reached[child], value, atol=0.5, rtol=0)
    cheap = own.without_processes()
    assert cheap is not None
    assert not cheap.processes
    assert cheap.without_processes() is cheap


def test_divided_evidence_commutes_with_relabelling() -> None:
    order = torch.tensor([2, 0, 3, 1])
    own = divided_mixture(mask(), mixture)
    asked = pairs(1)
    value = own.log_evidence(*asked)
    moved = own.relabelled(order)
    torch.testing.assert_close(
        moved.log_evidence(order.argsort()[asked[0]], asked[1][:, order]), value
    )


def test_without_interventions_nothing_is_divided() -> None:
    none = torch.zeros(N, n, dtype=torch.bool)
    assert type(divided_mixture(none, mixture)) is MixtureEvidence
    assert Plan().evidence(table(), none).n_rows == N


def test_subsamples_hold_as_much_of_every_experiment_each_row_once() -> None:
    was_set = mask()[:230]
    drawn = subsamples(230, 3, generator=torch.Generator().manual_seed(0), was_set=was_set)
    experiment = was_set.unique(dim=0, return_inverse=True)[1]
    for rows in drawn:
        assert len(rows.unique()) == len(rows)
        assert torch.equal(
            experiment[rows].bincount(), (0.75 * experiment.bincount()).round().long()
        )


def test_sums_of_a_subsample_are_divided_too() -> None:
    rows = subsamples(N, 1, generator=torch.Generator().manual_seed(0), was_set=mask())[0]
    x, was_set = table()[rows], mask()[rows]
    seen = x[~was_set[:, 1]]
    centred = seen - seen.mean(0)
    alone = AdditiveEvidence(centred / centred.std(0, correction=0))
    own = divided_sums(x, was_set)
    torch.testing.assert_close(own.log_evidence(*pairs(1)), alone.log_evidence(*pairs(1)))


def test_few_rows_are_drawn_for_all_columns_alike_and_of_every_experiment() -> None:
    was_set = torch.zeros(1000, 3, dtype=torch.bool)
    was_set[980:, 0] = True
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(0))
    first = evenly_ordered(order, was_set)
    assert first.sort().values.tolist() == list(range(1000))
    assert int(was_set[first[:40], 0].sum()) == 20
    assert torch.equal(evenly_ordered(order, torch.zeros_like(was_set)), order)
    x = torch.randn(1000, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    own = Plan(rows=100).evidence(x, was_set)
    no = torch.zeros(3, dtype=torch.bool)
    assert [own.weights(v, no).rows for v in range(3)] == [80, 100, 100]


def test_causes_that_were_set_to_one_value_keep_it() -> None:
    """Natural values that return are spread over their cells; one that was set is not."""
    x = table()
    x[100:150, 1] = 40.0
    x[100:150, 2] += 40.0
    was_set = mask()
    rows = (~was_set[:, 2]).nonzero()[:, 0]
    own = table_of(x[rows], was_set[rows])
    assert own.y[was_set[rows, 1], 1].unique().numel() == 1
    right, wrong = (
        MixtureEvidence(part, functions=["linear"]) for part in (own, table_of(x[rows]))
    )
    asked = torch.tensor([2]), torch.tensor([[False, True, False, True]])
    assert bool(right.log_evidence(*asked) > wrong.log_evidence(*asked) + 50)


def test_sums_have_as_many_functions_as_asked_for() -> None:
    x = table()
    asked = torch.tensor([1]), torch.tensor([[True, False, False, False]])
    few, own = (divided_sums(x, mask(), n_functions=count) for count in (2, 8))
    assert float(few.log_evidence(*asked)) != float(own.log_evidence(*asked))
    none = divided_sums(x, torch.zeros_like(mask()), n_functions=2)
    assert isinstance(none, AdditiveEvidence)
    assert none.basis.size == 2
