"""What a learner's parameters mean for the solver that trains networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..distributions import Constraints
from ..seeding import base_seed, derive_seed
from .networks import settings_of
from .variational import Design, Hyper, search_orders


def hypers_of(learner: Any) -> list[Hyper]:
    """The settings of every restart."""
    seed = base_seed(learner.random_state)
    seeds = [derive_seed(seed, "restart", k) for k in range(learner.n_restarts)]
    return [settings_of(learner, Hyper, seed=own) for own in seeds]


def design_of(learner: Any) -> Design:
    """The settings that all restarts share."""
    return settings_of(learner, Design)


def start_orders(
    learner: Any,
    x: Tensor,  # (rows, n)
    constraints: Constraints,
    was_set: Tensor,  # (rows, n) bool
) -> Tensor | None:  # (r, n)
    """The orders that restarts begin with."""
    count = learner.n_restarts
    if isinstance(learner.init, str):
        if learner.init == "random":
            return None
        if learner.init != "search":
            raise ValueError(
                f"'init' must be 'search', 'random' or an order of columns; got {learner.init!r}."
            )
        seed = learner.random_state
        return search_orders(x, constraints, count, was_set=was_set, random_state=seed)
    position = {name: k for k, name in enumerate(learner._names(x.shape[1]))}
    try:
        order = torch.tensor([position[name] for name in learner.init])
    except KeyError as unknown:
        raise ValueError(f"'init' names the unknown column {unknown}.") from None
    if sorted(order.tolist()) != list(range(x.shape[1])):
        raise ValueError(f"'init' must hold each of the {x.shape[1]} columns once.")
    return order.expand(count, -1)
