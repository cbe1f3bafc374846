"""What the measures and tables of our own experiments say, on small graphs that are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpdag import datasets
from dpdag.datasets import Dataset, Provenance
from dpdag.experiments import EXPERIMENTS
from dpdag.experiments.measures import Fitted
from dpdag.experiments.own.hidden_causes import HIDING, confounded, pairs, table
from dpdag.experiments.own.interventions import directions, essential, set_columns
from dpdag.experiments.own.real_tables import ROOTS, into_roots
from dpdag.experiments.own.sachs_conditions import against_consensus
from dpdag.experiments.sources import benchmark
from dpdag.ops.enumeration import all_dags

TABLES = ("galton, redrawn", "titanic", "diabetes", "wine")
NOT_GRAPHS = ("sampling-time", "processing-time", "direct-learning")  # take more than a graph


def of_graph(data: Dataset, graph: np.ndarray) -> Fitted:
    """A learner that has a graph and nothing else."""
    return Fitted(SimpleNamespace(adjacency_=graph), data)


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in NOT_GRAPHS])
def test_a_learner_that_has_nothing_but_a_graph_joins_every_table(name: str) -> None:
    experiment = EXPERIMENTS[name]
    source = experiment.sources[0]
    from_file = source.load is benchmark or name == "sachs-conditions"
    data = datasets.load("ER-10-10") if from_file else source(source.first)
    for measure in experiment.measures:
        measure(of_graph(data, data.adjacency))


def equivalent(dag: np.ndarray, other: np.ndarray, targets: list[int]) -> bool:
    """Same links and colliders, also after all arrows into each single target were cut."""

    def features(graph: np.ndarray) -> list:
        found = []
        for target in [None, *targets]:
            cut = graph.copy()
            if target is not None:
                cut[:, target] = 0
            linked = cut | cut.T
            colliders = {
                (i, k, j)
                for i in range(len(cut))
                for j in range(i)
                for k in range(len(cut))
                if cut[i, k] and cut[j, k] and not linked[i, j]
            }
            found.append((linked.tolist(), colliders))
        return found

    return features(dag) == features(other)


@pytest.mark.parametrize("targets", [[], [0], [1, 3]])
def test_a_class_is_the_union_of_all_dags_that_the_experiments_cannot_tell_apart(
    targets: list[int],
) -> None:
    dags = all_dags(4).numpy() != 0
    for dag in dags[:: len(dags) // 40]:
        union = np.any([other for other in dags if equivalent(dag, other, targets)], axis=0)
        assert np.array_equal(essential(dag, np.array(targets, dtype=int)), union)


def test_the_true_graph_is_half_right_where_nothing_tells_its_directions() -> None:
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    provenance = Provenance("generated", "")
    seen = Dataset(np.zeros((4, 3)), chain, ["a", "b", "c"], "chain", provenance)
    mask = np.zeros((4, 3), dtype=bool)
    mask[0, 0] = True
    told = Dataset(seen.X, chain, seen.names, "chain", provenance, mask)
    observed, settled = (directions(of_graph(data, chain)) for data in (seen, told))
    assert (observed["directed right"], observed["F1"], observed["SHD"]) == (0.5, 0.5, 1.0)
    assert (settled["directed right"], settled["F1"], settled["SHD"]) == (1.0, 1.0, 0.0)


def test_more_targets_add_rows_and_change_none() -> None:
    few, many = (set_columns("", 0, columns=10, targets=k) for k in (2, 5))
    assert np.array_equal(few.X, many.X[: len(few.X)])
    assert (few.mask.sum(0) > 0).sum() == 2
    assert set(many.mask.sum(0).tolist()) == {0, 100}


@pytest.mark.parametrize("kind", HIDING)
def test_pairs_with_a_hidden_cause_are_those_that_lost_one(kind: str) -> None:
    data, common = table(kind, 100), confounded(kind, 100)
    assert common.shape == data.adjacency.shape
    assert np.triu(common, 1).any()
    assert not confounded("ER-10-10", 100).any()


def test_named_pairs_are_counted_by_what_they_have_in_common() -> None:
    kind = HIDING[0]
    data, common = table(kind, 100), np.triu(confounded(kind, 100), 1)
    i, j = np.argwhere(common & (data.adjacency + data.adjacency.T == 0))[0].tolist()
    learner = SimpleNamespace(
        adjacency_=np.zeros_like(data.adjacency),
        hidden_causes_=[{"source": str(j), "target": str(i)}],
        choice_=[{"misfit": 0.0}],
    )
    found = pairs(Fitted(learner, data))
    assert found["names a pair"] == found["pairs named"] == found["of these confounded"] == 1
    assert found["of these named"] == 1
    assert found["of these linked"] == 0


@pytest.mark.parametrize("name", TABLES)
def test_arrows_into_roots_of_real_tables_are_seen(name: str) -> None:
    source = next(one for one in EXPERIMENTS["real-tables"].sources if one.name == name)
    data = source(0)
    assert set(ROOTS[name]) <= set(data.names)
    graph = np.zeros_like(data.adjacency)
    root = data.names.index(ROOTS[name][0])
    assert into_roots(of_graph(data, graph))["surest arrow into a root"] == 0
    graph[root - 1, root] = 1
    assert into_roots(of_graph(data, graph))[f"into {ROOTS[name][0]}"] == 1


def test_edges_are_right_reversed_or_neither() -> None:
    data = datasets.load("Sachs")
    found = against_consensus(of_graph(data, data.adjacency.T))
    assert (found["right"], found["reversed"]) == (0, data.adjacency.sum())
    assert against_consensus(of_graph(data, data.adjacency))["SID"] == 0
