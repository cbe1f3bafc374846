"""dpdag: a differentiable probability distribution over DAGs and the learners built on it."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets, metrics, selection
    from .distributions import DPDAG, DAGDistribution, Knowledge
    from .learners import (
        CAM,
        DAGGNN,
        DAGNF,
        NOTEARS,
        VIDPDAG,
        Correlation,
        DAGPosterior,
        ExactPosterior,
        GraNDAG,
        GroundTruthDAG,
        MaskedDAG,
        NotConvergedWarning,
        SortRegress,
        fit_many,
        grid_search,
        load,
    )
    from .reports import report

__version__ = "0.1.0"

__all__ = [
    "CAM",
    "DAGGNN",
    "DAGNF",
    "DPDAG",
    "NOTEARS",
    "VIDPDAG",
    "Correlation",
    "DAGDistribution",
    "DAGPosterior",
    "ExactPosterior",
    "GraNDAG",
    "GroundTruthDAG",
    "Knowledge",
    "MaskedDAG",
    "NotConvergedWarning",
    "SortRegress",
    "__version__",
    "datasets",
    "fit_many",
    "grid_search",
    "load",
    "metrics",
    "report",
    "selection",
]

# Threads that wait by spinning starve whatever else runs, their own work first: on a machine with
# two busy processes a fit of ten columns took four times as long. A setting of the caller's wins.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Where names are defined that are not those of learners. They are imported when first asked for,
# since torch takes seconds.
_HOMES = {
    **dict.fromkeys(("DPDAG", "DAGDistribution", "Knowledge"), "distributions"),
    "report": "reports",
}


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        found = import_module(f".{name}", __name__)
    elif name in __all__:
        found = getattr(import_module(f".{_HOMES.get(name, 'learners')}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
