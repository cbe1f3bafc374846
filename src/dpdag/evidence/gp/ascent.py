"""A batch of small bounded maximisations at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

_HOPE = 3.0  # times what a step promises, that an ascent may bring at most

Objective = Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]


class Ascent(NamedTuple):
    """Where a batch of maximisations ended.

    Attributes:
        value: (b,) best values found.
        point: (b, p) where they were found.
        details: (b, m) what the objective tells besides there.
        inverse_hessian: (b, p, p) curvature estimate of the negated function, to start another.
        given_up: (b,) bool, members that were left because they would not reach their target.
    """

    value: Tensor
    point: Tensor
    details: Tensor
    inverse_hessian: Tensor
    given_up: Tensor


def maximise(
    objective: Objective,
    start: Tensor,  # (b, p)
    *,
    lower: Tensor,  # (p,) or (b, p)
    upper: Tensor,  # (p,) or (b, p)
    inverse_hessian: Tensor,  # (b, p, p)
    steps: int,
    tolerance: float = 0.1,
    trust: float = 0.0,
    target: Tensor | None = None,  # (b,)
) -> Ascent:
    r"""BFGS ascent in a box, each member of the batch on its own path.

    .. math:: p \leftarrow \mathrm{clip}(p + H \nabla f(p)), \qquad H \approx -(\nabla^2 f)^{-1}

    A step that does not raise the value is undone, but its curvature is kept. A member stops when
    the rise along its gradient is below ``tolerance``. A step that promises less than ``trust`` is
    a member's last and is not looked at: the quadratic model says what it brings, half the rise.

    Arguments:
        objective: ``(rows, points) -> (values, gradients, details)``: for the members ``rows`` (k,)
            at ``points`` (k, p), with whatever else is wanted of the points evaluated last.
        start: First points; moved into the box.
        steps: Evaluations of a member after the first, at most.
        target: A member that promises to stay below is given up.
    """
    point = start.clamp(lower, upper)
    lower, upper = lower.expand_as(point), upper.expand_as(point)
    hessian = inverse_hessian.clone()
    active = torch.arange(len(point))
    value, gradient, details = objective(active, point)
    given_up = torch.zeros(len(point), dtype=torch.bool)
    for _ in range(steps):
        step = _direction(point[active], gradient[active], hessian[active], lower, upper, active)
        rise = (gradient[active] * step).sum(-1)
        trial = (point[active] + step).clamp(lower[active], upper[active])
        if target is not None:
            hopeless = value[active] + _HOPE * rise.clamp(min=0) + tolerance < target[active]
            given_up[active[hopeless]] = True
            active, trial, rise = active[~hopeless], trial[~hopeless], rise[~hopeless]
        last = (rise > 0) & (rise <= trust)
        value[active[last]] += rise[last] / 2
        point[active[last]] = trial[last]
        go = rise > max(tolerance, trust)
        active, trial = active[go], trial[go]
        if not len(active):
            break
        trial_value, trial_gradient, trial_details = objective(active, trial)
        hessian[active] = _bfgs(
            hessian[active], trial - point[active], gradient[active] - trial_gradient
        )
        better = trial_value > value[active]
        rows = active[better]
        point[rows], value[rows] = trial[better], trial_value[better]
        gradient[rows], details[rows] = trial_gradient[better], trial_details[better]
        hessian[active[~better]] *= 0.5
    return Ascent(value, point, details, hessian, given_up)


def _direction(
    point: Tensor,  # (k, p)
    gradient: Tensor,  # (k, p)
    hessian: Tensor,  # (k, p, p)
    lower: Tensor,
    upper: Tensor,
    rows: Tensor,
) -> Tensor:  # (k, p)
    """The quasi-Newton step along free coordinates, at most one unit long in each."""
    low, high = lower[rows], upper[rows]
    stuck = ((point <= low) & (gradient < 0)) | ((point >= high) & (gradient > 0))
    free = gradient.masked_fill(stuck, 0)
    step = torch.einsum("kij,kj->ki", hessian, free).masked_fill(stuck, 0)
    uphill = (step * free).sum(-1, keepdim=True) > 0
    diagonal = hessian.diagonal(dim1=-2, dim2=-1)
    step = torch.where(uphill, step, free * diagonal.abs())
    return step / step.abs().amax(-1, keepdim=True).clamp(min=1)


def _bfgs(hessian: Tensor, step: Tensor, change: Tensor) -> Tensor:  # (k, p, p), (k, p), (k, p)
    """The BFGS update of an inverse Hessian; left as it is where the curvature is not negative."""
    curvature = (step * change).sum(-1)
    valid = curvature > 1e-8
    scale = 1 / torch.where(valid, curvature, torch.ones_like(curvature))
    identity = torch.eye(step.shape[-1], dtype=step.dtype)
    left = identity - scale[:, None, None] * step[:, :, None] * change[:, None, :]
    updated = left @ hessian @ left.mT + scale[:, None, None] * step[:, :, None] * step[:, None, :]
    return torch.where(valid[:, None, None], updated, hessian)
