"""Learning from experiments: what they direct, what they leave, and what models then answer."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpdag import (
    CAM,
    DAGNF,
    NOTEARS,
    VIDPDAG,
    DAGPosterior,
    ExactPosterior,
    GraNDAG,
    GroundTruthDAG,
    MaskedDAG,
    datasets,
    load,
)

CHAIN = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
LINEAR = DAGPosterior(mechanism="linear", random_state=0)
BRIEFLY = {"max_epochs": 2, "random_state": 0, "verbose": False}


def drawn(*do: dict, rows: int = 200, seed: int = 0, graph=CHAIN) -> datasets.Dataset:
    return datasets.simulate(
        graph,
        rows,
        mechanism="linear",
        noise=datasets.Noise(variance=(0.5, 1.0)),
        do=[{}, *do],
        random_state=seed,
    )


@pytest.mark.parametrize("learner", [LINEAR, DAGPosterior(random_state=0)], ids=str)
@pytest.mark.parametrize("target", ["x0", "x1"])
def test_an_intervention_directs_what_observation_leaves_open(learner, target) -> None:
    data = drawn({target: None}, graph=[[0, 1], [0, 0]])
    observed = clone(learner).fit(data.X[:200]).edge_probabilities_
    assert observed[0, 1] == pytest.approx(0.5, abs=0.15)
    assert observed[1, 0] == pytest.approx(0.5, abs=0.15)
    told = clone(learner).fit(data.X, interventions=data.mask)
    assert told.edge_probabilities_[0, 1] > 0.95
    assert told.settled_.tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("learner", [LINEAR, CAM(n_bootstrap=5, random_state=0)], ids=str)
def test_masks_are_permuted_with_columns_and_rows(learner) -> None:
    data = drawn({"x1": None}, {"x2": 1.0, "x0": None})
    plain = clone(learner).fit(data.X, interventions=data.mask)
    order = [2, 0, 1]
    moved = clone(learner).fit(data.X[:, order], interventions=data.mask[:, order])
    np.testing.assert_allclose(
        moved.edge_scores_, plain.edge_scores_[np.ix_(order, order)], rtol=1e-6, atol=1e-8
    )
    np.testing.assert_array_equal(moved.settled_, plain.settled_[np.ix_(order, order)])
    rows = np.random.default_rng(0).permutation(len(data.X))
    other = clone(learner).fit(data.X[rows], interventions=data.mask[rows])
    np.testing.assert_array_equal(other.adjacency_, plain.adjacency_)


@pytest.mark.parametrize(
    "learner",
    [
        LINEAR,
        DAGPosterior(random_state=0),
        ExactPosterior(mechanism="linear"),
        ExactPosterior(rows=200, random_state=0),
        CAM(n_bootstrap=0, prune=False),
        VIDPDAG(random_state=0, verbose=False),
        NOTEARS(random_state=0, verbose=False),
    ],
    ids=str,
)
def test_learners_that_take_experiments_find_the_chain(learner) -> None:
    data = drawn({"x0": None}, {"x1": None}, {"x2": None}, rows=300)
    learner.fit(data.frame, interventions=data.mask)
    assert np.argwhere(learner.adjacency_).tolist() == [[0, 1], [1, 2]]


@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
@pytest.mark.parametrize(
    "learner",
    [
        VIDPDAG(n_restarts=2, **BRIEFLY),
        GraNDAG(**BRIEFLY),
        MaskedDAG(**BRIEFLY),
        NOTEARS(**BRIEFLY),
        NOTEARS(mechanism="mlp", **BRIEFLY),
        DAGNF(**BRIEFLY),
        GroundTruthDAG(CHAIN, max_epochs=2, random_state=0),
        GroundTruthDAG(CHAIN, mechanism="auto"),
        GroundTruthDAG(CHAIN, mechanism="linear"),
        CAM(n_bootstrap=3, pns="additive"),
    ],
    ids=str,
)
def test_values_that_were_set_are_read_as_causes_only(learner) -> None:
    """What the leaf was set to changes nothing that was learned."""
    data = drawn({"x2": 1.0})
    other = data.frame.assign(x2=np.where(data.mask[:, 2], 4.0, data.X[:, 2]))
    one = clone(learner).fit(data.frame, interventions=data.mask)
    two = clone(learner).fit(other, interventions=data.mask)
    assert one.informing_rows_.tolist() == [400, 400, 200]
    np.testing.assert_allclose(one.location_, two.location_)
    into = [[0, 2], [1, 2]]  # from x2 nothing else is learned: it is the last
    for i, j in into:
        assert one.edge_scores_[i, j] == pytest.approx(two.edge_scores_[i, j], rel=0.2, abs=0.05)


@pytest.mark.parametrize(
    "learner",
    [
        DAGPosterior(random_state=0),
        CAM(n_bootstrap=0),
        GroundTruthDAG(CHAIN, mechanism="linear"),
        ExactPosterior(mechanism="linear"),
    ],
    ids=str,
)
def test_functions_are_those_of_rows_in_which_the_column_was_not_set(
    learner, tmp_path: Path
) -> None:
    data = drawn({"x1": 30.0}, {"x2": -20.0})
    model = learner.fit(data.frame, interventions=data.mask)
    natural = GroundTruthDAG(CHAIN, mechanism="linear").fit(data.frame[:200])
    rows = data.frame[:5]
    np.testing.assert_allclose(model.predict(rows), natural.predict(rows), atol=0.6)
    # Drawn rows are natural ones: what was set is not part of the noise.
    sampled = model.sample(2000, random_state=0)
    np.testing.assert_allclose(sampled.mean(), data.frame[:200].mean(), atol=0.6)
    np.testing.assert_allclose(sampled.std(), data.frame[:200].std(), rtol=0.4)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.predict(rows), model.predict(rows))
    assert again.informing_rows_.tolist() == [600, 400, 400]
    spread = model.predict(rows, return_std=True)[1]
    assert (spread > 0).all(axis=None)
    assert (spread < 3).all(axis=None)


def test_values_that_were_set_are_not_judged() -> None:
    data = drawn({"x1": 30.0})
    model = CAM(n_bootstrap=0).fit(data.frame, interventions=data.mask)
    assert model.score(data.frame, interventions=data.mask) > model.score(data.frame) + 1
    assert model.score(data.frame[:200]) == model.score(
        data.frame[:200], interventions=[None] * 200
    )
    with pytest.raises(ValueError, match="all values were set"):
        model.score(data.frame, interventions=np.ones(data.X.shape, dtype=bool))
    gaps = data.frame[200:203].assign(x1=np.nan)
    assert (model.impute(gaps)["x1"] < 10).all()  # from its causes, as ever


def test_discrete_columns_may_be_set_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = 600
    treated = rng.integers(2, size=rows)
    age = rng.normal(size=rows)
    seen = np.arange(rows) < 300
    treated = np.where(seen, age + 0.5 * rng.normal(size=rows) > 0, treated).astype(int)
    visits = rng.poisson(np.exp(0.5 + 0.8 * treated))
    X = pd.DataFrame({"visits": visits, "treated": treated, "age": age})
    model = DAGPosterior(mechanism=["linear", "additive"], random_state=0)
    model.fit(X, interventions=[None if own else "treated" for own in seen])
    found = model.edge_probabilities_
    assert found[1, 0] > 0.9
    assert found[2, 1] > 0.9
    assert found[2, 0] < 0.5
    sampled = model.sample(500, do={"treated": 1}, random_state=0)
    assert sampled["visits"].mean() == pytest.approx(np.exp(1.3), rel=0.2)
    assert (sampled["visits"] >= 0).all()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.sample(5, random_state=0), model.sample(5, random_state=0))
    assert np.isfinite(model.score(X))


def test_transformations_are_chosen_and_shaped_by_natural_values() -> None:
    data = drawn({"x1": None}, rows=400)
    X = data.frame
    X["x1"] = np.exp(1.5 * X["x1"])
    X.loc[400:, "x1"] = 1e4  # set far outside of what is natural
    model = DAGPosterior(random_state=0).fit(X, interventions=data.mask)
    chosen = [record["transformation"] for record in model.choice_]
    assert chosen[1] in ("logarithm", "logit")  # much the same far from its other end
    assert chosen[::2] == ["identity", "identity"]
    assert model.choice_[1]["rows"] == 400
    assert model.sample(500, random_state=0)["x1"].median() == pytest.approx(
        X["x1"][:400].median(), rel=0.5
    )


def test_the_nine_conditions_are_learned_from(data_folder) -> None:
    if not (data_folder / "Sachs-interventional.npz").is_file():
        pytest.skip("no Sachs-interventional.npz")
    data = datasets.load("Sachs-interventional")
    model = CAM(n_bootstrap=0).fit(data.frame, interventions=data.mask)
    rows = dict(zip(data.names, model.informing_rows_.tolist(), strict=True))
    assert rows["PKA"] == 7466 - 707
    assert rows["Raf"] == 7466
    assert model.settled_.any()
