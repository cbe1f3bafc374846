"""Every registered mechanism reads only parents and treats replicas independently."""

import pytest
import torch

from dpdag.mechanisms import MECHANISMS
from dpdag.mechanisms.mlp import FrozenMLP

N, R, B = 5, 3, 7


@pytest.fixture(params=list(MECHANISMS))
def mechanism(request: pytest.FixtureRequest):
    generators = [torch.Generator().manual_seed(k) for k in range(R)]
    kind = MECHANISMS[request.param]
    return kind(N, R, hidden_units=4, generators=generators).double()


def graphs() -> torch.Tensor:
    random = torch.rand(R, N, N, generator=torch.Generator().manual_seed(0))
    return (random < 0.5).double().triu(1)


def values(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def test_jacobian_is_zero_outside_the_parents(mechanism) -> None:
    adjacency = graphs()
    x = values(R, N, 1)
    jacobian = torch.autograd.functional.jacobian(lambda x: mechanism(x, adjacency), x)
    for r in range(R):
        own = jacobian[r, :, 0, r, :, 0]  # (child, parent)
        assert bool((own[adjacency[r].T == 0] == 0).all())
        assert bool((own[adjacency[r].T == 1] != 0).all())
        others = jacobian[r, :, 0].index_select(1, torch.tensor([k for k in range(R) if k != r]))
        assert bool((others == 0).all())


def test_batch_of_replicas_equals_loop(mechanism) -> None:
    x, adjacency = values(R, N, B), graphs()
    together = mechanism(x, adjacency)
    for r in range(R):
        one = type(mechanism)(N, 1, hidden_units=4).double()
        one.load_state_dict({k: v[r : r + 1] for k, v in mechanism.state_dict().items()})
        torch.testing.assert_close(one(x[r : r + 1], adjacency[r : r + 1])[0], together[r])


def test_equals_one_network_per_node_on_masked_data() -> None:
    mlp = MECHANISMS["mlp"](N, 1, hidden_units=4).double()
    x, adjacency = values(1, N, B), graphs()[:1]
    out = mlp(x, adjacency)
    for j in range(N):
        layer = x[0].T * adjacency[0, :, j]  # the masked copy of the data
        for k, (weight, bias) in enumerate(zip(mlp.weights, mlp.biases)):
            if k:
                layer = torch.nn.functional.leaky_relu(layer)
            layer = layer @ weight[0, j].T + bias[0, j, :, 0]
        torch.testing.assert_close(out[0, j], layer[:, 0])


def test_initial_weights_have_the_scale_of_one_network() -> None:
    mlp = MECHANISMS["mlp"](50, 2, hidden_units=16)
    weight = mlp.weights[0].detach()
    assert float(weight.abs().max()) <= 50**-0.5
    assert float(weight.std()) == pytest.approx(50**-0.5 / 3**0.5, rel=0.05)


def test_frozen_mechanism_repeats_the_trained_one(mechanism) -> None:
    adjacency = graphs()[0] != 0
    frozen = mechanism.float().freeze(adjacency)
    assert isinstance(frozen, FrozenMLP)
    x = values(B, N).float()
    expected = mechanism(x.T.expand(R, N, B), adjacency.float().expand(R, N, N))[0].T
    has_parents = adjacency.any(0)
    torch.testing.assert_close(frozen(x)[:, has_parents], expected[:, has_parents])
    assert bool((frozen(x)[:, ~has_parents] == 0).all())
