"""VIDPDAG with networks: what a user relies on."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import dpdag
from dpdag import VIDPDAG, Knowledge, fit_many, grid_search
from dpdag.learners import PAPER_GRID
from dpdag.ops.graphs import is_acyclic
from dpdag.training import Epoch

FAST = {"mechanism": "mlp", "max_epochs": 20, "hidden_units": 4, "random_state": 0}


def table(rows: int = 150, seed: int = 0) -> pd.DataFrame:
    """cause → middle → effect, and a bystander, on very different scales."""
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=rows)
    middle = np.tanh(2 * cause) + 0.2 * rng.normal(size=rows)
    effect = middle**2 + 0.2 * rng.normal(size=rows)
    columns = {"effect": 1e4 * effect, "cause": cause, "other": rng.normal(size=rows) + 7}
    return pd.DataFrame({**columns, "middle": 1e-3 * middle})


@pytest.fixture(scope="module")
def fitted() -> VIDPDAG:
    return VIDPDAG(**{**FAST, "max_epochs": 60, "n_restarts": 3}).fit(table())


def test_fit_gives_everything_that_is_promised(fitted: VIDPDAG) -> None:
    n = 4
    for name in ("edge_scores_", "edge_probabilities_", "adjacency_"):
        assert getattr(fitted, name).shape == (n, n)
    assert set(np.unique(fitted.adjacency_)) <= {0, 1}
    assert bool(is_acyclic(torch.from_numpy(fitted.adjacency_)))
    assert sorted(fitted.causal_order_) == list(range(n))
    assert list(fitted.graph_.nodes) == ["effect", "cause", "other", "middle"]
    assert {"epoch", "replica", "total", "reconstruction", "kl", "validation"} <= set(
        fitted.history_
    )
    p = fitted.edge_probabilities_
    assert ((p >= 0) & (p <= 1)).all()
    assert (p + p.T <= 1 + 1e-6).all()
    assert ("cause", "middle") in fitted.graph_.edges
    samples = fitted.sample_dags(200, random_state=1)
    assert samples.shape == (200, n, n)
    assert bool(is_acyclic(torch.from_numpy(samples)).all())
    np.testing.assert_allclose(fitted.sample_dags(20_000, 0).mean(0), p, atol=0.02)
    ancestors = fitted.ancestor_probabilities()
    assert (ancestors >= fitted.sample_dags(1000, 0).mean(0) - 1e-9).all()


def test_answers_are_in_original_units(fitted: VIDPDAG) -> None:
    X = table()
    predicted = fitted.predict(X)
    assert predicted.shape == X.shape
    explained = 1 - (predicted - X).var() / X.var()
    assert explained["middle"] > 0.5
    holes = X.copy()
    holes.loc[3, "middle"] = np.nan
    filled = fitted.impute(holes)
    assert filled.loc[3, "middle"] == pytest.approx(predicted.loc[3, "middle"])
    pd.testing.assert_frame_equal(filled[holes.notna()], holes)
    drawn = fitted.sample(500, do={"cause": 2.0}, random_state=0)
    np.testing.assert_allclose(drawn["cause"], 2.0)
    assert drawn["middle"].mean() > X["middle"].mean() + 0.5 * X["middle"].std()
    other = fitted.counterfactual(X, do={"other": 5.0})
    rest = ["effect", "cause", "middle"]
    np.testing.assert_allclose(other[rest], X[rest], rtol=1e-5, atol=1e-6)


def test_same_seed_same_result_and_global_state_untouched() -> None:
    state, legacy = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    one, two = (VIDPDAG(**FAST).fit(table()) for _ in range(2))
    np.testing.assert_array_equal(one.edge_probabilities_, two.edge_probabilities_)
    np.testing.assert_array_equal(one.predict(table()), two.predict(table()))
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002
    other = VIDPDAG(**{**FAST, "random_state": 1}).fit(table())
    assert not np.array_equal(one.edge_probabilities_, other.edge_probabilities_)


def test_knowledge_holds_everywhere() -> None:
    known = Knowledge(
        required=[("other", "effect")],
        forbidden=[("cause", "middle")],
        tiers=[["middle"], ["cause"]],
    )
    model = VIDPDAG(**FAST, knowledge=known, n_restarts=2).fit(table())
    p, samples = model.edge_probabilities_, model.sample_dags(300, 0)
    assert p[2, 0] == pytest.approx(1)
    assert p[1, 3] == 0
    assert (samples[:, 2, 0] == 1).all()
    assert (samples[:, 1, 3] == 0).all()
    assert model.adjacency_[2, 0] == 1
    assert model.adjacency_[1, 3] == 0
    assert model.edge_scores_[1, 3] == 0


def test_relabelling_columns_relabels_the_result() -> None:
    """Exactly only up to the random start; a clear answer must follow its columns."""
    X = table(400)
    shuffled = X[["middle", "other", "effect", "cause"]]
    settings = {**FAST, "max_epochs": 80, "n_restarts": 4}
    one, two = VIDPDAG(**settings).fit(X), VIDPDAG(**settings).fit(shuffled)
    assert set(one.graph_.edges) == set(two.graph_.edges)


def test_saved_model_is_the_same_model(fitted: VIDPDAG, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    assert isinstance(loaded, VIDPDAG)
    X = table()
    np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(loaded.edge_probabilities_, fitted.edge_probabilities_)
    np.testing.assert_array_equal(loaded.sample_dags(9, 0), fitted.sample_dags(9, 0))
    np.testing.assert_array_equal(loaded.sample(9, None, 0), fitted.sample(9, None, 0))
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert loaded.get_params() == fitted.get_params()
    pd.testing.assert_frame_equal(loaded.history_, fitted.history_)
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == [
        "model.json",
        "model.safetensors",
    ]


def test_damaged_changed_or_newer_models_are_refused(fitted: VIDPDAG, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    with pytest.raises(ValueError, match="There is no saved model"):
        dpdag.load(folder)
    fitted.save(folder)
    facts = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**facts, "format": 99}))
    with pytest.raises(ValueError, match="has format 99; this version of dpdag reads format 1"):
        dpdag.load(folder)
    (folder / "model.json").write_text(json.dumps({**facts, "learner": "CAM"}))
    with pytest.raises(ValueError, match="was changed after it was saved"):
        dpdag.load(folder)
    (folder / "model.json").write_text("not json")
    with pytest.raises(ValueError, match="is damaged"):
        dpdag.load(folder)
    fitted.save(folder)
    content = bytearray((folder / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="was changed after it was saved"):
        dpdag.load(folder)


def test_a_folder_around_the_model_will_do(fitted: VIDPDAG, tmp_path: Path) -> None:
    fitted.save(tmp_path / "run" / "model")
    loaded = dpdag.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.edge_scores_, fitted.edge_scores_)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), "high"])
def test_interventions_must_be_numbers(fitted: VIDPDAG, value: object) -> None:
    with pytest.raises(ValueError, match=r"'do' must hold finite numbers; got .* for 'cause'"):
        fitted.sample(3, do={"cause": value})


def test_saving_never_replaces_a_folder_of_something_else(fitted: VIDPDAG, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="exists and holds no model"):
        fitted.save(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_interrupted_fit_keeps_the_best_state_and_resumes(tmp_path: Path) -> None:
    def interrupt(epoch: Epoch) -> None:
        if epoch.number == 6:
            raise KeyboardInterrupt

    whole = VIDPDAG(**FAST).fit(table())
    settings = {**FAST, "checkpoint": tmp_path / "state", "checkpoint_every": 5}
    half = VIDPDAG(**settings, callbacks=[interrupt]).fit(table())
    assert len(half.history_) == 6
    assert half.predict(table()).shape == (150, 4)
    resumed = VIDPDAG(**FAST).fit(table(), resume_from=tmp_path / "state")
    np.testing.assert_array_equal(resumed.edge_probabilities_, whole.edge_probabilities_)


def test_fit_many_equals_fitting_one_by_one() -> None:
    sets = [table(seed=0), table(seed=1)]
    template = VIDPDAG.paper(max_epochs=6, hidden_units=4)
    fits = fit_many(sets, seeds=[3, 4], grid={"kl_weight": [0.0, 0.1]}, estimator=template)
    assert len(fits) == 8
    for fit in fits:
        alone = clone(template).set_params(random_state=fit.seed, **fit.settings)
        alone.fit(sets[fit.dataset])
        own, other = fit.estimator.edge_probabilities_, alone.edge_probabilities_
        np.testing.assert_allclose(own, other, atol=1e-4)
        np.testing.assert_allclose(
            fit.estimator.predict(sets[fit.dataset]), alone.predict(sets[fit.dataset]), rtol=1e-2
        )


def test_grid_search_of_the_paper_is_one_call() -> None:
    grid = {**PAPER_GRID, "hidden_units": (4,), "learning_rate": (1e-2, 1e-3)}
    best = grid_search(table(), grid=grid, estimator=VIDPDAG.paper(max_epochs=2))
    assert best.learning_rate in (1e-2, 1e-3)
    assert best.adjacency_.shape == (4, 4)


def test_works_with_scikit_learn() -> None:
    model = VIDPDAG(**{**FAST, "max_epochs": 4})
    search = GridSearchCV(model, {"kl_weight": [0.0, 0.1]}, cv=2).fit(table())
    assert search.best_params_["kl_weight"] in (0.0, 0.1)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(table()), search.best_estimator_.predict(table()))


def test_paper_configuration_is_the_papers() -> None:
    model = VIDPDAG.paper(permutation="sinkhorn", hidden_units=64)
    assert model.permutation == "sinkhorn"
    assert model.hidden_units == 64
    assert model.mechanism == "mlp"
    assert model.likelihood == "mse"
    assert model.init == "random"
    assert model.n_restarts == 1
    assert model.patience == 10


@pytest.mark.parametrize(
    "settings",
    [
        {"permutation": "sinkhorn"},
        {"prune": True},
        {"pns": "additive"},
        {"init": ["other", "cause", "middle", "effect"]},
        {"mechanism": "linear"},
        {"combine": "best", "n_restarts": 2},
        {"likelihood": "mse"},
    ],
)
def test_options_work(settings: dict) -> None:
    model = VIDPDAG(**{**FAST, "max_epochs": 4, **settings}).fit(table())
    assert bool(is_acyclic(torch.from_numpy(model.adjacency_)))
    assert np.isfinite(model.score(table()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"edge_prior": 1.5}, r"'edge_prior' must be in \(0, 1\); got 1.5"),
        ({"kl_weight": -1}, "'kl_weight' must be a number at least 0; got -1"),
        ({"learning_rate": 0}, "'learning_rate' must be a number above 0; got 0"),
        ({"n_restarts": 0}, "'n_restarts' must be an integer at least 1; got 0"),
        ({"hidden_units": 2.5}, "'hidden_units' must be an integer at least 1; got 2.5"),
        ({"batch_size": "many"}, "'batch_size' must be an integer at least 1; got 'many'"),
        ({"patience": 0}, "'patience' must be an integer at least 1 or None; got 0"),
        ({"mechanism": "mpl"}, "Unknown mechanism 'mpl'. Did you mean 'mlp'?"),
        ({"permutation": "top"}, "Unknown permutation 'top'. Did you mean 'topk'?"),
        ({"likelihood": "gauss"}, "Unknown likelihood 'gauss'. Did you mean 'gaussian'?"),
        ({"init": "serach"}, "'init' must be 'search', 'random' or an order"),
        ({"init": ["cause"]}, "'init' must hold each of the 4 columns once"),
        ({"init": ["nobody"]}, "'init' names the unknown column 'nobody'"),
        ({"combine": "sum"}, "'combine' must be 'mixture' or 'best'"),
        ({"device": "tpu9"}, "'device' must be 'auto', 'cpu' or a CUDA device"),
        ({"knowledge": "none"}, "'knowledge' must be a dpdag.Knowledge or None"),
        ({"random_state": "x"}, "'random_state' must be None, an integer"),
    ],
)
def test_bad_parameters_are_named(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VIDPDAG(**{**FAST, **settings}).fit(table())


def test_bad_data_are_named() -> None:
    X = table()
    cases = [
        (X.assign(cause=np.nan), r"NaN in columns \['cause'\]"),
        (X.assign(cause=np.inf), r"columns \['cause'\]"),
        (X.assign(cause=1.0), r"\['cause'\]"),
        (X.assign(copy=X["cause"]), "copy"),
        (X.assign(cause="high"), r"\['cause'\]"),
        (
            X.assign(cause="high", other=np.nan),
            r"NaN in columns \['other'\].*missing='impute'",
        ),
        (X[["cause"]], "feature"),
        (X.head(2), "sample"),
    ]
    for frame, message in cases:
        with pytest.raises(ValueError, match=message):
            VIDPDAG(**FAST).fit(frame)


def test_names_that_stand_twice_are_named() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"columns \['a'\] more than once"):
        VIDPDAG().fit(frame)


def test_wrong_columns_and_unfitted_models_are_refused(fitted: VIDPDAG) -> None:
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(table().rename(columns={"cause": "reason"}))
    with pytest.raises(ValueError, match=r"^The feature names .*\n.*\n- site"):
        fitted.predict(table().drop(columns="cause").assign(site="north"))
    with pytest.raises(NotFittedError):
        VIDPDAG().predict(table())
    with pytest.raises(NotFittedError):
        VIDPDAG().sample_dags(3)
    with pytest.raises(ValueError, match=r"Unknown column 'cuase' in 'do'"):
        fitted.sample(3, do={"cuase": 1.0})
    with pytest.raises(ValueError, match=r"'CAUSE' in 'do'. Did you mean 'cause'\?"):
        fitted.sample(3, do={"CAUSE": 1.0})


def test_more_nodes_than_memory_are_refused_before_starting() -> None:
    X = np.random.default_rng(0).normal(size=(20, 60))
    with pytest.raises(MemoryError, match=r"needs about .* GiB of memory, .* lower 'n_restarts'"):
        VIDPDAG(**{**FAST, "hidden_units": 10**7, "init": "random"}).fit(X)
