"""One small network per node, all of them as a few batched products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import leaky_relu_

from ..registry import Registry
from .base import MECHANISMS, Mechanism

# In place, so that no layer is held twice.
ACTIVATIONS: Registry[Callable[[Tensor], Tensor]] = Registry(
    "activation", {"leaky-relu": leaky_relu_, "relu": torch.relu_, "sigmoid": torch.sigmoid_}
)


@MECHANISMS.register("mlp")
class MLP(Mechanism):
    r"""A multi-layer perceptron for every node, the mask folded into its first layer.

    .. math:: \hat x_j = W_3\, \sigma(W_2\, \sigma((W_1 \circ A_{\cdot j}) x + b_1) + b_2) + b_3

    with :math:`\sigma` a leaky ReLU by default. Masking the n × h weights instead of the data
    never forms the n masked copies of the data.

    Arguments:
        n_nodes: Number of nodes n.
        n_replicas: Independent sets of networks r.
        hidden_units: Width h of the hidden layers.
        n_layers: Number of linear layers, 3 in the paper.
        n_outputs: Numbers that every network gives, see :meth:`outputs`.
        activation: "leaky-relu", "relu" or "sigmoid".
        generators: A random generator per replica for the initial weights, U(−1, 1)/√fan-in of
            one network.

    Example:
        >>> mlp = MLP(n_nodes=4, hidden_units=8)
        >>> mlp(torch.randn(1, 4, 32), torch.ones(1, 4, 4).triu(1)).shape
        torch.Size([1, 4, 32])
    """

    def __init__(
        self,
        n_nodes: int,
        n_replicas: int = 1,
        *,
        hidden_units: int = 16,
        n_layers: int = 3,
        n_outputs: int = 1,
        activation: str = "leaky-relu",
        generators: list[Generator] | None = None,
    ) -> None:
        super().__init__()
        self.activation = activation
        widths = [n_nodes, *[hidden_units] * (n_layers - 1), n_outputs]
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for fan_in, fan_out in pairwise(widths):
            weight = torch.empty(n_replicas, n_nodes, fan_out, fan_in)
            bias = torch.empty(n_replicas, n_nodes, fan_out, 1)
            for r in range(n_replicas):
                generator = generators[r] if generators is not None else None
                for tensor in (weight[r], bias[r]):
                    tensor.uniform_(-(fan_in**-0.5), fan_in**-0.5, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(bias))

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:  # (r, n, b), (r, n, n) -> (r, n, b)
        return self.outputs(x, adjacency).squeeze(2)

    def outputs(self, x: Tensor, adjacency: Tensor) -> Tensor:  # -> (r, n, outputs, b)
        """Everything the networks give; (r, n, n) ``adjacency`` may hold weights."""
        return masked_mlp(x, adjacency, [*self.weights], [*self.biases], self.activation)

    def slopes(self, x: Tensor, adjacency: Tensor) -> Tensor:  # (r, n, b), (r, n, n) -> (r, n, n)
        r"""Mean absolute slopes :math:`E\,|\partial f_j / \partial x_i|` of the first outputs."""
        first, *later = self.biases
        of_rows = first.detach().repeat(1, 1, 1, x.shape[-1]).requires_grad_()  # (r, n, h, b)
        with torch.enable_grad():
            biases = [of_rows, *later]
            out = masked_mlp(x, adjacency, [*self.weights], biases, self.activation)
            (slope,) = torch.autograd.grad(out[:, :, 0].sum(), of_rows)
        masked = self.weights[0].detach() * _parents(adjacency)
        return torch.einsum("rnhp,rnhb->rnpb", masked, slope).abs().mean(-1).mT

    def freeze(self, adjacency: Tensor) -> FrozenMLP:  # (n, n) bool
        weights = tuple(weight.detach()[:1].cpu() for weight in self.weights)
        biases = tuple(bias.detach()[:1].cpu() for bias in self.biases)
        return FrozenMLP(weights, biases, adjacency, self.activation)


def masked_mlp(
    x: Tensor,  # (r, n, b)
    adjacency: Tensor,  # (r, n, n)
    weights: Sequence[Tensor],  # (r, n, out, in) each
    biases: Sequence[Tensor],  # (r, n, out, 1 or b) each
    activation: str = "leaky-relu",
) -> Tensor:  # (r, n, out, b)
    """All networks of all replicas on the inputs that ``adjacency`` leaves them."""
    r, n, h, _ = weights[0].shape
    masked = (weights[0] * _parents(adjacency)).reshape(r, n * h, n)
    out = torch.baddbmm(biases[0].reshape(r, n * h, -1), masked, x).reshape(r * n, h, -1)
    for weight, bias in zip(weights[1:], biases[1:]):
        out = ACTIVATIONS[activation](out)
        out = torch.baddbmm(bias.flatten(0, 1), weight.flatten(0, 1), out)
    return out.reshape(r, n, -1, x.shape[-1])


def _parents(adjacency: Tensor) -> Tensor:  # (r, n, n) -> (r, n, 1, n)
    """The mask of every node's parents, laid out as the weights that it multiplies."""
    return adjacency.mT.contiguous().unsqueeze(-2)


@dataclass(frozen=True)
class FrozenMLP:
    r"""Trained networks on a given graph, as plain tensors.

    Nodes without parents are at their mean, zero: a network of nothing is a constant that the
    noise already covers.

    Arguments:
        weights: (1, n, out, in) of each layer.
        biases: (1, n, out, 1) of each layer.
        adjacency: (n, n) bool.
        activation: Between the layers.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    adjacency: Tensor
    activation: str = "leaky-relu"

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        values, graph = x.T[None].to(torch.float32), self.adjacency[None].to(torch.float32)
        out = masked_mlp(values, graph, self.weights, self.biases, self.activation)
        out = out[0, :, 0].T.to(x.dtype)
        return torch.where(self.adjacency.any(0), out, torch.zeros_like(out))


@MECHANISMS.register("linear")
class Linear(MLP):
    r"""A linear function for every node, :math:`\hat x_j = (w_j \circ A_{\cdot j})^T x + b_j`.

    Takes the arguments of :class:`MLP`; there are no hidden layers.
    """

    def __init__(self, n_nodes: int, n_replicas: int = 1, **options: Any) -> None:
        super().__init__(n_nodes, n_replicas, **{**options, "n_layers": 1})
