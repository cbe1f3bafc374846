"""Grid-averaged Gaussian process evidence."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from dpdag.evidence.gp.grid import GridGPEvidence
from dpdag.evidence.gp.marginal import gp_evidence
from dpdag.evidence.linear import LinearEvidence


def table(rows: int = 60) -> Tensor:  # (rows, 3): 0 → 1, (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(0)).double()
    b = torch.sin(2 * noise[:, 0]) + 0.3 * noise[:, 1]
    c = torch.cos(noise[:, 0] + 2 * b) + 0.3 * noise[:, 2]
    return torch.stack([noise[:, 0], b, c], -1)


def test_value_is_the_mean_over_kernels_and_the_line() -> None:
    x = table()
    evidence = GridGPEvidence(x, dtype=torch.float64)
    parents = torch.tensor([[True, True, False]])
    z = (x - x.mean(0)) / x.std(0, correction=0)
    terms = []
    for scale, noise in product((1.0, 1.8, 3.2), (0.06, 0.25, 1.0)):
        parameters = torch.tensor([scale, scale, noise, 1e-3], dtype=torch.float64).log()
        terms.append(gp_evidence(z[:, 2:], z[:, :2], parameters)[0])
    process = torch.stack(terms).logsumexp(0) - math.log(9)
    line = LinearEvidence(z).log_evidence(torch.tensor([2]), parents)[0]
    expected = torch.logaddexp(process, line) - math.log(2)
    value = evidence.log_evidence(torch.tensor([2]), parents)
    assert value.item() == pytest.approx(expected.item(), abs=1e-6)


def test_batch_equals_loop_and_order_of_calls_does_not_matter() -> None:
    x = table()
    child = torch.tensor([0, 1, 2, 2, 1])
    parents = torch.tensor([[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]]).bool()
    evidence = GridGPEvidence(x)
    together = evidence.log_evidence(child, parents)
    for k in reversed(range(len(child))):
        alone = evidence.log_evidence(child[k, None], parents[k, None])
        assert alone.item() == pytest.approx(together[k].item(), abs=1e-3)


def test_networks_see_jumps() -> None:
    cause, noise = torch.randn(2, 200, generator=torch.Generator().manual_seed(0)).double()
    x = torch.stack([cause, 1.0 * (cause > 0.3) + 0.1 * noise], -1)
    ways = torch.tensor([1, 0]), torch.tensor([[True, False], [False, True]])
    smooth, network = (
        GridGPEvidence(x, kernel=kernel).log_evidence(*ways) for kernel in ("rbf", "network")
    )
    assert network[0] > smooth[0] + 20
    assert network[0] > network[1] + 100
