"""Rows under intervention, from a column or from files of their own."""

import json

import numpy as np
import pandas as pd
import pytest

from dpdag import datasets

LINES = ("--set", "mechanism=linear")


@pytest.fixture
def folder(tmp_path):
    data = datasets.simulate(
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        100,
        mechanism="linear",
        do=[{}, {"b": None}, {"c": 1.0, "a": None}],
        names=["a", "b", "c"],
        random_state=0,
    )
    said = ["; ".join(np.array(data.names)[row]) for row in data.mask]
    whole = data.frame.assign(target=said)
    whole.to_csv(tmp_path / "all.csv", index=False)
    for name, rows in (("seen", slice(100)), ("b", slice(100, 200)), ("ac", slice(200, 300))):
        whole[rows].drop(columns="target").to_csv(tmp_path / f"{name}.csv", index=False)
    whole[100:200][["a", "b"]].to_csv(tmp_path / "narrow.csv", index=False)
    whole.assign(target="b;q").to_csv(tmp_path / "unknown.csv", index=False)
    whole.assign(target="b").to_csv(tmp_path / "always.csv", index=False)
    return tmp_path


def test_a_column_and_files_say_the_same(dpdag, folder) -> None:
    runs = {
        "column": ["all.csv", "--interventions-column", "target"],
        "files": ["seen.csv", "--under", "b=b.csv", "--under", "a;c=ac.csv"],
    }
    for name, arguments in runs.items():
        result = dpdag(folder, "fit", *arguments, "--out", name, *LINES)
        assert result.status == 0, result.stderr
        assert "a (200), b (200), c (200) of 300 rows" in result.stdout
        assert "settle the direction of 2 of 2 edges" in " ".join(result.stdout.split())
    one, two = (pd.read_csv(folder / name / "edges.csv") for name in runs)
    pd.testing.assert_frame_equal(one, two)
    assert sorted(zip(one["source"], one["target"])) == [("a", "b"), ("b", "c")]
    found = json.loads((folder / "column" / "summary.json").read_text())
    assert found["experiments"] == {
        "informing_rows": {"a": 200, "b": 200, "c": 200},
        "settled": [["a", "b"], ["b", "c"]],
    }
    assert found["data"]["dropped"] == {"target": "says what was set"}
    assert "inform it: a (200)" in (folder / "column" / "report.html").read_text()


def test_rows_that_are_left_out_or_drawn_keep_what_was_set(dpdag, folder) -> None:
    gaps = pd.read_csv(folder / "all.csv")
    gaps.loc[::10, "c"] = np.nan
    gaps.to_csv(folder / "gaps.csv", index=False)
    arguments = ["gaps.csv", "--interventions-column", "target", "--missing", "drop"]
    result = dpdag(folder, "fit", *arguments, "--max-rows", 90, "--drop", "a", "--out", "r", *LINES)
    assert result.status == 0, result.stderr
    rows = json.loads((folder / "r" / "summary.json").read_text())["experiments"]["informing_rows"]
    assert set(rows) == {"b", "c"}
    assert all(40 < count < 80 for count in rows.values())


def test_a_column_that_was_always_set_is_warned_of(dpdag, folder) -> None:
    arguments = ["always.csv", "--interventions-column", "target", "--out", "r", *LINES]
    result = dpdag(folder, "fit", *arguments)
    assert result.status == 0
    assert "warning: Columns ['b'] were set in all rows" in result.stderr
    assert "b" not in set(pd.read_csv(folder / "r" / "edges.csv")["target"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["all.csv", "--interventions-column", "targets"], ["all.csv", "'targets'", "'target'?"]),
        (
            ["unknown.csv", "--interventions-column", "target"],
            ["unknown.csv names 'q' in row 1 of its column 'target'", "separated by ';'"],
        ),
        (["seen.csv", "--under", "b"], ["--under takes column=file", "got 'b'"]),
        (["seen.csv", "--under", "=b.csv"], ["--under takes column=file"]),
        (["seen.csv", "--under", "q=b.csv"], ["q=b.csv", "seen.csv has no column 'q'", "a, b, c"]),
        (["seen.csv", "--under", "b=nowhere.csv"], ["nowhere.csv does not exist"]),
        (["seen.csv", "--under", "b=narrow.csv"], ["narrow.csv (--under) lacks", "'c'", "--drop"]),
        (
            ["seen.csv", "--under", "b=b.csv", "--learner", "DAGGNN"],
            ["DAGGNN cannot take rows under intervention", "DAGPosterior, VIDPDAG"],
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(dpdag, folder, arguments, words) -> None:
    before = sorted(folder.iterdir())
    result = dpdag(folder, "fit", *arguments, "--out", "run")
    assert result.status == 2
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
    assert sorted(folder.iterdir()) == before


def test_labels_may_be_set_by_column_and_by_file(dpdag, folder) -> None:
    rng = np.random.default_rng(0)
    site = rng.choice(["north", "south", "west"], size=300)
    dose = np.where(site == "west", 2.0, 0.0) + 0.3 * rng.normal(size=300)
    said = np.where(np.arange(300) < 150, "", "site")
    table = pd.DataFrame({"dose": dose, "site": site, "age": rng.normal(size=300)})
    table.assign(target=said).to_csv(folder / "labels.csv", index=False)
    table[:150].to_csv(folder / "natural.csv", index=False)
    table[150:].to_csv(folder / "site.csv", index=False)
    runs = {
        "one": ["labels.csv", "--interventions-column", "target"],
        "two": ["natural.csv", "--under", "site=site.csv"],
    }
    for name, arguments in runs.items():
        result = dpdag(folder, "fit", *arguments, "--out", name, *LINES)
        assert result.status == 0, result.stderr
        found = json.loads((folder / name / "summary.json").read_text())
        assert found["experiments"]["informing_rows"]["site"] == 150
        edges = pd.read_csv(folder / name / "edges.csv")
        assert list(zip(edges["source"], edges["target"])) == [("site", "dose")]
    drawn = dpdag(folder, "sample", "one", "-k", 50, "--do", "site=west", "--out", "drawn.csv")
    assert drawn.status == 0, drawn.stderr
    assert pd.read_csv(folder / "drawn.csv")["dose"].mean() == pytest.approx(2.0, abs=0.3)
