"""One small network per node, all of them as a few batched products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import leaky_relu_

from ..registry import Registry
from .base import MECHANISMS, Mechanism

_SLOPE = 0.01  # of the leaky ReLU


class Activation(NamedTuple):
    """A function in place, and its gradient from what it returned."""

    apply: Callable[[Tensor], Tensor]
    backward: Callable[[Tensor, Tensor], Tensor]  # of the gradient and the output


ACTIVATIONS = Registry(
    "activation",
    {
        "leaky-relu": Activation(
            lambda x: leaky_relu_(x, _SLOPE),
            # The sign of a leaky ReLU's output is that of its input.
            lambda grad, out: torch.ops.aten.leaky_relu_backward(grad, out, _SLOPE, True),
        ),
        "relu": Activation(
            torch.relu_, lambda grad, out: torch.ops.aten.threshold_backward(grad, out, 0)
        ),
        "sigmoid": Activation(torch.sigmoid_, torch.ops.aten.sigmoid_backward),
    },
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

    @torch.no_grad()
    def slopes(self, x: Tensor, adjacency: Tensor) -> Tensor:  # (r, n, b), (r, n, n) -> (r, n, n)
        r"""Mean absolute slopes :math:`E\,|\partial f_j / \partial x_i|` of the first outputs."""
        activation = ACTIVATIONS[self.activation]
        first, *later = self.weights
        masked = first * adjacency.mT.unsqueeze(-2)  # (r, n, h, n)
        layer = torch.einsum("rnhp,rpb->rnhb", masked, x) + self.biases[0]
        outputs = []
        for weight, bias in zip(later, self.biases[1:]):
            outputs.append(activation.apply(layer))
            layer = weight @ layer + bias
        slope = torch.ones_like(layer[:, :, :1])  # from the last layer back to the first
        for k, (weight, value) in enumerate(zip(reversed(later), reversed(outputs))):
            weight = weight[:, :, :1] if k == 0 else weight
            slope = activation.backward(weight.mT @ slope, value)
        masked = masked if later else masked[:, :, :1]
        return torch.einsum("rnhp,rnhb->rnpb", masked, slope).abs().mean(-1).mT

    def freeze(self, adjacency: Tensor) -> FrozenMLP:  # (n, n) bool
        weights = tuple(weight.detach()[:1].cpu() for weight in self.weights)
        biases = tuple(bias.detach()[:1].cpu() for bias in self.biases)
        return FrozenMLP(weights, biases, adjacency, self.activation)


def masked_mlp(
    x: Tensor,  # (r, n, b)
    adjacency: Tensor,  # (r, n, n)
    weights: Sequence[Tensor],  # (r, n, out, in) each
    biases: Sequence[Tensor],  # (r, n, out, 1) each
    activation: str = "leaky-relu",
) -> Tensor:  # (r, n, out, b)
    """All networks of all replicas on the inputs that ``adjacency`` leaves them."""
    return _MaskedMLP.apply(x, adjacency, ACTIVATIONS[activation], *weights, *biases)


class _MaskedMLP(torch.autograd.Function):
    """Forward and backward of all networks, with few passes over the large first layer."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, adjacency: Tensor, activation: Activation, *parameters: Tensor
    ) -> Tensor:
        depth = len(parameters) // 2
        weights, biases = parameters[:depth], parameters[depth:]
        r, n, h, _ = weights[0].shape
        masked = (weights[0] * _parents(adjacency)).reshape(r, n * h, n)
        out = torch.baddbmm(biases[0].reshape(r, n * h, 1), masked, x).reshape(r * n, h, -1)
        inputs = []  # of the layers after the first
        for weight, bias in zip(weights[1:], biases[1:]):
            inputs.append(activation.apply(out))
            out = torch.baddbmm(bias.flatten(0, 1), weight.flatten(0, 1), out)
        ctx.save_for_backward(x, adjacency, *weights, *inputs)
        ctx.depth, ctx.activation = depth, activation
        return out.reshape(r, n, -1, x.shape[-1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, adjacency = ctx.saved_tensors[:2]
        weights = ctx.saved_tensors[2 : 2 + ctx.depth]
        inputs = ctx.saved_tensors[2 + ctx.depth :]
        r, n, h, _ = weights[0].shape
        grad = grads[0].flatten(0, 1)
        to_weights: list[Tensor] = []
        to_biases: list[Tensor] = []
        for weight, value in zip(reversed(weights[1:]), reversed(inputs)):
            to_weights.append(torch.bmm(grad, value.mT).reshape(weight.shape))
            to_biases.append(grad.sum(-1).reshape(r, n, -1, 1))
            grad = torch.bmm(weight.flatten(0, 1).mT, grad)
            grad = ctx.activation.backward(grad, value)
        grad = grad.reshape(r, n * h, -1)
        first = torch.bmm(grad, x.mT).reshape(r, n, h, n)
        to_biases.append(grad.sum(-1).reshape(r, n, h, 1))
        to_adjacency = None
        if ctx.needs_input_grad[1]:
            to_adjacency = (first * weights[0]).sum(-2).mT
        to_weights.append(first.mul_(_parents(adjacency)))
        to_x = None
        if ctx.needs_input_grad[0]:
            masked = weights[0] * _parents(adjacency)
            to_x = torch.bmm(masked.reshape(r, n * h, n).mT, grad)
        return to_x, to_adjacency, None, *reversed(to_weights), *reversed(to_biases)


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
