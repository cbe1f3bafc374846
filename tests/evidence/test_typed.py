"""Densities and probabilities in one evidence: directions between columns of different types."""

import pytest
import torch
from torch import Tensor

from dpdag.columns import table_of
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.typed import TypedEvidence

ROWS, DRAWS = 500, 12
FORWARD, BACKWARD = torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]).bool()  # parents of each
CHEAP = ("linear", "additive")


def evidence(values: Tensor, kinds: list[str], functions=CHEAP) -> TypedEvidence:
    table = table_of(values)
    discrete = DiscreteEvidence(table.x, values, kinds, functions=functions)
    return TypedEvidence(table, discrete, functions=functions)


def effect(kind: str, x: Tensor, seed: int, generator: torch.Generator) -> Tensor:
    """A discrete column that follows a curve of x."""
    curves = (lambda x: 2 * torch.sin(2 * x), lambda x: 3 * torch.tanh(2 * x), torch.square)
    f = curves[seed % 3](x)
    noise = torch.randn(len(x), generator=generator).double()
    scores = torch.stack([f, x, -x], -1)
    return {
        "binary": lambda: torch.bernoulli(torch.sigmoid(2 * f), generator=generator),
        "category": lambda: torch.multinomial(scores.softmax(-1), 1, generator=generator)[:, 0],
        "ordinal": lambda: torch.bucketize(f + noise, torch.tensor([-1.0, 0.0, 1.5]).double()),
        "count": lambda: torch.poisson(torch.exp(1 + 0.4 * f), generator=generator),
    }[kind]().double()


def cause(kind: str, generator: torch.Generator) -> Tensor:
    shares = {"binary": [0.4, 0.6], "category": [0.5, 0.2, 0.3], "ordinal": [0.2, 0.3, 0.3, 0.2]}
    if kind == "count":
        return torch.poisson(torch.full((ROWS,), 3.0), generator=generator).double()
    return torch.multinomial(torch.tensor(shares[kind]), ROWS, True, generator=generator).double()


types = pytest.mark.parametrize("kind", ["binary", "category", "ordinal", "count"])


def preference(x: Tensor, y: Tensor, kind: str) -> float:
    """Nats for x → y over y → x."""
    own = evidence(torch.stack([x, y], -1), ["continuous", kind])
    forward, backward = (
        float(own.log_evidence(torch.arange(2), sets).sum()) for sets in (FORWARD, BACKWARD)
    )
    return forward - backward


@types
def test_discrete_effects_of_continuous_causes_are_told_from_causes(kind: str) -> None:
    right = []
    for seed in range(DRAWS):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(ROWS, generator=generator).double()
        if seed % 2:
            x = 4 * torch.rand(ROWS, generator=generator).double() - 2
        right.append(preference(x, effect(kind, x, seed, generator), kind))
    # Two densities, one for each value, are about as likely a story as a curved probability.
    assert sum(nats > (-3 if kind == "binary" else 0) for nats in right) >= 0.75 * DRAWS
    assert sum(right) > 3 * DRAWS


@types
def test_discrete_causes_of_continuous_effects_are_told_from_effects(kind: str) -> None:
    right = []
    for seed in range(DRAWS):
        generator = torch.Generator().manual_seed(seed)
        y = cause(kind, generator)
        means = torch.tensor([0.0, 1.8, -1.2, 0.9])
        mean = 0.6 * y if kind == "count" else means[y.long()].double()
        noise = torch.randn(ROWS, generator=generator).double()
        if seed % 2:
            noise = 3.4 * torch.rand(ROWS, generator=generator).double() - 1.7
        right.append(preference(mean + noise, y, kind) < 0)
    assert sum(right) >= 0.75 * DRAWS


def test_directions_that_two_coins_cannot_show_stay_open() -> None:
    generator = torch.Generator().manual_seed(0)
    a = torch.bernoulli(torch.full((ROWS,), 0.4), generator=generator)
    b = torch.bernoulli(0.2 + 0.5 * a, generator=generator)
    own = evidence(torch.stack([a, b], -1).double(), ["binary", "binary"])
    forward, backward = (own.log_evidence(torch.arange(2), s).sum() for s in (FORWARD, BACKWARD))
    nothing = own.log_evidence(torch.arange(2), torch.zeros(2, 2, dtype=torch.bool)).sum()
    assert forward > nothing + 10
    assert abs(forward - backward) < 1


def mixed_table(rows: int = 300) -> Tensor:  # (rows, 4): 3 → 0, 0 → 1, (0, 3) → 2
    generator = torch.Generator().manual_seed(0)
    group = torch.multinomial(torch.tensor([0.5, 0.2, 0.3]), rows, True, generator=generator)
    noise = torch.randn(rows, 3, generator=generator).double()
    a = torch.tensor([0.0, 2.0, -1.0]).double()[group] + noise[:, 0]
    b = torch.bernoulli(torch.sigmoid(2 * a), generator=generator)
    c = torch.sin(a) + torch.tensor([1.0, 0.0, -1.0]).double()[group] + 0.4 * noise[:, 1]
    return torch.stack([a, b, c, group.double()], -1)


KINDS = ["continuous", "binary", "continuous", "category"]
CHILD = torch.tensor([0, 1, 2, 2, 3, 0])
PARENTS = torch.tensor(
    [[0, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]]
).bool()


@pytest.mark.parametrize("functions", [("linear",), ("additive",), ("linear", "additive", "gp")])
def test_names_of_categories_and_the_order_of_columns_do_not_matter(functions) -> None:
    values = mixed_table()
    plain = evidence(values, KINDS, functions).log_evidence(CHILD, PARENTS)
    other = values.clone()
    other[:, 3] = torch.tensor([2.0, 0.0, 1.0]).double()[values[:, 3].long()]
    renamed = evidence(other, KINDS, functions).log_evidence(CHILD, PARENTS)
    torch.testing.assert_close(renamed, plain, atol=0.1, rtol=0)
    order = torch.tensor([3, 1, 0, 2])
    place = order.argsort()
    moved = evidence(values, KINDS, functions).relabelled(order)
    torch.testing.assert_close(
        moved.log_evidence(place[CHILD], PARENTS[:, order]), plain, atol=0.1, rtol=0
    )


@pytest.mark.parametrize("functions", [("linear",), ("additive",), ("linear", "additive")])
def test_a_category_is_a_cause_of_continuous_columns_however_it_is_coded(functions) -> None:
    own = evidence(mixed_table(), KINDS, functions)
    none, group = own.log_evidence(torch.zeros(2).long(), PARENTS[[5, 0]])
    assert group > none + 50


@pytest.mark.parametrize("rows", [30, 100, 1000])
def test_a_category_that_is_noise_costs_on_average(rows: int) -> None:
    gains = []
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(rows, 2, generator=generator).double()
        x[:, 1] = torch.randint(5, (rows,), generator=generator).double()
        own = evidence(x, ["continuous", "category"])
        sets = torch.tensor([[False, False], [False, True]])
        none, given = own.log_evidence(torch.zeros(2).long(), sets)
        gains.append(float(given - none))
    assert sum(gains) < 0


def test_estimates_of_changes_of_discrete_columns_are_near_the_evaluations() -> None:
    own = evidence(mixed_table(), KINDS)
    child, parents = torch.tensor([1, 3]), torch.zeros(2, 4, dtype=torch.bool)
    change = own.screens(child, parents)
    now = own.log_evidence(child, parents)
    others = ~torch.nn.functional.one_hot(child, 4).bool()
    exact = own.toggles(child, parents, others) - now[:, None]
    assert ((change - exact)[others].abs() < 3).all()
    assert (change[~others] == 0).all()


@types
def test_what_is_left_of_discrete_effects_depends_on_causes_that_are_missing(kind: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x, other = torch.randn(2, ROWS, generator=generator).double()
    values = torch.stack([x, effect(kind, x, 0, generator), other], -1)
    own = evidence(values, ["continuous", kind, "continuous"])
    sets = torch.tensor([[False, False, False], [True, False, False]])
    without, given = own.misfits(torch.tensor([1, 1]), sets)
    chance = 4 * 10**0.5  # four deviations of half a χ² with twenty degrees of freedom
    assert without[0] > 30
    assert given[[0, 2]].abs().max() < chance
    assert without[2].abs() < chance


def test_noise_of_its_own_at_every_level_is_no_misfit() -> None:
    generator = torch.Generator().manual_seed(0)
    level = torch.randint(2, (ROWS,), generator=generator).double()
    y = (1 + 4 * level) * torch.randn(ROWS, generator=generator).double()
    own = evidence(torch.stack([level, y], -1), ["binary", "continuous"])
    sets = torch.tensor([[False, False], [True, False]])
    without, given = own.misfits(torch.tensor([1, 1]), sets)[:, 0]
    assert without > 20
    assert given == 0
