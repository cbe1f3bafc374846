import torch

from dpdag.ops.straight_through import hard_sigmoid, straight_through


def test_hard_sigmoid_is_the_straight_through_of_step_and_sigmoid() -> None:
    x = torch.tensor([-3.0, -1e-3, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    plain = straight_through((x >= 0).double(), torch.sigmoid(x / 0.3))
    fused = hard_sigmoid(x, torch.zeros_like(x), temperature=0.3)
    assert torch.equal(fused, plain)
    assert set(fused.tolist()) == {0.0, 1.0}
    weights = torch.arange(1.0, 5.0, dtype=torch.float64)
    (expected,) = torch.autograd.grad(plain, x, weights)
    (actual,) = torch.autograd.grad(fused, x, weights)
    torch.testing.assert_close(actual, expected)
