"""Tables and figures about models that learn from data; one fit of each serves them all."""

from __future__ import annotations

from functools import partial

from ...learners import CAM, DAGGNN, DAGNF, VIDPDAG, GraNDAG, GroundTruthDAG, MaskedDAG
from ..experiment import Method, list_experiment
from ..measures import (
    Measure,
    perturbations,
    prediction,
    prediction_over_thresholds,
    structure,
    thresholds,
)
from ..sources import PAPER_SOURCES, named
from ..views import AUCS, Figure, Metric, Table

# A tenth of the rows is held out by the experiment, a ninth of the rest by the learner: 80/10/10.
SPLIT = {"validation_fraction": 1 / 9}
PROCESSING = {"pns": "additive", "prune": True}

DAG_GNN = Method("DAG-GNN", DAGGNN, SPLIT)
DAG_NF = Method("DAG-NF", DAGNF, SPLIT)
GRAN_DAG = Method("GraN-DAG", GraNDAG, SPLIT)
MASKED_DAG = Method("Masked-DAG", MaskedDAG, SPLIT)
VI_DP_DAG = Method("VI-DP-DAG", VIDPDAG.paper, SPLIT)
GT_DAG = Method("GT-DAG*", GroundTruthDAG, SPLIT)

DIFFERENTIABLE = (DAG_GNN, DAG_NF, GRAN_DAG, MASKED_DAG, VI_DP_DAG)
PREDICTING = (GRAN_DAG, MASKED_DAG, VI_DP_DAG)
PROCESSED = (
    Method("CAM*", CAM, PROCESSING),
    Method("GraN-DAG*", GraNDAG, {**SPLIT, **PROCESSING}),
    Method("Masked-DAG*", MaskedDAG, {**SPLIT, **PROCESSING}),
    Method("VI-DP-DAG*", VIDPDAG.paper, {**SPLIT, **PROCESSING}),
)

# The same for all, so that one fit serves every experiment in a folder.
FITTED: tuple[Measure, ...] = (
    structure,
    thresholds,
    perturbations,
    prediction,
    prediction_over_thresholds,
)
MSE = Metric("MSE", digits=2, better="lower")

_learning = partial(list_experiment, sources=PAPER_SOURCES, measures=FITTED, held_out=True)

_learning(
    "structure",
    "AUCs of all differentiable models on the paper's 11 data sets",
    methods=DIFFERENTIABLE,
    views=(Table(AUCS, paper=("structure",)),),
)
# Neighbours are selected by additive functions; trees, as GraN-DAG has them, take minutes.
_learning(
    "structure-processed",
    "AUCs with neighbour selection and pruning (marked by a star)",
    methods=PROCESSED,
    views=(Table(AUCS, paper=("structure_processed",)),),
)
_learning(
    "with-without-processing",
    "What selection and pruning change for GraN-DAG and VI-DP-DAG",
    methods=(GRAN_DAG, VI_DP_DAG, PROCESSED[1], PROCESSED[3]),
    views=(Table(AUCS, paper=("structure", "structure_processed")),),
)
_learning(
    "mechanisms",
    "Test error of learned functions, beside functions on the true graph (GT-DAG*)",
    methods=(*PREDICTING, GT_DAG),
    views=(Table((MSE,), columns="methods", paper=("mechanisms",), unranked=("GT-DAG*",)),),
)
_learning(
    "training-time",
    "Seconds of a single fit (the paper's on a GTX 1080 Ti)",
    methods=DIFFERENTIABLE,
    views=(
        Table((Metric("seconds", better="lower"),), columns="methods", paper=("training_time",)),
    ),
    alone=True,
)
_learning(
    "shd-thresholds",
    "SHD over the threshold on scores (shares of the largest where some are above 1)",
    methods=PREDICTING,
    views=(
        Figure("threshold", "SHD over thresholds", "threshold", "SHD", log="y"),
        Table((Metric("lowest SHD", better="lower"),), columns="methods"),
    ),
)
_learning(
    "mse-thresholds",
    "Test error of VI-DP-DAG over the threshold on edges, beside other models",
    methods=(*PREDICTING, GT_DAG),
    views=(Figure("threshold", "MSE over thresholds", "threshold", "test MSE"),),
)
_learning(
    "perturbations",
    "Scores of graphs whose edges were moved, relative to the true graph's",
    methods=DIFFERENTIABLE,
    views=(
        Figure(
            "moved", "relative confidence", "share of edges moved", "relative confidence", top=1.5
        ),
        Table((Metric("decreasing steps", 100, digits=0),), columns="methods"),
    ),
    sources=tuple(map(named, ("ER-10-10", "ER-100-400", "SynTReN"))),
)
