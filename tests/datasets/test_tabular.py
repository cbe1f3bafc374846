"""Files of one's own: read with names, or refused with the reason."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpdag.datasets import read

TABLE = pd.DataFrame({"a": [1.0, np.nan, 3.5], "b c": [4.0, 5.0, 6.0]})


@pytest.mark.parametrize("kind", ["csv", "tsv", "csv.gz", "parquet", "CSV"])
def test_tables_are_read_with_their_names_and_gaps(tmp_path, kind):
    file = tmp_path / f"table.{kind}"
    if kind == "parquet":
        TABLE.to_parquet(file)
    else:
        TABLE.to_csv(file, sep="\t" if kind == "tsv" else ",", index=False)
    pd.testing.assert_frame_equal(read(file), TABLE)


def test_npy_columns_get_names(tmp_path):
    np.save(tmp_path / "table.npy", np.arange(6).reshape(3, 2))
    frame = read(tmp_path / "table.npy")
    assert list(frame.columns) == ["x0", "x1"]
    assert frame["x1"].tolist() == [1.0, 3.0, 5.0]


def test_whole_numbers_truth_values_and_text_stay_what_they_are(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("a,b,c\n1,True,x\n2,False,y\n")
    frame = read(str(file))
    assert frame.dtypes.tolist()[:2] == [np.int64, bool]
    assert frame["c"].tolist() == ["x", "y"]


def test_numbered_columns_are_names_too(tmp_path):
    file = tmp_path / "t.csv"
    pd.DataFrame(np.ones((2, 3)) / 7).to_csv(file, index=False)
    assert list(read(file).columns) == ["0", "1", "2"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found_in_the_header(tmp_path, separator):
    file = tmp_path / "t.csv"
    TABLE.to_csv(file, sep=separator, index=False)
    pd.testing.assert_frame_equal(read(file), TABLE)


def test_decimal_commas_and_other_encodings_are_read_when_told(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("größe;b\n1,5;2\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"is not text in utf-8 .* pass .* encoding='latin-1'"):
        read(file)
    frame = read(file, encoding="latin-1", decimal=",")
    assert frame.to_dict("list") == {"größe": [1.5], "b": [2.0]}
    with pytest.raises(ValueError, match="must be one that Python knows; got 'latin-x'"):
        read(file, encoding="latin-x")


@pytest.mark.parametrize("first", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_recognised_by_its_first_bytes_and_read_when_told(tmp_path, first):
    file = tmp_path / "t.csv"
    kind = "utf-16-le" if first == b"\xff\xfe" else "utf-16-be"
    file.write_bytes(first + "größe,b\n1,2\n3,5\n".encode(kind))
    with pytest.raises(ValueError, match=r"is not text in utf-8 .*, such as encoding='utf-16'"):
        read(file)
    assert read(file, encoding="utf-16").to_dict("list") == {"größe": [1, 3], "b": [2, 5]}


def test_thousands_marks_are_left_out_when_told(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('income,b\n"1,244,000",2.5\n961,3\n')
    frame = read(file, thousands=",")
    assert frame.to_dict("list") == {"income": [1244000, 961], "b": [2.5, 3.0]}
    with pytest.raises(ValueError, match=r"'thousands' and 'decimal' must differ; got ',' for"):
        read(file, thousands=",", decimal=",")
    with pytest.raises(ValueError, match=r"'thousands' must be one character or None; got ''"):
        read(file, thousands="")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,a\n1,2,3\n", r"has the column names \['a'\] more than once; rename or"),
        (",a\n0,1\n", r"has no name for column 1; if it is a row number, remove it"),
        ("1.5,2.5\n3.5,4.5\n", r"seems to have no header: its first line is 1.5, 2.5"),
        ("a,b\n1,2,3\n4,5,6\n", r"has 2 names in its header but 3 columns of data"),
        (
            "a,b\n1,2\n4,5,6\n",
            r"cannot be read: line 3 has 3 cells where 2 were expected; put text",
        ),
        ("a,b\n1,inf\n", r"has infinite values in the columns \['b'\]; correct them, or leave"),
        ("a,b\n", r"has no rows of data below a header"),
        ("", r"has no rows of data below a header"),
    ],
)
def test_bad_text_files_are_refused_in_one_line(tmp_path, content, message):
    file = tmp_path / "bad.csv"
    file.write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        read(file)
    assert "bad.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", b"\xff\xfe\x00"),
        ("t.csv.gz", b"no gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-10]),
        ("t.parquet", b"PAR1"),
        ("t.npy", b"\x93NUMPY\x01"),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=name) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_duplicates_in_parquet_are_named(tmp_path):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names=["a", "a"]), file)
    with pytest.raises(ValueError, match=r"has the column names \['a'\] more than once"):
        read(file)


def test_objects_and_wrong_shapes_in_npy_are_refused(tmp_path):
    file = tmp_path / "t.npy"
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"is no npy file of numbers, or is damaged"):
        read(file)
    np.save(file, np.ones(3))
    with pytest.raises(ValueError, match=r"must hold a \(rows, columns\) array; got shape \(3,\)"):
        read(file)


def test_unknown_endings_and_missing_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in .csv, .tsv, .parquet or .npy; got '.xlsx'"):
        read(tmp_path / "t.xlsx")
    with pytest.raises(FileNotFoundError, match=r"t.csv does not exist or is not a file"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy"])
def test_codes_of_missing_values_become_nan_when_told(tmp_path, kind):
    frame = pd.DataFrame({"x0": [1.0, -999.0, 3.0], "x1": [-999.0, 0.5, -9.0]})
    file = tmp_path / f"table.{kind}"
    if kind == "parquet":
        frame.to_parquet(file)
    elif kind == "npy":
        np.save(file, frame.to_numpy())
    else:
        frame.to_csv(file, index=False, sep="," if kind == "csv" else "\t")
    pd.testing.assert_frame_equal(read(file), frame)
    pd.testing.assert_frame_equal(read(file, na=["-999"]), frame.replace(-999.0, np.nan))


def test_codes_among_decimal_commas_become_nan_when_told(tmp_path):
    file = tmp_path / "codes.csv"
    file.write_text("a;b\n1,5;?\n.;3,5\n2,5;4\n")
    found = read(file, decimal=",", na=[".", "?"])
    np.testing.assert_array_equal(found, [[1.5, np.nan], [np.nan, 3.5], [2.5, 4.0]])
    with pytest.raises(ValueError, match=r"'na' must be a list of codes, such as \['\.'\]"):
        read(file, na=".")
