"""Records describe any fitted learner, survive a file, and refuse what is damaged."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpdag import CAM, VIDPDAG, GroundTruthDAG, datasets
from dpdag.records import Origin, RunRecord, describe, diagnose


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = np.sin(2 * a) + 0.2 * rng.normal(size=300)
    return pd.DataFrame(
        {"b": 5 + 2 * b, "<i>a</i>": 100 * a, "c": b**2 + 0.3 * rng.normal(size=300)}
    )


@pytest.fixture(scope="module")
def additive(table: pd.DataFrame) -> RunRecord:
    return describe(CAM().fit(table), table, seconds=1.5)


@pytest.fixture(scope="module")
def variational(table: pd.DataFrame) -> RunRecord:
    learner = VIDPDAG(max_epochs=5, n_restarts=2, random_state=0, verbose=False, device="cpu")
    return describe(learner.fit(table), table)


def test_scores_are_not_called_probabilities(additive: RunRecord, variational: RunRecord) -> None:
    assert additive.word == "score"
    assert additive.edge_probabilities is None
    assert len(additive.samples) == 0
    assert variational.word == "probability"
    assert variational.strengths is variational.edge_probabilities


def test_first_threshold_shows_the_learned_graph(additive: RunRecord) -> None:
    shown = additive.strengths >= additive.threshold
    assert (shown == (additive.adjacency != 0)).all()


def test_posterior_samples_are_dags_on_the_same_nodes(variational: RunRecord) -> None:
    assert variational.samples.shape == (6, 3, 3)
    assert set(np.unique(variational.samples)) <= {0, 1}


def test_ancestors_include_causes(variational: RunRecord) -> None:
    ancestors, edges = variational.ancestor_probabilities, variational.edge_probabilities
    assert ancestors is not None
    assert edges is not None
    assert (ancestors >= edges - 0.06).all()  # of 1000 sampled graphs
    assert ancestors.max() <= 1


def test_curves_follow_the_function_in_original_units(additive: RunRecord) -> None:
    curve = next(c for c in additive.curves if (c.source, c.target) == (1, 0))
    truth = 5 + 2 * np.sin(2 * np.array(curve.grid) / 100)
    inner = np.abs(np.array(curve.grid)) < 180
    assert np.abs(np.array(curve.values) - truth)[inner].max() < 0.4


def test_there_is_a_curve_for_every_learned_edge(variational: RunRecord) -> None:
    edges = {(curve.source, curve.target) for curve in variational.curves}
    assert edges == {(int(i), int(j)) for i, j in np.argwhere(variational.adjacency)}


def test_curves_of_several_sources_at_once_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(4)
    a, b, c = rng.normal(size=(3, 60))
    noise = 0.1 * rng.normal(size=(2, 60))
    X = np.stack([a, b, c, np.sin(a) + b**2 + noise[0], np.cos(2 * c) + noise[1]], axis=1)
    learner = CAM().fit(X)
    assert learner.adjacency_.sum() >= 3
    for curve in describe(learner, X).curves:
        for value, expected in zip(curve.grid[::6], curve.values[::6], strict=True):
            rows = X.copy()
            rows[:, curve.source] = value
            assert learner.predict(rows)[:, curve.target].mean() == pytest.approx(expected)


def test_arrays_get_names() -> None:
    X = np.random.default_rng(1).normal(size=(50, 2))
    assert describe(CAM().fit(X), X).names == ["x0", "x1"]


def test_named_columns_come_in_any_order(table: pd.DataFrame, additive: RunRecord) -> None:
    found = describe(CAM().fit(table), table[table.columns[::-1]])
    assert found.names == list(table)
    assert np.array_equal(found.points, additive.points)


def test_other_columns_are_refused(table: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=r"X must be \(rows, 3\) as fitted"):
        describe(CAM().fit(table), table.iloc[:, :2])


@pytest.mark.parametrize("kind", ["additive", "variational"])
def test_a_file_holds_everything(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    origin = Origin("t.csv", 9, 4, {"d": "text"}, ["A note."], "as known")
    record = replace(request.getfixturevalue(kind), origin=origin, choice="linear")
    record.save(tmp_path / "record.json")
    again = RunRecord.load(tmp_path / "record.json")
    for name in record.__dataclass_fields__:
        before, after = getattr(record, name), getattr(again, name)
        if isinstance(before, np.ndarray):
            assert np.array_equal(before, after) or before.size == after.size == 0
        else:
            assert before == after, name
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


def test_records_without_an_origin_are_read(additive: RunRecord, tmp_path: Path) -> None:
    additive.save(tmp_path / "record.json")
    facts = json.loads((tmp_path / "record.json").read_text())
    del (
        facts["origin"],
        facts["choice"],
        facts["diagnostics"]["skewed"],
    )  # as earlier versions wrote them
    (tmp_path / "record.json").write_text(json.dumps(facts))
    assert RunRecord.load(tmp_path / "record.json").origin is None


def damaged(record: RunRecord, tmp_path: Path, **changes: object) -> Path:
    record.save(tmp_path / "record.json")
    facts = json.loads((tmp_path / "record.json").read_text())
    facts.update(changes)
    (tmp_path / "record.json").write_text(json.dumps(facts))
    return tmp_path / "record.json"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 99}, "has format 99; this version of dpdag reads format 1"),
        ({"names": ["a"]}, "is damaged"),
        ({"adjacency": [[0, 1], [1, 0]]}, "is damaged: 'adjacency' must be acyclic"),
        ({"adjacency": [[0, 9]]}, "is damaged"),
        ({"edge_scores": "no"}, "is damaged"),
        ({"causal_order": [0, 0, 1]}, "is damaged: 'causal_order' must hold each"),
        ({"diagnostics": {}}, "is damaged"),
        ({"surprise": 1}, "is damaged"),
    ],
)
def test_damaged_files_are_refused_in_one_line(
    additive: RunRecord, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = damaged(additive, tmp_path, **changes)
    with pytest.raises(ValueError, match=message) as caught:
        RunRecord.load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[1, 2]", "not json", "\x00"])
def test_files_of_another_kind_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="is damaged: it is not a record in JSON"):
        RunRecord.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.json does not exist"):
        RunRecord.load(tmp_path / "gone.json")


def test_diagnostics_name_what_is_wrong() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    frame = pd.DataFrame(
        {
            "x": x,
            "copy": 3 - 2 * x,
            "near": x + 0.05 * rng.normal(size=200),
            "flat": 1e9,
            "tail": rng.standard_cauchy(size=200),
            "coin": rng.integers(2, size=200),
            "holes": np.where(np.arange(200) < 3, np.nan, rng.normal(size=200)),
        }
    )
    found = diagnose(frame)
    assert found.duplicates == [("x", "copy")]
    assert found.near_duplicates == [("x", "near"), ("copy", "near")]
    assert found.constant == ["flat"]
    assert found.heavy_tailed == ["tail"]
    assert found.few_values == ["coin"]
    assert found.missing == {"holes": 3}
    assert len(found.notes) == 6


def test_clean_columns_need_no_note() -> None:
    found = diagnose(np.random.default_rng(3).normal(size=(100, 3)))
    assert found.notes == []
    assert found.sortability is None


def test_shares_of_a_whole_are_named_with_a_way_out() -> None:
    parts = np.random.default_rng(4).random((200, 4))
    frame = pd.DataFrame(parts / parts.sum(1, keepdims=True), columns=list("abcd"))
    found = diagnose(frame)
    assert found.relations == [list("abcd")]
    assert any("a, b, c, d" in note and "logarithms of ratios" in note for note in found.notes)


def test_a_column_cut_into_classes_is_named_with_what_to_do() -> None:
    pressure = np.random.default_rng(0).normal(size=(200, 1))
    found = diagnose(np.hstack([pressure, np.digitize(pressure, [-1, 1])]), ["pressure", "stage"])
    assert found.classes == [("pressure", "stage")]
    assert any("--drop stage" in note for note in found.notes)


def test_skewed_columns_are_named_with_a_way_out() -> None:
    rng = np.random.default_rng(7)
    few = rng.random(1000) < 0.05
    columns = {"income": np.exp(rng.normal(size=1000) / 2), "coin": few, "z": rng.normal(size=1000)}
    frame = pd.DataFrame(columns).assign(heavy=np.exp(2 * columns["z"]), gaps=columns["income"])
    frame.loc[:99, "gaps"] = np.nan
    found = diagnose(frame)
    assert found.skewed == ["income", "gaps"]
    assert any(
        note.startswith("Strongly skewed: income, gaps; logarithms may help")
        for note in found.notes
    )
    assert diagnose(frame[["income"]] - 1).skewed == []  # such values have no logarithm


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_no_logarithms_are_advised_for_few_values(share: float) -> None:
    """However rare one of two values, or a large count, is."""
    rng = np.random.default_rng(9)
    ill = rng.permutation(np.arange(1000) < 1000 * share)
    frame = pd.DataFrame({"ill": ill, "visits": rng.binomial(5, share / 2, size=1000)})
    found = diagnose(frame)
    assert found.few_values == ["ill", "visits"]
    assert not any("logarithm" in note for note in found.notes)
    assert diagnose(frame.assign(amount=np.exp(4 * ill))).few_values == ["ill", "visits", "amount"]


@pytest.mark.parametrize("mechanism", ["gp", "additive-gp", "mlp"])
def test_generated_columns_are_not_called_skewed(mechanism: str) -> None:
    graph = np.triu(np.random.default_rng(8).random((10, 10)) < 0.4, 1)
    for seed in range(3):
        data = datasets.simulate(graph, 300, mechanism=mechanism, random_state=seed)
        assert diagnose(data.frame).skewed == []


def test_sortability_is_told_where_it_may_turn_arrows() -> None:
    causes = np.random.default_rng(5).normal(size=(200, 5))
    X = np.column_stack([causes, causes.sum(1) + np.random.default_rng(6).normal(size=200)])
    graph = np.zeros((6, 6), dtype=int)
    graph[:5, 5] = 1
    said = diagnose(X, graph=graph).sortability
    assert said is not None
    assert said.startswith("Effects are nearly always the variables that the others predict best.")
    assert "confirm a direction by an experiment" in said
    assert diagnose(X * [1, 1, 1, 1, 1, 1000], graph=graph).sortability == said  # scales: no matter
    given = GroundTruthDAG(graph, mechanism="linear").fit(X)
    assert describe(given, X).diagnostics.sortability is None
    graph[1:5, 5] = 0  # along a single arrow there is no pattern
    assert diagnose(X, graph=graph).sortability is None


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"X must be \(rows, columns\) and not empty"):
        diagnose(np.zeros((0, 3)))
