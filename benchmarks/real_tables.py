"""Arrows into what nothing in a table can cause: sex, age, treatment assigned by lot.

``python benchmarks/real_tables.py [--folder CSVS] [--only NAME]…`` prints, for tables of public
packages and of published numbers, the largest probability of an arrow into each such column.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from dpdag import DAGPosterior

ROWS = 2000  # at most, drawn at random

# Class, sex, age and how many died and lived of the 2201 people of the Titanic (Dawson 1995).
TITANIC = """
1st male child 0 5, 1st male adult 118 57, 1st female child 0 1, 1st female adult 4 140,
2nd male child 0 11, 2nd male adult 154 14, 2nd female child 0 13, 2nd female adult 13 80,
3rd male child 35 13, 3rd male adult 387 75, 3rd female child 17 14, 3rd female adult 89 76,
crew male adult 670 192, crew female adult 3 20
"""


def galton(seed: int = 0) -> pd.DataFrame:
    """934 children as in Galton's notebooks, drawn from published means, deviations, correlations.

    Fathers 69.2 ± 2.5 inches, mothers 64.1 ± 2.3, sons 69.2 ± 2.6, daughters 64.1 ± 2.4;
    correlations of about 0.4 with a father and 0.3 with a mother (Hanley 2004); rounded to half
    inches, as many of his are.
    """
    rng = np.random.default_rng(seed)
    father, mother = rng.normal(69.2, 2.5, 934), rng.normal(64.1, 2.3, 934)
    son = rng.random(934) < 0.515
    known = 0.40 * (father - 69.2) / 2.5 + 0.32 * (mother - 64.1) / 2.3
    own = known + np.sqrt(1 - 0.40**2 - 0.32**2) * rng.normal(size=934)
    height = np.where(son, 69.2 + 2.6 * own, 64.1 + 2.4 * own)
    table = pd.DataFrame({"father": father, "mother": mother, "height": height})
    return (2 * table).round().div(2).assign(gender=np.where(son, "male", "female"))


def titanic() -> pd.DataFrame:
    rows = []
    for group in TITANIC.replace("\n", " ").split(","):
        place, sex, age, *counts = group.split()
        for lived, count in zip((False, True), map(int, counts)):
            rows += [(place, sex, age, lived)] * count
    return pd.DataFrame(rows, columns=["class", "sex", "age", "survived"])


def diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    found = load_diabetes(as_frame=True, scaled=False)
    table = found.data.assign(progression=found.target)
    return table.assign(sex=table["sex"].map({1.0: "one", 2.0: "other"}))


def breast_cancer() -> pd.DataFrame:
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer(as_frame=True)
    kept = [name for name in found.data if str(name).startswith("mean")]
    return found.data[kept].assign(malignant=found.target == 0)


def wine() -> pd.DataFrame:
    from sklearn.datasets import load_wine

    found = load_wine(as_frame=True)
    return found.data.assign(cultivar=found.target.map(dict(enumerate("ABC"))))


# Tables of statsmodels, read from a folder: python -c "import statsmodels.api as sm;
# sm.datasets.fair.load_pandas().data.to_csv('fair.csv', index=False)"
def exported(name: str, drop: tuple[str, ...] = ()) -> Callable[[Path], pd.DataFrame]:
    return lambda folder: pd.read_csv(folder / f"{name}.csv").drop(columns=list(drop))


TABLES: dict[str, tuple[Callable[..., pd.DataFrame], tuple[str, ...]]] = {
    "galton (redrawn)": (galton, ("gender", "father", "mother")),
    "titanic": (titanic, ("sex", "age")),
    "diabetes": (diabetes, ("sex", "age")),
    "breast cancer": (breast_cancer, ()),
    "wine": (wine, ("cultivar",)),
    "fair": (exported("fair"), ("age",)),
    "anes96": (exported("anes96", ("popul",)), ("age",)),
    # Plans were assigned by lot: co-insurance, deductible, and what follows from them alone.
    "randhie": (exported("randhie"), ("lncoins", "idp")),
    "heart": (exported("heart"), ("age",)),
    "spector": (exported("spector"), ("PSI",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="with CSV files of statsmodels' tables")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--plain", action="store_true", help="all columns as numbers")
    options = parser.parse_args()
    print("| table | rows × columns | largest arrow into | seconds |\n|---|---|---|---|")
    for name, (make, roots) in TABLES.items():
        if options.only and name not in options.only:
            continue
        if make in (galton, titanic, diabetes, breast_cancer, wine):
            table = make()
        elif options.folder is not None:
            table = make(options.folder)
        else:
            continue
        if len(table) > ROWS:
            table = table.sample(ROWS, random_state=0)
        if options.plain:
            table = table.apply(lambda own: own if own.dtype.kind == "f" else pd.factorize(own)[0])
        start = time.perf_counter()
        types = dict.fromkeys(table, "continuous") if options.plain else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DAGPosterior(types=types, random_state=0, verbose=False).fit(table)
        into = pd.DataFrame(model.edge_probabilities_, list(table), list(table))
        said = ", ".join(f"{root} {into[root].max():.2f} ({into[root].idxmax()})" for root in roots)
        seconds = time.perf_counter() - start
        print(f"| {name} | {len(table)} × {table.shape[1]} | {said} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
