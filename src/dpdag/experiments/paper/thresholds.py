"""Figures of the appendix over thresholds: SHD of the graph, and test error of the functions."""

from ..experiment import Experiment, listed_experiment
from ..sources import PAPER_SOURCES
from ..views import Figure, Metric, Table
from .methods import FITTED, GT_DAG, PREDICTING

listed_experiment(
    Experiment(
        name="shd-thresholds",
        summary="SHD over the threshold on scores (shares of the largest where some are above 1)",
        sources=PAPER_SOURCES,
        methods=PREDICTING,
        measures=FITTED,
        views=(
            Figure("threshold", "SHD over thresholds", "threshold", "SHD"),
            Table((Metric("lowest SHD", better="lower"),), columns="methods"),
        ),
        held_out=True,
    )
)

listed_experiment(
    Experiment(
        name="mse-thresholds",
        summary="Test error of VI-DP-DAG over the threshold on edges, beside other models",
        sources=PAPER_SOURCES,
        methods=(*PREDICTING, GT_DAG),
        measures=FITTED,
        views=(Figure("threshold", "MSE over thresholds", "threshold", "test MSE"),),
        held_out=True,
    )
)
