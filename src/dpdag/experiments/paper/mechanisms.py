"""Table 3 of the paper: the squared error of learned functions on held-out rows."""

from ..experiment import Experiment, listed_experiment
from ..sources import PAPER_SOURCES
from ..views import Metric, Table
from .methods import FITTED, GT_DAG, PREDICTING

MSE = Metric("MSE", digits=2, better="lower")

listed_experiment(
    Experiment(
        name="mechanisms",
        summary="Test error of learned functions, beside functions on the true graph (GT-DAG*)",
        sources=PAPER_SOURCES,
        methods=(*PREDICTING, GT_DAG),
        measures=FITTED,
        views=(Table((MSE,), columns="methods", paper=("mechanisms",), unranked=("GT-DAG*",)),),
        held_out=True,
    )
)
