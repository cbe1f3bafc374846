"""Every baseline with its default settings on the benchmark's files, all rows."""

from ...learners import (
    DAGGNN,
    DAGNF,
    NOTEARS,
    Correlation,
    GraNDAG,
    MaskedDAG,
    SortRegress,
)
from ..experiment import Experiment, Method, listed_experiment
from ..measures import structure
from ..paper.methods import AUCS
from ..sources import named
from ..views import Metric, Table

listed_experiment(
    Experiment(
        name="baselines",
        summary="Every other learner with its defaults, and simple guesses, on the small data sets",
        sources=tuple(map(named, ("ER-10-10", "ER-10-40", "SF-10-10", "SynTReN", "Sachs"))),
        methods=(
            Method("GraN-DAG", GraNDAG),
            Method("Masked-DAG", MaskedDAG),
            Method("DAG-GNN", DAGGNN),
            Method("DAG-NF", DAGNF),
            Method("NOTEARS-MLP", NOTEARS, {"mechanism": "mlp"}),
            Method("NOTEARS", NOTEARS),
            Method("sort by R²", SortRegress, {"by": "r2"}),
            Method("sort by variance", SortRegress, {"by": "variance"}),
            Method("random order", SortRegress, {"by": "random"}),
            Method("correlation", Correlation),
        ),
        measures=(structure,),
        views=(
            Table(
                (*AUCS, Metric("SHD", better="lower"), Metric("seconds", better="")),
                paper=("structure",),
            ),
        ),
        group="own",
    )
)
