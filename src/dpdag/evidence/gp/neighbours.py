"""Parent sets with one node more or less, and kernel parameters to look at them with."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

_NOISIER = math.log(4)  # noise that may take the place of a parent


class Trials(NamedTuple):
    """Parent sets to evaluate, with logarithms of length scales of all nodes."""

    row: Tensor  # (t,) which of the sets they come from
    node: Tensor  # (t,) the one toggled, -1 for none
    sets: Tensor  # (t, n) bool
    scales: Tensor  # (t, n)
    ends: Tensor  # (t, 2) noise and the kernel's other parameter

    def take(self, which: Tensor) -> Trials:
        """Some of them."""
        return Trials(*(part[which] for part in self))


def neighbours(
    child: Tensor,  # (b,) nodes
    parents: Tensor,  # (b, n) bool, none empty
    parameters: list[Tensor],  # (|S| + 2,) each
) -> Trials:
    """Every set itself, with each other node, and without each member, there with two noises.

    A new member gets the typical length scale of those there.
    """
    scales, ends = widest(parents, parameters)
    every = torch.arange(len(parents))
    others = ~torch.nn.functional.one_hot(child, parents.shape[1]).bool()
    row, node = others.nonzero(as_tuple=True)
    toggled = parents[row]
    toggled[torch.arange(len(row)), node] ^= True
    kept = toggled.any(-1)  # what is left without a single parent is known anyway
    row, node, toggled = row[kept], node[kept], toggled[kept]
    same = Trials(every, torch.full_like(every, -1), parents, scales, ends)
    changed = Trials(row, node, toggled, scales[row], ends[row])
    again = changed.take(parents[row, node])
    again = again._replace(ends=again.ends + torch.tensor([_NOISIER, 0.0], dtype=ends.dtype))
    return Trials(*(torch.cat(parts) for parts in zip(same, changed, again)))


def widest(parents: Tensor, parameters: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Length scales (b, n) of all nodes, typical ones outside the sets, and the rest (b, 2).

    Example:
        >>> scales, ends = widest(torch.tensor([[True, False]]), [torch.tensor([0.5, -1.0, 0.0])])
        >>> scales.tolist(), ends.tolist()
        ([[0.5, 0.5]], [[-1.0, 0.0]])
    """
    typical = torch.stack([typical_scale(each) for each in parameters])
    scales = typical[:, None].repeat(1, parents.shape[1])
    scales[parents] = torch.cat([each[:-2] for each in parameters])
    return scales, torch.stack([each[-2:] for each in parameters])


def typical_scale(parameters: Tensor) -> Tensor:  # (|S| + 2,) -> ()
    """Logarithm of the length scale to look at another parent with."""
    return parameters[:-2].clamp(max=math.log(4)).mean()
