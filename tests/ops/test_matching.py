import itertools

import pytest
import torch

from dpdag.ops.matching import matching, sinkhorn


def logits(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_matching_is_the_best_of_all_permutations() -> None:
    for matrix in logits(10, 4, 4):
        best = max(
            itertools.permutations(range(4)),
            key=lambda p: sum(matrix[i, j] for i, j in enumerate(p)),
        )
        assert matching(matrix).tolist() == list(best)


@pytest.mark.parametrize("temperature", [1e-1, 0.3, 1.0, 1e3])
def test_sinkhorn_is_doubly_stochastic(temperature: float) -> None:
    P = sinkhorn(logits(5, 6, 6), temperature=temperature)
    ones = torch.ones(5, 6, dtype=torch.float64)
    torch.testing.assert_close(P.sum(-2), ones)
    torch.testing.assert_close(P.sum(-1), ones, atol=5e-3, rtol=0)


def test_sinkhorn_approaches_the_matching_as_the_temperature_falls() -> None:
    matrix = logits(5, 4, 4)
    hard = torch.nn.functional.one_hot(matching(matrix), 4).double()
    distances = [(sinkhorn(matrix, temperature=t) - hard).abs().max() for t in (1.0, 0.1, 1e-3)]
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 1e-3


def test_sinkhorn_gradient() -> None:
    x = logits(2, 3, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: sinkhorn(x, temperature=0.8, tolerance=1e-12), x)


def test_implicit_gradient_equals_the_unrolled_one() -> None:
    x = logits(4, 5, 5).requires_grad_()
    weight = logits(5, 5)
    log_p = x / 0.5
    for _ in range(500):
        log_p = log_p - log_p.logsumexp(-1, keepdim=True)
        log_p = log_p - log_p.logsumexp(-2, keepdim=True)
    (expected,) = torch.autograd.grad((log_p.exp() * weight).sum(), x)
    soft = sinkhorn(x, temperature=0.5, tolerance=1e-12)
    torch.testing.assert_close(soft, log_p.exp())
    (actual,) = torch.autograd.grad((soft * weight).sum(), x)
    torch.testing.assert_close(actual, expected, atol=1e-8, rtol=1e-6)
