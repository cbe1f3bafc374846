"""The parameters of DP-DAG as a module."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from ..ops.noise import surely_finite
from .dag import DAGDistribution
from .edges import EdgeDistribution
from .knowledge import Constraints, Knowledge
from .permutation import PERMUTATIONS

_MASKS = ("allowed", "required", "before")


class DPDAG(nn.Module):
    r"""Learnable parameters ψ (order) and φ (edges) of a distribution over DAGs.

    ``forward()`` builds the :class:`DAGDistribution`; parameters start at zero, where every order
    and every edge along it is equally likely.

    Arguments:
        n_nodes: Number of nodes n.
        permutation: ``"topk"`` (Gumbel-Top-k and SoftSort, O(n²)) or ``"sinkhorn"``
            (Gumbel-Sinkhorn and the Hungarian algorithm, O(n³)).
        temperature: τ of the relaxed permutation.
        edge_temperature: τ of the relaxed edges.
        batch_shape: Independent parameter sets; samples have shape ``(*sample, *batch, n, n)``.
        knowledge: Forbidden and required edges and tiers, or masks made of them, enforced in
            every output.
        names: Names of the nodes, for ``knowledge`` that uses names.
        dtype: Of the parameters; torch's default if not given.

    Example:
        >>> dags = DPDAG(n_nodes=5, knowledge=Knowledge(required=[(0, 1)]))
        >>> A = dags().rsample((1000,))
        >>> A[:, 0, 1].mean().item()
        1.0
        >>> (A.mean(0) - 0.2).square().sum().backward()
        >>> dags.order_logits.grad.shape, dags.edge_logits.grad.shape
        (torch.Size([5]), torch.Size([5, 5]))
    """

    def __init__(
        self,
        n_nodes: int,
        permutation: str = "topk",
        *,
        temperature: float = 1.0,
        edge_temperature: float = 1.0,
        batch_shape: Sequence[int] = (),
        knowledge: Knowledge | Constraints | None = None,
        names: Sequence[str] | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(n_nodes, bool) or not isinstance(n_nodes, int) or n_nodes < 1:
            raise ValueError(f"'n_nodes' must be an integer of at least 1; got {n_nodes!r}.")
        for name, value in (("temperature", temperature), ("edge_temperature", edge_temperature)):
            if not 0 < value < float("inf"):
                raise ValueError(f"'{name}' must be positive and finite; got {value!r}.")
        if isinstance(batch_shape, int) or any(size < 0 for size in batch_shape):
            raise ValueError(f"'batch_shape' must be a tuple of sizes; got {batch_shape!r}.")
        self.n_nodes = n_nodes
        self.permutation = permutation
        self.temperature = float(temperature)
        self.edge_temperature = float(edge_temperature)
        self.knowledge = knowledge
        shape = tuple(batch_shape)
        family = PERMUTATIONS[permutation]
        self.order_logits = nn.Parameter(
            torch.zeros(*shape, *family.logits_shape(n_nodes), dtype=dtype)
        )
        self.edge_logits = nn.Parameter(torch.zeros(*shape, n_nodes, n_nodes, dtype=dtype))
        constraints = (
            knowledge.resolve(n_nodes, names) if isinstance(knowledge, Knowledge) else knowledge
        )
        # Constants of the construction, not of the training: they move, but are not saved.
        for field in _MASKS:
            self.register_buffer(f"_{field}", getattr(constraints, field, None), persistent=False)
        self._orders = constraints is not None and constraints.orders
        self()  # a family that cannot express the knowledge says so now

    @property
    def constraints(self) -> Constraints | None:
        """The knowledge as masks on the device of the module."""
        if self.knowledge is None:
            return None
        masks = {field: self.get_buffer(f"_{field}") for field in _MASKS}
        return Constraints(**masks, orders=self._orders)

    def forward(self, *, validate_args: bool | None = None) -> DAGDistribution:
        """The distribution at the current parameters, which must not be NaN.

        Arguments:
            validate_args: False trusts the parameters to be finite, for use in a training loop.
        """
        trusted = validate_args is False or surely_finite(self.order_logits, self.edge_logits)
        if not trusted:
            for name, logits in self.named_parameters():
                if count := int(logits.isnan().sum()):
                    raise ValueError(f"'{name}' must not hold NaN; got {count} of them.")
        constraints = self.constraints
        return DAGDistribution(
            PERMUTATIONS[self.permutation](
                self.order_logits,
                temperature=self.temperature,
                constraints=constraints,
                validate_args=False if trusted else validate_args,
            ),
            EdgeDistribution(
                self.edge_logits, temperature=self.edge_temperature, constraints=constraints
            ),
        )

    def extra_repr(self) -> str:
        batch = tuple(self.edge_logits.shape[:-2])
        return f"n_nodes={self.n_nodes}, permutation={self.permutation!r}, batch_shape={batch}"
