"""Time, memory and accuracy of learners on 100, 300 and 1000 columns.

    python benchmarks/scaling.py

Writes ``scaling.md`` beside this file, one line after each fit. Every fit is a process of its own
on one thread, so that its largest memory is known; seconds are of the CPU, whatever else runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
LEARNERS = {
    "CAM(n_bootstrap=0)": "edge_scores_",
    'DAGPosterior(mechanism=("linear", "additive"))': "edge_probabilities_",
    "DAGPosterior()": "edge_probabilities_",
}
FIT = """
import resource, time, warnings
from dpdag import CAM, DAGPosterior, datasets, metrics
graph = datasets.erdos_renyi({n}, 2 * {n}, random_state=0)
data = datasets.simulate(graph, 1000, mechanism="gp", random_state=0)
learner = {learner}.set_params(random_state=0)
if "verbose" in learner.get_params():
    learner.set_params(verbose=False, device="cpu")
start = time.process_time()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    learner.fit(data.X)
seconds = time.process_time() - start
gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
auc = metrics.edge_auc(learner.{scores}, data.adjacency)["Dir-AUC-PR"]
shd = metrics.shd(learner.adjacency_, data.adjacency)
print(f"{{seconds:.0f}} | {{gigabytes:.1f}} | {{100 * auc:.1f}} | {{shd}}")
"""


def measured(learner: str, scores: str, n: int) -> str:
    """What a fit of n columns takes and finds, as cells of a table."""
    code = FIT.format(n=n, learner=learner, scores=scores)
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=one_thread, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS)[:2], choices=LEARNERS)
    asked = parser.parse_args()
    text = (
        "# Many columns\n\nRandom graphs with two edges per column, Gaussian process mechanisms, "
        f"1000 rows, one thread, {platform.machine()}. CPU seconds of the fit, largest memory in "
        "GB, Dir-AUC-PR in percent, SHD. Made by `python benchmarks/scaling.py`.\n\n"
        "| learner | columns | seconds | GB | Dir-AUC-PR | SHD |\n|---|---|---|---|---|---|\n"
    )
    for n in asked.columns:
        for learner in asked.learners:
            text += f"| `{learner}` | {n} | {measured(learner, LEARNERS[learner], n)} |\n"
            print(text.splitlines()[-1], flush=True)
            (HERE / "scaling.md").write_text(text)


if __name__ == "__main__":
    main()
