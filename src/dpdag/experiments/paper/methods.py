"""The paper's models, and what most of its experiments share."""

from __future__ import annotations

from ...learners import CAM, DAGGNN, DAGNF, VIDPDAG, GraNDAG, GroundTruthDAG, MaskedDAG
from ..experiment import Method
from ..measures import (
    Measure,
    perturbations,
    prediction,
    prediction_over_thresholds,
    structure,
    thresholds,
)
from ..views import Metric

__all__ = ["AUCS", "DIFFERENTIABLE", "FITTED", "GT_DAG", "PREDICTING", "PROCESSED"]

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
AUCS = tuple(
    Metric(name, scale=100) for name in ("Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC")
)
