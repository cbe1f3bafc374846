"""How well node values are predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def mse(X: Any, predicted: Any, *, per_node: bool = False) -> Any:
    r"""Mean squared error of predicted node values.

    .. math:: \frac{1}{Nn} \lVert X - \hat X \rVert^2

    Arguments:
        X: (rows, nodes) observed values; array, tensor or DataFrame.
        predicted: (rows, nodes) predicted values. Two DataFrames are aligned by column name.
        per_node: Return one error per node, in the order of X, instead of their mean.

    Example:
        >>> mse([[0.0, 1.0], [2.0, 3.0]], [[0.0, 1.0], [2.0, 1.0]])
        1.0
        >>> mse([[0.0, 1.0], [2.0, 3.0]], [[0.0, 1.0], [2.0, 1.0]], per_node=True).tolist()
        [0.0, 2.0]
    """
    if hasattr(X, "columns") and hasattr(predicted, "columns"):
        if set(X.columns) != set(predicted.columns) or len(X.columns) != len(predicted.columns):
            only = sorted(map(str, set(X.columns) ^ set(predicted.columns)))
            raise ValueError(
                f"'X' and 'predicted' must have the same columns; only one has {only[:10]}."
            )
        predicted = predicted[list(X.columns)]
    observed, estimated = observations(X, "X"), observations(predicted, "predicted")
    if observed.shape != estimated.shape:
        raise ValueError(
            f"'X' and 'predicted' must have one shape; got {observed.shape} and {estimated.shape}."
        )
    errors = np.square(observed - estimated).mean(0)
    return errors if per_node else float(errors.mean())


def observations(table: Any, what: str) -> NDArray[np.float64]:  # (rows, nodes)
    """Finite values of an array, a tensor or a DataFrame."""
    if isinstance(table, torch.Tensor):
        table = table.detach().cpu().numpy()
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"'{what}' must be (rows, nodes) and not empty; got {values.shape}.")
    bad = np.flatnonzero(~np.isfinite(values).all(0))
    if bad.size:
        raise ValueError(f"'{what}' must be finite; columns {bad.tolist()} hold NaN or infinities.")
    return values
