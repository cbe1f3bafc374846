"""The parameters of VIDPDAG at the public border."""

from __future__ import annotations

from typing import Any

from ..distributions import PERMUTATIONS
from ..mechanisms import MECHANISMS
from ..objectives import LIKELIHOODS
from ..registry import suggest
from .checks import Range, check_ranges
from .families import INTEGRATED

__all__ = ["check_parameters", "is_trained"]

_POSITIVE = Range(0, closed="neither")
_RANGES = {
    "hidden_units": Range(1, integer=True),
    "n_layers": Range(2, integer=True),
    "n_restarts": Range(1, integer=True, optional=True),
    "kl_weight": Range(0),
    "edge_prior": Range(0, 1, closed="neither", optional=True),
    "time_budget": _POSITIVE,
    "edge_start": Range(0, 1, closed="neither"),
    "learning_rate": _POSITIVE,
    "order_learning_rate": Range(0),
    "edge_learning_rate": Range(0),
    "temperature": _POSITIVE,
    "edge_temperature": _POSITIVE,
    "max_epochs": Range(1, integer=True),
    "batch_size": Range(1, integer=True),
    "patience": Range(1, integer=True, optional=True),
    "validation_fraction": Range(0, 1, closed="neither"),
    "checkpoint_every": Range(1, integer=True),
}
_CHOICES = {"missing": ("error", "impute"), "combine": ("mixture", "best")}


def is_trained(mechanism: str) -> bool:
    """Whether a mechanism is trained by gradients rather than integrated out."""
    return mechanism in MECHANISMS and mechanism not in INTEGRATED


def check_parameters(learner: Any) -> None:
    """Refuse the first parameter that cannot be, by name."""
    check_ranges(learner.get_params(deep=False), _RANGES)
    PERMUTATIONS[learner.permutation]
    LIKELIHOODS[learner.likelihood]
    known = sorted({"auto", *MECHANISMS, *INTEGRATED})
    if learner.mechanism not in known:
        raise ValueError(
            f"Unknown mechanism {learner.mechanism!r}.{suggest(learner.mechanism, known)} "
            f"Known: {', '.join(known)}."
        )
    if not is_trained(learner.mechanism) and learner.permutation != "topk":
        raise ValueError(
            f"permutation={learner.permutation!r} needs mechanism='mlp'; with the functions "
            "integrated out the order is 'topk'."
        )
    for name, choices in _CHOICES.items():
        if getattr(learner, name) not in choices:
            listed = " or ".join(map(repr, choices))
            raise ValueError(f"'{name}' must be {listed}; got {getattr(learner, name)!r}.")
