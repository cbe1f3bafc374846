"""Every listed experiment can be planned, run and shown."""

import numpy as np
import pytest
from sklearn.base import clone

from dpdag import CAM, VIDPDAG, Correlation, datasets
from dpdag.experiments import EXPERIMENTS, Figure, Method, Source, Table
from dpdag.experiments.cell import Cell, plan
from dpdag.experiments.measures import (
    THRESHOLDS,
    Fitted,
    perturbations,
    prediction,
    prediction_over_thresholds,
    structure,
    thresholds,
)
from dpdag.experiments.paper.direct_learning import DirectLearner
from dpdag.experiments.work import run_batch
from dpdag.learners.many import fit_together
from dpdag.reports.tables import paper_tables


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_cells_differ_and_the_same_plan_is_the_same_cells(name: str) -> None:
    experiment = EXPERIMENTS[name]
    cells = plan(experiment, sets=2, seeds=2)
    assert len({cell.text for cell in cells}) == len(cells)
    assert len({cell.identity for cell in cells}) == len(cells)
    again = [cell.identity for cell in plan(experiment, sets=2, seeds=2)]
    assert [cell.identity for cell in cells] == again


@pytest.mark.parametrize("name", list(EXPERIMENTS))
def test_views_beside_the_paper_meet_its_numbers(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.views
    for view in experiment.views:
        if isinstance(view, Figure):
            continue
        for table in view.paper:
            known = paper_tables()[table]
            assert {source.name for source in experiment.sources} <= known.keys()
            theirs = {model for models in known.values() for model in models}
            assert theirs & {method.name for method in experiment.methods}


def test_the_whole_of_the_papers_tables_is_covered() -> None:
    shown = {
        table
        for name in EXPERIMENTS
        for view in EXPERIMENTS[name].views
        if isinstance(view, Table)
        for table in view.paper
    }
    assert shown == paper_tables().keys()


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    data = datasets.load("ER-10-10", 0)
    split = data.split(seed=0)
    learner = VIDPDAG.paper(max_epochs=5, random_state=0, verbose=False).fit(split.train)
    return Fitted(learner, data, split.test)


def test_the_error_at_a_threshold_of_one_half_is_that_of_the_learned_graph(fitted: Fitted) -> None:
    curve = prediction_over_thresholds(fitted)["MSE over thresholds"]
    half = THRESHOLDS.tolist().index(0.5)
    assert curve[half] == pytest.approx(prediction(fitted)["MSE"])
    assert len(set(curve)) > 1


def test_the_shd_at_a_threshold_of_one_half_is_that_of_the_learned_graph(fitted: Fitted) -> None:
    curve = thresholds(fitted)["SHD over thresholds"]
    assert curve[THRESHOLDS.tolist().index(0.5)] == structure(fitted)["SHD"]


def test_confidence_in_the_true_graph_itself_is_one(fitted: Fitted) -> None:
    curve = perturbations(fitted)["relative confidence"]
    assert curve[0] == pytest.approx(1)
    assert len(curve) == 11


def test_scores_above_one_are_taken_as_shares_of_the_largest(fitted: Fitted) -> None:
    class Nats:
        edge_scores_ = np.array([[0.0, 4.0], [2.0, 0.0]])

    assert Fitted(Nats(), fitted.data).shares.tolist() == [[0.0, 1.0], [0.5, 0.0]]


@pytest.mark.parametrize("permutation", ["topk", "sinkhorn"])
def test_known_graphs_are_recovered_alone_as_in_a_batch(permutation: str) -> None:
    learners = [
        DirectLearner(datasets.erdos_renyi(4, 4, random_state=k), permutation, steps=30)
        for k in range(3)
    ]
    together = [clone(one).set_params(random_state=k) for k, one in enumerate(learners)]
    fit_together([(one, None, None) for one in together])
    for one in together:
        assert np.array_equal(clone(one).fit(None).scores_, one.scores_)


def test_data_sets_with_interventions_are_learned_from_as_such():
    def drawn(name, index):
        chain = [[0, 1], [0, 0]]
        return datasets.simulate(chain, 60, mechanism="linear", do=[{}, {"x0": 1.0}])

    def informing(fitted):
        rows = fitted.learner.informing_rows_
        return {"rows": float(rows.min())}

    cells = [
        Cell(Source("set", drawn), 0, Method(kind.__name__, kind), measures=(informing,))
        for kind in (CAM, Correlation)
    ]
    assert [run_batch([cell])[0].values["rows"] for cell in cells] == [60, 120]
