"""Tables beside a model: gaps filled in the terms of the table."""

import numpy as np
import pandas as pd
import pytest

from dpdag.cli.model_outputs import aligned, filled, whole_numbers
from dpdag.cli.table import Table
from dpdag.columns import ColumnType
from dpdag.scm import Observed

NAMES = ["site", "age"]
TYPES = ColumnType("category", ("A", "B", "C"), "text"), ColumnType("continuous")


def test_gaps_alone_are_filled_and_other_columns_passed_on():
    frame = pd.DataFrame({"more": "x", "site": ["A", None], "age": [np.nan, 2.0]})
    found = filled(frame, pd.DataFrame({"age": [1.0, 2.0], "site": ["A", "C"]}))
    assert found.to_dict("list") == {"more": ["x", "x"], "site": ["A", "C"], "age": [1.0, 2.0]}


def test_whole_numbers_beside_gaps_stay_whole_numbers():
    columns = {"age": [79.0, np.nan], "dose": [1.0, np.nan], "more": [2.0, np.nan], "plain": 3.0}
    frame = pd.DataFrame(columns)
    found = filled(frame, pd.DataFrame({"age": [79.0, 56.0], "dose": [1.0, 0.5]}))
    assert found.to_csv(index=False).splitlines() == [
        "age,dose,more,plain",
        "79,1.0,2,3.0",
        "56,0.5,,3.0",
    ]


def test_labels_that_the_model_does_not_know_are_refused():
    table = Table.of("new.csv", pd.DataFrame({"site": ["A", "E", None], "age": 1.0}))
    said = "new.csv has 'E' in 'site', of which the model knows only A, B, C; leave such rows out"
    with pytest.raises(ValueError, match=said):
        aligned(table, NAMES, TYPES)
    found = aligned(Table.of("t", table.frame.replace("E", "C")), NAMES, TYPES)
    assert list(found) == NAMES


def test_labels_that_are_read_as_numbers_are_known():
    own = ColumnType("category", ("1", "2", "b"), "text")
    frame = pd.DataFrame({"site": [1.0, np.nan], "age": 1.0})
    found = aligned(Table.of("t", frame), NAMES, (own, TYPES[1]))
    np.testing.assert_array_equal(own.encode(found["site"]), [0.0, np.nan])


def test_only_columns_of_whole_numbers_are_rounded():
    observed = Observed.of(np.array([[1.0, 0.5, 3.0], [2.0, 1.0, 1e17], [np.nan, 1.0, 1.0]]))
    assert observed.whole.tolist() == [True, False, True]
    frame = pd.DataFrame({"visits": [1.6, 2.2], "dose": [0.3, 0.7], "huge": [1e17, 1.5]})
    found = whole_numbers(frame, observed, {})
    assert found["visits"].tolist() == [2, 2]
    assert found["visits"].dtype == "int64"
    assert found[["dose", "huge"]].equals(frame[["dose", "huge"]])
    assert whole_numbers(frame, observed, {"visits": 1.5}).equals(frame)
    assert whole_numbers(frame, None, {}).equals(frame)
