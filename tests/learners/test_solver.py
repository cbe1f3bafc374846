"""Steps of a fit with the functions integrated out."""

import pytest
import torch

from dpdag import Knowledge, datasets, metrics
from dpdag.evidence.transforms import standardise, transform
from dpdag.learners.comparison import worth
from dpdag.learners.integrated import Task, find_graph
from dpdag.learners.solver import _with_any_noise

KNOWN = Knowledge().resolve(6)


def lines(noise: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Columns of straight lines, and their graph."""
    truth = datasets.erdos_renyi(6, 10, random_state=seed)
    size = datasets.Noise(noise, variance=1.0)
    data = datasets.simulate(truth, 600, mechanism="linear", noise=size, random_state=seed)
    return standardise(torch.as_tensor(data.X, dtype=torch.float64))[0], torch.as_tensor(truth)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_residuals_ask_for_noise_of_another_shape(seed: int) -> None:
    x, truth = lines("laplace", seed)
    task = Task("linear", KNOWN, 0.1)
    first = find_graph(x, task)
    other = _with_any_noise(x, first, task)
    assert other is not None
    gain, changed, found = other
    assert gain > 0
    assert changed.mechanism == "free-noise"
    assert metrics.shd(found.graph.adjacency.numpy(), truth.numpy()) <= 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gaussian_residuals_ask_for_nothing(seed: int) -> None:
    x, _ = lines("gaussian", seed)
    task = Task("linear", KNOWN, 0.1)
    assert _with_any_noise(x, find_graph(x, task), task) is None


def test_processes_are_not_asked() -> None:
    x, _ = lines("laplace", 1)
    task = Task("gp", KNOWN, 0.1)
    assert _with_any_noise(x[:100], find_graph(x[:100], task), task) is None


def test_length_scales_are_refunded_only_where_they_were_paid() -> None:
    generator = torch.Generator().manual_seed(0)
    cause, noise = torch.randn(2, 300, generator=generator).double()
    graph = torch.tensor([[False, True], [False, False]])
    for effect, paid in ((cause, False), (torch.sin(3 * cause), True)):
        columns = transform(torch.stack([cause, effect + 0.3 * noise], -1), "identity")
        plain, equal = (worth("gp", columns, graph, equal=equal) for equal in (False, True))
        price = 0.5 * torch.tensor(300.0).log().item()
        assert 0 <= equal - plain <= price + 1e-3
        assert (equal - plain > 0.9 * price) == paid
