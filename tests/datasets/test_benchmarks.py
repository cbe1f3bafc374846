"""Benchmarks by name: the same data everywhere, like the benchmark's own."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from dpdag.datasets import PAPER_BENCHMARKS, Dataset, available, benchmark, load
from dpdag.ops.graphs import is_acyclic

SMALL = ["ER-10-10", "ER-10-40", "SF-10-10", "SF-10-40", "ER-20-20", "BP-10-10", "WS-10-20"]


@pytest.mark.parametrize("name", [*SMALL, "Sachs"])
def test_data_sets_keep_the_contract(name):
    data, again = load(name), load(name)
    rows, n = data.X.shape
    assert isinstance(data, Dataset)
    assert data.name == name
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.adjacency.shape == (n, n)
    assert data.adjacency.dtype == np.int64
    assert bool(is_acyclic(torch.from_numpy(data.adjacency)))
    assert len(set(data.names)) == n
    assert rows == (853 if name == "Sachs" else 1000)
    assert data.X.tobytes() == again.X.tobytes()
    assert data.provenance.source in ("generated", "packaged")


def test_every_setting_of_the_paper_is_listed():
    assert len(PAPER_BENCHMARKS) == 16
    assert {"ER-10-10", "ER-10-40", "ER-50-200", "SF-100-400", "SF-20-80"} <= set(available())
    assert {"Sachs", "SynTReN"} <= set(available())


def test_index_and_name_are_the_seed():
    first, other, sparse = load("ER-10-20", 0), load("ER-10-20", 1), load("ER-10-21", 0)
    assert (first.X != other.X).all()
    assert (first.adjacency != other.adjacency).any()
    assert (first.X != sparse.X).all()
    assert first.X.tobytes() == load("er-010-20").X.tobytes()  # one spelling of each name
    assert first.X.tobytes() == load("ER-10-20", np.int64(0)).X.tobytes()


def test_the_bytes_are_the_same_in_another_process():
    code = (
        "import hashlib; from dpdag.datasets import load; d = load('ER-10-40', 3); "
        "print(hashlib.sha256(d.X.tobytes() + d.adjacency.tobytes()).hexdigest())"
    )
    # Another hash seed and another number of threads; neither may matter.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "17"}
    environment |= {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    data = load("ER-10-40", 3)
    here = hashlib.sha256(data.X.tobytes() + data.adjacency.tobytes()).hexdigest()
    assert done.stdout.strip() == here


def test_name_and_index_mean_the_same_data_on_every_machine():
    data = load("ER-10-40", 3)
    assert (
        hashlib.sha256(data.adjacency.astype("<i1").tobytes()).hexdigest()[:16]
        == "41d03a6bdfcd7213"
    )
    np.testing.assert_allclose(
        data.X[999],
        [
            0.4133889,
            2.2234910,
            1.2043533,
            3.1514482,
            1.1445723,
            -1.1706575,
            2.3299312,
            -1.3793452,
            1.1022404,
            -0.0710832,
        ],
        rtol=0,
        atol=2e-6,
    )


def test_the_graph_does_not_depend_on_the_number_of_rows():
    few, many = benchmark("SF-20-20", 1, rows=10), benchmark("SF-20-20", 1, rows=50)
    assert (few.adjacency == many.adjacency).all()


def test_global_random_state_is_untouched():
    before = np.random.get_state()[1].copy(), torch.random.get_rng_state()  # noqa: NPY002
    load("ER-10-10", 5)
    assert (np.random.get_state()[1] == before[0]).all()  # noqa: NPY002
    assert (torch.random.get_rng_state() == before[1]).all()


def test_variances_are_those_of_the_benchmark():
    sets = [benchmark("ER-10-10", index, rows=400) for index in range(30)]
    roots = np.concatenate([d.X.var(0)[d.adjacency.sum(0) == 0] for d in sets])
    others = np.concatenate([d.X.var(0)[d.adjacency.sum(0) > 0] for d in sets])
    assert roots.mean() == pytest.approx(1.5, abs=0.1)  # U(1, 2)
    assert roots.min() > 0.7
    assert others.min() > 0.04  # the noise alone
    assert 0.3 < others.mean() < 1.06  # amplitude 1 less what a finite range takes away


@pytest.mark.parametrize("name", ["ER-10-10", "ER-10-40", "SF-10-10"])
def test_generated_sets_are_like_the_original_ones(name, data_folder):
    real = [load(name, index, source="original") for index in range(10)]
    ours = [benchmark(name, index, rows=600) for index in range(10)]

    def values(sets, statistic):
        return np.concatenate([np.atleast_1d(statistic(data)) for data in sets]).astype(float)

    def roots(data):
        return data.adjacency.sum(0) == 0

    for statistic in (
        lambda data: data.adjacency.sum(),
        lambda data: np.sort(data.adjacency.sum(0))[-1],
        lambda data: np.sort(data.adjacency.sum(1))[-1],
        lambda data: data.X.var(0)[roots(data)],
        lambda data: data.X.var(0)[~roots(data)],
        lambda data: np.abs(data.X.mean(0))[~roots(data)],
    ):
        a, b = values(real, statistic), values(ours, statistic)
        spread = np.sqrt(a.var() / a.size + b.var() / b.size)
        assert abs(a.mean() - b.mean()) <= 4 * spread + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Sacks",), r"Unknown data set 'Sacks'. Did you mean 'Sachs'"),
        (("ER-10",), r"Unknown data set 'ER-10'"),
        (("ER-10-x",), r"Unknown data set"),
        (("ER-10-46",), r"'n_edges' must be in 0 … 45 for such a DAG of 10 nodes; got 46"),
        (("ER-1-0",), r"'n_nodes' must be at least 2; got 1"),
        (("ER-10-10", -1), r"'index' must be a whole number from 0; got -1"),
        (("ER-10-10", 1.5), r"'index' must be a whole number from 0; got 1.5"),
        (("ER-10-10", True), r"'index' must be a whole number from 0; got True"),
        (("Sachs", 1), r"'index' must be 0 for Sachs, which is one data set; got 1"),
    ],
)
def test_bad_names_and_indices_are_refused_in_one_line(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        load(*arguments)
    assert "\n" not in str(caught.value)


def test_bad_sources_are_refused():
    with pytest.raises(ValueError, match=r"Unknown source 'orginal'. Did you mean 'original'"):
        load("ER-10-10", source="orginal")
    with pytest.raises(ValueError, match=r"Sachs is not generated; use source='original'"):
        load("Sachs", source="generated")
    with pytest.raises(ValueError, match=r"'ER-11-12' has no original files. Known: ER-10-10"):
        load("ER-11-12", source="original")
