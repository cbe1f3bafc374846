"""Searches that leave a local optimum and come back."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag import Knowledge, datasets, metrics
from dpdag.evidence.bge import BGeEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.search.exact import exact_posterior
from dpdag.search.iterated import iterated_search
from dpdag.search.lazy import LazyResult, lazy_search

PENALTY = math.log(9)


def linear(n: int, edges: int, seed: int) -> tuple[np.ndarray, Tensor]:
    truth = datasets.erdos_renyi(n, edges, random_state=seed)
    data = datasets.simulate(truth, 500, mechanism="linear", random_state=seed)
    return truth, torch.from_numpy(data.X)


def total(found: LazyResult) -> float:
    return float(found.log_evidence.sum()) - PENALTY * int(found.adjacency.sum())


@pytest.mark.parametrize("seed", range(3))
def test_nothing_better_exists_on_few_nodes(seed: int) -> None:
    evidence = ExactScreen(BGeEvidence(linear(7, 12, seed)[1]))
    found = iterated_search(evidence, edge_penalty=PENALTY)
    best = exact_posterior(evidence, edge_prior=0.1).best
    assert total(found) == pytest.approx(best.log_score, abs=1e-6)


def test_it_gets_out_of_where_climbing_stops() -> None:
    truth, x = linear(15, 30, 3)
    evidence = ExactScreen(BGeEvidence(x))
    plain = lazy_search(evidence, edge_penalty=PENALTY)
    found = iterated_search(evidence, edge_penalty=PENALTY)
    assert total(found) > total(plain) + 1
    assert metrics.shd(found.adjacency.int(), truth) < metrics.shd(plain.adjacency.int(), truth)


def test_what_is_known_stays() -> None:
    limits = Knowledge(required=[(0, 1)], forbidden=[(2, 3), (3, 2)]).resolve(7)
    evidence = ExactScreen(BGeEvidence(linear(7, 12, 0)[1]))
    graph = iterated_search(evidence, edge_penalty=PENALTY, constraints=limits).adjacency
    assert graph[0, 1]
    assert not graph[2, 3]
    assert not graph[3, 2]
