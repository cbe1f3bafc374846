"""Evidence of linear models."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .additive import GramEvidence
from .gram import gram

__all__ = ["LinearEvidence"]

CRITERIA = ("marginal", "bic")


class LinearEvidence(GramEvidence):
    r"""Evidence of a linear combination of the parents.

    .. math:: x_v = \sum_{j \in S} \beta_j x_j + \epsilon

    Arguments:
        x: (rows, n) standardised columns.
        criterion: "marginal" integrates the coefficients out under
            :math:`\beta_j \sim N(0, \sigma^2)`; "bic" maximises over them and subtracts
            :math:`\tfrac{|S|}{2} \log N`.
        weights: (replicas, rows) how often each row counts.
        device: Where to compute.

    Example:
        >>> x = torch.linspace(-1, 1, 100, dtype=torch.float64)
        >>> x = torch.stack([x, 2 * x + 0.1 * (40 * x).sin()], dim=1)
        >>> evidence = LinearEvidence((x - x.mean(0)) / x.std(0, correction=0), criterion="bic")
        >>> sets = torch.tensor([[False, False], [True, False]])
        >>> bool(evidence.log_evidence(torch.tensor([1, 1]), sets).diff() > 100)
        True
    """

    def __init__(
        self,
        x: Tensor,
        *,
        criterion: str = "marginal",
        weights: Tensor | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        if criterion not in CRITERIA:
            raise ValueError(f"'criterion' must be one of {CRITERIA}; got {criterion!r}.")
        self.criterion = criterion
        moments = gram(x.unsqueeze(-1).to(device), x.to(device), weights)
        # BIC has no prior: just enough to keep the equations solvable.
        precision = 1.0 if criterion == "marginal" else 1e-8 * moments.n_rows
        super().__init__(
            moments,
            precision=x.new_full((1, x.shape[1], 1), precision, device=device),
            n_replicas=None if weights is None else len(weights),
        )

    def _value(self, residual: Tensor, log_det: Tensor, n_parents: int) -> Tensor:
        if self.criterion == "bic":
            log_det = torch.full_like(log_det, n_parents * math.log(self.moments.n_rows))
        return super()._value(residual, log_det, n_parents)
