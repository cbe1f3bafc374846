"""Tables 1 and 2 of the paper: how well differentiable models find the graph."""

from ..experiment import Experiment, listed_experiment
from ..sources import PAPER_SOURCES
from ..views import Table
from .methods import AUCS, DIFFERENTIABLE, FITTED

listed_experiment(
    Experiment(
        name="structure",
        summary="AUCs of all differentiable models on the paper's 11 data sets",
        sources=PAPER_SOURCES,
        methods=DIFFERENTIABLE,
        measures=FITTED,
        views=(Table(AUCS, paper=("structure",)),),
        held_out=True,
    )
)
