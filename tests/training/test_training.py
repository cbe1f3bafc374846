"""The loop: replicas are independent, resuming changes nothing, failures lose nothing."""

import json
from pathlib import Path

import pytest
import torch

from dpdag.learners.variational import Design, Hyper, Replicas, fit_replicas
from dpdag.objectives import Objective
from dpdag.training import Data, Epoch, ReplicaAdam, Schedule, train

DESIGN = Design(max_epochs=6, batch_size=20, hidden_units=4, patience=None)


def hyper(seed: int, **changes: float) -> Hyper:
    settings = {
        "learning_rate": 1e-2,
        "order_learning_rate": 1e-2,
        "edge_learning_rate": 3e-2,
        "kl_weight": 0.01,
        "edge_prior": 0.05,
    }
    return Hyper(**{**settings, **changes}, seed=seed)


def data(rows: int = 80, n: int = 4, seed: int = 0) -> torch.Tensor:
    x = torch.randn(1, rows, n, generator=torch.Generator().manual_seed(seed))
    x[..., 1] = torch.tanh(x[..., 0]) + 0.1 * x[..., 1]
    return x


def parameters(replicas: Replicas) -> dict[str, torch.Tensor]:
    return {**replicas.dags.state_dict(), **replicas.mechanism.state_dict()}


@pytest.mark.parametrize("permutation", ["topk", "sinkhorn"])
def test_a_replica_trained_alone_equals_the_same_in_a_batch(permutation: str) -> None:
    design = Design(**{**vars(DESIGN), "permutation": permutation})
    hypers = [hyper(0), hyper(1, learning_rate=1e-3, kl_weight=0.1), hyper(2)]
    together = parameters(fit_replicas(data(), hypers, design=design))
    for k, own in enumerate(hypers):
        alone = parameters(fit_replicas(data(), [own], design=design))
        for name, value in alone.items():
            torch.testing.assert_close(value[0], together[name][k], atol=2e-5, rtol=1e-3)


def test_replicas_may_have_data_sets_of_their_own() -> None:
    stacked = torch.cat([data(seed=0), data(seed=1)])
    together = parameters(fit_replicas(stacked, [hyper(0), hyper(1)], design=DESIGN))
    alone = parameters(fit_replicas(data(seed=1), [hyper(1)], design=DESIGN))
    for name, value in alone.items():
        torch.testing.assert_close(value[0], together[name][1], atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize("patience", [None, 2])
def test_resuming_equals_never_stopping(tmp_path: Path, patience: int | None) -> None:
    design = Design(**{**vars(DESIGN), "patience": patience})
    hypers = [hyper(0), hyper(1)]
    whole = fit_replicas(data(), hypers, design=design)

    def stop(epoch: Epoch) -> None:
        if epoch.number == 3:
            raise KeyboardInterrupt

    folder = tmp_path / "checkpoint"
    options = {"checkpoint": folder, "checkpoint_every": 2}
    half = fit_replicas(data(), hypers, design=design, callbacks=[stop], **options)
    assert half.outcome.epochs == 3
    resumed = fit_replicas(data(), hypers, design=design, resume_from=folder)
    for name, value in parameters(whole).items():
        assert torch.equal(value, parameters(resumed)[name]), name
    totals = [row["total"].tolist() for row in whole.outcome.history]
    assert [row["total"].tolist() for row in resumed.outcome.history] == totals


def test_resuming_refuses_what_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be a checkpoint folder"):
        fit_replicas(data(), [hyper(0)], design=DESIGN, resume_from=tmp_path)
    folder = tmp_path / "checkpoint"
    fit_replicas(data(), [hyper(0)], design=DESIGN, checkpoint=folder, checkpoint_every=2)
    assert json.loads((folder / "training.json").read_text())["epoch"] == 6
    with pytest.raises(ValueError, match="belongs to another model"):
        fit_replicas(data(n=5), [hyper(0)], design=DESIGN, resume_from=folder)


def test_best_state_is_kept_per_replica() -> None:
    design = Design(**{**vars(DESIGN), "patience": 3, "max_epochs": 200})
    hypers = [hyper(0, learning_rate=3e-2), hyper(1, learning_rate=1e-3)]
    outcome = fit_replicas(data(rows=40), hypers, design=design).outcome
    checks = torch.stack([row["validation"] for row in outcome.history[1::2]])
    torch.testing.assert_close(outcome.validation, checks.min(0).values)
    assert outcome.epochs < 200


class Quadratic(Objective):
    """Distance to the data, which turns into NaN for the first replica after some steps."""

    def __init__(self, healthy_steps: int) -> None:
        super().__init__()
        self.centre = torch.nn.Parameter(torch.zeros(2, 1, 1))
        self.healthy_steps = healthy_steps

    def loss(self, x: torch.Tensor, noise: None, step: int) -> dict[str, torch.Tensor]:
        self.healthy_steps -= 1
        total = (x - self.centre).square().mean((-2, -1))
        if self.healthy_steps < 0:
            total = total * torch.tensor([torch.nan, 1.0])
        return {"total": total}

    def validation(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.centre.detach()).square().mean((-2, -1))


def run_quadratic(*, healthy_steps: int = 1000, value: float = 1.0) -> torch.Tensor:
    objective = Quadratic(healthy_steps)
    x = torch.full((1, 1, 8), value)
    train(
        objective,
        Data(x, x),
        rates={"centre": 0.1},
        schedule=Schedule(max_epochs=10, batch_size=8),
        generators=[torch.Generator().manual_seed(k) for k in range(2)],
    )
    return objective.centre.detach()


def test_an_exploding_replica_stops_alone_with_its_last_good_state() -> None:
    with pytest.warns(RuntimeWarning, match="1 of 2 fits stopped in epoch 7"):
        centre = run_quadratic(healthy_steps=6)
    healthy = run_quadratic()
    torch.testing.assert_close(centre[1], healthy[1])
    assert 0.3 < float(centre[0]) < float(healthy[0])


def test_a_loss_that_was_never_finite_is_an_error() -> None:
    with (
        pytest.warns(RuntimeWarning, match="2 of 2 fits stopped in epoch 1"),
        pytest.raises(FloatingPointError, match="never finite; lower 'learning_rate'"),
    ):
        run_quadratic(value=torch.nan)


def test_rates_of_their_own_and_one_rate_for_all_agree() -> None:
    start = torch.randn(2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    same, apart = start.clone().requires_grad_(), start.clone().requires_grad_()
    one = ReplicaAdam({"x": same}, {"x": 0.05})
    two = ReplicaAdam({"x": apart}, {"x": torch.tensor([0.05, 0.01])})
    for _ in range(15):
        for value, adam in ((same, one), (apart, two)):
            adam.zero_grad()
            (value - 3).pow(4).sum().backward()
            adam.step(scale=0.7)
    torch.testing.assert_close(apart[0], same[0], atol=1e-6, rtol=1e-6)
    assert not torch.allclose(apart[1], same[1])


def test_adam_equals_torch_and_freezes() -> None:
    x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    ours = ReplicaAdam({"x": x}, {"x": torch.full((3,), 0.05)})
    theirs = torch.optim.Adam([y], lr=0.05)
    for step in range(20):
        if step == 10:
            ours.slow(torch.tensor([True, False, False]), 0.0)
            frozen = x.detach()[0].clone()
        for value, optimiser in ((x, ours), (y, theirs)):
            optimiser.zero_grad()
            (value - 3).pow(4).sum().backward()
            optimiser.step()
    torch.testing.assert_close(x[1:], y[1:], atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(x[0], frozen)
