"""Several starts, and when they are worth their time."""

import torch

from dpdag import Knowledge, datasets
from dpdag.columns import standardise
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.search import EdgePrior, SearchResult, hill_climb
from dpdag.search.restarts import find_graph


def test_a_graph_that_will_not_count_is_not_left_and_climbed_again() -> None:
    truth = datasets.erdos_renyi(9, 20, random_state=4)
    data = datasets.simulate(truth, 300, mechanism="additive-gp", random_state=4)
    x = standardise(torch.from_numpy(data.X))[0]
    limits, asked = Knowledge().resolve(9), []

    def found(answer: bool) -> SearchResult:
        def counts(graph: SearchResult, evidence: MixtureEvidence) -> bool:
            asked.append(graph.total)
            return answer

        evidence = MixtureEvidence(x, functions=("linear", "additive"))
        prior = EdgePrior.of(limits)
        return find_graph(evidence, prior=prior, constraints=limits, counts=counts)[0]

    once, again = found(answer=False), found(answer=True)
    plain = hill_climb(MixtureEvidence(x, functions=("linear", "additive")))
    assert len(asked) == 2
    assert asked == [plain.total] * 2
    assert plain.total == once.total <= again.total
