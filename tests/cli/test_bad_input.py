"""Bad input: one line that names file, column and the way out; status 2; nothing left behind."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

GOOD = "a,b\n" + "".join(f"{k % 7},{k % 5 + 0.1 * k}\n" for k in range(40))
CAM = ("--learner", "CAM", "--set", "n_bootstrap=0")

FILES = {
    "good.csv": GOOD,
    "empty.csv": "",
    "header.csv": "a,b\n",
    "one.csv": "a\n1\n2\n",
    "spaces.csv": "a b c\n1 2 3\n4 5 6\n",
    "text.csv": "a,b,site\n" + "".join(f"{k},{k % 3},{'xyz'[k // 3]}\n" for k in range(9)),
    "commas.csv": "a;b\n1,5;2\n2,5;3\n",
    "incomes.csv": 'a,b\n"1,244",2\n961,3\n"2,081",5\n"1,002,081",4\n',
    "few_incomes.csv": "a;b\n" + "".join(f"{'2,500' if k % 2 else 900};{k}\n" for k in range(9)),
    "fractions.csv": "a;b\n1,244;2\n0,961;3\n2,081;5\n",
    "limits.csv": "a,b\n" + "".join(f"{k},{k / 7 if k % 3 else '<0.3'}\n" for k in range(30)),
    "codes.csv": "a,b,c\n" + "".join(f"{k},{k % 3 or '.'},{k % 4 or '?'}\n" for k in range(9)),
    "gaps.csv": "a,b,c\n1,,3\n2,5,\n3,,4\n4,6,\n5,7,\n",
    "both.csv": "a,b,site,one\n1,,x,1\n2,5,,1\n3,,y,1\n4,6,x,1\n5,7,y,1\n",
    "ragged.csv": "a,b\n1,2\n3,4,5\n",
    "twice.csv": "a,b,a\n1,2,3\n",
    "unnamed.csv": ",a,b\n0,1,2\n",
    "dates.csv": "a,when\n" + "".join(f"{k},{k % 28 + 1}/3/{2021 + k}\n" for k in range(40)),
    "lone.csv": "a,b\n1,2\n2,\n,5\n3,\n,4\n",
    "few.csv": "a,b\n1,2\n2,1\n3,5\n",
    "constant.csv": "a,b\n" + "".join(f"{k},1\n" for k in range(9)),
    "infinite.csv": "a,b\n1,inf\n2,3\n",
    "names.csv": "a,name\n" + "".join(f"{k},person {k}\n" for k in range(30)),
    "huge.csv": "a,b,c\n" + "".join(f"{k},{k % 3}e300,{k % 5}e-301\n" for k in range(9)),
    "cycle.yaml": "required: [a -> b, b -> a]",
    "typo.yaml": "requried: [a -> b]",
    "sheet.xlsx": "PK",
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv"], ["nowhere.csv does not exist"]),
        (["Sacks"], ["Sacks is neither a file nor a data set", "'Sachs'", "dpdag list datasets"]),
        (["empty.csv"], ["empty.csv has no rows"]),
        (["header.csv"], ["header.csv has no rows"]),
        (["one.csv"], ["one.csv has one column, 'a'", "--separator"]),
        (["spaces.csv"], ["spaces.csv has one column, 'a b c'", "--separator"]),
        (["good.csv", "--separator", ";"], ["one column, 'a,b'", "--separator"]),
        (["text.csv", *CAM], ["'site' is a category of", "Use DAGPosterior"]),
        (
            ["codes.csv"],
            [
                "'b' (such as '.' in row 1), 'c' (such as '?' in row 1)",
                "For missing values given as '.', '?' add --na '.' --na '?'.",
            ],
        ),
        (["codes.csv", "--na", "."], ["text in 'c'", "misses values in 'b' (3)", "add --na '?'."]),
        (["codes.csv", "--na", ".", "--na", "?"], ["misses values in 'b' (3), 'c' (3);"]),
        (["good.csv", "--na", "-999", "--na", "3"], ["misses values in 'a' (6), 'b' (1);"]),
        (
            ["commas.csv"],
            ["commas.csv", "'a' (such as '1,5'", "For numbers like 1,5 add --decimal ','."],
        ),
        (["incomes.csv"], ["'a' (such as '1,244'", "For numbers like 1,244 add --thousands ','."]),
        (["few_incomes.csv"], ["'a' (such as '2,500' in row 2)", "add --thousands ','."]),
        (["fractions.csv"], ["'a' (such as '1,244'", "add --decimal ','."]),
        (["good.csv", "--thousands", "."], ["'thousands' and 'decimal' must differ"]),
        (["limits.csv"], ["'b' (such as '<0.3' in row 1)", "'<0.3' is a limit of detection: put"]),
        (["names.csv"], ["names.csv has text in 'name' (such as", "--drop name"]),
        (["names.csv", "--drop-text"], ["names.csv", "only the column 'a'", "'name' (text)"]),
        (["gaps.csv"], ["gaps.csv", "'b' (2), 'c' (3)", "--missing impute", "--missing drop"]),
        (
            ["both.csv"],
            ["both.csv misses values in 'b' (2), 'site' (1);", "impute"],
        ),
        (["both.csv", "--drop-text"], ["both.csv misses values in 'b' (2);"]),
        (["gaps.csv", "--missing", "drop"], ["gaps.csv has 0 usable rows", "--missing impute"]),
        (["latin.csv"], ["latin.csv is not text in utf-8", "--encoding 'latin-1'"]),
        (["ragged.csv"], ["ragged.csv cannot be read", "line 3"]),
        (["twice.csv"], ["twice.csv", "['a'] more than once"]),
        (["unnamed.csv"], ["unnamed.csv", "column 1", "remove it"]),
        (["few.csv"], ["few.csv has 3 usable rows; at least 5"]),
        (["lone.csv", "--missing", "drop"], ["lone.csv has 1 usable row; at least 5"]),
        (
            ["dates.parquet"],
            ["'when' (such as '2021-03-01", "Or turn dates into numbers, such as days: when"],
        ),
        (
            ["dates.csv"],
            ["'when' (such as '1/3/2021' in", "Or turn dates into numbers, such as days: when"],
        ),
        (
            ["text.csv", "--type", "site=continuous"],
            ["text.csv does not fit --type site=continuous: Column 'site' cannot be continuous"],
        ),
        (
            ["both.csv", "--type", "site=count"],
            ["both.csv does not fit --type site=count: Column 'site'", "misses values in 'b' (2)"],
        ),
        (["constant.csv"], ["constant.csv", "'b' (constant)"]),
        (["infinite.csv"], ["infinite.csv", "['b']"]),
        (["huge.csv"], ["huge.csv", "too large", "'b' (2e+300), 'c' (4e-301)", "--drop", "--na"]),
        (["sheet.xlsx"], ["sheet.xlsx must end in .csv"]),
        (["."], [". is neither a file nor a data set"]),
        (["good.csv", "--learner", "CAMM"], ["Unknown learner 'CAMM'. Did you mean 'CAM'?"]),
        (["good.csv", *CAM, "--set", "prun=1"], ["CAM has no setting 'prun'", "'prune'"]),
        (["good.csv", *CAM, "--set", "prune"], ["key=value", "'prune'"]),
        (["good.csv", "--set", "random_state=1"], ["use --seed"]),
        (["good.csv", "--set", "resamples=few"], ["'resamples' must be an integer", "'few'"]),
        (["good.csv", "--drop", "A"], ["good.csv has no column 'A' to --drop", "'a'"]),
        (["good.csv", "--drop", "a"], ["only the column 'b'", "'a' (as asked)"]),
        (["text.csv", "--drop", "site", "--drop", "a"], ["only the column 'b'"]),
        (["good.csv", "--forbid", "a:c"], ["Unknown node 'c'", "Known: a, b"]),
        (["good.csv", "--forbid", "a"], ["source:target", "'a'"]),
        (["good.csv", "--forbid", "a:b,b:a"], ["source:target", "Repeat the option"]),
        (["good.csv", "--forbid", "a:b", "--require", "a:b"], ["contradict each other on a → b"]),
        (["good.csv", "--knowledge", "cycle.yaml"], ["cycle.yaml", "a → b → a is a cycle"]),
        (["good.csv", "--knowledge", "typo.yaml"], ["typo.yaml", "Did you mean 'required'?"]),
        (["good.csv", "--tiers", "nowhere.yaml"], ["nowhere.yaml does not exist"]),
        (["text.csv", "--drop-text", "--forbid", "site:a"], ["'site'", "left out (text)"]),
        (["gaps.csv", *CAM, "--missing", "impute"], ["CAM does not take missing", "DAGPosterior"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and "." in value[0] else "",
)
def test_fit_refuses_in_one_line(dpdag, folder, arguments, words):
    for name, text in FILES.items():
        (folder / name).write_text(text)
    dates = pd.date_range("2021-03-01", periods=40)
    pd.DataFrame({"a": np.arange(40) % 7, "when": dates}).to_parquet(folder / "dates.parquet")
    (folder / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    before = sorted(folder.iterdir())
    result = dpdag(folder, "fit", *arguments, "--out", "run")
    assert_refused(result, *words)
    assert sorted(folder.iterdir()) == before


def assert_refused(result, *words):
    """Status 2, one line with these words on stderr, nothing on stdout."""
    assert result.status == 2, result
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_an_existing_folder_is_kept(dpdag, folder):
    (folder / "run").mkdir()
    (folder / "run" / "thesis.txt").write_text("mine")
    result = dpdag(folder, "fit", "Sachs", "--out", "run")
    assert_refused(result, "run exists", "--overwrite")
    result = dpdag(folder, "fit", "Sachs", "--out", "run", "--overwrite")
    assert_refused(result, "run holds other files", "choose another --out")
    result = dpdag(folder, "fit", "Sachs", "--out", "run/thesis.txt")
    assert_refused(result, "is a file; --out must name a folder")
    assert [file.read_text() for file in folder.rglob("*.txt")] == ["mine"]


def test_a_folder_without_write_permission_is_refused_before_learning(dpdag):
    nobody = 65534 if os.geteuid() == 0 else None  # root may write anywhere
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        closed = Path(name) / "closed"
        closed.mkdir(mode=0o555)
        closed.chmod(0o555)
        result = dpdag(closed, "fit", "Sachs", "--out", "run", user=nobody)
        assert_refused(result, "closed cannot be written to; choose another --out")
        assert list(closed.iterdir()) == []


@pytest.mark.parametrize("max_file", [0, 3000, 100_000])
def test_a_full_disk_leaves_nothing(dpdag, folder, max_file):
    """Files beyond a size cannot be written: edges.csv, the model, or the report at the end."""
    result = dpdag(folder, "fit", "Sachs", "--out", "run", *CAM, max_file=max_file)
    # stdout and stderr are files too, so with a limit of 0 not even the reason gets through
    if max_file:
        assert_refused(result, "Nothing was written; free space or choose another --out")
    assert result.status != 0
    assert list(folder.iterdir()) == []


def test_a_failed_overwrite_keeps_the_earlier_result(dpdag, folder):
    assert dpdag(folder, "fit", "Sachs", "--out", "run", *CAM).status == 0
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    result = dpdag(folder, "fit", "Sachs", "--out", "run", *CAM, "--overwrite", max_file=3000)
    assert result.status == 2
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_models_and_their_data_are_checked(dpdag, folder):
    rng = np.random.default_rng(0)
    a = rng.normal(size=60)
    rows = np.stack([a, a**2 + rng.normal(size=60)], axis=1)
    np.savetxt(folder / "ab.csv", rows, delimiter=",", header="a,b", comments="")
    (folder / "other.csv").write_text("a,c\n1,2\n")
    (folder / "gaps.csv").write_text("a,b\n1,\n")
    (folder / "words.csv").write_text("a,b\n1,x\n")
    (folder / "codes.csv").write_text("a,b\n1,-\n2,3\n")
    assert dpdag(folder, "fit", "ab.csv", "--out", "run", *CAM).status == 0
    before = sorted(folder.rglob("*"))
    for arguments, words in (
        (["predict", "nowhere", "ab.csv", "--out", "p.csv"], ["no saved model in 'nowhere'"]),
        (["predict", "run", "other.csv", "--out", "p.csv"], ["other.csv lacks the column 'b'"]),
        (["predict", "run", "gaps.csv", "--out", "p.csv"], ["gaps.csv", "'b' (1)", "dpdag impute"]),
        (["impute", "run", "words.csv", "--out", "p.csv"], ["words.csv", "'b' (such as 'x'"]),
        (["predict", "run", "codes.csv", "--out", "p.csv"], ["'b' (such as '-'", "add --na '-'."]),
        (["predict", "run", "codes.csv", "--na", "-", "--out", "p.csv"], ["'b' (1)", "impute"]),
        (["impute", "run", "gaps.csv", "--out", "p.xls"], ["p.xls must end in .csv"]),
        (["impute", "run", "gaps.csv", "--out", "ab.csv"], ["ab.csv exists", "--overwrite"]),
        (["sample", "run", "--out", "d.npz"], ["CAM, which has no posterior"]),
        (["sample", "run", "--out", "d.npz", "--do", "a=1"], ["--do is for rows", "end in .csv"]),
        (["sample", "run", "--out", "d.csv", "--do", "a"], ["--do takes name=value", "'a'"]),
        (
            ["sample", "run", "--out", "d.csv", "--do", "a=1", "--do", "a=2"],
            ["--do sets 'a' twice", "one value"],
        ),
        (["sample", "run", "--out", "d.csv", "--do", "A=1"], ["'A'", "Did you mean 'a'?"]),
        (["sample", "run", "--out", "d.csv", "--do", "a=high"], ["finite numbers", "'high'"]),
        (["report", "nowhere"], ["nowhere does not exist"]),
        (["report", "."], [". is no folder written by 'dpdag fit'"]),
    ):
        assert_refused(dpdag(folder, *arguments), *words)
    assert sorted(folder.rglob("*")) == before


def test_a_training_that_explodes_at_once_ends_in_one_line(dpdag, folder):
    rate = ("--set", "learning_rate=300", "--set", "max_epochs=3")
    result = dpdag(folder, "fit", "Sachs", "--out", "run", "--learner", "GraNDAG", *rate)
    assert result.status == 2
    assert result.stderr.endswith("lower 'learning_rate' or check the scale of the data.\n")
    assert "Traceback" not in result.stderr
    assert not list(folder.iterdir())
