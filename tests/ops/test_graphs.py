import networkx as nx
import pytest
import torch

from dpdag.ops.enumeration import all_dags, all_orders
from dpdag.ops.graphs import find_cycle, is_acyclic, reachability, topological_order


def random_graphs(n: int, count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(n)
    return (torch.rand(count, n, n, generator=generator) < 1.2 / n).int()


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_acyclicity_and_reachability_agree_with_networkx(n: int) -> None:
    graphs = random_graphs(n, 40)
    for graph, acyclic, reach in zip(graphs, is_acyclic(graphs), reachability(graphs)):
        G = nx.from_numpy_array(graph.numpy(), create_using=nx.DiGraph)
        assert bool(acyclic) == nx.is_directed_acyclic_graph(G)
        closure = nx.transitive_closure(G)
        assert reach.nonzero().tolist() == sorted(map(list, closure.edges))


@pytest.mark.parametrize(("n", "cyclic"), [(65, False), (150, False), (150, True)])
def test_reachability_of_one_large_graph_is_that_of_a_batch(n: int, cyclic: bool) -> None:
    graph = random_graphs(n, 1)[0].triu(1)
    shuffle = torch.randperm(n, generator=torch.Generator().manual_seed(0))
    graph = graph[shuffle][:, shuffle]
    if cyclic:
        cause, effect = graph.nonzero()[0]
        graph[effect, cause] = 1
    assert bool(is_acyclic(graph)) is not cyclic
    assert torch.equal(reachability(graph), reachability(graph[None])[0])


def test_topological_order_puts_causes_first() -> None:
    graphs = random_graphs(8, 60)
    graphs = graphs[is_acyclic(graphs)]
    position = topological_order(graphs).argsort(-1)
    graph, source, target = graphs.nonzero().T
    assert bool((position[graph, source] < position[graph, target]).all())


def test_cycle_is_found_and_named() -> None:
    graph = torch.zeros(4, 4)
    graph[0, 1] = graph[1, 2] = graph[2, 1] = graph[2, 3] = 1
    cycle = find_cycle(graph)
    assert cycle in ([1, 2, 1], [2, 1, 2])
    with pytest.raises(ValueError, match="must be acyclic; it has the cycle"):
        topological_order(graph)


def test_number_of_dags_is_robinsons() -> None:
    assert [len(all_dags(n)) for n in range(1, 5)] == [1, 3, 25, 543]


@pytest.mark.parametrize("listing", [all_dags, all_orders])
def test_listings_are_guarded(listing) -> None:
    with pytest.raises(ValueError, match="got n_nodes=99"):
        listing(99)
