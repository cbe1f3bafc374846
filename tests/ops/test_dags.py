"""DAGs by scores are those of an order and its edges, with the same gradients."""

import pytest
import torch

from dpdag.ops.dags import dags_by_scores
from dpdag.ops.sorting import FEW, soft_sort_mask
from dpdag.ops.straight_through import hard_sigmoid


@pytest.mark.parametrize("n", [1, 5, FEW, FEW + 8])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_one_operation_equals_order_and_edges_in_turn(n: int, batch: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    psi, phi = normal(*batch, n).requires_grad_(), normal(*batch, n, n).requires_grad_()
    order_noise, edge_noise, upstream = normal(3, *batch, n), normal(3, *batch, n, n), normal(n, n)
    A = dags_by_scores(psi, phi, order_noise, edge_noise, temperature=0.7, edge_temperature=1.3)
    actual = torch.autograd.grad((A * upstream).sum(), (psi, phi))

    scores = psi + order_noise
    order = scores.detach().argsort(dim=-1, descending=True, stable=True)
    mask = soft_sort_mask(scores, order, temperature=0.7)
    logits = phi.masked_fill(torch.eye(n, dtype=torch.bool), -torch.inf)
    expected = hard_sigmoid(logits, edge_noise, mask, temperature=1.3)
    torch.testing.assert_close(A, expected)
    with torch.no_grad():
        torch.testing.assert_close(dags_by_scores(psi, phi, order_noise, edge_noise), expected)
    torch.testing.assert_close(actual, torch.autograd.grad((expected * upstream).sum(), (psi, phi)))


@pytest.mark.parametrize("n", [5, FEW + 8])
def test_equal_scores_go_by_index(n: int) -> None:
    A = dags_by_scores(torch.zeros(n), torch.ones(n, n), torch.zeros(n), torch.zeros(n, n))
    torch.testing.assert_close(A, torch.ones(n, n).triu(1))
