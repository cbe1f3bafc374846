"""The protein data under nine conditions: what the targets bring, and what pooling does.

    DPDAG_DATA=FOLDER python benchmarks/sachs_conditions.py

SHD counts a reversed edge once; SID is that of the learned DAG. The first row of every learner is
observation alone. DAGPosterior reads up to some 2600 rows, equally many of every experiment where
it is told of them; the table in the documentation was made with 1000.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from dpdag import CAM, DAGPosterior, datasets, metrics

LEARNERS = {
    "DAGPosterior": lambda: DAGPosterior(random_state=0, verbose=False, device="cpu"),
    "CAM": lambda: CAM(random_state=0),
}
CONDITIONS = {
    "anti-CD3/CD28 (853 rows)": ((1,), False),
    "nine conditions, targets given": (range(1, 10), True),
    "nine conditions, as if observed": (range(1, 10), False),
    "conditions 1 to 7 (5846 rows), targets given": (range(1, 8), True),
}


def main() -> None:
    """Print a table as it fills."""
    warnings.simplefilter("ignore")
    data = datasets.load("Sachs-interventional")
    assert data.mask is not None
    assert data.conditions is not None
    head = ("learner", "rows", "edges", "right", "reversed", "SHD", "SID", "Dir-AUC-PR", "s")
    print("|", " | ".join(head), "|\n" + "|---" * len(head) + "|", flush=True)
    for name, build in LEARNERS.items():
        for what, (numbers, told) in CONDITIONS.items():
            rows = np.isin(data.conditions, list(numbers))
            start = time.perf_counter()
            given = {"interventions": data.mask[rows]} if told else {}
            learner = build().fit(data.frame[rows], **given)
            seconds = time.perf_counter() - start
            found, truth = learner.adjacency_, data.adjacency
            scores = getattr(learner, "edge_probabilities_", learner.edge_scores_)
            values = (
                int(found.sum()),
                int((found * truth).sum()),
                int((found.T * truth).sum()),
                int(metrics.shd(truth, found)),
                int(metrics.sid(truth, found)),
                f"{100 * metrics.edge_auc(scores, truth)['Dir-AUC-PR']:.1f}",
                f"{seconds:.0f}",
            )
            print("|", " | ".join([name, what, *map(str, values)]), "|", flush=True)


if __name__ == "__main__":
    main()
