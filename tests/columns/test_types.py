"""One rule says what kind of values a column holds; the user's word is above it."""

import numpy as np
import pandas as pd
import pytest

from dpdag.columns import ColumnType, column_types, infer_type

ROWS = 200
rng = np.random.default_rng(0)
COLUMNS = {
    "age": (rng.normal(50, 12, ROWS), "continuous"),
    "years": (rng.integers(18, 90, ROWS), "continuous"),
    "income": (np.maximum(rng.normal(size=ROWS) - 1, 0), "continuous"),
    "ill": (rng.random(ROWS) < 0.3, "binary"),
    "arm": (np.where(rng.random(ROWS) < 0.3, 2.6, 7.1), "binary"),
    "sex": (rng.choice(["f", "m"], ROWS), "binary"),
    "site": (rng.choice(["A", "B", "C"], ROWS), "category"),
    "colour": (pd.Categorical(rng.choice(["red", "blue", "green"], ROWS)), "category"),
    "grade": (pd.Categorical(rng.choice(["lo", "mid", "hi"], ROWS), ordered=True), "ordinal"),
    "likert": (rng.integers(1, 6, ROWS), "ordinal"),
    "seldom": (np.r_[rng.integers(1, 5, ROWS - 1), 5], "ordinal"),
    "dose": (rng.choice([0.5, 1.0, 2.0, 4.0], ROWS), "ordinal"),
    "visits": (rng.poisson(3.0, ROWS), "count"),
    "cells": (rng.negative_binomial(1, 0.05, ROWS), "count"),
    "nullable": (pd.array([0, 1, None, 2] * (ROWS // 4), dtype="Int64"), "count"),
}


@pytest.mark.parametrize(("values", "kind"), COLUMNS.values(), ids=COLUMNS.keys())
def test_types_are_inferred_from_dtype_and_values(values, kind: str) -> None:
    assert infer_type(pd.Series(values)).kind == kind


@pytest.mark.parametrize(("values", "kind"), COLUMNS.values(), ids=COLUMNS.keys())
def test_codes_lead_back_to_the_values(values, kind: str) -> None:
    column = pd.Series(values).dropna()
    own = infer_type(column)
    assert (own.decode(own.encode(column)) == column.to_numpy()).all()


@pytest.mark.parametrize(("values", "kind"), COLUMNS.values(), ids=COLUMNS.keys())
def test_the_order_of_rows_does_not_matter(values, kind: str) -> None:
    column = pd.Series(values)
    assert infer_type(column.sample(frac=1, random_state=0)) == infer_type(column)


def test_given_types_are_above_the_rule() -> None:
    frame = pd.DataFrame({"visits": COLUMNS["visits"][0], "likert": COLUMNS["likert"][0]})
    types = column_types(frame, {"visits": "continuous", "likert": "category"})
    assert [own.kind for own in types] == ["continuous", "category"]
    assert column_types(frame.to_numpy(), {0: "ordinal"})[0].kind == "ordinal"


def test_types_are_given_by_name() -> None:
    with pytest.raises(ValueError, match=r"'types' must be a mapping .*; got \['count', 'count'\]"):
        column_types(np.ones((3, 2)), ["count", "count"])


def test_a_type_that_values_do_not_allow_is_refused_by_name() -> None:
    frame = pd.DataFrame({"age": COLUMNS["age"][0], "site": COLUMNS["site"][0]})
    for types, message in (
        ({"age": "count"}, "'age' cannot be a count"),
        ({"age": "binary"}, "'age' cannot be binary: it has 200 values"),
        ({"site": "continuous"}, "'site' cannot be continuous: it does not hold numbers"),
        ({"age": "counts"}, "unknown type 'counts'. Did you mean 'count'"),
    ):
        with pytest.raises(ValueError, match=message):
            column_types(frame, types)
    with pytest.raises(ValueError, match="'name' holds 200 different texts"):
        column_types(frame.assign(name=[f"patient {k}" for k in range(ROWS)]))


def test_descriptions_are_one_phrase() -> None:
    assert str(ColumnType("ordinal", (1.0, 2.0, 3.0, 4.0, 5.0))) == "ordinal of 5: 1, 2, …, 5"
    assert str(ColumnType("count")) == "counts"
    assert str(infer_type(pd.Series(["m", "f"] * 9))) == "f/m"
