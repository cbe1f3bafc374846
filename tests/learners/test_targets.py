"""What was set in each row, however it is said, and what cannot be."""

import numpy as np
import pandas as pd
import pytest

from dpdag import (
    CAM,
    DAGGNN,
    Correlation,
    DAGPosterior,
    ExactPosterior,
    Knowledge,
    SortRegress,
    datasets,
    fit_many,
)
from dpdag.learners.targets import what_was_set

NAMES = ["a", "b", "c", "d"]
MASK = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]) == 1


@pytest.mark.parametrize(
    "said",
    [
        MASK,
        MASK.astype(int),
        MASK.tolist(),
        pd.DataFrame(MASK, columns=NAMES)[NAMES[::-1]],
        [None, "a", "b", ("a", "b"), ("c", "d")],
        ["", ["a"], ("b",), ["b", "a"], ["c", "d"]],
        pd.Series([np.nan, "a", "b", ("a", "b"), ("c", "d")]),
        np.array([None, "a", "b", ["a", "b"], ["c", "d"]], dtype=object),
    ],
    ids=lambda said: type(said).__name__,
)
def test_masks_and_names_say_the_same(said) -> None:
    np.testing.assert_array_equal(what_was_set(said, NAMES, 5), MASK)


def test_labels_of_any_kind_are_found() -> None:
    assert what_was_set([3, (1, "x"), [3, 7]], [3, (1, "x"), 7], 3).tolist() == [
        [True, False, False],
        [False, True, False],
        [True, False, True],
    ]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (MASK[:3], r"must be a \(5, 4\) mask, as X is, or name .*; got shape \(3, 4\)"),
        (MASK.T, r"got shape \(4, 5\)"),
        (2.0 * MASK, r"must hold true and false, .*; got 2.0"),
        (np.where(MASK, "yes", "no"), r"must hold true and false, .*; got 'no'"),
        (["a", None], r"one entry for each of the 5 rows of X; got 2"),
        ("a", r"or name for each row what was set; got 'a'"),
        (3, r"got 3"),
        (MASK[:, 1], r"a \(5, 4\) mask, .*; got a truth value per row.* as \['a', None, …\]"),
        (pd.Series(MASK[:, 1]), r"a \(5, 4\) mask"),
        ([None, "A", "", "", ""], r"names 'A' in row 1, a column that X does not have. .*'a'\?"),
        (pd.DataFrame({"z": [True] * 5}), r"names 'z', a column that X does not have"),
        (pd.DataFrame({"a": [True] * 4}), r"5 rows of X; got 4"),
    ],
)
def test_what_cannot_be_is_refused(said, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        what_was_set(said, NAMES, 5)


@pytest.mark.parametrize("missing", ["error", "impute"])
@pytest.mark.parametrize("kind", [pd.Series, pd.DataFrame], ids=lambda kind: kind.__name__)
def test_rows_under_intervention_are_found_by_their_labels(kind, missing) -> None:
    data = chain(60, x1=None)
    X = data.frame.set_index(np.arange(120) + 7)
    said = np.where(data.mask[:, 1], "x1", "") if kind is pd.Series else data.mask
    said = kind(said, index=X.index)
    said = said.set_axis(data.names, axis=1) if kind is pd.DataFrame else said
    learner = DAGPosterior(mechanism="linear", missing=missing, verbose=False)
    for moved in (said, said[::-1]):
        learner.fit(X, interventions=moved)
        assert learner.location_[1] == pytest.approx(X["x1"].iloc[:60].mean())
    with pytest.raises(ValueError, match="'interventions' has no row 120, which X has"):
        learner.fit(X, interventions=said.reset_index(drop=True))
    with pytest.raises(ValueError, match="X has row 7 more than once"):
        learner.fit(X.set_index(np.r_[7, X.index[:-1]]), interventions=said)


def chain(rows: int = 150, **do: float) -> datasets.Dataset:
    return datasets.simulate(
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]], rows, mechanism="linear", do=[{}, do], random_state=1
    )


@pytest.mark.parametrize("learner", [DAGGNN(), Correlation(), SortRegress()], ids=str)
def test_learners_without_a_likelihood_of_each_column_refuse(learner) -> None:
    data = chain(x1=1.0)
    with pytest.raises(ValueError, match=r"cannot take 'interventions': .* use DAGPosterior"):
        learner.fit(data.X, interventions=data.mask)


@pytest.mark.parametrize(
    "learner", [DAGPosterior(random_state=0), CAM(), ExactPosterior()], ids=str
)
@pytest.mark.parametrize("left", [0, 3, "a single value"])
def test_a_column_that_was_always_set_is_a_root_and_said_to_be(learner, left) -> None:
    data = chain()
    X = data.frame.assign(x1=data.X[:, 1])
    mask = np.zeros(X.shape, dtype=bool)
    mask[:, 1] = True
    if left == "a single value":
        X.loc[:99, "x1"] = 0.0
        mask[:100, 1] = False
    else:
        mask[:left, 1] = False
    with pytest.warns(UserWarning, match=r"Columns \['x1'\] were set in all rows, or") as caught:
        learner.fit(X, interventions=mask)
    assert [warning.filename for warning in caught] == [__file__]
    assert learner.adjacency_[:, 1].tolist() == [0, 0, 0]
    assert learner.edge_scores_[[0, 2], 1].tolist() == [0, 0]
    assert learner.informing_rows_.tolist() == [300, 100 if isinstance(left, str) else left, 300]


def test_knowledge_stands_above_that() -> None:
    data = chain()
    mask = np.zeros(data.X.shape, dtype=bool)
    mask[:, 1] = True
    learner = CAM(n_bootstrap=0, knowledge=Knowledge(required=[(0, 1)]))
    with pytest.warns(UserWarning, match="were set in all rows"):
        assert learner.fit(data.X, interventions=mask).adjacency_[0, 1] == 1


def test_a_mask_the_wrong_way_round_is_refused() -> None:
    data = chain(x1=1.0)
    with pytest.raises(ValueError, match="all columns were set in all rows, or nearly"):
        CAM().fit(data.X, interventions=np.ones(data.X.shape, dtype=bool))


def test_a_value_that_was_set_cannot_be_missing() -> None:
    data = chain(x1=1.0)
    X = data.frame
    X.loc[[3, 200], ["x0", "x2"]] = np.nan
    learner = DAGPosterior(mechanism="linear", missing="impute", random_state=0)
    learner.fit(X, interventions=data.mask)
    X.loc[200, "x1"] = np.nan
    with pytest.raises(ValueError, match=r"misses values in columns \['x1'\] in rows where"):
        learner.fit(X, interventions=data.mask)


def test_many_fits_have_interventions_of_their_own() -> None:
    sets = [chain(x1=1.0), chain(x2=None)]
    learner = DAGPosterior(mechanism="linear", random_state=0)
    both = [data.mask for data in sets]
    fits = fit_many([data.X for data in sets], interventions=both, estimator=learner)
    for fit, data in zip(fits, sets, strict=True):
        alone = learner.fit(data.X, interventions=data.mask)
        np.testing.assert_array_equal(fit.estimator.edge_probabilities_, alone.edge_probabilities_)
    with pytest.raises(ValueError, match="one entry for each of the 2 data sets; got 1"):
        fit_many([data.X for data in sets], interventions=both[:1], estimator=learner)
