"""Pairs that move together beyond a graph are named, and only those."""

import pandas as pd
import pytest
import torch

from dpdag import DAGPosterior, Knowledge
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.posterior import moving_together
from dpdag.posterior.hidden import MovingTogether


def drawn(rows: int = 400, *, seed: int = 0) -> torch.Tensor:  # -> (rows, 4)
    """Column 0 acts on 1; 2 and 3 have a cause that is not in the table."""
    noise = torch.randn(rows, 5, generator=torch.Generator().manual_seed(seed)).double()
    cause, hidden = noise[:, 0], noise[:, 4]
    x = torch.stack(
        [cause, torch.tanh(2 * cause) + 0.3 * noise[:, 1], noise[:, 2] + hidden, noise[:, 3]], 1
    )
    x[:, 3] += hidden
    return (x - x.mean(0)) / x.std(0, correction=0)


def named(
    x: torch.Tensor,
    edges: list[tuple[int, int]],
    *,
    share: float = 1.0,
    discrete: int | None = None,
) -> list[MovingTogether]:
    n = x.shape[1]
    graph = torch.zeros(n, n, dtype=torch.bool)
    for i, j in edges:
        graph[i, j] = True
    continuous = torch.ones(n, dtype=torch.bool)
    if discrete is not None:
        continuous[discrete] = False
    evidence = MixtureEvidence(x, functions=("linear", "additive"))
    return moving_together(evidence, graph, torch.full((n, n), share), continuous)


def test_what_a_graph_leaves_together_is_named() -> None:
    (pair,) = named(drawn(), [(0, 1)])
    assert (pair.source, pair.target) == (2, 3)
    assert pair.nats > 20


def test_what_is_linked_is_not_named() -> None:
    assert named(drawn(), [(0, 1), (3, 2)]) == []


def test_the_clearest_pair_comes_first() -> None:
    first, second = named(drawn(), [])
    assert (first.source, first.target) == (0, 1)
    assert first.nats > second.nats


@pytest.mark.parametrize("limits", [{"share": 0.05}, {"discrete": 3}])
def test_rows_that_do_not_count_and_codes_name_nothing(limits: dict[str, float]) -> None:
    assert named(drawn(), [(0, 1)], **limits) == []  # type: ignore[arg-type]


def test_chance_rarely_names_a_pair() -> None:
    tables = [torch.randn(150, 8, generator=torch.Generator().manual_seed(k)) for k in range(40)]
    assert sum(bool(named(x.double(), [])) for x in tables) <= 2


def test_ties_that_columns_share_are_no_dependence() -> None:
    amounts = (
        torch.randn(500, 6, generator=torch.Generator().manual_seed(1)).double().clamp_min(0.5)
    )
    assert named(amounts, []) == []


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_learners_name_columns_by_their_labels(order: list[int]) -> None:
    frame = pd.DataFrame(drawn().numpy(), columns=["dose", "answer", "left", "right"])
    known = Knowledge(forbidden=[("left", "right"), ("right", "left")])
    model = DAGPosterior(mechanism="additive", knowledge=known, random_state=0, verbose=False)
    (pair,) = model.fit(frame.iloc[:, order]).hidden_causes_
    assert {pair["source"], pair["target"]} == {"left", "right"}
    assert pair["nats"] > 20
