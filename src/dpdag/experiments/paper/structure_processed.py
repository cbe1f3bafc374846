"""Tables of the appendix: the graph with neighbour selection before and pruning after, and without.

Neighbours are selected by additive functions; trees, as GraN-DAG has them, take minutes.
"""

from ..experiment import Experiment, listed_experiment
from ..sources import PAPER_SOURCES
from ..views import Table
from .methods import AUCS, DIFFERENTIABLE, FITTED, PROCESSED

listed_experiment(
    Experiment(
        name="structure-processed",
        summary="AUCs with neighbour selection and pruning (marked by a star)",
        sources=PAPER_SOURCES,
        methods=PROCESSED,
        measures=FITTED,
        views=(Table(AUCS, paper=("structure_processed",)),),
        held_out=True,
    )
)

AGAIN = ("GraN-DAG", "VI-DP-DAG", "GraN-DAG*", "VI-DP-DAG*")

listed_experiment(
    Experiment(
        name="with-without-processing",
        summary="What selection and pruning change for GraN-DAG and VI-DP-DAG",
        sources=PAPER_SOURCES,
        methods=tuple(one for one in (*DIFFERENTIABLE, *PROCESSED) if one.name in AGAIN),
        measures=FITTED,
        views=(Table(AUCS, paper=("structure", "structure_processed")),),
        held_out=True,
    )
)
