"""Whether a graph is any good, in words: what it explains, what it leaves, what may hide."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from ..posterior.doubt import EXACT
from .diagnostics import listed

__all__ = ["cautions", "explains", "quality_facts"]

MISFIT = 12.0  # nats that a column leaves unexplained beyond chance: 1 of 48 tables that obey


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
            "explained": max(0.0, _share(one["nats_over_root"] / one["rows"])),
            "misfit": one["misfit"],
        }
        for one in learner.choice_
    ]
    return {**learner.quality_, "columns": columns}


def _share(nats_per_row: float) -> float:
    return -math.expm1(-2 * nats_per_row)


def explains(quality: Mapping[str, Any]) -> str:
    """What a graph explains beside no graph and graphs of chance.

    Example:
        >>> found = {"by_curves": 1.3, "nats_per_row": 1.3, "random_graphs": [0.1, 0.3]}
        >>> print(explains({**found, "found_again": None}))
        1.30 nats a row more than no graph; 2 random graphs of the same size: 0.10 to 0.30, all
        far less
    """
    own, whole, drawn = (quality[k] for k in ("by_curves", "nats_per_row", "random_graphs"))
    if not own and not whole:
        return "nothing: no links were found; there are none, or the rows are too few to show them"
    said = f"{own:.2f} nats a row more than no graph"
    if drawn:
        low, high = (f"{value:.2f}" for value in (min(drawn), max(drawn)))
        span = low if low == high else f"{low} to {high}"
        far = ", all far less" if max(drawn) < own / 2 else ""
        said += f"; {len(drawn)} random graphs of the same size: {span}{far}"
    if whole - own >= 0.01:
        said += f" (all by lines and curves; what causes do together adds {whole - own:.2f})"
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
    exact = [one["column"] for one in quality["columns"] if one["explained"] > _share(EXACT)]
    return _of_functions(exact) + _of_misfits(quality)


def _of_functions(exact: list[str]) -> list[str]:
    if not exact:
        return []
    verb = "is an exact function" if len(exact) == 1 else "are exact functions"
    return [
        f"{listed(exact)} {verb} of other columns, such as a total or a copy in other units. Any "
        "of them can be written as a function of the rest, so no arrow among them can be told: "
        "leave one out, or say which comes last."
    ]


def _of_misfits(quality: Mapping[str, Any]) -> list[str]:
    left = [one for one in quality["columns"] if one["misfit"] > MISFIT]
    left.sort(key=lambda one: -one["misfit"])
    if not left:
        return []
    names = listed([one["column"] for one in left])
    return [
        f"Not all is explained: what the causes leave of {names} still follows other columns. "
        "Functions of another kind, or causes that were not measured, are at work there: trust "
        "the arrows at these columns least."
    ]
