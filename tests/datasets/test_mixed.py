"""Mixed tables hold every type in every role, and interventions change descendants only."""

from collections import defaultdict

import numpy as np
import pytest
import torch

from dpdag.datasets import COLUMN_TYPES, MixedModel, mixed
from dpdag.ops.graphs import reachability


def test_every_type_is_root_middle_and_leaf_over_few_draws() -> None:
    seen = defaultdict(set)
    for seed in range(10):
        data = mixed(12, 50, random_state=seed)
        for node, name in enumerate(data.names):
            inward, outward = data.adjacency[:, node].any(), data.adjacency[node].any()
            seen[data.types[name]].add("root" if not inward else "middle" if outward else "leaf")
    assert seen == {kind: {"root", "middle", "leaf"} for kind in COLUMN_TYPES}


@pytest.mark.parametrize("seed", range(3))
def test_values_are_of_the_type_of_their_column(seed: int) -> None:
    data = mixed(15, 1000, random_state=seed)
    for x, kind in zip(data.X.T, data.types.values()):
        if kind != "continuous":
            assert (x == np.round(x)).all()
            assert x.min() >= 0
        assert len(np.unique(x)) > 1
        assert kind != "binary" or set(x) == {0.0, 1.0}
        assert kind not in ("ordinal", "category") or len(np.unique(x)) <= 5


def test_interventions_change_descendants_only() -> None:
    data = mixed(10, 10, random_state=2)
    model = MixedModel(data.adjacency, tuple(data.types.values()), 2)
    plain = model.draw(500, random_state=0)
    target = int(data.adjacency.sum(1).argmax())
    forced = model.draw(500, do={target: 1.0}, random_state=0)
    below = reachability(torch.from_numpy(data.adjacency))[target].numpy()
    changed = (plain != forced).any(0)
    assert not changed[~below & (np.arange(10) != target)].any()
    assert changed[data.adjacency[target] == 1].all()


def test_the_same_seed_gives_the_same_table() -> None:
    np.testing.assert_array_equal(mixed(8, 30, random_state=1).X, mixed(8, 30, random_state=1).X)
    assert (mixed(8, 30, random_state=1).X != mixed(8, 30, random_state=2).X).any()
