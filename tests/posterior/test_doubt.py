"""What may be stated at most, and what the data leave unexplained."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from violations import VIOLATIONS, violation

from dpdag import DAGPosterior
from dpdag.columns import effective_values
from dpdag.evidence.misfit import beyond_chance, dependence, independent_share, likeness
from dpdag.posterior.doubt import Doubt, fineness


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


@pytest.mark.parametrize("rows", [100, 1000])
def test_dependence_is_zero_on_average_without_any(rows: int) -> None:
    nats = dependence(normal(40, rows), normal(rows, 10, seed=1))
    assert abs(float(nats.mean())) < 0.6
    assert float(nats.std()) == pytest.approx(10**0.5, rel=0.25)
    assert float(beyond_chance(nats.amax(), torch.tensor(400))) < 6


@pytest.mark.parametrize("bend", [torch.sin, torch.square, lambda x: x * normal(800, seed=7)])
def test_dependence_sees_means_and_sizes(bend) -> None:  # type: ignore[no-untyped-def]
    x = normal(800)
    nats = dependence((bend(x) + 0.5 * normal(800, seed=3))[None], x[:, None])
    assert float(nats) > 30


def test_dependence_does_not_change_with_monotone_transformations() -> None:
    x, u = normal(300, 2), normal(3, 300, seed=1)
    assert torch.allclose(dependence(u, x), dependence(u.exp(), x**3))


def test_rows_in_an_order_of_chance_all_count() -> None:
    noise = normal(500, 4)
    assert float(independent_share(noise).min()) > 0.8
    walk = noise.cumsum(0)
    assert float(independent_share(walk).max()) < 0.05
    shuffled = walk[torch.randperm(500, generator=torch.Generator().manual_seed(0))]
    assert float(independent_share(shuffled).min()) > 0.8


def test_a_table_that_is_sorted_keeps_its_rows() -> None:
    x = normal(300, 2)
    x[:, 1] += x[:, 0]
    assert bool((independent_share(x[x[:, 1].argsort()]) == 1).all())


@pytest.mark.parametrize("period", [2, 3, 12])
def test_rows_of_arms_that_take_turns_all_count(period: int) -> None:
    arm = torch.arange(600) % period
    effect = normal(period, seed=4)[arm] * 2 + 0.4 * normal(600)
    share = independent_share(torch.stack([arm.double(), effect], -1))
    assert float(share[0, 1]) > 0.9


def test_effects_of_a_series_count_and_unlinked_series_do_not() -> None:
    walk, other = normal(600, 2).cumsum(0).T
    effect = torch.tanh(walk / walk.std()) + 0.3 * normal(600, seed=2)
    share = independent_share(torch.stack([walk, effect, other], -1))
    assert float(share[0, 1]) > 0.9
    assert float(share[0, 2]) < 0.05
    assert torch.equal(share, share.mT)


def doubt_of_a_chain(
    nats: float = 90.0,
    lead: float = 30.0,
    misfit: float = 0.0,
    likeness: float = 0.0,
    rows: int = 500,
) -> Doubt:
    """0 → 1 → 2."""
    chain = torch.tensor([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).double()
    alike = torch.full((3, 3), likeness).double()
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    left = torch.tensor(misfit)
    return Doubt(
        likeness=alike,
        tied=torch.zeros(3, 3).double(),
        settled=nothing,
        fineness=torch.ones(3).double(),
        nats=nats * chain,
        lead=lead * chain,
        misfit=left.expand(3),
        misfit_of_table=left,
        exact=nothing[0],
        rows=rows,
        prior=-2.0,
    )


def test_the_coarser_a_column_the_less_is_told_of_directions_but_by_experiments() -> None:
    plain = doubt_of_a_chain(lead=1e4)
    coarse = replace(plain, fineness=fineness(torch.tensor([100.0, torch.inf, torch.inf])))
    few = replace(plain, fineness=torch.tensor([0.0, 1.0, 1.0]).double())
    assert 0 == few.direction[0, 1] < coarse.direction[0, 1] < plain.direction[0, 1]
    assert torch.equal(few.direction, few.direction.mT)
    assert few.direction[1, 2] == plain.direction[1, 2]
    assert torch.equal(few.link, plain.link)
    assert torch.equal(few.guessing.direction, plain.direction)
    told = replace(few, settled=torch.tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]]).bool())
    assert bool(told.direction[0, 1].isinf())


def test_rounding_makes_no_column_finer_with_more_rows() -> None:
    x = normal(4000, 1)
    free = torch.zeros(4000, 1, dtype=torch.bool)
    rounded = (10 * x).round()
    few, many = (float(effective_values(rounded[:rows], free[:rows])) for rows in (400, 4000))
    assert few == pytest.approx(many, rel=0.1)
    assert bool(effective_values(x, free).isinf())
    set_to = x.masked_fill(torch.arange(4000)[:, None] < 2000, 0.0)
    assert bool(effective_values(set_to, set_to == 0).isinf())


@pytest.mark.parametrize(
    "facts",
    [{"nats": 200.0, "lead": 100.0}, {"misfit": -20.0}, {"likeness": -0.3}, {"rows": -2000}],
)
def test_more_nats_are_surer_and_misfit_likeness_and_rows_make_less_sure(
    facts: dict[str, float],
) -> None:
    less = {name: -value for name, value in facts.items() if value < 0}
    more = {name: value for name, value in facts.items() if value > 0}
    worse, better = doubt_of_a_chain(**less), doubt_of_a_chain(**more)
    assert bool(better.link[0, 1] > worse.link[0, 1])
    assert bool(better.direction[0, 1] > worse.direction[0, 1])


def test_what_carries_no_nats_is_no_surer_than_beforehand() -> None:
    assert float(doubt_of_a_chain(nats=1e-6).link[0, 1]) == pytest.approx(-2.0, abs=1e-3)


def test_doubt_is_one_statement_for_both_directions() -> None:
    doubt = doubt_of_a_chain()
    assert torch.equal(doubt.link, doubt.link.mT)
    assert torch.equal(doubt.direction, doubt.direction.mT)
    assert bool(doubt.link[0, 2].isinf())  # does not stand in the graph
    assert bool(doubt.direction[0, 2].isinf())


def test_a_detour_is_the_strongest_way_over_a_third_column() -> None:
    alike = torch.tensor([[1, 0.2, 0.6], [0.2, 1, 0.5], [0.6, 0.5, 1]]).double()
    doubt = replace(doubt_of_a_chain(), likeness=alike)
    assert float(doubt.detour[0, 1]) == pytest.approx(0.5)
    assert float(doubt.detour[1, 2]) == pytest.approx(0.2)
    assert float(doubt.detour[1, 0]) == 0.0  # no edge


def test_links_of_one_exact_relation_are_no_surer_than_arithmetic_lets_them_be() -> None:
    tied = torch.tensor([[0, 0.2, 0], [0.2, 0, 0], [0, 0, 0]]).double()
    doubt = replace(doubt_of_a_chain(), tied=tied)
    assert float(doubt.link[0, 1].sigmoid()) == pytest.approx(0.2)
    assert float(doubt.direction[0, 1]) == 0.0
    assert torch.equal(doubt.link[1, 2], doubt_of_a_chain().link[1, 2])
    copies = replace(doubt_of_a_chain(), tied=tied.ceil())
    assert torch.equal(copies.link, doubt_of_a_chain().link)


def test_likeness_does_not_depend_on_rows_or_on_how_a_column_is_scaled() -> None:
    x = torch.randn(4000, 1, generator=torch.Generator().manual_seed(0)).double()
    y = x + torch.randn(4000, 1, generator=torch.Generator().manual_seed(1)).double()
    few, many = (likeness(torch.cat([x, y], 1)[:rows])[0, 1] for rows in (500, 4000))
    assert abs(float(few - many)) < 0.05
    assert float(likeness(torch.cat([x, y.exp()], 1))[0, 1]) == pytest.approx(float(many))


def test_no_arrow_into_a_total_of_other_columns_is_stated() -> None:
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(300, 3)) ** 3
    X = np.column_stack([parts, parts.sum(1)])
    learner = DAGPosterior(mechanism="linear", random_state=0, verbose=False).fit(X)
    assert learner.edge_probabilities_.max() < 0.9
    assert learner.doubt_.exact.any()


def test_random_walks_are_not_linked() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4)).cumsum(0)
    learner = DAGPosterior(mechanism="additive", random_state=0, verbose=False).fit(X)
    assert learner.adjacency_.sum() == 0
    assert learner.linked_probabilities_.max() < 0.5


def test_a_clear_relation_is_still_stated() -> None:
    rng = np.random.default_rng(0)
    cause = rng.uniform(-2, 2, 500)
    X = np.stack([np.tanh(2 * cause) + 0.2 * rng.normal(size=500), cause], 1)
    learner = DAGPosterior(random_state=0, verbose=False).fit(X)
    assert learner.edge_probabilities_[1, 0] > 0.95
    assert learner.choice_[0]["misfit"] < 10


def test_links_that_are_certain_may_have_an_open_direction() -> None:
    rng = np.random.default_rng(0)
    cause = rng.normal(size=500)
    X = np.stack([cause, cause + rng.normal(size=500)], 1)  # Gaussian lines: no way to tell
    learner = DAGPosterior(random_state=0, verbose=False).fit(X)
    edge = learner.to_edges().iloc[0]
    assert edge["linked"] > 0.95
    assert 0.3 < edge["probability"] < 0.7
    assert edge["probability"] + edge["reverse_probability"] == pytest.approx(edge["linked"])


@pytest.mark.parametrize("kind", VIOLATIONS)
def test_kinds_of_violations_are_reproducible_tables(kind: str) -> None:
    first, again = violation(kind, 3), violation(kind, 3)
    assert np.array_equal(first.X, again.X)
    assert first.X.shape == (500, len(first.adjacency))
    assert np.isfinite(first.X).all()
    assert (first.X.std(0) > 0).all()
    assert not np.array_equal(first.X, violation(kind, 4).X)
