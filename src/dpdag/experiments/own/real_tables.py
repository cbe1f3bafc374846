"""Arrows into what nothing in a table can cause: sex, age, treatment assigned by lot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine

from ...columns import column_types
from ...datasets import Dataset, Provenance
from ..experiment import Source
from ..measures import Fitted, Values
from ..views import Metric, all_in_one
from .accuracy import DEFAULT, own_experiment

ROWS = 2000  # at most, drawn at random

# Class, sex, age and how many died and lived of the 2201 people of the Titanic (Dawson 1995).
TITANIC = """
1st male child 0 5, 1st male adult 118 57, 1st female child 0 1, 1st female adult 4 140,
2nd male child 0 11, 2nd male adult 154 14, 2nd female child 0 13, 2nd female adult 13 80,
3rd male child 35 13, 3rd male adult 387 75, 3rd female child 17 14, 3rd female adult 89 76,
crew male adult 670 192, crew female adult 3 20
"""

# What nothing else in a table can cause; plans of randhie were assigned by lot.
ROOTS = {
    "galton, redrawn": ("gender", "father", "mother"),
    "titanic": ("sex", "age"),
    "diabetes": ("sex", "age"),
    "wine": ("cultivar",),
    "fair": ("age",),
    "anes96": ("age",),
    "randhie": ("lncoins", "idp"),
    "heart": ("age",),
    "spector": ("PSI",),
}


def galton() -> pd.DataFrame:
    """934 children as in Galton's notebooks, drawn from published means, deviations, correlations.

    Fathers 69.2 ± 2.5 inches, mothers 64.1 ± 2.3, sons 69.2 ± 2.6, daughters 64.1 ± 2.4;
    correlations of about 0.4 with a father and 0.3 with a mother (Hanley 2004); rounded to half
    inches, as many of his are.
    """
    rng = np.random.default_rng(0)
    father, mother = rng.normal(69.2, 2.5, 934), rng.normal(64.1, 2.3, 934)
    son = rng.random(934) < 0.515
    known = 0.40 * (father - 69.2) / 2.5 + 0.32 * (mother - 64.1) / 2.3
    own = known + np.sqrt(1 - 0.40**2 - 0.32**2) * rng.normal(size=934)
    height = np.where(son, 69.2 + 2.6 * own, 64.1 + 2.4 * own)
    table = pd.DataFrame({"father": father, "mother": mother, "height": height})
    return (2 * table).round().div(2).assign(gender=np.where(son, "male", "female"))


def titanic() -> pd.DataFrame:
    """Every person by class, sex, age and survival."""
    rows = []
    for group in TITANIC.replace("\n", " ").split(","):
        place, sex, age, *counts = group.split()
        for lived, count in zip((False, True), map(int, counts)):
            rows += [(place, sex, age, lived)] * count
    return pd.DataFrame(rows, columns=["class", "sex", "age", "survived"])


def diabetes() -> pd.DataFrame:
    """Of scikit-learn, in its own units."""
    found = load_diabetes(as_frame=True, scaled=False)
    table = found.data.assign(progression=found.target)
    return table.assign(sex=table["sex"].map({1.0: "one", 2.0: "other"}))


def wine() -> pd.DataFrame:
    """Of scikit-learn."""
    found = load_wine(as_frame=True)
    return found.data.assign(cultivar=found.target.map(dict(enumerate("ABC"))))


def of_statsmodels(name: str) -> pd.DataFrame:
    """A table that statsmodels has, less the column of anes96 that is of no person."""
    found = import_module(f"statsmodels.datasets.{name}").load_pandas().data
    return found.drop(columns="popul", errors="ignore")


def unknown_graph(name: str, index: int, *, make: Callable[[], pd.DataFrame]) -> Dataset:
    """A table with its types; its graph is not known, and empty here."""
    table = make()
    if len(table) > ROWS:
        table = table.sample(ROWS, random_state=index)
    types, names = column_types(table), [str(column) for column in table]
    X = np.column_stack([kind.encode(table[own]) for kind, own in zip(types, table)])
    return Dataset(
        X,
        np.zeros((len(names), len(names)), dtype=int),
        names,
        name,
        Provenance("original", "Only columns that nothing else can cause are known."),
        types={own: kind.kind for own, kind in zip(names, types)},
    )


def into_roots(fitted: Fitted) -> Values:
    """The largest probability, or else score, of an arrow into each column that nothing causes."""
    names, shares = fitted.data.names, fitted.shares
    into = np.asarray(getattr(fitted.learner, "edge_probabilities_", shares)).max(0)
    found: Values = {f"into {root}": into[names.index(root)] for root in ROOTS[fitted.data.name]}
    return {"roots": len(found), "surest arrow into a root": max(found.values()), **found}


def _sources() -> tuple[Source, ...]:
    found: dict[str, Callable[[], pd.DataFrame]] = {
        "galton, redrawn": galton,
        "titanic": titanic,
        "diabetes": diabetes,
        "wine": wine,
    }
    if find_spec("statsmodels"):
        found |= {name: partial(of_statsmodels, name) for name in ROOTS if name not in found}
    return tuple(
        Source(name, partial(unknown_graph, make=make), count=1) for name, make in found.items()
    )


own_experiment(
    "real-tables",
    "Arrows into sex, age and lots, which nothing causes (more with statsmodels)",
    sources=_sources(),
    methods=(DEFAULT,),
    measures=(into_roots,),
    views=all_in_one(
        Metric("roots", digits=0, better=""),
        Metric("surest arrow into a root", digits=2, better="lower"),
        Metric("seconds", digits=0, better=""),
    ),
)
