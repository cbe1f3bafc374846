"""Table 4 of the paper: seconds of one fit, each trained by itself."""

from ..experiment import Experiment, listed_experiment
from ..sources import PAPER_SOURCES
from ..views import Metric, Table
from .methods import DIFFERENTIABLE, FITTED

SECONDS = Metric("seconds", digits=1, better="lower")

listed_experiment(
    Experiment(
        name="training-time",
        summary="Seconds of a single fit (the paper's on a GTX 1080 Ti)",
        sources=PAPER_SOURCES,
        methods=DIFFERENTIABLE,
        measures=FITTED,
        views=(Table((SECONDS,), columns="methods", paper=("training_time",)),),
        held_out=True,
        alone=True,
    )
)
