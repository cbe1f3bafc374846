"""What is recorded as a graph does what it would do launched apart."""

import pytest
import torch

from dpdag.learners.variational import Design, Hyper, Replicas, fit_replicas
from dpdag.training import captured
from dpdag.training.adam import ReplicaAdam


def test_on_a_cpu_a_function_is_called() -> None:
    seen = []
    double = captured.Captured(lambda x, y: seen.append(x) or x + y)
    for k in range(5):
        assert double(torch.tensor(k), torch.tensor(1)).item() == k + 1
    assert len(seen) == 5


def test_a_recorded_step_goes_out_of_date_only_when_rates_part() -> None:
    x = torch.zeros(3, 2, requires_grad=True)
    adam = ReplicaAdam({"x": x}, {"x": 0.1 * torch.ones(3)})
    adam.slow(torch.tensor([True, False, False]), 0.0)
    assert adam.version == 1
    rates = adam.rates[0]
    adam.slow(torch.tensor([True, True, False]), 0.0)
    assert adam.version == 1
    assert rates.flatten().tolist() == pytest.approx([0, 0, 0.1])  # in place, as a graph reads it


def test_rates_of_the_caller_are_not_changed() -> None:
    x, y = (torch.zeros(2, 2, requires_grad=True) for _ in range(2))
    rate = torch.tensor([0.1, 0.2])
    adam = ReplicaAdam({"x": x, "y": y}, {"x": rate, "y": rate})
    adam.slow(torch.tensor([True, False]), 0.5)
    assert rate.tolist() == pytest.approx([0.1, 0.2])
    for own in adam.rates:
        assert own.flatten().tolist() == pytest.approx([0.05, 0.2])


def fits(patience: int | None) -> Replicas:
    x = torch.randn(1, 200, 8, generator=torch.Generator().manual_seed(0))
    hypers = [Hyper(3e-3, 1e-2, 1e-2, 0.01, 0.01, seed=k) for k in range(3)]
    design = Design(max_epochs=40, patience=patience, batch_size=64, device="cuda")
    return fit_replicas(x, hypers, design=design)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("patience", [None, 2])
def test_training_is_the_same_with_and_without_graphs(
    monkeypatch: pytest.MonkeyPatch, patience: int | None
) -> None:
    together = fits(patience)
    monkeypatch.setattr(captured.Captured, "__call__", lambda self, *x: self.function(*x))
    apart = fits(patience)
    assert together.outcome.epochs == apart.outcome.epochs
    for one, two in zip(together.dags.parameters(), apart.dags.parameters()):
        torch.testing.assert_close(one, two, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(together.held_out, apart.held_out, atol=1e-3, rtol=1e-3)
