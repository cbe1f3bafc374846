"""Accuracy of what users are given, on the benchmark and off it, and of all other learners."""

from functools import partial

from ...learners import (
    CAM,
    DAGGNN,
    DAGNF,
    NOTEARS,
    Correlation,
    DAGPosterior,
    GraNDAG,
    MaskedDAG,
    SortRegress,
)
from ..experiment import Method, list_experiment
from ..measures import posterior, structure
from ..sources import PAPER_SOURCES, named
from ..views import AUCS, DIRECTED, SECONDS, SHD, Table, all_in_one
from .simulated import OFF_CLASS

MEASURES = (structure, posterior)
BENCHMARK = tuple(named(source.name, first=50) for source in PAPER_SOURCES)
FLATTER_HUBS = (named("BA-50-50", first=50), named("BA-50-200", first=50))
DEFAULT = Method("DAGPosterior", DAGPosterior)
GIVEN = tuple(
    Method(f"DAGPosterior, {name}", DAGPosterior, {"mechanism": name})
    for name in ("gp", "network", "additive", "linear")
)

own_experiment = partial(list_experiment, group="own")

own_experiment(
    "accuracy",
    "DAGPosterior and CAM on the paper's data sets, all rows",
    sources=BENCHMARK,
    methods=(
        DEFAULT,
        Method("CAM", CAM),
        Method("CAM, one search", CAM, {"n_bootstrap": 0}),
        Method("CAM, additions only", CAM, {"n_bootstrap": 0, "moves": ("add",)}),
    ),
    measures=MEASURES,
    views=all_in_one(*AUCS, SHD, SECONDS),
)

own_experiment(
    "off-class",
    "DAGPosterior on data of other functions, noise and graphs than the benchmark's",
    sources=(*OFF_CLASS, *FLATTER_HUBS),
    methods=(DEFAULT,),
    measures=MEASURES,
    views=all_in_one(*AUCS, SHD, SECONDS),
)

own_experiment(
    "given-functions",
    "DAGPosterior with all kinds of functions, and with a single kind",
    sources=(*BENCHMARK, *OFF_CLASS),
    methods=(DEFAULT, *GIVEN),
    measures=MEASURES,
    views=(Table((DIRECTED,), columns="methods"),),
    sets=3,
)

own_experiment(
    "baselines",
    "Every other learner with its defaults, and simple guesses, on the small data sets",
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
    views=(Table((*AUCS, SHD, SECONDS), paper=("structure",)),),
)
