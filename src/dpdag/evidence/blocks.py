"""Categories as causes of continuous columns: one variable, several features."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .additive import SMOOTHNESS, AdditiveEvidence, GramEvidence
from .base import Evidence
from .categories import fit_functions
from .features import lines
from .gram import gram
from .linear import LinearEvidence


class CategoryLines(Evidence):
    r"""Evidence of lines of which some variables are several columns.

    .. math:: p(x_v \mid x_S) = p(x_v \mid \{\phi_k : o_k \in S\})

    Arguments:
        x: (N, n) standardised columns.
        categories: Places of categories, which are causes only.

    Example:
        >>> site = torch.arange(90).double() % 3
        >>> level = torch.tensor([0.0, 5.0, 1.0])[site.long()] + (7 * site + torch.arange(90)).sin()
        >>> x = torch.stack([site, level], -1)
        >>> evidence = CategoryLines((x - x.mean(0)) / x.std(0), [0])
        >>> without, given = evidence.log_evidence(
        ...     torch.tensor([1, 1]), torch.tensor([[False, False], [True, False]]))
        >>> bool(given > without + 50)
        True
    """

    def __init__(
        self, x: Tensor, categories: Sequence[int], *, device: torch.device | str = "cpu"
    ) -> None:
        self.n_rows, self.n_nodes = x.shape
        features = lines(x, categories)
        self.owner = features.owner
        self.place = torch.searchsorted(self.owner, torch.arange(self.n_nodes))
        self.evidence = LinearEvidence(features.values, device=device)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.evidence.log_evidence(self.place[child], parents[:, self.owner])

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        return self.evidence.residuals(self.place[child], parents[:, self.owner])


class CategoryCurves(AdditiveEvidence):
    r"""Evidence of a sum of functions: smooth ones of numbers, any of categories.

    Effects of all values of a category have one prior, as in
    :class:`~dpdag.evidence.categories.Indicators`.

    Arguments:
        x: (N, n) standardised columns.
        y: (N, n) the same as effects.
        categories: Places of categories, which are causes only.
        n_functions: Spline functions per number.
    """

    def __init__(
        self,
        x: Tensor,
        *,
        y: Tensor,
        categories: Sequence[int],
        n_functions: int = 8,
        device: torch.device | str = "cpu",
    ) -> None:
        basis = fit_functions(x, n_functions=n_functions, categories=categories)
        self.basis, self.splines = basis, basis.splines
        self._smooth, self._features = self.splines(x).to(device), basis(x).to(device)
        self._target = y.to(device)
        precision = basis.precision(SMOOTHNESS).to(device)
        GramEvidence.__init__(self, gram(self._features, self._target), precision=precision)

    def features(self, parents: Tensor, count: int) -> Tensor:  # (b, p) -> (b, p · count, N)
        """All features of several nodes; of fewer the smoothest of their splines, as fitted models
        know them."""
        if count == self.basis.size:
            return super().features(parents, count)
        return self._smooth[:, parents, :count].permute(1, 2, 3, 0).flatten(1, 2)
