"""Tables of one's own: categories become numbers, useless columns are named."""

import numpy as np
import pandas as pd

from dpdag.datasets import (
    decoded,
    encoded,
    floats,
    from_one_hot,
    levels,
    one_hot,
    text_columns,
    uninformative,
)
from dpdag.ops.columns import refuse_degenerate


def test_categories_become_columns_in_place():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "sex": ["m", None, "f"], "b": [0.0, 1.0, 0.0]})
    assert text_columns(frame) == ["sex"]
    table, new = one_hot(frame, ["sex"])
    assert new == {"sex": ["sex=m"]}
    assert list(table) == ["a", "sex=m", "b"]
    np.testing.assert_array_equal(table["sex=m"], [1.0, np.nan, 0.0])
    assert text_columns(table) == []


def test_numbers_as_categories_are_the_same_with_gaps_among_them():
    assert levels(pd.Series([2, 10])) == levels(pd.Series([2.0, np.nan, 10.0])) == ["10", "2"]
    assert levels(pd.Series([2.5, 10.0])) == ["10.0", "2.5"]
    np.testing.assert_array_equal(encoded(pd.Series([2.0, np.nan, 1.0]), "2"), [1, np.nan, 0])


def test_categories_come_back_where_it_is_clear_which():
    columns = pd.DataFrame({"site=B": [0.0, 0, 0.3, np.nan], "site=C": [0.0, 1, 0.6, 0]})
    for first in ("A", None):
        known = decoded(columns, first)
        assert known.astype(object).where(known.notna(), None).tolist() == [first, "C", "C", None]
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "sex": ["m", None, "f"], "b": [0.0, 1.0, 0.0]})
    table, _ = one_hot(frame, ["sex"])
    pd.testing.assert_frame_equal(
        from_one_hot(table, {"sex": ["f", "m"]}), frame, check_dtype=False
    )


def test_all_kinds_of_numbers_become_floats():
    frame = pd.DataFrame({"k": pd.array([1, None], "Int64"), "yes": [True, False], "who": "x"})
    kinds = floats(frame).dtypes.astype(str).tolist()
    assert kinds[:2] == ["float64", "float64"]
    assert text_columns(floats(frame)) == ["who"]
    assert np.isnan(floats(frame).loc[1, "k"])


def test_what_is_left_is_what_learners_accept():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50))
    gaps = np.where(np.arange(50) < 10, np.nan, a)
    frame = pd.DataFrame(
        {"a": a, "b": 1e9 + b, "none": np.nan, "copy": 3 - 2 * a, "gaps": gaps, "one": 1e-30}
    )
    found = uninformative(frame)
    assert found == {
        "none": "all values missing",
        "copy": "a copy of 'a' up to shift and scale",
        "one": "constant",
    }
    kept = frame.drop(columns=[*found, "gaps"])
    refuse_degenerate(kept.to_numpy(), list(kept))


def test_of_three_copies_one_is_kept():
    a = np.arange(5.0)
    assert list(uninformative(pd.DataFrame({"a": a, "b": 2 * a, "c": -a}))) == ["b", "c"]


def test_labels_that_are_no_text_are_kept():
    table = pd.DataFrame({3: [1.0, 2.0, 4.0], ("a", 1): ["x", "y", "x"], "b": [1.0, 1.0, 1.0]})
    numbers, new = one_hot(table, [("a", 1)])
    assert list(numbers.columns) == [3, "('a', 1)=y", "b"]
    assert new == {("a", 1): ["('a', 1)=y"]}
    assert from_one_hot(numbers, {("a", 1): ["x", "y"]}).equals(table)
    assert text_columns(table) == [("a", 1)]
    assert uninformative(numbers) == {"b": "constant"}
