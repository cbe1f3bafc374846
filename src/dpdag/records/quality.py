"""Whether a graph is any good, in words: what it explains, leaves and hides, and what is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from ..metrics import edge_report, shd
from .diagnostics import listed

MISFIT = 12.0  # nats that a column leaves unexplained beyond chance: 1 of 48 tables that obey
COMPUTED = 0.99  # of a column that others account for: measurements are seldom so exact
ASKED = 6  # columns that a reader is asked about


def quality_facts(learner: Any) -> dict[str, Any] | None:
    r"""What ``quality_`` has, and of every column the share explained and the misfit.

    .. math:: 1 - \exp\bigl(-\tfrac{2}{N} \text{nats over the column by itself}\bigr)

    which is R² of lines with Gaussian noise (Cox and Snell).
    """
    if not hasattr(learner, "quality_"):
        return None
    columns = [
        {
            "column": one["column"],
            "explained": max(0.0, -math.expm1(-2 * one["nats_over_root"] / one["rows"])),
            "misfit": one["misfit"],
        }
        for one in learner.choice_
    ]
    return {**learner.quality_, "columns": columns}


def explains(quality: Mapping[str, Any]) -> str:
    """What a graph explains beside no graph and graphs of chance, in words and then in numbers."""
    own, whole, drawn = (quality[k] for k in ("by_curves", "nats_per_row", "random_graphs"))
    if not own and not whole:
        return "nothing: no links were found; there are none, or the rows are too few to show them"
    said = f"{own:.2f} nats a row over no graph"
    if drawn:
        low, high = (f"{value:.2f}" for value in (min(drawn), max(drawn)))
        most = "far more" if max(drawn) < own / 2 else "more" if max(drawn) < own else "no more"
        span = low if low == high else f"{low} to {high}"
        said = f"{most} than {len(drawn)} random graphs of the same size ({said}, they {span})"
        said += "; which way its arrows point is not tested by this"
    if again := quality["found_again"]:
        said += f"; halves of the rows find {again['links']:.0%} of its links again"
        said += f", {again['arrows']:.0%} of its arrows"
    return said


def cautions(quality: Mapping[str, Any] | None, hidden: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a reader has to know before acting on a graph, a sentence each."""
    found = [] if quality is None else _of_chance(quality) + _of_columns(quality)
    if hidden:
        pairs = listed([(pair["source"], pair["target"]) for pair in hidden])
        verb = "move together" if len(hidden) == 1 else "(each pair) move together"
        found.append(
            f"{pairs} {verb} beyond what the graph explains: a common cause that was not measured, "
            "or a link that was missed."
        )
    return found


def _of_chance(quality: Mapping[str, Any]) -> list[str]:
    own, whole, drawn = (quality[k] for k in ("by_curves", "nats_per_row", "random_graphs"))
    if drawn and max(drawn) >= whole:
        return ["Graphs drawn by chance explain as much: believe no single arrow of this one."]
    if drawn and median(drawn) > 0.5 * own:
        return [
            "Most graphs drawn by chance explain more than half as much: nearly everything hangs "
            "together here, so that this comparison says little for single arrows."
        ]
    return []


def _of_columns(quality: Mapping[str, Any]) -> list[str]:
    by_misfit = sorted(quality["columns"], key=lambda one: -one["misfit"])
    left = [one["column"] for one in by_misfit if one["misfit"] > MISFIT]
    computed = [one["column"] for one in quality["columns"] if one["explained"] > COMPUTED]
    found = []
    if computed:
        found.append(
            f"{listed(computed)} can be computed almost exactly from other columns: probably a "
            "total, a ratio or a copy in other units, so that arrows there are arithmetic rather "
            f"than nature, and may point any way. Consider leaving it out (--drop {computed[0]})."
        )
    if left:
        found.append(
            f"Not all is explained: what the causes leave of {listed(left)} still follows other "
            "columns. Functions of another kind, or causes that were not measured, are at work "
            "there: trust the arrows at these columns least."
        )
    return found


def graph_was_given(settings: Mapping[str, Any]) -> bool:
    """Whether a learner with these settings took a graph that was known, as GroundTruthDAG does."""
    return "adjacency" in settings


def may_be_effects(
    names: Sequence[str], arrows_in: Sequence[int], quality: Mapping[str, Any] | None
) -> str:
    """The question that only a reader can answer, of the columns with causes; "" without any.

    Arguments:
        names: Of the columns.
        arrows_in: How many arrows lead into each.
        quality: Columns of which least is explained come first: they are the likeliest roots.
    """
    share = [0.0] * len(names)
    if quality is not None:
        share = [one["explained"] for one in quality["columns"]]
    effects = [k for k in sorted(range(len(names)), key=share.__getitem__) if arrows_in[k]]
    if not effects:
        return ""
    counted = [
        f"{names[k]} ({arrows_in[k]} arrow{'s' if arrows_in[k] > 1 else ''} in)" for k in effects
    ]
    return (
        f"Can each of these be an effect of other columns? {listed(counted, ASKED)}. Where one "
        "cannot, as age, sex or a treatment by lot, other arrows may be wrong with it: say so and "
        f"fit again (--first {names[effects[0]]})."
    )


class Comparison(NamedTuple):
    """How far a learned graph is the known one.

    Attributes:
        edges: Edges of the known graph.
        found: Of these, how many were learned.
        reversed: Of these, how many were learned the other way round.
        other: Learned edges that are none of them in either direction.
        shd: Edges to add, delete or reverse.
    """

    edges: int
    found: int
    reversed: int
    other: int
    shd: int

    @property
    def sentence(self) -> str:
        """The same for people."""
        return (
            f"of the {self.edges} edges of the reference graph {self.found} were found, "
            f"{self.reversed} reversed; {self.other} of the learned are not in it"
        )


def compare(learned: Any, truth: Any, names: Sequence[str] | None = None) -> Comparison:
    """Count what a learned graph shares with the known one.

    Arguments:
        learned: Directed graph.
        truth: The known DAG over the same nodes, aligned by name where it has names.
        names: Names of the nodes of matrices that have none.
    """
    counts = edge_report(truth, learned, names=names)
    return Comparison(
        edges=counts.true_positives + counts.false_negatives,
        found=counts.true_positives,
        reversed=counts.reversed,
        other=counts.false_positives - counts.reversed,
        shd=shd(truth, learned, names=names),
    )
