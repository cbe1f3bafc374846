"""Tables of one's own: numbers become floats, useless columns are named."""

import numpy as np
import pandas as pd

from dpdag.datasets import floats, text_columns, uninformative
from dpdag.ops.columns import refuse_degenerate


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
    assert text_columns(table) == [("a", 1)]
    assert uninformative(table) == {"b": "constant"}


def test_text_is_judged_too():
    table = pd.DataFrame({"site": ["x", "x"], "sex": ["f", "m"], "woman": ["no", "yes"]})
    assert uninformative(table) == {
        "site": "constant",
        "woman": "a copy of 'sex' up to shift and scale",
    }
