"""Data sets by name, the parts to build others from, and files of one's own."""

from .benchmarks import PAPER_BENCHMARKS, benchmark
from .catalogue import available, is_name, load
from .mechanisms import GP, MECHANISMS, MLP, AdditiveGP, Linear, Mechanism, Polynomial
from .mixed import COLUMN_TYPES, MixedModel, mixed
from .noise import NOISES, Noise
from .original import ORIGINALS
from .random_graphs import GRAPHS, barabasi_albert, bipartite, erdos_renyi, scale_free, small_world
from .record import Dataset, Provenance, Split
from .sachs import SACHS_GRAPHS, sachs_adjacency
from .sachs_interventional import SACHS_CONDITIONS
from .simulation import NONLINEARITIES, simulate
from .tabular import floats, read, text_columns, uninformative

__all__ = [
    "COLUMN_TYPES",
    "GP",
    "GRAPHS",
    "MECHANISMS",
    "MLP",
    "NOISES",
    "NONLINEARITIES",
    "ORIGINALS",
    "PAPER_BENCHMARKS",
    "SACHS_CONDITIONS",
    "SACHS_GRAPHS",
    "AdditiveGP",
    "Dataset",
    "Linear",
    "Mechanism",
    "MixedModel",
    "Noise",
    "Polynomial",
    "Provenance",
    "Split",
    "available",
    "barabasi_albert",
    "benchmark",
    "bipartite",
    "erdos_renyi",
    "floats",
    "is_name",
    "load",
    "mixed",
    "read",
    "sachs_adjacency",
    "scale_free",
    "simulate",
    "small_world",
    "text_columns",
    "uninformative",
]
