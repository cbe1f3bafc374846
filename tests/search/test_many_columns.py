"""Bounds in place of values that are hopeless lead to the same graph."""

import pytest
import torch

from dpdag import datasets
from dpdag.columns import standardise
from dpdag.evidence import additive
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.search import EdgePrior, change_edge, hill_climb


@pytest.mark.parametrize("mechanism", ["gp", "linear"])
def test_bounds_of_hopeless_columns_lead_to_the_same_graph(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = datasets.erdos_renyi(40, 60, random_state=0)
    data = datasets.simulate(graph, 300, mechanism=mechanism, random_state=0)
    x = standardise(torch.from_numpy(data.X))[0]
    found = []
    for many in (300, 0):
        monkeypatch.setattr(additive, "_MANY", many)
        evidence, prior = AdditiveEvidence(x), EdgePrior.priced(3.0)
        found.append(hill_climb(evidence, prior=prior, moves=(change_edge,)))
    assert torch.equal(found[0].adjacency, found[1].adjacency)
    assert found[0].total == pytest.approx(found[1].total)
    clear = found[0].gain > 0
    torch.testing.assert_close(found[0].gain[clear], found[1].gain[clear])
