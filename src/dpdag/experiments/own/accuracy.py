"""Accuracy of what users are given: the default learner and CAM, on the benchmark and off it."""

from ...learners import CAM, DAGPosterior
from ..experiment import Experiment, Method, listed_experiment
from ..measures import posterior, structure
from ..sources import PAPER_SOURCES, named
from ..views import Metric, Table
from .simulated import OFF_CLASS

MEASURES = (structure, posterior)
METRICS = (
    *(Metric(f"{kind}-AUC-{area}", scale=100) for kind in ("Un", "Dir") for area in ("PR", "ROC")),
    Metric("SHD", better="lower"),
    Metric("seconds", better=""),
)
BENCHMARK = tuple(named(source.name, first=50) for source in PAPER_SOURCES)
FLATTER_HUBS = (named("BA-50-50", first=50), named("BA-50-200", first=50))
DEFAULT = Method("DAGPosterior", DAGPosterior)
GIVEN = tuple(
    Method(f"DAGPosterior, {name}", DAGPosterior, {"mechanism": name})
    for name in ("gp", "network", "additive", "linear")
)

listed_experiment(
    Experiment(
        name="accuracy",
        summary="DAGPosterior and CAM on the paper's data sets, all rows",
        sources=BENCHMARK,
        methods=(
            DEFAULT,
            Method("CAM", CAM),
            Method("CAM, one search", CAM, {"n_bootstrap": 0}),
            Method("CAM, additions only", CAM, {"n_bootstrap": 0, "moves": ("add",)}),
        ),
        measures=MEASURES,
        views=(Table(METRICS, columns="all"),),
        group="own",
    )
)

listed_experiment(
    Experiment(
        name="off-class",
        summary="DAGPosterior on data of other functions, noise and graphs than the benchmark's",
        sources=(*OFF_CLASS, *FLATTER_HUBS),
        methods=(DEFAULT,),
        measures=MEASURES,
        views=(Table(METRICS, columns="all"),),
        group="own",
    )
)

listed_experiment(
    Experiment(
        name="given-functions",
        summary="DAGPosterior with all kinds of functions, and with a single kind",
        sources=(*BENCHMARK, *OFF_CLASS),
        methods=(DEFAULT, *GIVEN),
        measures=MEASURES,
        views=(Table((Metric("Dir-AUC-PR", scale=100),), columns="methods"),),
        sets=3,
        group="own",
    )
)
