"""Runs of additions find causes that act together, also where sums hold a set so far."""

import numpy as np
import torch
from torch import Tensor

from dpdag import Knowledge
from dpdag.columns import standardise
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.search.climb import Climb
from dpdag.search.greedy_runs import _PATIENCE, _Run, run_greedily
from dpdag.search.prior import EdgePrior

N = 8


def table() -> Tensor:  # (400, 8): 0 + 1 + (1 · 2) → 3, and (4 · 5) → 6 and 7
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(400, 7, generator=generator).double()
    last = 0.5 * torch.randn(400, 1, generator=generator).double()
    x = noise.clone()
    x[:, 3] = torch.sin(2 * x[:, 0]) + torch.cos(2 * x[:, 1]) + x[:, 1] * x[:, 2]
    x[:, 3] += 0.3 * noise[:, 3]
    x[:, 6] = x[:, 4] * (1 + x[:, 5]) + 0.3 * noise[:, 6]
    return standardise(torch.cat([x, x[:, 4:5] * x[:, 5:6] + last], -1))[0]


def graph(*edges: tuple[int, int]) -> Tensor:
    adjacency = torch.zeros(N, N, dtype=torch.bool)
    for edge in edges:
        adjacency[edge] = True
    return adjacency


def evidence() -> MixtureEvidence:
    return MixtureEvidence(table(), functions=["linear", "additive", "gp"], any_noise=False)


def test_a_process_promises_what_sums_do_not_see() -> None:
    own, child = evidence(), torch.tensor([3])
    parents = graph((0, 3), (1, 3)).T[child].contiguous()
    assert own._held_by(child, parents).tolist() == [-1]  # sums hold it
    promised = own.joint_screens(child, parents)
    assert promised is not None
    assert int(promised[0].argmax()) == 2
    assert promised[0, 2] > 10
    assert promised[0, 2] > 2 * promised[0, 4:].max()  # which have nothing to do with it


def test_sets_are_looked_at_afresh() -> None:
    own, child = evidence(), torch.tensor([3])
    parents = graph((0, 3), (1, 3), (2, 3)).T[child].contiguous()
    own.log_evidence(child, graph((0, 3), (1, 3)).T[child].contiguous())
    low = torch.full((1,), -1e9, dtype=torch.float64)
    skipped = own.reach(child, parents, low)
    seen = own.reach(child, parents, low, torch.ones(1, dtype=torch.bool))
    assert seen > skipped + 10
    torch.testing.assert_close(seen, evidence().log_evidence(child, parents), atol=3.0, rtol=0)


def test_runs_go_on_from_what_sums_hold() -> None:
    start = graph((0, 3), (1, 3), (4, 6), (5, 6), (4, 7), (5, 7))  # most act together
    causes_first = Knowledge(tiers=[[0, 1, 2, 4, 5], [3, 6, 7]]).resolve(N)
    climb = Climb(evidence(), causes_first, EdgePrior.priced(2.0), 14, start)
    before = climb.total
    assert run_greedily(climb)
    assert climb.edges[2, 3]
    assert climb.total > before + 10


def test_a_run_ends_after_additions_in_a_row_that_bring_nothing() -> None:
    none = torch.zeros(N, dtype=torch.bool)
    run = _Run(0, np.zeros(N), 0.0, N, none, 0.0)
    for total in (-1.0, -2.0, -1.5):  # the last brings something, though nothing is better yet
        assert run.goes_on
        run.add(none, total)
    for step in range(_PATIENCE):
        assert run.goes_on
        run.add(none, -1.5 - 0.1 * (step + 1))
    assert not run.goes_on
