import pytest
import torch

from dpdag.ops.precedence import (
    inverse_permutation,
    permutation_matrix,
    precedence_mask,
    soft_precedence_mask,
)


def random_orders(*shape: int, n: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(n)
    return torch.rand(*shape, n, generator=generator).argsort(-1)


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_mask_equals_the_matrix_product_of_the_paper(n: int) -> None:
    order = random_orders(4, n=n)
    P = permutation_matrix(order, torch.float64)
    M = torch.ones(n, n, dtype=torch.float64).triu(1)
    torch.testing.assert_close(precedence_mask(order).double(), P.mT @ M @ P)


@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_gradient_equals_autograd_through_the_matrix_product(n: int) -> None:
    order = random_orders(3, 2, n=n)
    upstream = torch.randn(3, 2, n, n, dtype=torch.float64)
    P = permutation_matrix(order, torch.float64).requires_grad_()
    M = torch.ones(n, n, dtype=torch.float64).triu(1)
    (expected,) = torch.autograd.grad(P.mT @ M @ P, P, upstream)
    (actual,) = torch.autograd.grad(soft_precedence_mask(P, order), P, upstream)
    torch.testing.assert_close(actual, expected)


def test_inverse_permutation_undoes_itself() -> None:
    order = random_orders(5, n=9)
    torch.testing.assert_close(inverse_permutation(inverse_permutation(order)), order)
    positions = inverse_permutation(order)
    torch.testing.assert_close(order.gather(-1, positions), torch.arange(9).expand(5, 9))
