"""Tables beside a model: gaps filled in the terms of the table."""

import numpy as np
import pandas as pd
import pytest

from dpdag.cli.matching import filled, matching, whole_numbers
from dpdag.cli.table import Table
from dpdag.scm import Observed

OWN = pd.DataFrame({"site=B": [0.0, 0, 0, 1], "site=C": [0.0, 1, 0, 0], "age": [1.0, 2, 3, 4]})


@pytest.mark.parametrize(
    ("site", "levels", "expected"),
    [
        (["A", "C", None, None], {}, ["A", "C", "A", "B"]),
        (["A", "D", None, None], {}, ["A", "D", None, "B"]),  # A and D have no column
        ([None, "C", None, None], {}, [None, "C", None, "B"]),
        ([None, "C", None, None], {"site": ["A", "B", "C"]}, ["A", "C", "A", "B"]),
    ],
)
def test_categories_are_filled_where_it_is_clear_which(site, levels, expected):
    frame = pd.DataFrame({"more": "x", "site": site, "age": [np.nan, 2.0, 3.0, 4.0]})
    found = filled(frame, OWN, levels)
    assert list(found) == list(frame)
    assert found["site"].astype(object).where(found["site"].notna(), None).tolist() == expected
    assert found["age"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_categories_that_the_model_does_not_know_are_refused():
    table = Table.of("new.csv", pd.DataFrame({"site": ["A", "E", None], "age": 1.0}))
    said = "new.csv has 'E' in 'site', of which the model knows only A, B, C; leave such rows out"
    with pytest.raises(ValueError, match=said):
        matching(table, list(OWN), {"site": ["A", "B", "C"]})
    found = matching(table, list(OWN), {"site": ["A", "B", "E"]})
    assert list(found) == list(OWN)


def test_numbers_as_categories_are_known_and_filled():
    frame = pd.DataFrame({"site": [1.0, np.nan], "age": 1.0})
    found = matching(Table.of("t", frame), ["site=2", "age"], {"site": ["1", "2", "b"]})
    np.testing.assert_array_equal(found["site=2"], [0.0, np.nan])
    said = filled(frame, pd.DataFrame({"site=2": [0, 1], "site=b": 0}), {"site": ["1", "2", "b"]})
    assert said["site"].iloc[1] == "2"


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
