"""Evidence on a CUDA device equals evidence on the CPU."""

import pytest
import torch
from torch import Tensor

from dpdag import DAGPosterior
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.gp.kernels import KERNELS
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.search import change_edge, hill_climb

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]
kernels = pytest.mark.parametrize("kernel", list(KERNELS))


def table(rows: int = 300, n: int = 12) -> Tensor:  # (rows, n)
    x = torch.randn(rows, n, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for v in range(1, n):
        x[:, v] = 0.3 * x[:, v] + (2 * x[:, v // 2]).sin() + x[:, v - 1].tanh()
    return (x - x.mean(0)) / x.std(0, correction=0)


def test_search_on_the_device_finds_the_same_graphs() -> None:
    here, there = (
        hill_climb(AdditiveEvidence(table(), device=device), moves=(change_edge,))
        for device in ("cpu", "cuda")
    )
    assert torch.equal(here.adjacency, there.adjacency)
    torch.testing.assert_close(here.gain, there.gain)


@kernels
def test_processes_have_the_same_evidence(kernel: str) -> None:
    child = torch.arange(3, 12)
    parents = torch.zeros(9, 12, dtype=torch.bool)
    parents[torch.arange(9), child // 2] = parents[torch.arange(9), child - 1] = True
    here, there = (
        GPEvidence(table(), kernel=kernel, device=device).log_evidence(child, parents)
        for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(here, there, atol=0.5, rtol=0)


@kernels
def test_processes_find_the_same_graph(kernel: str) -> None:
    found = []
    for device in ("cpu", "cuda"):
        name = {"rbf": "gp", "network": "network"}[kernel]
        evidence = MixtureEvidence(table(n=6), functions=[name], device=device)
        evidence.lookahead = 8  # on the way, not in the values, devices differ
        found.append(hill_climb(evidence).adjacency)
    assert torch.equal(*found)


def test_a_whole_fit_is_the_same() -> None:
    X = table(n=6).numpy()
    here, there = (
        DAGPosterior(random_state=0, device=device, verbose=False).fit(X)
        for device in ("cpu", "cuda")
    )
    assert here.adjacency_.tolist() == there.adjacency_.tolist()
    assert abs(here.edge_probabilities_ - there.edge_probabilities_).max() < 0.05
    assert abs(here.predict(X) - there.predict(X)).max() < 0.05
