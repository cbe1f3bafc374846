"""Every mistake gets one line that names the argument, the rule and what came."""

import re

import pytest
import torch

from dpdag import DPDAG, DAGDistribution, Knowledge
from dpdag.distributions import EdgeDistribution, GumbelSinkhorn, GumbelTopK


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_nodes": 0}, "'n_nodes' must be an integer of at least 1; got 0"),
        ({"n_nodes": 2.5}, "'n_nodes' must be an integer of at least 1; got 2.5"),
        ({"temperature": 0.0}, "'temperature' must be positive and finite; got 0.0"),
        ({"temperature": -1.0}, "'temperature' must be positive"),
        ({"edge_temperature": float("nan")}, "'edge_temperature' must be positive"),
        ({"permutation": "sinkhron"}, "Unknown permutation 'sinkhron'. Did you mean 'sinkhorn'?"),
        ({"batch_shape": 3}, "'batch_shape' must be a tuple of sizes; got 3"),
        ({"knowledge": Knowledge(forbidden=[(0, 9)])}, "Node 9 in 'knowledge' must be in 0 … 2"),
        ({"knowledge": Knowledge(forbidden=[("a", "b")])}, "Unknown node 'a' in 'knowledge'"),
        (
            {"knowledge": Knowledge(forbidden=[("PKA", "ERK")]), "names": ["PKA", "Erk", "Akt"]},
            "Unknown node 'ERK' in 'knowledge'. Did you mean 'Erk'? Known: PKA, Erk, Akt",
        ),
        ({"names": ["a"], "knowledge": Knowledge()}, "'names' must have 3 entries"),
        (
            {"permutation": "sinkhorn", "knowledge": Knowledge(required=[(0, 1)])},
            "permutation='sinkhorn' cannot express these required edges",
        ),
    ],
)
def test_constructor_names_the_mistake(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        DPDAG(**{"n_nodes": 3, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
            "'required' edges contradict each other: a → b → c → a is a cycle",
        ),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "contradict each other on a → b"),
        (
            {"required": [("b", "a")], "tiers": [["a"], ["b"]]},
            "'required' edges and 'tiers' contra",
        ),
        ({"tiers": [["a"], ["a"]]}, "Node 'a' stands in 'tiers' twice"),
        ({"tiers": ["ab"]}, "'tiers' must be a list of lists"),
        ({"forbidden": ["ab"]}, "'forbidden' must hold .source, target. pairs; got 'ab'"),
        ({"required": [("a", "a")]}, "'required' holds the self-loop a → a"),
    ],
)
def test_contradictory_knowledge_is_refused_by_name(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Knowledge(**arguments)


def test_knowledge_mixing_names_and_indices_is_checked_when_resolved() -> None:
    known = Knowledge(required=[("a", "b"), (1, 0)])
    with pytest.raises(ValueError, match="a cycle"):
        known.resolve(2, names=["a", "b"])


@pytest.mark.parametrize("name", ["order_logits", "edge_logits"])
def test_nan_parameters_are_refused(name: str) -> None:
    dags = DPDAG(3)
    getattr(dags, name).data.flatten()[0] = float("nan")
    with pytest.raises(ValueError, match=f"'{name}' must not hold NaN; got 1"):
        dags()


def test_log_prob_says_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="n up to 15; got n_nodes=16"):
        DPDAG(16)().log_prob(torch.zeros(16, 16))
    with pytest.raises(NotImplementedError, match="use permutation='topk'"):
        DPDAG(3, "sinkhorn")().log_prob(torch.zeros(3, 3))
    with pytest.raises(NotImplementedError, match="no tractable density"):
        DPDAG(3, "sinkhorn")().permutation.log_prob_order(torch.arange(3))
    with pytest.raises(ValueError, match=r"must have shape \(\*, 3, 3\); got \(4, 4\)"):
        DPDAG(3)().log_prob(torch.zeros(4, 4))
    with pytest.raises(ValueError, match="only 0 and 1"):
        DPDAG(3)().log_prob(torch.full((3, 3), 0.5))
    with pytest.raises(ValueError, match="n up to 5; got n_nodes=6"):
        DPDAG(6)().entropy()
    with pytest.raises(NotImplementedError, match="required edges leave it intractable"):
        DPDAG(3, knowledge=Knowledge(required=[(0, 1)]))().permutation.entropy()


def test_a_cyclic_graph_has_probability_zero() -> None:
    cycle = torch.tensor([[0, 1], [1, 0]])
    assert DPDAG(2)().log_prob(cycle).item() == -torch.inf


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="must have the same batch and nodes"):
        DAGDistribution(GumbelTopK(torch.zeros(3)), EdgeDistribution(torch.zeros(4, 4)))
    with pytest.raises(ValueError, match="'logits' must have shape"):
        GumbelSinkhorn(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="'logits' must have shape"):
        EdgeDistribution(torch.zeros(3))
