"""Tables of continuous, 0/1, category, ordinal and count columns: graphs and interventions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ... import datasets
from ...datasets import Dataset
from ...datasets.mixed import MixedModel
from ...learners import DAGPosterior
from ..experiment import Source
from ..measures import Fitted, Values, posterior, structure
from ..views import DIRECTED, SHD, Metric, all_in_one
from .accuracy import DEFAULT, own_experiment

FIRST = 100  # sets that were never looked at
COLUMNS = (8, 11, 14, 17, 20)  # in turn
DRAWN = 4000  # rows under an intervention


def mixed_table(
    name: str, index: int, *, rows: int, usual: bool = True, typed: bool = True
) -> Dataset:
    """8 to 20 columns in turn, 1.4 edges each; types known, or all columns taken for numbers."""
    columns = COLUMNS[index % len(COLUMNS)]
    data = datasets.mixed(columns, rows, usual=usual, random_state=index)
    data = replace(data, name=f"{'usual' if usual else 'other'} laws-{index}")
    return data if typed else replace(data, types=dict.fromkeys(data.names, "continuous"))


def certainty(fitted: Fitted) -> Values:
    """Edges stated above 0.95, and how many of them are right, where probabilities are stated."""
    if not hasattr(fitted.learner, "edge_probabilities_"):
        return {}
    stated = np.asarray(fitted.learner.edge_probabilities_) > 0.95
    right = stated & (fitted.data.adjacency == 1)
    return {"stated": int(stated.sum()), "stated and right": int(right.sum())}


def interventions(fitted: Fitted) -> Values:
    r"""Means and deviations of all effects under interventions, beside those of the generator.

    .. math:: \left| m - m^* \right| / s, \qquad \left| \log (d / d^*) \right|

    with s a column's deviation without interventions, averaged over columns that the intervention
    moves by more than s / 5 in truth, and over interventions: every cause is set to its lower and
    upper quartile. Categories are compared by the shares of their values.
    """
    data, learner = fitted.data, fitted.learner
    types = data.types
    if types is None or not isinstance(learner, DAGPosterior) or "category" not in types.values():
        return {}
    model = _generator(data)
    usual = model.draw(DRAWN, random_state=1)
    means, spreads, shares = [], [], []
    for cause in np.flatnonzero(data.adjacency.any(1)).tolist():
        for value in np.unique(np.quantile(data.X[:, cause], [0.25, 0.75], method="nearest")):
            truth = model.draw(DRAWN, do={cause: value}, random_state=2)
            drawn = np.asarray(learner.sample(DRAWN, {cause: value}, random_state=0))
            for effect, kind in enumerate(types.values()):
                if effect == cause:
                    continue
                columns = usual[:, effect], truth[:, effect], drawn[:, effect]
                if kind == "category":
                    before, told, said = (
                        np.bincount(column.astype(int), minlength=10)[:10] / len(column)
                        for column in columns
                    )
                    if np.abs(told - before).sum() > 0.1:
                        shares.append(np.abs(said - told).sum() / 2)
                    continue
                scale = columns[0].std()
                if abs(columns[1].mean() - columns[0].mean()) > scale / 5:
                    means.append(abs(columns[2].mean() - columns[1].mean()) / scale)
                    told, said = (max(column.std(), scale / 100) for column in columns[1:])
                    spreads.append(abs(np.log(said / told)))
    found = {"off in means": means, "off in log deviations": spreads, "off in shares": shares}
    return {name: float(np.mean(values)) for name, values in found.items() if values}


def _generator(data: Dataset) -> MixedModel:
    """The model that a table was drawn from."""
    laws, _, seed = data.name.partition(" laws-")
    types = tuple((data.types or {}).values())
    return MixedModel(data.adjacency, types, int(seed), laws == "usual")


def _sources() -> tuple[Source, ...]:
    found = []
    for usual, typed in ((True, True), (True, False), (False, True), (False, False)):
        for rows in (300, 1000, 5000):
            name = f"{rows} rows{'' if usual else ', other laws'}{'' if typed else ', as numbers'}"
            load = partial(mixed_table, rows=rows, usual=usual, typed=typed)
            found.append(Source(name, load, first=FIRST))
    return tuple(found)


own_experiment(
    "mixed-columns",
    "DAGPosterior on tables of columns of all types, and taking them for numbers",
    sources=_sources(),
    methods=(DEFAULT,),
    measures=(structure, posterior, certainty, interventions),
    views=all_in_one(
        DIRECTED,
        SHD,
        Metric("stated", better=""),
        Metric("stated and right", better=""),
        Metric("off in means", digits=2, better="lower"),
        Metric("off in log deviations", digits=2, better="lower"),
        Metric("off in shares", digits=2, better="lower"),
        Metric("seconds", digits=0, better=""),
    ),
    sets=5,
)
