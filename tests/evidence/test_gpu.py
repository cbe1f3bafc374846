"""Evidence on a CUDA device equals evidence on the CPU."""

import pytest
import torch

from dpdag.evidence.additive import AdditiveEvidence
from dpdag.search import greedy, subsamples

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def test_search_on_the_device_finds_the_same_graphs():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(300, 12, dtype=torch.float64, generator=generator)
    for v in range(1, 12):
        x[:, v] = 0.3 * x[:, v] + (2 * x[:, v // 2]).sin() + x[:, v - 1].tanh()
    x = (x - x.mean(0)) / x.std(0, correction=0)
    weights = subsamples(300, 3, generator=generator)
    here, there = (
        greedy(AdditiveEvidence(x, weights=weights, device=device), moves=("add", "delete"))
        for device in ("cpu", "cuda")
    )
    assert torch.equal(here.adjacency, there.adjacency)
    torch.testing.assert_close(here.edge_scores, there.edge_scores)
