"""The evidence lower bound of VI-DP-DAG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import softplus

from ..distributions import DPDAG, DAGDistribution, Noise, Seeds
from ..mechanisms import Mechanism
from ..ops.noise import gumbel, logistic, to_gumbel, to_logistic
from .base import KnownGradient, Objective, streams
from .likelihoods import Likelihood


class Terms(NamedTuple):
    """A loss and its parts, one value per replica."""

    total: Tensor
    reconstruction: Tensor
    kl: Tensor


def edge_kl(edge_logits: Tensor, prior: Tensor | float) -> Tensor:  # (*, n, n) -> (*, n, n)
    r"""Divergence of every edge's Bernoulli distribution from its prior, in closed form.

    .. math:: \mathrm{KL}(p \,\|\, q) = p \log\frac{p}{q} + (1 - p) \log\frac{1 - p}{1 - q}

    Arguments:
        edge_logits: φ, finite, with p = σ(φ).
        prior: q in (0, 1), broadcast against φ.

    Example:
        >>> edge_kl(torch.zeros(1, 1), 0.5).item()
        0.0
    """
    logits = edge_logits.detach()
    prior_logit = torch.as_tensor(prior, dtype=logits.dtype, device=logits.device).logit()
    p, odds = torch.sigmoid(logits), logits - prior_logit
    divergence = (p * odds).sub_(softplus(logits)).add_(softplus(prior_logit))
    slope = torch.addcmul(p, p, p, value=-1).mul_(odds)  # p(1 − p)(φ − φ₀), φ₀ the prior's logit
    return KnownGradient.apply(edge_logits, divergence, slope)


class ELBO(Objective):
    r"""The objective of VI-DP-DAG, as a loss per replica.

    .. math:: \frac{1}{bn} \sum -2 \log P_\theta(x \mid A)
        + \frac{\lambda}{n^2} \sum_{ij} \mathrm{KL}(P_\phi(U_{ij}) \,\|\, P_\text{prior}),
        \qquad A \sim P_{\phi, \psi}(A)

    One DAG is sampled per replica and evaluation, as in the paper. Both terms are means, so that
    λ keeps its meaning for any number of rows and nodes.

    Arguments:
        dags: DP-DAG with batch shape (r,).
        mechanism: Networks of r replicas.
        likelihood: Of values around predictions.
        kl_weight: λ, (r,).
        edge_prior: Prior probability of an edge, (r,).
    """

    validation_samples = 8
    kl_weight: Tensor
    edge_prior: Tensor
    free: Tensor

    def __init__(
        self,
        dags: DPDAG,
        mechanism: Mechanism,
        likelihood: Likelihood,
        *,
        kl_weight: Tensor,
        edge_prior: Tensor,
    ) -> None:
        super().__init__()
        self.dags = dags
        self.mechanism = mechanism
        self.likelihood = likelihood
        self.register_buffer("kl_weight", kl_weight, persistent=False)
        self.register_buffer("edge_prior", edge_prior[:, None, None], persistent=False)
        # Weight in the mean of the edges that knowledge leaves open; the others cost nothing.
        constraints, n = dags.constraints, dags.n_nodes
        free = ~torch.eye(n, dtype=torch.bool)
        if constraints is not None:
            free = constraints.allowed & ~constraints.required
        self.register_buffer("free", free.to(kl_weight.dtype) / n**2, persistent=False)

    def forward(
        self, x: Tensor, noise: Noise | Seeds, weight: Tensor | None = None
    ) -> Terms:  # (r, n, b)
        """Loss of one minibatch per replica, under the DAGs that ``noise`` makes."""
        predicted = self.mechanism(x, self.dags(validate_args=False).dags_from(noise))
        reconstruction = self.likelihood(x, predicted, weight)
        kl = self.kl()
        return Terms(reconstruction + self.kl_weight * kl, reconstruction, kl)

    def kl(self) -> Tensor:  # (r,)
        """Mean divergence of the edges from their prior."""
        return (edge_kl(self.dags.edge_logits, self.edge_prior) * self.free).sum((-2, -1))

    # What the training loop asks for ---------------------------------------------------------

    @property
    def capturable(self) -> bool:
        """Where kernels make graphs from seeds, nothing depends on the host."""
        return self.dags(validate_args=False).seeded

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> Noise | Tensor:
        """Noise of ``steps`` evaluations, (steps, r, …), each replica from its own stream.

        Or seeds (steps, r), where kernels make the noise.
        """
        if self.capturable:
            seeds = torch.empty(len(generators), steps, dtype=torch.int64, device=self.free.device)
            for own, generator in zip(seeds, generators):
                own.random_(generator=generator)
            return seeds.mT.contiguous()
        return Noise(
            to_gumbel(streams(self.dags.order_logits, steps, generators)),
            to_logistic(streams(self.dags.edge_logits, steps, generators)),
        )

    def loss(
        self, x: Tensor, noise: Noise | Tensor, step: int, weight: Tensor | None = None
    ) -> dict[str, Tensor]:
        """The terms of one step."""
        own: Noise | Seeds
        if isinstance(noise, Tensor):
            own = Seeds(noise[step])
        else:
            own = Noise(noise.order[step], noise.edges[step])
        return self(x, own, weight)._asdict()

    @torch.no_grad()
    def summary(self) -> dict[str, Tensor]:
        """The number of edges of the modal graph."""
        return {"edges": self.dags(validate_args=False).mode.sum((-2, -1))}

    @torch.no_grad()
    def validation(self, x: Tensor, weight: Tensor | None = None) -> Tensor:  # -> (r,)
        """Mean loss over a few fixed draws of noise, the same at every check."""
        q = self.dags(validate_args=False)
        x = x.expand(*q.batch_shape, -1, -1)
        total = torch.zeros_like(self.kl_weight)
        for noise in self._validation_noise(q):
            total += self(x, noise, weight).total
        return total / self.validation_samples

    def _validation_noise(self, q: DAGDistribution) -> Iterator[Noise | Seeds]:
        """The same for every replica."""
        if q.seeded:
            for seed in range(self.validation_samples):
                yield Seeds(self.free.new_full(q.batch_shape, seed, dtype=torch.int64))
            return
        logits = q.permutation.logits
        generator = torch.Generator(logits.device).manual_seed(0)
        for _ in range(self.validation_samples):
            yield Noise(
                gumbel(logits.shape[1:], like=logits, generator=generator),
                logistic(q.event_shape, like=logits, generator=generator),
            )
