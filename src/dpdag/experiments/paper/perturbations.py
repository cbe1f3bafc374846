"""Figure of the appendix: confidence in the true graph as its edges are moved away."""

from ..experiment import Experiment, listed_experiment
from ..sources import named
from ..views import Figure, Metric, Table
from .methods import DIFFERENTIABLE, FITTED

listed_experiment(
    Experiment(
        name="perturbations",
        summary="Scores of graphs whose edges were moved, relative to the true graph's",
        sources=tuple(map(named, ("ER-10-10", "ER-100-400", "SynTReN"))),
        methods=DIFFERENTIABLE,
        measures=FITTED,
        views=(
            Figure("moved", "relative confidence", "share of edges moved", "relative confidence"),
            Table((Metric("decreasing steps", scale=100, digits=0),), columns="methods"),
        ),
        held_out=True,
    )
)
