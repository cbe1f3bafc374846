"""What a fit found, for scripts and for people."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from .. import __version__
from ..learners import DAGLearner
from ..records import RunRecord, compare, experiment_facts, explains
from .table import Table

SHOWN = 15
OPEN = 0.9  # of a link's probability, beneath which its direction is open


def facts(record: RunRecord, table: Table, learner: DAGLearner, *, seed: int) -> dict[str, Any]:
    """The content of ``summary.json``."""
    origin, edges = record.origin or table.origin, learner.to_edges()
    known = learner.knowledge.required if learner.knowledge else ()
    edges["required"] = [ends in known for ends in zip(edges["source"], edges["target"])]
    found: dict[str, Any] = {
        "dpdag": __version__,
        "learner": record.learner,
        "seed": seed,
        "seconds": record.seconds,
        "data": {
            "source": origin.source,
            "rows": origin.rows,
            "columns": origin.columns,
            "rows_used": len(table.frame),
            "columns_used": record.names,
            "dropped": origin.dropped,
            "types": dict(zip(record.names, map(str, learner.types_ or ()))),
        },
        "notes": [*origin.notes, *record.diagnostics.notes],
        "diagnostics": asdict(record.diagnostics),
        "n_edges": len(edges),
        "edges": edges.to_dict("records"),
        "causal_order": [record.names[k] for k in record.causal_order],
        "settings": record.settings,
        "choice": record.choice,
        "quality": record.quality,
        "hidden_causes": record.hidden_causes,
    }
    if set_ := experiment_facts(learner, len(table.frame)):
        found["experiments"] = set_
    if table.true_graph is not None:
        found["truth"] = compare(record.adjacency, table.true_graph)._asdict()
    return found


def show(found: dict[str, Any], record: RunRecord, *, console: Console) -> None:
    """Print the summary for people."""
    data, used = found["data"], found["data"]["columns_used"]
    line = f"{data['rows']} rows × {data['columns']} columns"
    if (data["rows_used"], len(used)) != (data["rows"], data["columns"]):
        line += f", learned from {data['rows_used']} × {len(used)}"
    print_ = partial(console.print, soft_wrap=True, highlight=False)
    print_(f"[bold]Data[/]      {escape(data['source'])}: {line}")
    for name, reason in data["dropped"].items():
        print_(f"  [yellow]left out[/]  {escape(name)}: {escape(reason)}")
    if types := discrete(data["types"]):
        print_(f"  [yellow]types[/]     {escape(types)}")
    for note in found["notes"]:
        print_(f"  [yellow]note[/]      {escape(note)}")
    seconds = "" if found["seconds"] is None else f" in {found['seconds']:.1f} s"
    edges = "1 edge" if found["n_edges"] == 1 else f"{found['n_edges']} edges"
    print_(f"[bold]Learned[/]   {edges} with {found['learner']}{seconds}")
    if found["choice"]:
        print_(f"  [yellow]chosen[/]    {escape(found['choice'])}")
    if found["quality"]:
        print_(f"[bold]Explains[/]  {escape(explains(found['quality']))}")
    for caution in record.cautions:
        print_(f"  [yellow]caution[/]   {escape(caution)}")
    if record.origin and record.origin.known:
        print_(f"[bold]Known[/]     {record.origin.known}")
    if found["edges"]:
        console.print(_grid(found["edges"]))
    if found["n_edges"] > SHOWN:
        print_(f"… and {found['n_edges'] - SHOWN} more in edges.csv")
    for check in filter(None, [record.diagnostics.sortability, record.question]):
        print_(f"[bold]Check[/]     {escape(check)}")


def discrete(types: dict[str, str]) -> str:
    """The types of columns that are not continuous, by name."""
    return ", ".join(f"{name}: {own}" for name, own in types.items() if own != "continuous")


def _grid(edges: list[dict[str, Any]]) -> Grid:
    known = "probability" in edges[0]
    words, style = (("probability", "linked"), ".3f") if known else (("score",), ".4g")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2), show_edge=False)
    grid.add_column("cause", justify="right", overflow="fold")
    grid.add_column("")
    grid.add_column("effect", overflow="fold")
    for word in words:
        grid.add_column(word, justify="right")
    grid.add_column("")
    for edge in edges[:SHOWN]:
        source, target = (escape(str(edge[end])) for end in ("source", "target"))
        numbers = [f"{edge[word]:{style}}" for word in words]
        grid.add_row(source, "→", target, *numbers, _remark(edge))
    return grid


def _remark(edge: dict[str, Any]) -> str:
    """What a reader should know before believing an arrow.

    Example:
        >>> _remark({"required": False, "probability": 0.6, "linked": 0.99})
        'direction open'
    """
    if edge["required"]:
        return "required"
    open_ = edge.get("probability", 1.0) < OPEN * edge.get("linked", 1.0)
    return "direction open" if open_ else ""
