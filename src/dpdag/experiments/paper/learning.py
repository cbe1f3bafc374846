"""Tables and figures about models that learn from data; one fit of each serves them all."""

from __future__ import annotations

from ..experiment import Experiment, Method, Source, listed_experiment
from ..sources import PAPER_SOURCES, named
from ..views import Figure, Metric, Table
from .methods import AUCS, DIFFERENTIABLE, FITTED, GT_DAG, PREDICTING, PROCESSED

MSE = Metric("MSE", digits=2, better="lower")
SECONDS = Metric("seconds", digits=1, better="lower")
AGAIN = ("GraN-DAG", "VI-DP-DAG", "GraN-DAG*", "VI-DP-DAG*")


def _learning(
    name: str,
    summary: str,
    methods: tuple[Method, ...],
    *views: Table | Figure,
    sources: tuple[Source, ...] = PAPER_SOURCES,
    alone: bool = False,
) -> None:
    listed_experiment(
        Experiment(name, summary, sources, methods, FITTED, views, held_out=True, alone=alone)
    )


_learning(
    "structure",
    "AUCs of all differentiable models on the paper's 11 data sets",
    DIFFERENTIABLE,
    Table(AUCS, paper=("structure",)),
)
# Neighbours are selected by additive functions; trees, as GraN-DAG has them, take minutes.
_learning(
    "structure-processed",
    "AUCs with neighbour selection and pruning (marked by a star)",
    PROCESSED,
    Table(AUCS, paper=("structure_processed",)),
)
_learning(
    "with-without-processing",
    "What selection and pruning change for GraN-DAG and VI-DP-DAG",
    tuple(one for one in (*DIFFERENTIABLE, *PROCESSED) if one.name in AGAIN),
    Table(AUCS, paper=("structure", "structure_processed")),
)
_learning(
    "mechanisms",
    "Test error of learned functions, beside functions on the true graph (GT-DAG*)",
    (*PREDICTING, GT_DAG),
    Table((MSE,), columns="methods", paper=("mechanisms",), unranked=("GT-DAG*",)),
)
_learning(
    "training-time",
    "Seconds of a single fit (the paper's on a GTX 1080 Ti)",
    DIFFERENTIABLE,
    Table((SECONDS,), columns="methods", paper=("training_time",)),
    alone=True,
)
_learning(
    "shd-thresholds",
    "SHD over the threshold on scores (shares of the largest where some are above 1)",
    PREDICTING,
    Figure("threshold", "SHD over thresholds", "threshold", "SHD", log="y"),
    Table((Metric("lowest SHD", better="lower"),), columns="methods"),
)
_learning(
    "mse-thresholds",
    "Test error of VI-DP-DAG over the threshold on edges, beside other models",
    (*PREDICTING, GT_DAG),
    Figure("threshold", "MSE over thresholds", "threshold", "test MSE"),
)
_learning(
    "perturbations",
    "Scores of graphs whose edges were moved, relative to the true graph's",
    DIFFERENTIABLE,
    Figure("moved", "relative confidence", "share of edges moved", "relative confidence", top=1.5),
    Table((Metric("decreasing steps", scale=100, digits=0),), columns="methods"),
    sources=tuple(map(named, ("ER-10-10", "ER-100-400", "SynTReN"))),
)
