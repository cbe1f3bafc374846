"""What a reader is told of a fit itself: what experiments said, and what there was no time for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.labels import label_texts
from .diagnostics import listed


def experiment_facts(learner: Any, rows: int) -> dict[str, Any]:
    """Rows that inform each column and edges settled; empty where nothing was set in any row.

    An edge is settled where some rows have one of its ends set and not the other: what the other
    end did there tells its direction.
    """
    informing, settled = learner.informing_rows_, learner.settled_
    if informing is None or settled is None or (informing == rows).all():
        return {}
    names = label_texts(learner._names(learner.n_features_in_))
    return {
        "informing_rows": dict(zip(names, informing.tolist())),
        "settled": [[names[i], names[j]] for i, j in np.argwhere(settled).tolist()],
    }


def fit_notes(learner: Any, rows: int) -> list[str]:
    """The same in sentences, for a fit to a number of rows, and what was left out."""
    left_out = getattr(learner, "left_out_", ())
    hurried = [f"No time was left for {'; '.join(left_out)}."] if left_out else []
    if (used := getattr(learner, "rows_used_", rows)) < rows:
        hurried.append(f"Learned from {used:,} of {rows:,} rows, drawn at random.")
    facts = experiment_facts(learner, rows)
    if not facts:
        return hurried
    informing, settled = facts["informing_rows"], facts["settled"]
    fewer = [f"{name} ({count:,})" for name, count in informing.items() if count < rows]
    edges = int((learner.adjacency_ != 0).sum())
    notes = [
        "Rows in which a column was set say nothing of its causes; the others inform it: "
        f"{listed(fewer)} of {rows:,} rows."
    ]
    if settled:
        arrows = listed([f"{i} → {j}" for i, j in settled])
        notes.append(
            "Experiments that set one end and not the other settle the direction of "
            f"{len(settled)} of {edges} edges: {arrows}."
        )
    return notes + hurried
