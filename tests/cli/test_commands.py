"""What each command writes and says."""

import json
import os
import re
import signal
import time
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from dpdag import DAGPosterior, __version__, datasets, load
from dpdag.cli.options import known

SOURCE = Path(__file__).parents[2] / "src"
CAM = ("--learner", "CAM", "--set", "n_bootstrap=0")
TO_OUTCOME = {("age", "outcome"), ("dose", "outcome")}
QUICK = ("--set", "mechanism=linear")


@pytest.fixture
def table(folder) -> pd.DataFrame:
    """age → dose → outcome, with a site that matters to the dose; saved as data.csv."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, size=300)
    site = rng.choice(["north", "south", "west"], size=300)
    dose = np.tanh((age - 50) / 10) + (site == "west") + 0.2 * rng.normal(size=300)
    outcome = dose**2 + 0.2 * rng.normal(size=300)
    frame = pd.DataFrame({"outcome": outcome, "age": age, "site": site, "dose": dose})
    frame.to_csv(folder / "data.csv", index=False)
    return frame


def test_the_installed_command_knows_its_version(own_process):
    process = own_process("--version")
    out, err = process.communicate()
    assert (process.returncode, out, err) == (0, f"dpdag {__version__}\n", "")


def test_fit_writes_everything_from_one_option(dpdag, folder):
    result = dpdag(folder, "fit", "Sachs", "--out", "deep/run", *QUICK)
    run = folder / "deep" / "run"
    assert result.status == 0, result.stderr
    assert [path.name for path in folder.iterdir()] == ["deep"]
    assert [path.name for path in run.parent.iterdir()] == ["run"]
    files = "edges.csv graph.dot graph.graphml model record.json report.html summary.json"
    assert sorted(path.name for path in run.iterdir()) == files.split()
    assert "853 rows × 11 columns" in result.stdout
    assert result.stdout.rstrip().endswith("deep/run/report.html")

    learner = load(run / "model")
    summary = json.loads((run / "summary.json").read_text())
    edges = pd.read_csv(run / "edges.csv")
    names = "source", "target", "score", "probability", "reverse_probability", "linked"
    assert tuple(edges.columns) == names
    np.testing.assert_allclose(edges["probability"] + edges["reverse_probability"], edges["linked"])
    assert summary["n_edges"] == len(edges) == learner.adjacency_.sum()
    learned = set(learner.graph_.edges)
    assert set(zip(edges["source"], edges["target"])) == learned
    assert set(nx.read_graphml(run / "graph.graphml").edges) == learned
    assert (run / "graph.dot").read_text().count("->") == len(edges)
    assert "<html" in (run / "report.html").read_text()
    assert summary["data"]["columns_used"] == datasets.load("Sachs").names


def test_a_folder_does_not_hide_a_data_set_of_its_name(dpdag, folder):
    (folder / "sachs").mkdir()
    result = dpdag(folder, "fit", "sachs", "--out", "run", *CAM)
    assert result.status == 0, result.stderr
    assert "853 rows × 11 columns" in result.stdout


def test_rows_set_from_outside_are_noted(own_process, folder, data_folder):
    if not (data_folder / "Sachs-interventional.npz").is_file():
        pytest.skip(f"no Sachs-interventional.npz in {data_folder}")
    found = {"DPDAG_DATA": str(data_folder)}
    arguments = ("fit", "Sachs-interventional", "--out", "run", *CAM)
    out, err = own_process(*arguments, extra=found, cwd=folder).communicate()
    assert "PKA (6,759), PKC (5,830) of 7,466 rows" in " ".join(out.split()), err


def test_json_is_the_summary_and_a_seed_fixes_it(dpdag, folder):
    found = []
    for name in ("one", "two"):
        result = dpdag(folder, "fit", "Sachs", "--out", name, *QUICK, "--json", "--seed", 3)
        assert result.status == 0, result.stderr
        found.append(json.loads(result.stdout))
        assert found[-1] == json.loads((folder / name / "summary.json").read_text())
    assert found[0].pop("seconds") != found[1].pop("seconds")
    assert found[0] == found[1]


def test_text_is_a_category_or_dropped_and_said(dpdag, folder, table):
    result = dpdag(folder, "fit", "data.csv", "--out", "run", *CAM, "--drop-text")
    assert result.status == 0, result.stderr
    assert re.search(r"left out\s+site: text", result.stdout)
    report = (folder / "run" / "report.html").read_text()
    assert "variables in data.csv</title>" in report
    assert "<li>Left out site: text.</li>" in report
    table.assign(who=[f"P{k}" for k in range(300)]).to_csv(folder / "data.csv", index=False)
    result = dpdag(
        folder, "fit", "data.csv", "--out", "run", *QUICK, "--drop", "who", "--overwrite",
        "--forbid", "site:dose", "--json",
    )  # fmt: skip
    assert result.status == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["data"]["dropped"] == {"who": "as asked"}
    assert summary["data"]["types"]["site"] == "category of 3: north, south, west"
    ends = {(edge["source"], edge["target"]) for edge in summary["edges"]}
    assert ("site", "dose") not in ends

    result = dpdag(folder, "predict", "run", "data.csv", "--out", "predicted.csv")
    assert result.status == 0, result.stderr
    predicted = pd.read_csv(folder / "predicted.csv")
    assert list(predicted) == ["outcome", "age", "site", "dose"]
    assert set(predicted["site"]) <= set(table["site"])


def test_types_are_found_out_said_and_changed(dpdag, folder):
    rng = np.random.default_rng(0)
    age = rng.normal(size=300)
    visits = rng.poisson(np.exp(0.5 + 0.8 * age))
    pd.DataFrame({"age": age, "visits": visits, "ill": 1 * (age > 0)}).to_csv(
        folder / "data.csv", index=False
    )
    first = dpdag(folder, "fit", "data.csv", "--out", "a", *QUICK)
    assert "visits: counts, ill: 0/1" in first.stdout, first.stderr
    again = ("fit", "data.csv", "--out", "b", *QUICK, "--type", "visits=continuous")
    assert dpdag(folder, *again).status == 0
    found = json.loads((folder / "b" / "summary.json").read_text())["data"]["types"]
    assert found == {"age": "continuous", "visits": "continuous", "ill": "0/1"}
    assert load(folder / "b" / "model").types == {"visits": "continuous"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--type", "visits"), "name=type"),
        (("--type", "visit=count"), "Did you mean 'visits'?"),
        (("--type", "visits=counts"), "Did you mean 'count'?"),
        (("--type", "visits=count", *CAM), "a learner that knows types: DAGPosterior"),
        (("--set", "types=count"), "use --type"),
    ],
)
def test_types_that_cannot_be_are_refused_in_one_line(dpdag, folder, words, said):
    pd.DataFrame({"age": np.arange(40) % 7 / 3, "visits": np.arange(40) % 5}).to_csv(
        folder / "data.csv", index=False
    )
    result = dpdag(folder, "fit", "data.csv", "--out", "run", *words)
    assert result.status == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (folder / "run").exists()


def test_knowledge_from_options_and_files_holds(dpdag, folder, table):
    (folder / "tiers.yaml").write_text("[[outcome], [dose, age]]")
    (folder / "known.json").write_text('{"required": [["outcome", "age"]]}')
    result = dpdag(
        folder, "fit", "data.csv", "--out", "run", *CAM, "--drop-text", "--json",
        "--tiers", "tiers.yaml", "--knowledge", "known.json", "--forbid", "age:dose",
        "--require", "outcome:dose",
    )  # fmt: skip
    assert result.status == 0, result.stderr
    ends = {(e["source"], e["target"]) for e in json.loads(result.stdout)["edges"]}
    assert {("outcome", "age"), ("outcome", "dose")} <= ends
    assert not ends & {("age", "dose"), ("age", "outcome"), ("dose", "outcome")}


def test_what_comes_first_and_last_is_honoured(dpdag, folder, table):
    fit = "fit", "data.csv", "--out", "run", *CAM, "--drop-text", "--first", "outcome"
    result = dpdag(folder, *fit, "--last", "age", "--require", "outcome:dose", "--json")
    assert result.status == 0, result.stderr
    ends = {(e["source"], e["target"]) for e in json.loads(result.stdout)["edges"]}
    assert ("outcome", "dose") in ends
    assert not any(target == "outcome" or source == "age" for source, target in ends)


@pytest.mark.parametrize(
    ("first", "last", "tiers", "left"),
    [
        (["age", "dose", "age"], [], None, TO_OUTCOME),
        ([], ["outcome", "dose"], None, {("age", "outcome"), ("age", "dose")}),
        (["dose"], ["outcome"], "[[age, dose], [outcome]]", {("dose", "age"), *TO_OUTCOME}),
    ],
)
def test_columns_that_come_first_or_last_have_no_arrows_among_them(
    tmp_path, first, last, tiers, left
):
    names, file = ["outcome", "age", "dose"], tmp_path / "tiers.yaml"
    file.write_text(tiers or "")
    said = {"forbid": [], "require": [], "file": None, "dropped": {}}
    found = known(names, first=first, last=last, tiers=file if tiers else None, **said)
    allowed = found.resolve(3, names).allowed
    assert {(names[i], names[j]) for i, j in allowed.nonzero().tolist()} == left


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--last", "outcome"], "'outcome' is given both by --first and by --last"),
        (["--first", "weight"], "weight"),
        (["--require", "age:outcome"], "age → outcome is required, but --first outcome says"),
        (["--last", "age", "--require", "age:dose"], "age → dose is required, but --last age says"),
        (["--require", "age:dose", "--require", "dose:age"], "'required' edges contradict"),
    ],
)
def test_what_comes_first_is_refused_where_it_cannot_be(dpdag, folder, table, more, said):
    fit = "fit", "data.csv", "--out", "run", *CAM, "--drop-text", "--first", "outcome"
    result = dpdag(folder, *fit, *more)
    assert result.status == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_required_edges_are_marked(dpdag, folder, table):
    result = dpdag(
        folder, "fit", "data.csv", "--out", "run", *CAM, "--drop-text", "--require", "outcome:age"
    )
    assert result.status == 0, result.stderr
    marked = [line.split() for line in result.stdout.splitlines() if line.endswith("required")]
    assert [words[:3] for words in marked] == [["outcome", "→", "age"]]
    edges = json.loads((folder / "run" / "summary.json").read_text())["edges"]
    assert [e["source"] for e in edges if e["required"]] == ["outcome"]


def test_what_a_graph_explains_stands_below_the_result(dpdag, folder, table):
    fast = "--set", "mechanism=additive"
    result = dpdag(folder, "fit", "data.csv", "--out", "run", "--drop-text", *fast)
    assert result.status == 0, result.stderr
    heads = [line.split()[0] for line in result.stdout.splitlines() if line[:1].isupper()]
    assert heads == ["Data", "Learned", "Explains", "Check", "Report"]
    assert "Can each of these be an effect of other columns? " in result.stdout
    said = next(line for line in result.stdout.splitlines() if line.startswith("Explains"))
    assert said.removeprefix("Explains").strip() in (folder / "run" / "report.html").read_text()
    found = json.loads((folder / "run" / "summary.json").read_text())
    assert found["quality"]["nats_per_row"] > 0
    assert [one["column"] for one in found["quality"]["columns"]] == found["data"]["columns_used"]
    assert found["hidden_causes"] == []


def test_useless_columns_and_rows_with_gaps_are_left_out_and_said(dpdag, folder, table):
    table = table.drop(columns="site").assign(one=1, days=lambda t: 365 * t["age"], none=None)
    table.loc[:9, "dose"] = np.nan
    table.to_csv(folder / "data.csv", index=False)
    result = dpdag(folder, "fit", "data.csv", "--out", "run", *CAM, "--missing", "drop")
    assert result.status == 0, result.stderr
    for said in (
        r"learned from 290 × 3",
        r"left out\s+one: constant",
        r"left out\s+days: a copy of 'age'",
        r"left out\s+none: all values missing",
        r"Left out 10 of 300 rows, which miss values in 'dose' \(10\)",
    ):
        assert re.search(said, result.stdout), result.stdout


def test_labels_that_are_mere_signs_are_noted(dpdag, folder, table):
    site = np.random.default_rng(2).choice(["A", "B"], 300)
    site[:3] = "?"
    table.assign(site=site).to_csv(folder / "data.csv", index=False)
    arguments = (folder, "fit", "data.csv", "--out", "run", "--set", "mechanism=linear")
    result = dpdag(*arguments)
    assert result.status == 0, result.stderr
    assert re.search(r"site has \? among its labels:\s+if it stands", result.stdout), result.stdout
    result = dpdag(*arguments, "--overwrite", "--na", "?", "--missing", "drop")
    assert "among its labels" not in result.stdout


def test_what_may_be_wrong_with_values_is_noted(dpdag, folder, table):
    rng = np.random.default_rng(3)
    table = table.drop(columns="site").assign(
        smokes=rng.choice(["yes", "yes ", "YES", "no"], 300),
        treated=np.where(rng.random(300) < 0.3, "Yes", None),
        score=np.where(np.arange(300) % 20 == 0, -999, rng.integers(0, 60, 300)),
        days=np.where(np.arange(300) % 2 == 0, 0, rng.integers(1, 60, 300)),
    )
    table.to_csv(folder / "data.csv", index=False)
    result = dpdag(folder, "fit", "data.csv", "--out", "run", "--set", "mechanism=linear")
    assert result.status == 0, result.stderr
    empty = table["treated"].isna().sum()
    for said in (
        "smokes has 'YES', 'yes', 'yes ' among its labels, which differ only in case or blanks",
        f"treated: constant but for {empty} empty cells",
        "score is -999 in 15 rows, far from all other values: if it stands for a missing value, "
        "add --na -999.",
    ):
        assert said in result.stdout, result.stdout
    assert "days is" not in result.stdout


def test_values_that_were_set_are_no_codes(dpdag, folder, table):
    table.loc[:19, "dose"] = 500.0
    table.assign(what=["dose"] * 20 + [""] * 280).to_csv(folder / "data.csv", index=False)
    fit = "fit", "data.csv", "--out", "run", *CAM, "--drop-text"
    result = dpdag(folder, *fit, "--interventions-column", "what")
    assert result.status == 0, result.stderr
    assert "far from all other values" not in result.stdout
    assert "dose is 500 in 20 rows" in dpdag(folder, *fit, "--drop", "what", "--overwrite").stdout


def test_a_column_that_numbers_the_rows_is_noted_and_can_be_left_out(dpdag, folder, table):
    rng = np.random.default_rng(1)
    table = table.assign(**{"row no": range(1, 301), "key": rng.permutation(300)})
    table.assign(year=1990 + np.arange(300) // 2).to_csv(folder / "data.csv", index=False)
    arguments = (folder, "fit", "data.csv", "--out", "run", *CAM, "--overwrite", "--drop-text")
    result = dpdag(*arguments)
    assert result.status == 0, result.stderr
    assert "row no numbers the rows: leave an id out with --drop 'row no'; a time" in result.stdout
    assert "key numbers the rows: leave an id out with --drop key; a time" in result.stdout
    assert result.stdout.count("numbers the rows") == 2
    assert "number the rows" not in result.stderr  # said once
    result = dpdag(*arguments, "--drop", "row no", "--drop", "key", "--json")
    assert result.status == 0, result.stderr
    summary = json.loads(result.stdout)
    assert summary["data"]["columns_used"] == ["outcome", "age", "dose", "year"]
    assert summary["data"]["dropped"] == {"row no": "as asked", "key": "as asked", "site": "text"}
    assert not any("numbers the rows" in note for note in summary["notes"])


def test_missing_values_are_filled_while_learning(dpdag, folder, table):
    table = table.drop(columns="site")
    table.loc[:9, "dose"] = np.nan
    table.to_csv(folder / "data.csv", index=False)
    result = dpdag(folder, "fit", "data.csv", "--out", "run", "--missing", "impute", *QUICK)
    assert result.status == 0, result.stderr
    assert "300 rows × 3 columns\n" in result.stdout
    assert "Values are missing in dose" in result.stdout


@pytest.mark.parametrize("code", [".", "-", "?", "NA", "-999"])
def test_a_code_for_missing_values_is_read_as_one(dpdag, folder, table, code):
    plain = table[["age", "dose"]].mask(lambda rows: rows > rows.quantile(0.9))
    plain.to_csv(folder / "gaps.csv", index=False, na_rep=code)
    fit = ("fit", "gaps.csv", "--na", code, "--out", "run", *CAM, "--missing", "drop")
    assert dpdag(folder, *fit).status == 0
    summary = json.loads((folder / "run" / "summary.json").read_text())
    assert summary["data"]["rows_used"] == len(plain.dropna())
    filling = dpdag(folder, "impute", "run", "gaps.csv", "--na", code, "--out", "full.csv")
    assert filling.status == 0
    filled = pd.read_csv(folder / "full.csv")
    assert not filled.isna().any(axis=None)
    np.testing.assert_allclose(filled.where(plain.notna()), plain)


def test_models_predict_impute_and_draw_graphs(dpdag, folder, table):
    data = table.drop(columns="site")
    data.to_parquet(folder / "data.parquet")
    assert dpdag(folder, "fit", "data.parquet", "--out", "run", *QUICK).status == 0
    gaps = data.assign(more="text")[["more", "dose", "outcome", "age"]]  # any order, more columns
    gaps.loc[3, "dose"] = np.nan
    gaps.to_csv(folder / "gaps.tsv", sep="\t", index=False)
    result = dpdag(folder, "impute", "run", "gaps.tsv", "--out", "filled.csv")
    assert result.status == 0, result.stderr
    filled = pd.read_csv(folder / "filled.csv")
    learner = load(folder / "run" / "model")
    own = ["outcome", "age", "dose"]
    assert list(filled) == ["more", "dose", "outcome", "age"]
    assert (filled["more"] == "text").all()
    np.testing.assert_allclose(filled[own], learner.impute(gaps[own]))
    assert np.isfinite(filled.loc[3, "dose"])
    filled.to_csv(folder / "filled.csv", index=False)
    assert dpdag(folder, "predict", "run", "filled.csv", "--out", "predicted.tsv").status == 0
    predicted = pd.read_csv(folder / "predicted.tsv", sep="\t")
    np.testing.assert_allclose(predicted, learner.predict(filled[own]))

    result = dpdag(folder, "sample", "run/model", "-k", 7, "--out", "dags.npz", "--seed", 1)
    assert result.status == 0, result.stderr
    with np.load(folder / "dags.npz") as drawn:
        np.testing.assert_array_equal(drawn["dags"], learner.sample_dags(7, 1))
        assert drawn["names"].tolist() == ["outcome", "age", "dose"]


def test_spreads_and_probabilities_follow_the_predictions(dpdag, folder, table):
    assert dpdag(folder, "fit", "data.csv", "--out", "run", *QUICK).status == 0
    for options, name in (((), "p.csv"), (("--std",), "s.csv"), (("--probabilities",), "q.csv")):
        result = dpdag(folder, "predict", "run", "data.csv", "--out", name, *options)
        assert result.status == 0, result.stderr
    plain, both, shares = (pd.read_csv(folder / name) for name in ("p.csv", "s.csv", "q.csv"))
    for more in (both, shares):
        pd.testing.assert_frame_equal(more[list(plain)], plain)
    learner = load(folder / "run")
    std = learner.predict(table, return_std=True)[1]
    spreads = both.drop(columns=list(plain))
    assert list(spreads) == ["outcome_std", "age_std", "dose_std"]  # of numbers, not of the site
    np.testing.assert_allclose(spreads, std[["outcome", "age", "dose"]])
    shares = shares.drop(columns=list(plain))
    assert list(shares) == ["site=north", "site=south", "site=west"]
    np.testing.assert_allclose(shares, learner.predict_probabilities(table)["site"])

    names = {"age": "dose_std"}
    table.rename(columns=names).drop(columns="site").to_csv(folder / "taken.csv", index=False)
    assert dpdag(folder, "fit", "taken.csv", "--out", "taken", *CAM).status == 0
    refused = dpdag(folder, "predict", "taken", "taken.csv", "--std", "--out", "t.csv")
    assert (refused.status, refused.stderr.count("\n")) == (2, 1)
    assert "--std writes dose_std, but the model has columns of that name" in refused.stderr


def test_a_table_is_filled_and_otherwise_as_it_came(dpdag, folder, table):
    table = table.assign(one=1, none=np.nan, old=table["age"].to_numpy() > 60)
    table = table[["none", "site", "dose", "one", "outcome", "old", "age"]]
    table.loc[:9, "dose"] = np.nan
    table.loc[5:14, "site"] = np.nan
    table.to_csv(folder / "data.csv", index=False)
    options = ("--missing", "impute", *QUICK)
    assert dpdag(folder, "fit", "data.csv", "--out", "run", *options).status == 0
    result = dpdag(folder, "impute", "run", "data.csv", "--out", "filled.csv")
    assert "still missing: 'none' (300)\n" in result.stdout
    filled = pd.read_csv(folder / "filled.csv")
    assert filled.drop(columns="none").notna().all(axis=None)
    assert set(filled["site"]) == {"north", "south", "west"}
    pd.testing.assert_frame_equal(filled[table.notna()], table)
    assert dpdag(folder, "predict", "run", "filled.csv", "--out", "p.csv").status == 0
    refused = dpdag(folder, "predict", "run", "data.csv", "--out", "q.csv")
    assert "misses values in 'site' (10), 'dose' (10); fill them first" in refused.stderr
    refused = dpdag(folder, "impute", "run", "data.csv", "--out", "filled.npy")
    assert (refused.status, "cannot hold text" in refused.stderr) == (2, True)


def test_whole_numbers_are_filled_by_whole_numbers_and_kept(dpdag, folder):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200)
    dose = (age / 20 + rng.normal(size=200)).round(2)
    table = pd.DataFrame({"age": age, "dose": dose, "ward": rng.integers(1, 900, 200)})
    table = table.astype({"age": "Int64", "ward": "Int64"}).mask(rng.random((200, 3)) < 0.1)
    table.to_csv(folder / "gaps.csv", index=False)
    fit = ("fit", "gaps.csv", "--drop", "ward", "--out", "run", "--missing", "impute", *QUICK)
    assert dpdag(folder, *fit).status == 0
    for name in ("filled.csv", "filled.npy"):
        result = dpdag(folder, "impute", "run", "gaps.csv", "--out", name)
        assert result.status == 0, result.stderr
    filled = pd.read_csv(folder / "filled.csv", dtype=str)
    assert filled[["age", "dose"]].notna().all(axis=None)
    assert filled["age"].str.isdigit().all()
    given = pd.read_csv(folder / "gaps.csv", dtype=str)
    pd.testing.assert_frame_equal(
        filled[["age", "ward"]].where(given.notna()), given[["age", "ward"]]
    )
    np.testing.assert_allclose(np.load(folder / "filled.npy"), filled.astype(float))


def test_rows_are_drawn_under_interventions(dpdag, folder, table):
    assert dpdag(folder, "fit", "data.csv", "--out", "run", *QUICK).status == 0
    options = ("--do", "site=west", "--do", "age=60", "--seed", 3)
    result = dpdag(folder, "sample", "run", "-k", 50, "--out", "rows.csv", *options)
    assert result.status == 0, result.stderr
    rows = pd.read_csv(folder / "rows.csv")
    expected = load(folder / "run").sample(50, do={"site": "west", "age": 60}, random_state=3)
    numbers = ["outcome", "age", "dose"]
    pd.testing.assert_frame_equal(rows[numbers], expected[numbers])
    assert (rows[["site", "age"]] == ["west", 60]).all(axis=None)


def test_rows_are_drawn_in_the_terms_of_the_table(dpdag, folder, table):
    table = table.assign(visits=(table["age"] / 10).round().astype(int))
    table.to_csv(folder / "data.csv", index=False)
    assert dpdag(folder, "fit", "data.csv", "--out", "run", *QUICK).status == 0
    assert dpdag(folder, "sample", "run", "-k", 200, "--out", "rows.csv").status == 0
    rows = pd.read_csv(folder / "rows.csv")
    assert list(rows) == list(table)
    assert list(rows.dtypes) == list(table.dtypes)
    assert set(rows["site"]) == set(table["site"])
    result = dpdag(folder, "predict", "run", "rows.csv", "--out", "again.csv")
    assert result.status == 0, result.stderr
    assert list(pd.read_csv(folder / "again.csv")) == list(table)


def test_an_intervention_far_outside_the_data_is_warned_of_in_one_line(dpdag, folder, table):
    assert dpdag(folder, "fit", "data.csv", "--out", "run", "--drop-text", *CAM).status == 0
    result = dpdag(folder, "sample", "run", "--do", "age=500", "--do", "dose=0", "--out", "r.csv")
    assert result.status == 0
    assert result.stderr.startswith("dpdag: warning: 'age' is set to 500, far outside its observed")
    assert result.stderr.count("\n") == 1
    assert (pd.read_csv(folder / "r.csv")["age"] == 500).all()


def test_interventions_are_values_of_the_column_and_others_are_refused(dpdag, folder, table):
    rng = np.random.default_rng(1)
    table = table.assign(visits=rng.poisson(2, 300), ill=rng.random(300) < 0.4)
    table.to_csv(folder / "data.csv", index=False)
    assert dpdag(folder, "fit", "data.csv", "--out", "run", *QUICK).status == 0
    options = ("-k", 20, "--out", "rows.csv", "--overwrite")
    chosen = ("--do", "site=north", "--do", "visits=7", "--do", "ill=True")
    result = dpdag(folder, "sample", "run", *options, *chosen)
    assert result.status == 0, result.stderr
    rows = pd.read_csv(folder / "rows.csv")
    assert (rows[["site", "visits", "ill"]] == ["north", 7, True]).all(axis=None)
    for wrong, said in (
        ("site=nord", "'site' has no value 'nord' to set it to in 'do'. Did you mean 'north'?"),
        ("visits=-2", "'visits' counts: 'do' must set it to 0, 1, 2, …; got -2.0."),
        ("visits=1.5", "got 1.5."),
        ("ill=maybe", "Known: False, True."),
    ):
        result = dpdag(folder, "sample", "run", *options, "--do", wrong)
        assert (result.status, said in result.stderr) == (2, True), result.stderr


def test_a_model_of_an_array_takes_columns_by_number(dpdag, folder, table):
    values = table[["age", "dose"]].to_numpy()
    learner = DAGPosterior(mechanism="linear").fit(values)
    learner.save(folder / "model")
    np.save(folder / "values.npy", values)
    result = dpdag(folder, "predict", "model", "values.npy", "--out", "p.npy")
    assert (result.status, result.stderr) == (0, "")
    np.testing.assert_allclose(np.load(folder / "p.npy"), learner.predict(values))
    assert dpdag(folder, "sample", "model", "--do", "x1=0.5", "--out", "s.npy").status == 0
    assert (np.load(folder / "s.npy")[:, 1] == 0.5).all()


def test_a_model_with_other_labels_than_text_takes_them_as_text(dpdag, folder, table):
    numbered = table[["age", "dose"]].set_axis(["age", 1], axis=1)
    DAGPosterior(mechanism="linear").fit(numbered).save(folder / "model")
    numbered[[1, "age"]].to_csv(folder / "new.csv", index=False)
    assert dpdag(folder, "predict", "model", "new.csv", "--out", "p.csv").status == 0
    predicted = pd.read_csv(folder / "p.csv")
    assert list(predicted) == ["age", "1"]
    expected = load(folder / "model").predict(numbered)
    np.testing.assert_allclose(predicted, expected)
    assert dpdag(folder, "sample", "model", "--do", "1=0.5", "--out", "rows.csv").status == 0
    assert (pd.read_csv(folder / "rows.csv")["1"] == 0.5).all()


def test_a_report_is_written_again_from_the_record(dpdag, folder):
    assert dpdag(folder, "fit", "Sachs", "--out", "run", *CAM).status == 0
    page = (folder / "run" / "report.html").read_bytes()
    (folder / "run" / "report.html").unlink()
    result = dpdag(folder, "report", "run")
    assert (result.status, result.stdout) == (0, "run/report.html\n")
    assert (folder / "run" / "report.html").read_bytes() == page
    for options, status in (([], 0), ([], 2), (["--overwrite"], 0)):
        result = dpdag(folder, "report", "run", "--out", "new/copy.html", *options)
        assert result.status == status
    assert result.stdout == "new/copy.html\n"
    assert (folder / "new" / "copy.html").read_bytes() == page


def test_a_graph_can_be_learned_by_one_method_and_fitted_by_another(dpdag, folder):
    quickly = ("--set", "max_epochs=4", "--learner")
    result = dpdag(folder, "fit", "Sachs", "--out", "run", *quickly, "daggnn")
    assert result.status == 0
    assert "warning: DAGGNN did not converge in 4 epochs" in result.stderr
    assert "DAGGNN" in (folder / "run" / "report.html").read_text(encoding="utf-8")
    for command in (("predict", "run", "Sachs"), ("impute", "run", "Sachs")):
        result = dpdag(folder, *command, "--out", "p.csv")
        assert result.status == 2
        assert "no functions" in result.stderr
        assert "--learner GroundTruthDAG --set adjacency=MODEL" in result.stderr
        assert not (folder / "p.csv").exists()
    assert (
        "no functions" in dpdag(folder, "sample", "run", "--do", "PKC=9", "--out", "p.csv").stderr
    )
    edges = "source,target\nPKC,Raf\nRaf,Mek\n"
    (folder / "edited.csv").write_text(edges)
    known = ("--set", "adjacency=edited.csv")
    result = dpdag(folder, "fit", "Sachs", "--out", "own", *known, *quickly, "GroundTruthDAG")
    assert result.status == 0
    assert set(load(folder / "own").graph_.edges) == {("PKC", "Raf"), ("Raf", "Mek")}
    assert dpdag(folder, "predict", "own", "Sachs", "--out", "p.csv").status == 0
    result = dpdag(folder, "fit", "Sachs", "--out", "none", *quickly, "GroundTruthDAG")
    assert (result.status, (folder / "none").exists()) == (2, False)
    assert "'adjacency' must be given" in result.stderr


@pytest.mark.parametrize("learner", ["GroundTruthDAG", "CAM"])
def test_a_given_graph_is_not_questioned(dpdag, folder, table, learner):
    edges = pd.DataFrame({"source": ["age", "dose"], "target": ["dose", "outcome"]})
    edges.to_csv(folder / "edges.csv", index=False)
    given = ("--learner", "GroundTruthDAG", "--set", "adjacency=edges.csv")
    more = (*given, "--set", "mechanism=linear") if learner == "GroundTruthDAG" else CAM
    result = dpdag(folder, "fit", "data.csv", "--out", "run", "--drop-text", *more)
    assert result.status == 0, result.stderr
    page = (folder / "run" / "report.html").read_text()
    for text in (result.stdout, page):
        assert ("Can each of these be an effect" in text) == (learner == "CAM")


def test_parts_are_listed_for_people_and_scripts(dpdag, folder):
    assert "Sachs" in dpdag(folder, "list", "datasets").stdout
    known = set(json.loads(dpdag(folder, "list", "learners", "--json").stdout))
    assert known >= {
        "CAM",
        "DAGPosterior",
        "VIDPDAG",
        "GraNDAG",
        "MaskedDAG",
        "DAGGNN",
        "DAGNF",
        "NOTEARS",
    }
    assert known >= {"GroundTruthDAG", "SortRegress", "Correlation", "ExactPosterior"}
    assert dpdag(folder, "list", "experiments").status == 0
    assert dpdag(folder, "list", "learner").status == 2


def test_help_shows_examples_and_shells_complete(dpdag, own_process, folder):
    assert "dpdag fit data.csv --out run/" in dpdag(folder, "fit", "--help").stdout
    assert "dags[s, i, j] = 1 means i → j" in dpdag(folder, "sample", "--help").stdout
    extra = {
        "_DPDAG_COMPLETE": "complete_bash",
        "COMP_WORDS": "dpdag fit Sachs --learner VI",
        "COMP_CWORD": "4",
    }
    out, _ = own_process(extra=extra).communicate()
    assert out.split() == ["VIDPDAG"]


def test_a_million_rows_are_thinned_and_said(dpdag, folder):
    rows = np.random.default_rng(0).normal(size=(1000, 3)).round(4).astype(str)
    lines = [",".join(row) + "\n" for row in rows]
    with (folder / "long.csv").open("w") as file:
        file.write("a,b,c\n")
        for _ in range(1000):
            file.writelines(lines)
    result = dpdag(folder, "fit", "long.csv", "--out", "run", *CAM)
    assert result.status == 0, result.stderr
    assert "1000000 rows × 3 columns, learned from 10000 × 3" in result.stdout
    assert "--max-rows 0 takes all" in result.stdout


def test_three_hundred_columns_are_learned(dpdag, folder):
    np.save(folder / "wide.npy", np.random.default_rng(0).normal(size=(100, 300)))
    options = ("init=random", "max_epochs=1", "hidden_units=2")
    quick = [word for option in options for word in ("--set", option)]
    result = dpdag(folder, "fit", "wide.npy", "--out", "run", "--learner", "VIDPDAG", *quick)
    assert result.status == 0, result.stderr
    assert "100 rows × 300 columns" in result.stdout
    assert "Only 100 rows for 300 columns" in result.stdout
    assert result.stderr.count("\n") == 1
    assert "may take several minutes; --learner CAM" in result.stderr


@pytest.mark.parametrize("module", ["typer", "torch"])
def test_an_interrupted_import_says_so_in_one_line(own_process, folder, module):
    (folder / f"{module}.py").write_text("import os; os.kill(os.getpid(), 2)")
    process = own_process("list", "learners", extra={"PYTHONPATH": f"{folder}:{SOURCE}"})
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "dpdag: Stopped; nothing was written.\n"


def test_help_needs_no_torch(own_process, folder):
    (folder / "torch.py").write_text("raise RuntimeError('torch was imported')")
    for arguments in (["--help"], ["fit", "--help"], ["--version"]):
        process = own_process(*arguments, extra={"PYTHONPATH": f"{folder}:{SOURCE}"})
        _, err = process.communicate()
        assert (process.returncode, err) == (0, "")


def endless_training(own_process, folder, *more):
    settings = ("init=random", "max_epochs=1000000", *more)
    options = [word for setting in settings for word in ("--set", setting)]
    learner = ("--learner", "VIDPDAG")
    return own_process("fit", "Sachs", "--out", "run", *learner, *options, cwd=folder)


def test_an_interrupted_training_leaves_nothing(own_process, folder):
    (folder / "saved").mkdir()
    checkpoint = folder / "saved" / "state"
    process = endless_training(
        own_process, folder, f"checkpoint={checkpoint}", "checkpoint_every=1"
    )
    while not checkpoint.exists():  # an epoch is over
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "dpdag: Stopped; nothing was written.\n"
    assert [path.name for path in folder.iterdir()] == ["saved"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_fit_leaves_nothing(own_process, folder, number, status):
    process = endless_training(own_process, folder)
    while not list(folder.iterdir()):  # what is begun
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    said = "dpdag: Stopped; nothing was written.\n"
    assert err.endswith(said if number == signal.SIGINT else "")
    assert err.count("Stopped") == (number == signal.SIGINT)
    assert list(folder.iterdir()) == []
