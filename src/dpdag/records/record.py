"""A run as plain data: saved as JSON, read by reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..files import write_whole
from ..ops.graphs import is_acyclic
from .diagnostics import Diagnostics
from .quality import cautions, graph_was_given, may_be_effects

FORMAT = 1

Array = NDArray[np.float64]
Graph = NDArray[np.int64]


@dataclass(frozen=True)
class Curve:
    """How a learned mechanism answers to one of its causes, in original units.

    Attributes:
        source, target: The edge, by column number.
        grid: Values of the source.
        values: Mean prediction of the target with the source set there and all else as observed.
    """

    source: int
    target: int
    grid: list[float]
    values: list[float]


@dataclass(frozen=True)
class Origin:
    """The table that was learned from, and what was done to it before.

    Attributes:
        source: File or data set; empty for a table in memory.
        rows, columns: Size of what was read.
        dropped: Columns left out, and why.
        notes: What else was changed, a sentence each.
        known: How the learned graph compares with a known one; empty without one.
    """

    source: str
    rows: int
    columns: int
    dropped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    known: str = ""


@dataclass(frozen=True, eq=False)
class RunRecord:
    """What one fit found; ``[i, j]`` is i → j everywhere.

    Attributes:
        learner: Name of the learner's class.
        names: Names of the n columns.
        edge_scores: (n, n) larger = more certain.
        adjacency: (n, n) 0/1, a DAG.
        causal_order: Column numbers, causes first.
        diagnostics: What is to know of the data.
        edge_probabilities: (n, n), or None where the learner has only scores.
        ancestor_probabilities: (n, n) probability of a directed path, or None.
        samples: (k, n, n) DAGs of the posterior; k = 0 where there is none.
        curves: The learned mechanisms, an edge of ``adjacency`` each.
        points: (m, n) rows of the data, thinned, in original units.
        history: Columns of the training curve.
        settings: Parameters of the learner.
        versions: Of this package and of those it relies on.
        seconds: What fitting took.
        created: When, in ISO 8601.
        choice: What the learner chose by itself, and why; None where nothing.
        origin: Where the data came from; None where nothing is known of it.
        quality: What the graph explains, see ``quality_facts``; None where it was not measured.
        hidden_causes: Pairs that move together beyond what the graph explains.
    """

    learner: str
    names: list[str]
    edge_scores: Array
    adjacency: Graph
    causal_order: list[int]
    diagnostics: Diagnostics
    edge_probabilities: Array | None = None
    ancestor_probabilities: Array | None = None
    samples: Graph = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int64))
    curves: list[Curve] = field(default_factory=list)
    points: Array = field(default_factory=lambda: np.zeros((0, 0)))
    history: dict[str, list[Any]] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float | None = None
    created: str = ""
    choice: str | None = None
    origin: Origin | None = None
    quality: dict[str, Any] | None = None
    hidden_causes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.names)
        for name in ("edge_scores", "adjacency", "edge_probabilities", "ancestor_probabilities"):
            matrix = getattr(self, name)
            if matrix is not None and matrix.shape != (n, n):
                raise ValueError(f"'{name}' must be {(n, n)}; got {matrix.shape}.")
        if sorted(self.causal_order) != list(range(n)):
            raise ValueError(f"'causal_order' must hold each of the {n} columns once.")
        if not bool(is_acyclic(torch.from_numpy(self.adjacency))):
            raise ValueError("'adjacency' must be acyclic.")

    @property
    def strengths(self) -> Array:
        """(n, n) probabilities where there are any, scores otherwise."""
        return self.edge_scores if self.edge_probabilities is None else self.edge_probabilities

    @property
    def word(self) -> str:
        """What :attr:`strengths` are: "probability" or "score"."""
        return "score" if self.edge_probabilities is None else "probability"

    @property
    def threshold(self) -> float:
        """The strength from which edges are shown at first: ½, or the weakest learned edge's."""
        if self.edge_probabilities is not None:
            return 0.5
        learned = self.edge_scores[self.adjacency != 0]
        return float(learned.min()) if learned.size else float(self.edge_scores.max())

    @property
    def cautions(self) -> list[str]:
        """What a reader has to know before acting on the graph, a sentence each."""
        return cautions(self.quality, self.hidden_causes)

    @property
    def question(self) -> str:
        """What only a reader can answer of the graph; "" of one that was given."""
        if graph_was_given(self.settings):
            return ""
        return may_be_effects(self.names, self.adjacency.sum(0).tolist(), self.quality)

    def save(self, path: str | Path) -> None:
        """Write the record as JSON, all or nothing."""
        facts = {"format": FORMAT, **asdict(self)}
        facts["adjacency"] = np.argwhere(self.adjacency)
        facts["samples"] = [np.argwhere(graph) for graph in self.samples]
        write_whole(Path(path), json.dumps(_plain(facts), allow_nan=False))

    @classmethod
    def load(cls, path: str | Path) -> RunRecord:
        """Read a record; anything but an intact file of a known format is refused."""
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist or is not a file.")
        try:
            facts = json.loads(path.read_text(encoding="utf-8"))
            version = facts.pop("format", None)
        except (json.JSONDecodeError, UnicodeDecodeError, AttributeError, TypeError):
            raise ValueError(f"{path} is damaged: it is not a record in JSON.") from None
        if version != FORMAT:
            raise ValueError(
                f"{path} has format {version!r}; this version of dpdag reads format {FORMAT}. "
                "Upgrade dpdag or fit again."
            )
        try:
            return cls(**_revived(facts))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{path} is damaged: {reason}") from None


def _plain(value: Any) -> Any:
    """The value as JSON knows it; NaN and infinity become null."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


def _revived(facts: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a record from its JSON."""
    n = len(facts["names"])
    revived = dict(facts)
    for name in ("edge_scores", "edge_probabilities", "ancestor_probabilities", "points"):
        if facts[name] is not None:
            revived[name] = np.array(facts[name], dtype=np.float64)
    revived["adjacency"] = _graph(facts["adjacency"], n)
    samples = [_graph(edges, n) for edges in facts["samples"]]
    revived["samples"] = np.stack(samples) if samples else np.zeros((0, n, n), dtype=np.int64)
    revived["curves"] = [Curve(**curve) for curve in facts["curves"]]
    found = dict(facts["diagnostics"])
    for name in ("duplicates", "near_duplicates"):
        found[name] = [tuple(pair) for pair in found[name]]
    revived["diagnostics"] = Diagnostics(**found)
    if facts.get("origin") is not None:  # records of earlier versions have none
        revived["origin"] = Origin(**facts["origin"])
    return revived


def _graph(edges: list[list[int]], n: int) -> Graph:  # -> (n, n)
    graph = np.zeros((n, n), dtype=np.int64)
    for i, j in edges:
        graph[i, j] = 1
    return graph
