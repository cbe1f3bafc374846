"""Transformations of many columns in one evaluation are those found one by one."""

import pytest
import torch
from torch import Tensor

from dpdag import Knowledge
from dpdag.columns import TRANSFORMS, standardise
from dpdag.evidence.linear import LinearEvidence
from dpdag.search.prior import EdgePrior
from dpdag.search.transformations import _Judge

N = 6


def bent(seed: int) -> Tensor:  # (300, 6): a chain, two columns of it bent
    noise = torch.randn(300, N, generator=torch.Generator().manual_seed(seed)).double()
    x = noise.clone()
    for k in range(1, N):
        x[:, k] = torch.sin(x[:, k - 1]) + 0.5 * noise[:, k]
    x[:, 1], x[:, 4] = x[:, 1].exp(), x[:, 4] ** 3
    return standardise(x)[0]


def judge(x: Tensor, was_set: Tensor) -> _Judge:
    limits = Knowledge().resolve(N)
    return _Judge(x, was_set, EdgePrior.of(limits), limits, {"device": "cpu"})


def some_set() -> Tensor:
    was_set = torch.zeros(300, N, dtype=torch.bool)
    was_set[:80, 3] = True
    return was_set


CHAIN = torch.diag(torch.ones(N - 1), 1).bool()


@pytest.mark.parametrize("was_set", [torch.zeros(300, N).bool(), some_set()], ids=["seen", "set"])
def test_changes_at_once_are_worth_what_they_are_one_by_one(was_set: Tensor) -> None:
    one = judge(bent(0), was_set)
    (now,) = one.evaluate(("identity",) * N, CHAIN)
    changes = [(column, kind) for column in (1, 4) for kind in TRANSFORMS[1:]]
    column = torch.tensor([column for column, _ in changes])
    own = one.columns([kind for _, kind in changes], column.tolist())
    which, child = (CHAIN[column] | torch.nn.functional.one_hot(column, N).bool()).nonzero().T
    values = one._changed(now, column, own, which, child)
    for k, (changed, kind) in enumerate(changes):
        kinds = tuple(kind if v == changed else "identity" for v in range(N))
        (whole,) = one.evaluate(kinds, CHAIN)
        # Priors of lines are told by the columns that are looked at together, which differ.
        torch.testing.assert_close(
            values[which == k], whole.values[child[which == k]], atol=1.0, rtol=0
        )


def test_changes_of_neighbours_wait_for_each_other() -> None:
    one = judge(bent(1), torch.zeros(300, N).bool())
    (now,) = one.evaluate(("identity",) * N, CHAIN)
    found, again = one._change(now, [(1, "logarithm"), (2, "logit"), (4, "signed logarithm")])
    assert found.kinds[1] == "logarithm"
    assert found.kinds[4] == "signed logarithm"
    assert again == [(2, "logit")]  # which is an effect of the first
    assert found.total > now.total
    (whole,) = one.evaluate(found.kinds, CHAIN)
    assert found.total == pytest.approx(whole.total, abs=4.0)


def test_lines_are_told_by_the_first_columns_alone() -> None:
    x = bent(0)
    twice = torch.cat([x, x + 1e-4 * x.flip(0)], -1)  # nearly the same again
    assert LinearEvidence(twice)._scale < LinearEvidence(x)._scale
    assert LinearEvidence(twice, told_by=N)._scale == LinearEvidence(x)._scale
