"""Hyper-parameters at the public border."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple

import torch

from ..registry import suggest

_HERE = str(Path(__file__).parents[1])


class Range(NamedTuple):
    """The values a numeric parameter may take; ``None`` among them where ``optional``."""

    low: float
    high: float = math.inf
    closed: str = "both"  # which ends belong to it: "both", "left", "right", "neither"
    integer: bool = False
    optional: bool = False

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.optional
        if isinstance(value, bool) or not isinstance(value, Real):
            return False
        number = float(value)
        if math.isnan(number) or (self.integer and not number.is_integer()):
            return False
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return above and below

    def __str__(self) -> str:
        kind = "an integer" if self.integer else "a number"
        if math.isinf(self.high):
            relation = "at least" if self.closed in ("both", "left") else "above"
            text = f"{kind} {relation} {self.low:g}"
        else:
            left = "[" if self.closed in ("both", "left") else "("
            right = "]" if self.closed in ("both", "right") else ")"
            text = f"in {left}{self.low:g}, {self.high:g}{right}"
        return text + (" or None" if self.optional else "")


_POSITIVE, _SHARE = Range(0, closed="neither"), Range(0, 1, closed="neither")
_SOME, _ANY = Range(1, integer=True), Range(0, integer=True)

# By the name of a parameter, whosever it is; where None is its default, None too.
RANGES = {
    **dict.fromkeys(("learning_rate", "penalty", "time_budget", "tolerance"), _POSITIVE),
    **dict.fromkeys(("temperature", "edge_temperature"), _POSITIVE),
    **dict.fromkeys(("alpha", "edge_prior", "edge_start", "validation_fraction"), _SHARE),
    **dict.fromkeys(("batch_size", "checkpoint_every", "max_epochs", "patience"), _SOME),
    **dict.fromkeys(("hidden_units", "max_parents", "n_functions", "n_restarts"), _SOME),
    **dict.fromkeys(("n_bootstrap", "resamples"), _ANY),
    **dict.fromkeys(("edge_learning_rate", "order_learning_rate", "kl_weight"), Range(0)),
    **dict.fromkeys(("improvement", "l1", "l2", "threshold"), Range(0)),
    "n_layers": Range(2, integer=True),
    "slowing": Range(0, 1, closed="right"),
}


def check_ranges(learner: Any) -> None:
    """Refuse the first parameter outside its range by name.

    Example:
        >>> from dpdag import Correlation
        >>> check_ranges(Correlation(alpha=1.5))
        Traceback (most recent call last):
        ValueError: 'alpha' must be in (0, 1); got 1.5.
    """
    kind = type(learner)
    ranges = {**RANGES, **kind.ranges}
    for name, value in learner.get_params(deep=False).items():
        if name in ranges:
            allowed = ranges[name]
            if getattr(kind, name) is None:
                allowed = allowed._replace(optional=True)
            if value not in allowed:
                raise ValueError(f"'{name}' must be {allowed}; got {value!r}.")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a value that is none of several."""
    if value not in choices:
        raise ValueError(f"'{name}' must be {' or '.join(map(repr, choices))}; got {value!r}.")


def check_mechanism(name: str, known: Sequence[str]) -> None:
    """Refuse a mechanism that a learner does not know, with the nearest that it does."""
    if name not in known:
        raise ValueError(
            f"Unknown mechanism {name!r}.{suggest(name, [*known])} Known: {', '.join(known)}."
        )


def resolve_device(device: str | torch.device) -> str:
    """The device to use for ``"auto"`` or a name, refused when this machine has none such."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        kind = torch.device(device)
    except RuntimeError:
        raise ValueError(
            f"'device' must be 'auto', 'cpu' or a CUDA device; got {device!r}."
        ) from None
    if kind.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"'device' is {device!r}, but there is no CUDA device; use 'auto'.")
    return str(kind)


def warn_caller(said: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, however deep in it the reason was found."""
    frame, level, outermost = sys._getframe(), 1, 1
    while (outer := frame.f_back) is not None:
        if frame.f_code.co_filename.startswith(_HERE):
            outermost = level
        frame, level = outer, level + 1
    warnings.warn(said, category, stacklevel=outermost + 1)


def check_count(name: str, value: Any) -> None:
    """How many draws are asked for."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name!r} must be a whole number above 0; got {value!r}.")
