"""Adam with a learning rate for every replica."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

# Decay of the first and second moment; without the first, Adam is RMSprop with corrected bias.
ADAM = (0.9, 0.999)
RMSPROP = (0.0, 0.99)
_EPS = 1e-8


class ReplicaAdam:
    r"""Adam over parameters with leading replica axes, each replica at its own learning rate.

    .. math:: \theta_r \leftarrow \theta_r - \eta_r\, \hat m_r / (\sqrt{\hat v_r} + \epsilon)

    A replica whose rate is zero stands still, so replicas can be frozen one by one.

    Arguments:
        parameters: Named tensors of shape (\*replicas, …).
        rates: Learning rates by the same names, each a number or a tensor of shape (\*replicas).

    References:
        | Adam: A Method for Stochastic Optimization (Kingma and Ba, 2015)
        | https://arxiv.org/abs/1412.6980

    Example:
        >>> x = torch.zeros(2, 3, requires_grad=True)
        >>> adam = ReplicaAdam({"x": x}, {"x": torch.tensor([0.1, 0.0])})
        >>> (x - 1).square().sum().backward()
        >>> adam.step()
        >>> [round(value, 6) for value in x.mean(-1).tolist()]
        [0.1, 0.0]
    """

    def __init__(
        self,
        parameters: Mapping[str, Tensor],
        rates: Mapping[str, float | Tensor],
        *,
        betas: tuple[float, float] = ADAM,
    ) -> None:
        self.names = list(parameters)
        self.parameters = [parameters[name] for name in self.names]
        self.rates = [aligned(rates[name], parameters[name]).clone() for name in self.names]
        self._common = _common_rates(self.rates)
        self.betas = betas
        self.version = 0  # of what a recorded step would repeat as it was
        self.steps = torch.zeros((), device=self.parameters[0].device)
        self.first = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.second = [torch.zeros_like(parameter) for parameter in self.parameters]
        self._scratch = [torch.zeros_like(parameter) for parameter in self.parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, *, scale: float = 1.0) -> None:
        """One update from the gradients, which all parameters must have.

        Arguments:
            scale: Factor on all learning rates, for a schedule.
        """
        self.steps += 1
        grads = [g for g in (p.grad for p in self.parameters) if g is not None]
        if self._common is None:
            self._step_apart(grads, scale)
            return
        # One rate for all replicas: torch's fused kernel makes a single pass over memory.
        for rate, members in self._common.items():
            torch._fused_adam_(
                [self.parameters[k] for k in members],
                [grads[k] for k in members],
                [self.first[k] for k in members],
                [self.second[k] for k in members],
                [],
                [self.steps for _ in members],
                lr=rate * scale,
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=0.0,
                eps=_EPS,
                amsgrad=False,
                maximize=False,
            )

    def _step_apart(self, grads: list[Tensor], scale: float) -> None:
        """The update where replicas have rates of their own."""
        beta1, beta2 = self.betas
        # A graph on a device can read no numbers; elsewhere they are quicker than tensors.
        steps = self.steps if self.steps.is_cuda else self.steps.item()
        torch._foreach_lerp_(self.first, grads, 1 - beta1)
        torch._foreach_mul_(self.second, beta2)
        torch._foreach_addcmul_(self.second, grads, grads, 1 - beta2)
        # The rate goes into the denominator, where zero freezes a replica; few passes over memory.
        correction = (1 - beta2**steps) ** 0.5
        denominators = self._scratch
        torch._foreach_copy_(denominators, self.second)
        torch._foreach_sqrt_(denominators)
        torch._foreach_add_(denominators, _EPS * correction)
        torch._foreach_div_(denominators, self.rates)
        step = scale * correction / (1 - beta1**steps)
        if isinstance(step, Tensor):
            torch._foreach_div_(denominators, step)
            step = 1.0
        torch._foreach_addcdiv_(self.parameters, self.first, denominators, -step)

    def slow(self, which: Tensor, factor: float) -> None:  # (*replicas) bool
        """Let some replicas take smaller steps from now on, or none."""
        rates = [
            torch.where(aligned(which, parameter), rate * factor, rate)
            for rate, parameter in zip(self.rates, self.parameters)
        ]
        common = _common_rates(rates)
        if common is None and self._common is None:
            torch._foreach_copy_(self.rates, rates)
        else:
            self.rates, self._common, self.version = rates, common, self.version + 1

    def state_dict(self) -> dict[str, Tensor]:
        """Moments, rates and the number of steps as named tensors."""
        state = {"steps": self.steps.long()}
        for k, name in enumerate(self.names):
            for part in ("first", "second", "rates"):
                state[f"{part}.{name}"] = getattr(self, part)[k].clone()
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from a state as if never interrupted."""
        self.steps.copy_(state["steps"])
        for part in ("first", "second", "rates"):
            like = getattr(self, part)
            values = [state[f"{part}.{name}"].to(old) for name, old in zip(self.names, like)]
            setattr(self, part, [value.clone() for value in values])
        self._common = _common_rates(self.rates)
        self.version += 1


def aligned(value: float | Tensor, parameter: Tensor) -> Tensor:
    """A per-replica value, shaped to broadcast over the parameter's other axes."""
    value = torch.as_tensor(value, device=parameter.device)
    if value.dtype != torch.bool:
        value = value.to(parameter.dtype)
    return value.reshape(*value.shape, *[1] * (parameter.ndim - value.ndim))


def _common_rates(rates: list[Tensor]) -> dict[float, list[int]] | None:
    """Parameters by learning rate, or None where replicas differ in it."""
    groups: dict[float, list[int]] = {}
    for k, rate in enumerate(rates):
        low, high = float(rate.min()), float(rate.max())
        if low != high:
            return None
        groups.setdefault(low, []).append(k)
    return groups
